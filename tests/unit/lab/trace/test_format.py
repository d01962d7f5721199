"""Traces come back as they were written, and what is none or not whole is refused."""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.core._trace import Changes
from smartharvest.lab.trace import (
    CHANGE,
    UNSEEN,
    Header,
    TraceError,
    TraceReader,
    TraceWriter,
    read_trace,
    write_trace,
)
from tests.unit.lab.trace.made_traces import START_NS, as_rows, changes_of, header_of

SAME_PATH = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def change_lists(draw: st.DrawFn) -> tuple[Changes, int]:
    """Changes and the time up to which they tell all."""
    steps = draw(st.lists(st.integers(0, 10**6) | st.integers(0, 10**11), max_size=40))
    rows = []
    for at in itertools.accumulate(steps):
        busy = draw(st.integers(-1, 1024))
        rows.append((at, busy, draw(st.integers(max(0, busy), 1024))))
    changes = changes_of(*rows)
    return changes, START_NS + sum(steps) + draw(st.integers(0, 10**11))


@given(change_lists())
@SAME_PATH
def test_what_is_written_is_read(tmp_path: Path, written: tuple[Changes, int]) -> None:
    changes, until_ns = written
    path = str(tmp_path / "trace")
    write_trace(path, header_of(), changes, until_ns, overwrite=True)
    trace = read_trace(path)
    assert trace.header == header_of()
    assert as_rows(trace.changes) == as_rows(changes)
    assert trace.until_ns == until_ns
    assert trace.missing is None
    assert trace.ending is not None
    assert trace.ending["changes"] == len(changes)


@given(change_lists(), st.lists(st.integers(0, 40), max_size=6))
@SAME_PATH
def test_stretches_follow_one_another_and_know_how_they_begin(
    tmp_path: Path, written: tuple[Changes, int], cuts: list[int]
) -> None:
    changes, until_ns = written
    path = str(tmp_path / "trace")
    with TraceWriter(path, header_of(), overwrite=True) as writer:
        edges = sorted({min(cut, len(changes)) for cut in cuts} | {0, len(changes)})
        for first, last in itertools.pairwise(edges):
            part = changes[first:last]
            writer.append(part, int(part["time_ns"][-1]))
        writer.append(changes[:0], until_ns)
    at_ns, busy = START_NS, UNSEEN
    with TraceReader(path) as reader:
        for stretch in reader:
            assert stretch.start_ns == at_ns
            assert stretch.busy == busy
            at_ns = stretch.until_ns
            busy = int(stretch.changes["busy"][-1]) if len(stretch.changes) else busy
    assert at_ns == until_ns
    assert as_rows(read_trace(path).changes) == as_rows(changes)


def waits_until(end_ns: int) -> Dispatches:
    return Dispatches(
        START_NS + end_ns, waits=((0, 7), (2048, 1)), runs=((512, 3), (70_000, 5)), lent=False
    )


def small_trace(path: Path) -> bytes:
    changes = changes_of((5, 1), (900, 2, 3), (2000, -1), (5000, 0))
    with TraceWriter(str(path), header_of()) as writer:
        writer.append(changes[:2], START_NS + 1500)
        writer.append_dispatches(waits_until(4000))
        writer.append(changes[2:], START_NS + 9000)
    return path.read_bytes()


def test_a_trace_cut_anywhere_is_refused_and_its_beginning_can_be_had(tmp_path: Path) -> None:
    whole = small_trace(tmp_path / "whole")
    cut = tmp_path / "cut"
    lengths = []
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(TraceError):
            read_trace(str(cut))
        try:
            trace = read_trace(str(cut), partial=True)
        except TraceError:
            continue  # not even a header
        assert trace.missing is not None
        assert trace.ending is None
        lengths.append(len(trace.changes))
    assert lengths == sorted(lengths)
    assert set(lengths) == {0, 2, 4}


def test_the_refusal_says_how_much_there_is_and_how_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(small_trace(tmp_path / "whole")[:-1])
    with pytest.raises(
        TraceError, match=r"breaks off after 0.0 s; --partial reads the part before"
    ):
        read_trace(str(path))


