"""A log on standard error that nobody reads must not hold up the agent."""

from __future__ import annotations

import logging
import os

from smartharvest.cli import _Messages


def record(text: str) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": text})


def test_messages_that_nobody_reads_are_dropped_and_counted() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as read, os.fdopen(writer, "w") as stream:
        handler = _Messages(stream)
        for _ in range(200):
            handler.emit(record("x" * 1000))
        missed = handler._missed
        assert missed > 100
        read.read(1 << 20)
        handler.emit(record("again"))
        told = read.read(1 << 20).decode()
    assert told.endswith(f"smartharvest: {missed} messages before this found no reader\nagain\n")
