"""Writes traces; however the writer ends, the beginning stays readable."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import Any, Self

import numpy as np

from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.core._trace import CHANGE, UNSEEN, Changes
from smartharvest.errors import TraceError
from smartharvest.lab.trace.format import (
    DATA,
    DONE,
    HEAD,
    LONGEST_STEP_NS,
    MAGIC,
    MOST_CHANGES,
    PREFIX,
    VERSION,
    WAIT,
    Header,
    Stretch,
    pack_dispatches,
    pack_header,
    pack_record,
    pack_stretch,
)


class TraceWriter:
    """Appends stretches to a new file; as a context manager it closes the trace.

    After an error the trace has no end, which readers notice. Raises TraceError if creating or
    writing the file fails; on a full disk, what was written before stays readable.
    """

    def __init__(self, path: str, header: Header, *, overwrite: bool = False) -> None:
        self.path = path
        self.header = header
        self.changes = 0
        self.bytes = 0
        """Of whole records."""
        self.until_ns = header.start_ns
        """The trace is complete up to here."""
        self._busy = self._demand = UNSEEN
        try:
            self._file = open(path, "wb" if overwrite else "xb", buffering=0)  # noqa: SIM115
        except FileExistsError:
            raise TraceError(
                f"{path}: exists already; choose another name or --overwrite"
            ) from None
        except OSError as error:
            raise TraceError(f"{path}: cannot be created: {error.strerror}") from None
        self._write(PREFIX.pack(MAGIC, VERSION) + pack_record(HEAD, pack_header(header)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()

    def append(self, changes: Changes, until_ns: int) -> None:
        """Appends what happened since the last call, up to ``until_ns``.

        ``changes`` are CHANGEs, ascending, not before the last call's ``until_ns``. Raises
        ValueError for others.
        """
        while len(changes):
            first_ns = int(changes["time_ns"][0])
            if first_ns - self.until_ns > LONGEST_STEP_NS:  # a long quiet time
                self._append(changes[:0], first_ns)
            steps = np.diff(changes["time_ns"][:MOST_CHANGES])
            far = np.flatnonzero(steps > LONGEST_STEP_NS)
            count = int(far[0]) + 1 if len(far) else min(len(changes), MOST_CHANGES)
            part, changes = changes[:count], changes[count:]
            self._append(part, int(part["time_ns"][-1]) if len(changes) else until_ns)
        if until_ns > self.until_ns:
            self._append(changes, until_ns)

    def append_dispatches(self, seen: Dispatches) -> None:
        """How tasks waited and ran in a period; in order, and before the changes of its end.

        Raises ValueError for invalid figures.
        """
        self._write(pack_record(WAIT, pack_dispatches(seen)))

    def close(self, **ending: Any) -> None:
        """Ends the trace, with the reason and other facts in ``ending`` (texts and numbers)."""
        if self._file.closed:
            return
        facts = {"until_ns": self.until_ns, "changes": self.changes, **ending}
        self._write(pack_record(DONE, json.dumps(facts).encode()))
        self._file.close()

    def _append(self, changes: Changes, until_ns: int) -> None:
        stretch = Stretch(self.until_ns, until_ns, self._busy, self._demand, changes)
        self._write(pack_record(DATA, pack_stretch(stretch)))
        self.until_ns = until_ns
        self.changes += len(changes)
        if len(changes):
            self._busy, self._demand = int(changes["busy"][-1]), int(changes["demand"][-1])

    def _write(self, record: bytes) -> None:
        try:
            rest = memoryview(record)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._end_short(error)
            seconds = (self.until_ns - self.header.start_ns) / 1e9
            raise TraceError(
                f"{self.path}: cannot be written: {error.strerror}; it ends after {seconds:.1f} s"
            ) from error
        self.bytes += len(record)

    def _end_short(self, error: OSError) -> None:
        """Removes the record that did not fit, and ends the trace if there is room for that."""
        facts = {"until_ns": self.until_ns, "changes": self.changes, "reason": error.strerror}
        try:
            os.ftruncate(self._file.fileno(), self.bytes)
            os.lseek(self._file.fileno(), self.bytes, os.SEEK_SET)
            if self.bytes:
                self._file.write(pack_record(DONE, json.dumps(facts).encode()))
        except OSError:
            pass  # readers use what is there
        self._file.close()


def write_trace(
    path: str, header: Header, changes: Changes, until_ns: int, *, overwrite: bool = False
) -> None:
    """Writes a whole trace from memory; see TraceWriter."""
    with TraceWriter(path, header, overwrite=overwrite) as writer:
        writer.append(np.asarray(changes, CHANGE), until_ns)
        writer.close(reason="complete")
