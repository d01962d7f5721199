"""The bytes of a trace; docs/reference/trace-format.md has them for other languages.

A file is the magic number, the version and records. Every record has a length and a checksum, so
that an incomplete one is noticed: the records before it are good.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.core import _loop
from smartharvest.core._trace import CHANGE, UNSEEN, Changes
from smartharvest.errors import TraceError

__all__ = ["Header", "Stretch", "TraceError"]

# As in PNG: the first byte is no ASCII, and a transfer that changes line ends breaks the number.
MAGIC = b"\x93SHTRC\r\n"
VERSION = 2
READABLE = (1, 2)
"""Version 1 has no WAIT."""
PREFIX = struct.Struct("<8sI")
"""Magic number, version."""
FRAME = struct.Struct("<4sII")
"""Kind of record, length of what follows, CRC-32 of kind, length and what follows."""
HEAD, DATA, WAIT, DONE = b"HEAD", b"DATA", b"WAIT", b"DONE"
_STRETCH = struct.Struct("<qqIHH")
"""start_ns, until_ns, number of changes, busy and demand at the start."""
_CHANGE_BYTES = 8
_WAITS = struct.Struct("<qII")
"""end_ns, number of buckets of waits, of run times."""
_BUCKET = np.dtype([("edge_ns", "<i8"), ("count", "<u8")])
MOST_BUCKETS = 1 << 12
MOST_COUNTED = (1 << 53) - 1
"""In a bucket: JSON and floating point are exact up to this."""
MOST_CHANGES = 1 << 20
"""In one record."""
LONGEST_RECORD = 1 << 24
LONGEST_STEP_NS = (1 << 32) - 1
"""Between two changes of one record."""
_LATEST_NS = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a trace says about itself."""

    cores: int
    """What the primaries may use; 1..1024."""
    poll_ns: int
    """Time between two polls; 0: every change is in the trace."""
    start_ns: int
    """The clock of the trace (CLOCK_MONOTONIC of the host) when it began; 1 or more."""
    gap_ns: int = 0
    """Polls further apart than this leave a gap."""
    started: str = ""
    """The same moment in UTC, ISO 8601."""
    host: str = ""
    kernel: str = ""
    sensor: str = ""
    sensor_reason: str = ""
    primaries: tuple[str, ...] = ()
    """The targets whose tasks were counted together."""
    writer: str = ""
    """The program and its version."""

    def __post_init__(self) -> None:
        _check_range("cores", self.cores, 1, _loop.MAX_CORES)
        _check_range("poll_ns", self.poll_ns, 0, _LATEST_NS)
        _check_range("gap_ns", self.gap_ns, 0, _LATEST_NS)
        _check_range("start_ns", self.start_ns, 1, _LATEST_NS)
        for name in ("started", "host", "kernel", "sensor", "sensor_reason", "writer"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} is no text")
        if not all(isinstance(primary, str) for primary in self.primaries):
            raise ValueError("primaries are no texts")


class Stretch(NamedTuple):
    """A part of a trace without a hole: what was busy from ``start_ns`` until ``until_ns``."""

    start_ns: int
    until_ns: int
    busy: int
    """At the start; UNSEEN in a gap."""
    demand: int
    changes: Changes
    """Of CHANGE, ascending, from ``start_ns`` on and not after ``until_ns``."""
    dispatches: tuple[Dispatches, ...] = ()
    """The periods that end in it, in order; records of their own."""


def pack_record(kind: bytes, payload: bytes) -> bytes:
    """One record with its length and checksum."""
    checksum = zlib.crc32(payload, zlib.crc32(kind + struct.pack("<I", len(payload))))
    return FRAME.pack(kind, len(payload), checksum) + payload


def is_intact(kind: bytes, payload: bytes, checksum: int) -> bool:
    return zlib.crc32(payload, zlib.crc32(kind + struct.pack("<I", len(payload)))) == checksum


def pack_header(header: Header) -> bytes:
    return json.dumps({"format": "smartharvest-trace", **asdict(header)}).encode()


def unpack_header(payload: bytes) -> Header:
    """Raises ValueError for an invalid header; ignores unknown keys."""
    values = unpack_json(payload)
    known = {item.name for item in fields(Header)}
    values = {name: value for name, value in values.items() if name in known}
    primaries = values.get("primaries", ())
    if not isinstance(primaries, list | tuple):
        raise ValueError("primaries is no list")
    try:
        return Header(**{**values, "primaries": tuple(primaries)})
    except TypeError as error:
        raise ValueError(f"something is missing: {error}") from None


def unpack_json(payload: bytes) -> dict[str, Any]:
    """Raises ValueError if it is no JSON object."""
    try:
        values = json.loads(payload)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(values, dict):
        raise ValueError("it is no JSON object")
    return values