def test_no_flipped_bit_goes_unnoticed(tmp_path: Path) -> None:
    whole = small_trace(tmp_path / "whole")
    damaged = tmp_path / "damaged"
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(changed)
        with pytest.raises(TraceError):
            read_trace(str(damaged))


@given(st.data())
@SAME_PATH
def test_arbitrary_records_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    """Also those whose checksums are right, as a foreign writer might make them."""
    from smartharvest.lab.trace.format import FRAME, MAGIC, PREFIX, pack_record

    path = tmp_path / "made"
    payloads = st.binary(max_size=60) | st.builds(
        lambda head, tail: struct.pack("<qqIHH", *head) + tail,
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.integers(-(2**63), 2**63 - 1),
            st.integers(0, 2**32 - 1) | st.integers(0, 4),
            st.integers(0, UNSEEN),
            st.integers(0, UNSEEN),
        ),
        st.sampled_from([b"", b"x\x9c\x03\x00\x00\x00\x00\x01"]) | st.binary(max_size=20),
    )
    kinds = st.sampled_from([b"HEAD", b"DATA", b"WAIT", b"DONE", b"????"])
    records = data.draw(st.lists(st.tuples(kinds, payloads), max_size=4))
    header = pack_record(b"HEAD", data.draw(st.sampled_from(HEADERS)))
    junk = data.draw(st.binary(max_size=FRAME.size + 3))
    path.write_bytes(
        PREFIX.pack(MAGIC, 2) + header + b"".join(pack_record(*one) for one in records) + junk
    )
    for partial in (False, True):
        with contextlib.suppress(TraceError):
            trace = read_trace(str(path), partial=partial)
            assert trace.until_ns >= trace.header.start_ns


HEADERS = [
    b'{"cores": 4, "poll_ns": 50000, "start_ns": 1000000000}',
    b'{"cores": 4, "poll_ns": 50000, "start_ns": 1000000000, "more": [1]}',
    b'{"cores": 0, "poll_ns": 50000, "start_ns": 1000000000}',
    b'{"cores": true, "poll_ns": 50000, "start_ns": 1}',
    b'{"cores": 4, "poll_ns": 1e9, "start_ns": 1}',
    b'{"cores": 4, "poll_ns": 1, "start_ns": 1, "primaries": {"a": 1}}',
    b'{"cores": 4, "poll_ns": 1, "start_ns": 1, "primaries": [1]}',
    b'{"cores": 4, "poll_ns": 1, "start_ns": 1, "host": 5}',
    b'{"cores": 4}',
    b"[" * 100_000,
    b"[]",
    b"\xff",
    b"",
]


@given(st.binary(max_size=200))
@SAME_PATH
def test_bytes_that_are_no_trace_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    for partial in (False, True):
        with pytest.raises(TraceError, match="is no trace"):
            read_trace(str(path), partial=partial)


def test_a_record_that_inflates_to_more_than_it_says_is_refused(tmp_path: Path) -> None:
    import zlib

    from smartharvest.lab.trace.format import pack_record

    bomb = struct.pack("<qqIHH", START_NS, START_NS + 10, 1, 0, 0) + zlib.compress(bytes(10**7))
    path = tmp_path / "bomb"
    with TraceWriter(str(path), header_of()):
        pass
    whole = path.read_bytes()
    end = whole.index(b"DONE")
    path.write_bytes(whole[:end] + pack_record(b"DATA", bomb) + whole[end:])
    with pytest.raises(TraceError, match="another length than it says"):
        read_trace(str(path))


