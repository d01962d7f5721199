"""The audit log: what was decided and why, and every other action, as JSON lines.

    {"t": 1700000000.125, "kind": "span", "s": 1.0, "n": 40, "lent": 1.2, "busy": 2, ...}
    {"t": 1700000000.125, "kind": "decision", "seq": 41, "reason": "predicted", "busy": 2, ...}
    {"t": 1700000000.310, "kind": "paused", "why": "by the operator"}

``audit_level`` says whether it has spans of a second (spans.py) or every decision.

``t`` is seconds since 1970. The log is a set of files (``FILE``, ``FILE.1`` ...), of which the
oldest is dropped: together they never exceed the size asked for. A thread of its own writes, so
that a decision never waits for a disk. Records it cannot keep up with are counted in the next one.
"""

from __future__ import annotations

import contextlib
import json
import logging
import logging.handlers
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import TextIOWrapper
from typing import Any

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core import _loop
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError, Unavailable
from smartharvest.telemetry import spans
from smartharvest.trusted import open_own

_log = logging.getLogger(__name__)

FILES = 4
LONGEST_QUEUE = 4096
"""Records: a minute and a half of decisions."""
ENDING_TAKES_S = 2.0
"""So long an ending agent waits for the last records."""
LONGEST_LINE = 16 * 1024
"""A longer line is no record."""
_PROGRESS_EVERY = 1000
"""Records."""


class AuditLog:
    """Writes to ``path``; all its files together have at most ``size_bytes``.

    Raises Unavailable, naming the path, if opening fails.
    """

    def __init__(self, path: str, size_bytes: int) -> None:
        try:
            self._file = _Files(path, maxBytes=max(1, size_bytes // FILES), backupCount=FILES - 1)
        except OSError as error:
            raise Unavailable(f"audit_log: {path}: {error.strerror}") from None
        self._queue: queue.Queue[str | None] = queue.Queue(LONGEST_QUEUE)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="sh-audit", daemon=True)
        self._thread.start()

    def decision(self, window: Window, decision: Decision, lent: int, held: str | None) -> None:
        """``lent``: cores that the elastic group has now; ``held``: why the plan is not in force.

        The record's time is the end of the window.
        """
        age_ns = _loop.monotonic_ns() - window.end_ns
        self._record(
            "decision",
            {
                "seq": decision.seq,
                "reason": decision.reason,
                "primary": decision.primary_cores,
                "harvest": decision.harvest_cores,
                "safe": decision.safe_cores,
                "lent": lent,
                "held_by": held,
                "busy": window.busy_max,
                "demand": window.demand_max,
                "mean": round(window.busy_mean, 3),
                "had": window.primary_cores,
                "exhausted": window.exhausted,
                "label": decision.label,
            },
            age_ns,
        )

    def span(self, span: spans.Span) -> None:
        """What a second of windows came to; its time is the end of the last."""
        age_ns = max(0, int((time.time() - span.at_s) * 1e9))
        self._record("span", span.record(), age_ns)

    def event(self, kind: str, **details: Any) -> None:
        """An action or event; ``details`` are values that JSON can hold."""
        self._record(kind, details, 0)

    def close(self) -> None:
        """Writes what is left, for at most three seconds."""
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=1.0)
            self._thread.join(ENDING_TAKES_S)
        if self._thread.is_alive():  # a disk does not answer; the file is the thread's until then
            return
        try:
            self._file.close()
        except OSError as error:
            self._file.warn_once(error)

    def _record(self, kind: str, details: Mapping[str, Any], age_ns: int) -> None:
        at_s = round(time.time() - age_ns / 1e9, 4)
        record = {"t": at_s, "kind": kind, **details}
        if self._dropped:
            record["dropped"] = self._dropped
        try:
            self._queue.put_nowait(json.dumps(record, separators=(",", ":")))
        except queue.Full:
            self._dropped += 1
        else:
            self._dropped = 0

    def _write(self) -> None:
        while (line := self._queue.get()) is not None:
            self._file.emit(logging.makeLogRecord({"msg": line}))


class _Files(logging.handlers.RotatingFileHandler):
    """Rotated files that only their owner and group may read, and never a link to another."""

    failed = False

    def _open(self) -> TextIOWrapper:
        def opener(path: str, flags: int) -> int:
            return open_own(path, flags, 0o640)

        return open(self.baseFilename, "a", encoding="utf-8", opener=opener)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802
        self.warn_once(sys.exc_info()[1])

    def warn_once(self, error: BaseException | None) -> None:
        """Warns that decisions are not recorded, and why."""
        if not self.failed:
            self.failed = True
            why = error.strerror if isinstance(error, OSError) else error
            _log.warning(
                "audit_log: %s: cannot be written: %s; decisions are not recorded",
                self.baseFilename,
                why,
            )


def read_audit(
    path: str, progress: Callable[[float, float], None] = lambda _done, _total: None
) -> Iterator[dict[str, Any]]:
    """The records of ``path`` and the files it was rotated into, oldest first.

    ``progress`` gets how many of all megabytes are read.

    Skips lines that are no record, such as one that a crash cut off. Raises ConfigError if a file
    is missing or unreadable, or has no record at all.
    """
    found, size = False, 0
    older = [f"{path}.{n}" for n in range(FILES - 1, 0, -1) if os.path.exists(f"{path}.{n}")]
    total = sum(os.path.getsize(name) for name in [*older, path] if os.path.exists(name))
    for name in [*older, path]:
        try:
            with open(name, "rb") as file:
                before = size
                size += os.fstat(file.fileno()).st_size
                for number, record in enumerate(_records(file)):
                    found = True
                    if number % _PROGRESS_EVERY == 0:
                        progress((before + file.tell()) / 1e6, max(total, size) / 1e6)
                    yield record
        except OSError as error:
            raise ConfigError(f"{name}: cannot be read: {error.strerror}") from None
    if size and not found:
        raise ConfigError(f"{path}: is no audit log; name the file that --audit-log wrote")


def between(
    records: Iterable[dict[str, Any]], since_s: float | None, until_s: float | None
) -> Iterator[dict[str, Any]]:
    """The records from ``since_s`` to ``until_s``, seconds since 1970 (None: no limit)."""
    for record in records:
        if (since_s or 0.0) <= record["t"] <= (math.inf if until_s is None else until_s):
            yield record


def _records(file: Any) -> Iterator[dict[str, Any]]:
    while line := file.readline(LONGEST_LINE):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and _is_sound(record):
            yield record


_NUMBERS = ("seq", "primary", "harvest", "safe", "lent", "busy", "demand", "had")


def _is_sound(record: Mapping[str, Any]) -> bool:
    """Whether it has the fields that readers rely on."""
    at, kind = record.get("t"), record.get("kind")
    if isinstance(at, bool) or not isinstance(at, int | float) or not isinstance(kind, str):
        return False
    if not 0 <= at < 1e11:
        return False
    if kind == "span":
        return spans.is_sound(record)
    if kind != "decision":
        return True
    return (
        all(type(record.get(name)) is int and 0 <= record[name] < 1 << 40 for name in _NUMBERS)
        and isinstance(record.get("reason"), str)
        and isinstance(record.get("exhausted"), bool)
        and isinstance(record.get("held_by", 0), str | None)
    )