def pack_stretch(stretch: Stretch) -> bytes:
    """Raises ValueError for invalid changes: backwards, outside, too far apart."""
    changes = stretch.changes
    _check_stretch(stretch)
    steps = np.diff(changes["time_ns"], prepend=stretch.start_ns)
    if len(steps) and steps.max() > LONGEST_STEP_NS:
        raise ValueError("changes too far apart for one record")
    columns = (
        steps.astype("<u4"),
        changes["busy"].astype("<u2"),
        changes["demand"].astype("<u2"),
    )
    # In planes of bytes: the high bytes are nearly all equal and compress well.
    planes = b"".join(
        column.view(np.uint8).reshape(len(changes), column.itemsize).T.tobytes()
        for column in columns
    )
    head = _STRETCH.pack(
        stretch.start_ns, stretch.until_ns, len(changes), stretch.busy, stretch.demand
    )
    return head + zlib.compress(planes, 6)


def unpack_stretch(payload: bytes) -> Stretch:
    """Raises ValueError for invalid bytes."""
    if len(payload) < _STRETCH.size:
        raise ValueError("a record is too short")
    start_ns, until_ns, count, busy, demand = _STRETCH.unpack_from(payload)
    if count > MOST_CHANGES:
        raise ValueError("a record has too many changes")
    inflate = zlib.decompressobj()
    try:
        planes = inflate.decompress(payload[_STRETCH.size :], count * _CHANGE_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"decompressing a record failed: {error}") from None
    if len(planes) != count * _CHANGE_BYTES or not inflate.eof or inflate.unused_data:
        raise ValueError("a record has another length than it says")
    changes = np.zeros(count, CHANGE)
    raw = np.frombuffer(planes, np.uint8)

    def column(first: int, size: int) -> np.ndarray[Any, Any]:
        part = raw[first * count : (first + size) * count].reshape(size, count)
        return np.ascontiguousarray(part.T).view(f"<u{size}").reshape(count)

    changes["time_ns"] = start_ns + np.cumsum(column(0, 4), dtype=np.int64)
    changes["busy"] = column(4, 2)
    changes["demand"] = column(6, 2)
    stretch = Stretch(start_ns, until_ns, busy, demand, changes)
    _check_stretch(stretch)
    return stretch


def pack_dispatches(seen: Dispatches) -> bytes:
    """Raises ValueError for invalid figures."""
    _check_dispatches(seen)
    buckets = np.array([*seen.waits, *seen.runs], dtype=_BUCKET)
    head = _WAITS.pack(seen.end_ns, len(seen.waits), len(seen.runs))
    return head + zlib.compress(buckets.tobytes(), 6)


def unpack_dispatches(payload: bytes) -> Dispatches:
    """Raises ValueError for invalid bytes."""
    if len(payload) < _WAITS.size:
        raise ValueError("a record of waits is too short")
    end_ns, waits, runs = _WAITS.unpack_from(payload)
    if max(waits, runs) > MOST_BUCKETS:
        raise ValueError("a record of waits has too many buckets")
    length = (waits + runs) * _BUCKET.itemsize
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(payload[_WAITS.size :], length + 1)
    except zlib.error as error:
        raise ValueError(f"decompressing a record of waits failed: {error}") from None
    if len(raw) != length or not inflate.eof or inflate.unused_data:
        raise ValueError("a record of waits has another length than it says")
    buckets = tuple(np.frombuffer(raw, _BUCKET).tolist())
    seen = Dispatches(end_ns, waits=buckets[:waits], runs=buckets[waits:], lent=False)
    _check_dispatches(seen)
    return seen


def _check_dispatches(seen: Dispatches) -> None:
    if not 0 < seen.end_ns <= _LATEST_NS:
        raise ValueError("a record of waits without an end")
    for durations in (seen.waits, seen.runs):
        _check_durations(durations)


def _check_durations(durations: Durations) -> None:
    edges_ns = [edge_ns for edge_ns, _ in durations]
    if len(edges_ns) > MOST_BUCKETS:
        raise ValueError("too many buckets for one record of waits")
    if any(not 0 <= edge_ns <= _LATEST_NS for edge_ns in edges_ns) or any(
        a >= b for a, b in pairwise(edges_ns)
    ):
        raise ValueError("buckets of waits are out of order")
    if any(not 0 < count <= MOST_COUNTED for _, count in durations):
        raise ValueError("a bucket of waits without a count")


def _check_stretch(stretch: Stretch) -> None:
    changes, times_ns = stretch.changes, stretch.changes["time_ns"]
    if not 0 < stretch.start_ns <= stretch.until_ns <= _LATEST_NS:
        raise ValueError("a record ends before it starts")
    if len(changes) > MOST_CHANGES:
        raise ValueError("too many changes for one record")
    if len(changes) and (
        times_ns[0] < stretch.start_ns
        or times_ns[-1] > stretch.until_ns
        or (np.diff(times_ns) < 0).any()
    ):
        raise ValueError("changes are out of order")
    busy = np.append(changes["busy"], np.uint16(stretch.busy))
    demand = np.append(changes["demand"], np.uint16(stretch.demand))
    unseen = busy == UNSEEN
    if (unseen != (demand == UNSEEN)).any():
        raise ValueError("busy cores without a demand, or the other way round")
    if (demand[~unseen] < busy[~unseen]).any() or (demand[~unseen] > _loop.MAX_CORES).any():
        raise ValueError(f"core counts out of 0..{_loop.MAX_CORES}, or a demand below busy")


def _check_range(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} is not in {least}..{most}")