def test_waits_come_with_the_stretch_in_which_they_end(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    small_trace(path)
    with TraceReader(str(path)) as reader:
        assert reader.tells_waits
        assert [stretch.dispatches for stretch in reader] == [(), (waits_until(4000),)]


def test_a_trace_of_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "first"
    with TraceWriter(str(path), header_of()) as writer:
        writer.append(changes_of((5, 1)), START_NS + 9000)
    content = bytearray(path.read_bytes())
    content[8] = 1
    path.write_bytes(content)
    with TraceReader(str(path)) as reader:
        assert not reader.tells_waits
        assert [as_rows(stretch.changes) for stretch in reader] == [[(START_NS + 5, 1, 1)]]


@pytest.mark.parametrize(
    "seen",
    [
        Dispatches(0, waits=(), runs=()),
        Dispatches(1, waits=((5, 1), (5, 1)), runs=()),
        Dispatches(1, waits=((5, 0),), runs=()),
        Dispatches(1, waits=(), runs=((-1, 2),)),
    ],
)
def test_waits_that_cannot_be_are_not_written(tmp_path: Path, seen: Dispatches) -> None:
    with (
        TraceWriter(str(tmp_path / "trace"), header_of()) as writer,
        pytest.raises(ValueError, match="waits"),
    ):
        writer.append_dispatches(seen)


def test_waits_out_of_order_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "trace")
    with TraceWriter(path, header_of()) as writer:
        writer.append_dispatches(waits_until(4000))
        writer.append_dispatches(waits_until(4000))
    with pytest.raises(TraceError, match="waits are out of order"):
        read_trace(path)


def test_another_version_is_refused_by_name(tmp_path: Path) -> None:
    whole = bytearray(small_trace(tmp_path / "whole"))
    whole[8] = 9
    path = tmp_path / "later"
    path.write_bytes(whole)
    with pytest.raises(TraceError, match="of version 9 of the format; this program reads 1 and 2"):
        read_trace(str(path), partial=True)


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read_trace(str(tmp_path / "none"))
    with pytest.raises(TraceError, match="cannot be read: Is a directory"):
        read_trace(str(tmp_path))


def test_a_trace_is_not_written_over_unless_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "trace")
    write_trace(path, header_of(), changes_of(), START_NS)
    with pytest.raises(TraceError, match="exists already"):
        write_trace(path, header_of(), changes_of(), START_NS)
    write_trace(path, header_of(), changes_of((5, 1)), START_NS + 5, overwrite=True)
    assert len(read_trace(path).changes) == 1


@pytest.mark.parametrize(
    "changes",
    [
        changes_of((5, 1), (4, 1)),
        changes_of((-5, 1)),
        changes_of((5, 1025)),
        np.array([(START_NS, 2, 1)], CHANGE),
        np.array([(START_NS, UNSEEN, 1)], CHANGE),
        np.array([(START_NS, 1, UNSEEN)], CHANGE),
    ],
    ids=["backwards", "before the start", "too many", "demand below busy", "unseen", "unseen too"],
)
def test_changes_that_cannot_be_are_not_written(tmp_path: Path, changes: Changes) -> None:
    path = str(tmp_path / "trace")
    with pytest.raises(ValueError, match=r"changes|core counts|busy cores"):
        write_trace(path, header_of(), changes, START_NS + 10)
    with pytest.raises(TraceError, match="no end mark"):
        read_trace(path)


@pytest.mark.parametrize("values", [{"cores": 0}, {"cores": 1025}, {"start_ns": 0}])
def test_a_header_that_cannot_be_is_not_made(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="is not in"):
        replace(Header(cores=1, poll_ns=0, start_ns=1), **values)  # type: ignore[arg-type]


def test_a_writer_that_fails_leaves_whole_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "trace")
    writer = TraceWriter(path, header_of())
    writer.append(changes_of((5, 1)), START_NS + 1000)

    class Full:
        """The disk has no room for another record, but for the end mark."""

        def __init__(self, file: object) -> None:
            self.file = file

        def write(self, record: bytes) -> int:
            if bytes(record[:4]) == b"DATA":
                os.write(self.fileno(), record[:7])
                raise OSError(28, os.strerror(28))
            return os.write(self.fileno(), record)

        def fileno(self) -> int:
            number: int = self.file.fileno()  # type: ignore[attr-defined]
            return number

        def close(self) -> None:
            self.file.close()  # type: ignore[attr-defined]

    monkeypatch.setattr(writer, "_file", Full(writer._file))
    with pytest.raises(TraceError, match=r"No space left on device; it ends after 0\.0 s"):
        writer.append(changes_of((2000, 0)), START_NS + 3000)
    trace = read_trace(path)
    assert as_rows(trace.changes) == [(START_NS + 5, 1, 1)]
    assert trace.ending is not None
    assert trace.ending["reason"] == "No space left on device"
