"""Traces become sound tables, or one line that says what is wrong and where."""

from __future__ import annotations

import contextlib
import gzip
import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet import csv_rows
from smartharvest.fleet.csv_tables import read_nodes, read_table, write_table
from smartharvest.fleet.sources import read_trace
from smartharvest.fleet.tables import (
    EVICTABLE,
    Allocations,
    Constraints,
    check_allocations,
    too_large,
)
from tests.commands import smartharvest_here

HEADER = "id,cores,memory,start,end,priority\n"
GOOD = HEADER + "a,2,4,0,10,0\nb,1.5,0,5,,evictable\na,2,4,10,20,regular\n"
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n"
    "p0,12000,16384,1,1000,,LS,Running,0,500,0\n"
    "p1,500,512,0,0,,BE,Failed,90,120,100\n"
    "p2,6000,1024,0,0,,LS,Pending,100,300,\n"
)


def written(tmp_path: Path, text: str, name: str = "table.csv") -> str:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_is_read_plain_or_gzipped(tmp_path: Path, name: str) -> None:
    table = read_trace("table:" + written(tmp_path, GOOD, name))
    assert list(table.ids) == ["a", "b", "a"]
    assert table.cores.tolist() == [2, 1.5, 2]
    assert table.end_s.tolist() == [10, math.inf, 20]
    assert table.priority.tolist() == [0, EVICTABLE, 0]
    assert table.until_s == 20


