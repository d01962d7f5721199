"""Recorded hosts: what was busy when, kept in a file and played to policies (docs/how-to/record-and-replay.md)."""

from smartharvest._trace import CHANGE, UNSEEN
from smartharvest.trace.format import Header, Stretch, TraceError
from smartharvest.trace.reader import Trace, TraceReader, read_trace
from smartharvest.trace.writer import TraceWriter, write_trace

__all__ = [
    "CHANGE",
    "UNSEEN",
    "Header",
    "Stretch",
    "Trace",
    "TraceError",
    "TraceReader",
    "TraceWriter",
    "read_trace",
    "write_trace",
]
