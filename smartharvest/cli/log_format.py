"""How messages look: for a reader, for the journal, or as JSON for a collector."""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from typing import Literal, get_args

from smartharvest.printable import one_line

Format = Literal["auto", "plain", "time", "journal", "json"]
FORMATS = get_args(Format)
JOURNAL_STREAM = "JOURNAL_STREAM"
"""systemd sets it to the device and inode of the stream to the journal (systemd.exec(5))."""
_PRIORITIES = ((logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))
"""Level -> that of syslog (sd-daemon(3))."""
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def formatter(name: str, fd: int) -> logging.Formatter:
    """The formatter called ``name``; ``auto`` is that of the journal where ``fd`` leads to it."""
    if name == "auto":
        name = "journal" if leads_to_journal(fd) else "plain"
    made: logging.Formatter = _FORMATTERS[name]()
    return made


def leads_to_journal(fd: int) -> bool:
    """Whether systemd has connected ``fd`` to its journal."""
    device, _, inode = os.environ.get(JOURNAL_STREAM, "").partition(":")
    try:
        status = os.fstat(fd)
    except (OSError, ValueError):
        return False
    return (device, inode) == (str(status.st_dev), str(status.st_ino))


def priority(level: int) -> int:
    """Of syslog."""
    return next((number for least, number in _PRIORITIES if level >= least), 7)


class Plain(logging.Formatter):
    """``smartharvest: message``."""

    def __init__(self) -> None:
        super().__init__("smartharvest: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return one_line(super().formatMessage(record))


class WithTime(Plain):
    """With the time and the level before it, for files."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return f"{_moment(record)} {record.levelname:<7} {super().formatMessage(record)}"


class Journal(Plain):
    """With the priority that the journal reads off each line; it adds the time itself."""

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"<{priority(record.levelno)}>"
        return "\n".join(prefix + line for line in super().format(record).split("\n"))


class Json(logging.Formatter):
    """One object a line: ``time``, ``level``, ``message``, ``logger``, ``pid``, and fields."""

    def format(self, record: logging.LogRecord) -> str:
        found: dict[str, object] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "message": one_line(record.getMessage()),
            "logger": record.name,
            "pid": record.process,
        }
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        found |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        return json.dumps(found, default=str)


_FORMATTERS = {"plain": Plain, "time": WithTime, "journal": Journal, "json": Json}


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
