"""Reads traces, and refuses other and incomplete files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, Self

import numpy as np

from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.core._trace import CHANGE, UNSEEN, Changes
from smartharvest.errors import TraceError
from smartharvest.lab.trace.format import (
    DATA,
    DONE,
    FRAME,
    HEAD,
    LONGEST_RECORD,
    MAGIC,
    PREFIX,
    READABLE,
    WAIT,
    Header,
    Stretch,
    is_intact,
    unpack_dispatches,
    unpack_header,
    unpack_json,
    unpack_stretch,
)


class TraceReader:
    """A trace, stretch by stretch, in memory that does not grow with it.

    Checks everything before the first stretch. Raises TraceError for a file that is no trace, of an
    unknown version, or damaged; also for an incomplete one, unless ``partial``, which reads the
    good part.
    """

    def __init__(self, path: str, *, partial: bool = False) -> None:
        self.path = path
        self.ending: dict[str, Any] | None = None
        """The facts in the end record; None if there is none."""
        self.missing: str | None = None
        """Why the end is missing; None for a whole trace."""
        self.start_ns = self.until_ns = 0
        self.tells_waits = False
        """Whether it says how long the primaries' tasks waited and ran."""
        self._partial = partial
        self._records = 0
        try:
            self._file: BinaryIO = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
        try:
            self._check()
        except OSError as error:
            self._file.close()
            raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def seconds(self) -> float:
        return (self.until_ns - self.start_ns) / 1e9

    def __iter__(self) -> Iterator[Stretch]:
        """The stretches, each beginning where the one before ended."""
        self._file.seek(self._data_at)
        dispatches: list[Dispatches] = []
        for _ in range(self._records):
            kind, payload = self._record()
            if kind == WAIT:
                dispatches.append(unpack_dispatches(payload))
                continue
            yield unpack_stretch(payload)._replace(dispatches=tuple(dispatches))
            dispatches.clear()

    def _check(self) -> None:
        prefix = self._file.read(PREFIX.size)
        if len(prefix) < PREFIX.size or not prefix.startswith(MAGIC):
            self._refuse("is no trace")
        version = PREFIX.unpack(prefix)[1]
        if version not in READABLE:
            known = " and ".join(map(str, READABLE))
            self._refuse(f"is of version {version} of the format; this program reads {known}")
        try:
            kind, payload = self._record()
            if kind != HEAD:
                self._refuse("has no header")
            self.header: Header = unpack_header(payload)
        except ValueError as error:
            self._refuse(f"its header is invalid: {error}")
        self.start_ns = self.until_ns = self.header.start_ns
        self._data_at = self._file.tell()
        try:
            self._check_records()
        except _Damage as damage:
            self.missing = str(damage)
        if self.missing is not None and not self._partial:
            self._refuse(
                f"{self.missing} after {self.seconds:.1f} s; --partial reads the part before"
            )

    def _check_records(self) -> None:
        """Reads every record once. Raises _Damage at the first bad one."""
        waits_ns = self.until_ns
        while True:
            try:
                kind, payload = self._record()
                if kind == DONE:
                    self.ending = unpack_json(payload)
                    break
                if kind == WAIT:
                    seen = unpack_dispatches(payload)
                    if seen.end_ns <= waits_ns:
                        raise _Damage("is damaged (waits are out of order)")
                    waits_ns = seen.end_ns
                    self._records += 1
                    self.tells_waits = True
                    continue
                if kind != DATA:
                    raise _Damage(f"has a record of an unknown kind {kind!r}")
                stretch = unpack_stretch(payload)
            except _Damage:
                raise
            except ValueError as error:
                raise _Damage(f"is damaged ({error})") from None
            if stretch.start_ns != self.until_ns:
                raise _Damage("is damaged (a record does not begin where the last one ended)")
            self.until_ns = stretch.until_ns
            self._records += 1
        if self._file.read(1):
            raise _Damage("has bytes after its end")

    def _record(self) -> tuple[bytes, bytes]:
        """The next record. Raises _Damage if it is incomplete."""
        frame = self._file.read(FRAME.size)
        if not frame:
            raise _Damage("has no end mark: the recorder was killed, or the file was cut")
        if len(frame) < FRAME.size:
            raise _Damage("breaks off")
        kind, length, checksum = FRAME.unpack(frame)
        if length > LONGEST_RECORD:
            raise _Damage("is damaged (a record is too long)")
        payload = self._file.read(length)
        if len(payload) < length:
            raise _Damage("breaks off")
        if not is_intact(kind, payload, checksum):
            raise _Damage("is damaged (a checksum is wrong)")
        return kind, payload

    def _refuse(self, why: str) -> NoReturn:
        raise TraceError(f"{self.path}: {why}")


class _Damage(ValueError):
    """Where the good part of a file ends."""


@dataclass(frozen=True)
class Trace:
    """A whole trace in memory."""

    header: Header
    changes: Changes
    """CHANGEs, ascending; UNSEEN busy cores in a gap."""
    until_ns: int
    ending: dict[str, Any] | None
    missing: str | None
    """Why the end is missing, with ``partial``."""

    @property
    def seconds(self) -> float:
        return (self.until_ns - self.header.start_ns) / 1e9

    def seen(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which changes are not gaps."""
        seen: np.ndarray[Any, np.dtype[np.bool_]] = self.changes["busy"] != UNSEEN
        return seen


def read_trace(path: str, *, partial: bool = False) -> Trace:
    """Reads a trace into memory, 16 bytes a change; TraceReader needs less. Raises TraceError."""
    with TraceReader(path, partial=partial) as reader:
        parts = [stretch.changes for stretch in reader]
        changes = np.concatenate(parts) if parts else np.zeros(0, CHANGE)
        return Trace(reader.header, changes, reader.until_ns, reader.ending, reader.missing)
