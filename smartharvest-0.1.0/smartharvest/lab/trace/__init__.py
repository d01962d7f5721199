"""Recordings of hosts in files, and their replay under policies (docs/how-to/)."""

from smartharvest.core._trace import CHANGE, UNSEEN
from smartharvest.lab.trace.format import Header, Stretch, TraceError
from smartharvest.lab.trace.reader import Trace, TraceReader, read_trace
from smartharvest.lab.trace.writer import TraceWriter, write_trace

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