WRONG = {
    "a hole": (HEADER + "a,2,,0,10,0\n", "memory is empty"),
    "a missing cell": (HEADER + "a,2,4,0,10\n", "has 5 cells"),
    "no id": (HEADER + ",2,4,0,10,0\n", "id is missing or empty"),
    "no column": ("id,cores,start,end\na,1,0,1\n", "has no column memory"),
    "no end": ("id,cores,memory,start\na,1,0,1\n", "has no column end"),
    "overlapping ids": (HEADER + "a,2,4,0,10,0\na,2,4,9,20,0\n", "twice at 9 s"),
    "a censored id again": (HEADER + "a,2,4,0,,0\na,2,4,9,20,0\n", "twice at 9 s"),
    "a negative start": (HEADER + "a,2,4,-1,10,0\n", "start is negative"),
    "a negative end": (HEADER + "a,2,4,0,-1,0\n", "end is negative"),
    "an end before the start": (HEADER + "a,2,4,5,3,0\n", "end is before start"),
    "no cores": (HEADER + "a,0,4,5,6,0\n", "cores must be above 0"),
    "negative memory": (HEADER + "a,1,-4,5,6,0\n", "memory must be 0 or more"),
    "no number": (HEADER + "a,one,4,5,6,0\n", "cores is no number"),
    "not finite": (HEADER + "a,nan,4,5,6,0\n", "no finite number"),
    "a strange priority": (HEADER + "a,1,4,5,6,7\n", "priority is '7'"),
    "nothing": (HEADER, "has no rows"),
    "no time": (HEADER + "a,1,1,0,,0\n", "lasts no time"),
    "columns twice": ("id,id\na,b\n", "the same name"),
    "bytes": ("\x00\x01\n\xff\n", "id is missing"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_refused_in_one_line(tmp_path: Path, what: str) -> None:
    text, why = WRONG[what]
    with pytest.raises(TraceError, match=why) as caught:
        read_table(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_cut_off_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode())[:-9])
    with pytest.raises(TraceError, match="is no table"):
        read_table(str(path))


def test_a_file_beyond_the_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("table.csv", "table.csv.gz"):
        path = written(tmp_path, GOOD.replace("a,", "ä,"), name)
        monkeypatch.setattr(csv_rows, "MOST_BYTES", len(GOOD) + 2)
        assert len(read_table(path)) == 3
        monkeypatch.setattr(csv_rows, "MOST_BYTES", len(GOOD) + 1)
        with pytest.raises(TraceError, match="has more than"):
            read_table(path)


@given(text=st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_bytes(HEADER.encode() + text)
    with contextlib.suppress(TraceError):
        read_table(str(path))


def test_openb_gives_what_was_scheduled(tmp_path: Path) -> None:
    table = read_trace("openb:" + written(tmp_path, PODS, "pods.csv.gz"))
    assert list(table.ids) == ["p0", "p1"]
    assert table.cores.tolist() == [12, 0.5]
    assert table.memory_gib.tolist() == [16, 0.5]
    assert table.end_s.tolist() == [math.inf, 120]
    assert table.priority.tolist() == [0, EVICTABLE]
    assert table.until_s == 500


def test_a_table_is_no_list_of_pods(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no list of openb's pods"):
        read_trace("openb:" + written(tmp_path, GOOD))


def packing_trace(tmp_path: Path) -> str:
    path = tmp_path / "packing.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript("""
            CREATE TABLE vm (vmId, tenantId, vmTypeId, priority, starttime, endtime);
            CREATE TABLE vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic);
            INSERT INTO vmType VALUES (1, 1, 7, .5, .25, 0, 0, 0), (2, 2, 7, .25, .25, 0, 0, 0),
                (3, 1, 8, .125, .125, 0, 0, 0);
            INSERT INTO vm VALUES (0, 0, 1, 0, -3, -1), (1, 0, 1, 0, -1, 2), (2, 0, 2, 1, 1, NULL),
                (3, 0, 2, 0, 2, 80);
        """)
    database.close()
    return str(path)


def test_azures_packing_trace_is_read_as_of_one_machine(tmp_path: Path) -> None:
    path = packing_trace(tmp_path)
    table = read_trace(f"azure:{path},cores=32,memory=128")
    assert list(table.ids) == ["vm-1", "vm-2", "vm-3"]
    assert table.cores.tolist() == [16, 8, 8]
    assert table.memory_gib.tolist() == [32, 32, 32]
    assert table.start_s.tolist() == [0, 86400, 2 * 86400]
    assert table.end_s.tolist() == [2 * 86400, math.inf, 80 * 86400]
    assert table.until_s == 2 * 86400
    assert read_trace(f"azure:{path},machine=8").cores.tolist() == [8]
    with pytest.raises(TraceError, match="no request for machine 9"):
        read_trace(f"azure:{path},machine=9")


def test_what_is_no_packing_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no packing trace"):
        read_trace("azure:" + written(tmp_path, GOOD))
    with pytest.raises(TraceError, match="no such file"):
        read_trace(f"azure:{tmp_path}/none")
    with pytest.raises(ConfigError, match="no option"):
        read_trace("azure:file,disk=2")


@pytest.mark.parametrize("spec", ["", "pods.csv", "excel:pods.xls", "table:"])
def test_an_unknown_format_is_wrong_usage(spec: str) -> None:
    with pytest.raises(ConfigError, match="is no trace"):
        read_trace(spec)


def test_nodes_are_a_shape_or_a_file(tmp_path: Path) -> None:
    nodes = read_nodes("12x64c256g")
    assert len(nodes) == 12
    assert nodes.ids[3] == "node-03"
    assert nodes.capacity[0].tolist() == [64, 256]
    nodes = read_nodes(written(tmp_path, "id,cores,memory,labels\nx,8,32,zone=a;disk=ssd\n"))
    assert nodes.labels == [{"zone": "a", "disk": "ssd"}]
    nodes = read_nodes(written(tmp_path, "sn,cpu_milli,memory_mib,gpu,model\nx,8000,2048,0,\n"))
    assert nodes.capacity.tolist() == [[8, 2]]


@pytest.mark.parametrize(
    ("text", "error"),
    [("0x8c16g", TraceError), ("3x0c16g", TraceError), ("big", ConfigError),
     ("/nowhere/nodes.csv", TraceError), ("9999999x1c1g", ConfigError)],
)  # fmt: skip
def test_wrong_nodes_are_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_nodes(text)


def test_two_nodes_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="two nodes"):
        read_nodes(written(tmp_path, "id,cores,memory\nx,8,32\nx,8,32\n"))


def test_a_vm_larger_than_every_node_is_refused(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, GOOD))
    with pytest.raises(TraceError, match=r"a: asks for 2 cores and 4 GiB, and no node has that"):
        too_large(table, read_nodes("3x1c8g"))
    assert not too_large(table, read_nodes("1x2c8g")).any()


def test_few_giants_of_a_public_trace_are_borne() -> None:
    n = 200
    cores = np.ones(n)
    cores[7] = 64
    times = np.arange(n, dtype=float)
    table = Allocations(
        [f"{i}" for i in range(n)], cores, np.ones(n), times, times + 5,
        np.zeros(n, dtype=np.int64), 300.0, foreign=True,
    )  # fmt: skip
    assert np.flatnonzero(too_large(table, read_nodes("2x8c8g"))).tolist() == [7]


rows = st.lists(
    st.tuples(
        st.floats(0.1, 64), st.floats(0, 512), st.floats(0, 1e6), st.floats(0, 1e6) | st.none()
    ),
    min_size=1,
    max_size=20,
)


@given(rows=rows)
@settings(max_examples=30, deadline=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, ...]]
) -> None:
    cores, memory, start = (np.array([row[i] for row in rows]) for i in range(3))
    end = np.array([math.inf if row[3] is None else row[2] + row[3] for row in rows])
    table = Allocations(
        [f"vm-{i}" for i in range(len(rows))], cores, memory, start, end,
        np.zeros(len(rows), dtype=np.int64), 2e6, {0: Constraints({"app": "db"}, {"disk": "ssd"})},
    )  # fmt: skip
    check_allocations(table, "here")
    path = str(tmp_path_factory.mktemp("round") / "table.csv.gz")
    try:
        write_table(path, table)
        again = read_table(path)
    except TraceError as error:
        assert "lasts no time" in str(error)  # noqa: PT017
        return
    for name in ("cores", "memory_gib", "start_s", "end_s"):
        np.testing.assert_allclose(getattr(again, name), getattr(table, name), rtol=1e-9)
    assert again.constraints == table.constraints


def test_only_some_rows_keep_their_constraints(tmp_path: Path) -> None:
    table = read_table(
        written(tmp_path, "id,cores,memory,start,end,selector\na,1,1,0,9,\nb,1,1,0,9,disk=ssd\n")
    )
    kept = table.only(np.array([False, True]))
    assert list(kept.ids) == ["b"]
    assert kept.constraints == {0: Constraints(selector={"disk": "ssd"})}


def test_a_trace_is_converted_whole_or_not_at_all(tmp_path: Path) -> None:
    pods, out = written(tmp_path, PODS, "pods.csv"), tmp_path / "table.csv"
    outcome = smartharvest_here("fleet", "convert", "--trace", f"openb:{pods}", "--out", str(out))
    assert outcome.code == 0
    assert out.read_text().splitlines()[1] == "p0,12,16,0,,0,500"
    before = out.read_bytes()
    bad = written(tmp_path, HEADER + "a,1,1,-5,6,0\n", "bad.csv")
    outcome = smartharvest_here("fleet", "convert", "--trace", f"table:{bad}", "--out", str(out))
    assert outcome.code == 11
    assert outcome.err.count("\n") == 1
    assert out.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {"pods.csv", "table.csv", "bad.csv"}
