"""Pools: the paper's distributions, and records of real machines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._serverless import ARRIVES, EVICTED, NOTICED, RESIZED
from smartharvest.errors import ConfigError, TraceError
from smartharvest.serverless.simulator.churn import (
    ACTIVE_INTERVALS,
    CHURN_NAMES,
    DAY_S,
    HOUR_S,
    INTERVALS,
    LIFETIMES,
    make_pool,
    quantile,
)
from smartharvest.serverless.simulator.churn_file import read_churn
from smartharvest.serverless.simulator.pool import Pool, parse_workers
from tests.audit_lines import decision

FLEET = "id,cores,memory,start,end,priority\n"
SHARES = (np.arange(100_000) + 0.5) / 100_000


def kinds(pool: Pool) -> list[int]:
    return [int(kind) for kind in pool.changes["kind"]]


def record(path: Path, text: str, size: str = "2x8") -> Pool:
    path.write_text(text)
    return read_churn(str(path), parse_workers(size), 0, 3600.0, 30.0)


# --- the paper's distributions ----------------------------------------------------------------


def test_intervals_between_changes_are_the_papers() -> None:
    interval_s = quantile(INTERVALS, SHARES)
    assert (interval_s > 600.0).mean() == pytest.approx(0.70, abs=0.01)
    assert (interval_s > HOUR_S).mean() == pytest.approx(0.35, abs=0.01)
    assert interval_s.mean() == pytest.approx(17.8 * HOUR_S, rel=0.02)


def test_lifetimes_are_the_papers() -> None:
    lifetime_s = quantile(LIFETIMES, SHARES)
    assert (lifetime_s > DAY_S).mean() == pytest.approx(0.90, abs=0.01)
    assert (lifetime_s > 30 * DAY_S).mean() == pytest.approx(0.60, abs=0.01)
    assert lifetime_s.mean() == pytest.approx(61.5 * DAY_S, rel=0.02)


def test_changes_are_of_the_papers_size_and_symmetric() -> None:
    size = parse_workers("200x20")  # between 5 and 35 cores: 30 apart
    changes = make_pool("active", size, 0, 4 * HOUR_S, 30.0, 1).changes
    steps = []
    for slot in np.unique(changes["slot"]):
        mine = changes[(changes["slot"] == slot) & (changes["kind"] <= RESIZED)]
        steps += list(np.diff(mine["value"]))
    assert np.abs(steps).max() <= 30
    assert 8 <= np.abs(steps).mean() <= 13  # those that find no room that way are smaller
    assert abs(np.mean(steps)) < 0.5


@pytest.mark.parametrize("churn", CHURN_NAMES)
def test_all_pools_have_as_many_cores_to_begin_with(churn: str) -> None:
    for text in ("20x8", "7x5", "1x1"):
        size = parse_workers(text)
        changes = make_pool(churn, size, 0, 600.0, 30.0, 5).changes
        first = changes[(changes["kind"] == ARRIVES) & (changes["at_ns"] == 0)]
        assert first["value"].sum() == size.count * size.cores


def test_an_active_cluster_changes_far_more_than_a_normal_one() -> None:
    size = parse_workers("50x8")
    normal, active = (make_pool(name, size, 0, HOUR_S, 30.0, 1) for name in ("normal", "active"))
    assert kinds(active).count(RESIZED) > 20 * max(1, kinds(normal).count(RESIZED))
    assert kinds(active).count(EVICTED) > kinds(normal).count(EVICTED)
    assert quantile(INTERVALS, np.array(ACTIVE_INTERVALS)) == pytest.approx(HOUR_S)


@given(
    churn=st.sampled_from(CHURN_NAMES), count=st.integers(1, 9), cores=st.integers(1, 40),
    seed=st.integers(0, 10_000),
)  # fmt: skip
def test_what_happens_to_a_worker_makes_sense(
    churn: str, count: int, cores: int, seed: int
) -> None:
    size = parse_workers(f"{count}x{cores}")
    pool = make_pool(churn, size, 0, 6 * HOUR_S, 30.0, seed)
    assert np.all(np.diff(pool.changes["at_ns"]) >= 0)
    for slot in range(len(pool.min_cores)):
        mine = pool.changes[pool.changes["slot"] == slot]
        assert mine["kind"][0] == ARRIVES
        cores_had = mine["value"][mine["kind"] <= RESIZED]
        assert np.all(cores_had >= pool.min_cores[slot])
        assert np.all(cores_had <= size.max_cores)
        noticed, evicted = (mine["at_ns"][mine["kind"] == k] for k in (NOTICED, EVICTED))
        assert len(noticed) == len(evicted) <= 1
        if len(evicted):
            assert evicted[0] - noticed[0] <= 30 * 10**9 + 1
            assert evicted[0] == mine["at_ns"][-1]


@pytest.mark.parametrize("text", ["", "20", "0x8", "20x0", "-1x8", "20x8x0", "x", "1e9x1", "9x9x"])
def test_a_pool_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^workers: "):
        parse_workers(text)


def test_memory_follows_the_cores_unless_it_is_given() -> None:
    assert parse_workers("20x8").memory_gib == 32.0
    assert parse_workers("20x8x12.5g").memory_gib == 12.5


# --- records ----------------------------------------------------------------------------------


def test_a_csv_of_cores_over_time_is_a_record(tmp_path: Path) -> None:
    pool = record(
        tmp_path / "cores.csv",
        "seconds,worker,cores\n0,a,8\n0,b,4\n60,a,3\n120,b,evicted\n300,b,6\n",
    )
    assert kinds(pool) == [ARRIVES, ARRIVES, RESIZED, NOTICED, EVICTED, ARRIVES]
    assert list(pool.changes["at_ns"] // 10**9) == [0, 0, 60, 90, 120, 300]
    assert list(pool.min_cores) == [3, 4, 4]


def test_only_as_many_workers_as_asked_for_are_taken(tmp_path: Path) -> None:
    pool = record(tmp_path / "c.csv", "seconds,worker,cores\n0,a,8\n0,b,4\n0,c,2\n")
    assert len(pool.min_cores) == 2


def test_a_fleets_table_is_a_record_of_its_evictable_machines(tmp_path: Path) -> None:
    pool = record(
        tmp_path / "fleet.csv",
        "id,cores,memory,start,end,priority\nr,64,9,0,9999,0\n"
        "a,8,9,100,400,1\nb,4,9,100,,1\nc,6,9,500,700,1\n",
    )
    assert kinds(pool) == [ARRIVES, ARRIVES, NOTICED, EVICTED, ARRIVES, NOTICED, EVICTED]
    assert list(pool.changes["at_ns"] // 10**9) == [0, 0, 270, 300, 400, 570, 600]


def test_an_agents_audit_log_is_a_record_for_every_worker(tmp_path: Path) -> None:
    lines = [decision(1000.0 + 10 * i, i % 3) for i in range(61)]
    text = "".join(['{"t": 1000.0, "kind": "started"}\n', *lines, '{"t": 16'])
    pool = record(tmp_path / "audit.jsonl", text)
    first = pool.changes[pool.changes["at_ns"] == 0]
    assert list(first["kind"]) == [ARRIVES, ARRIVES]
    assert set(pool.changes["value"]) == {0, 1, 2}
    assert pool.changes["at_ns"][-1] > 3000 * 10**9, "it is repeated"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense\n",
        "seconds,worker,cores\n",
        "seconds,worker,cores\n0,a,x\n",
        "seconds,worker,cores\n0,a,-1\n",
        "seconds,worker,cores\n0,a,nan\n",
        "seconds,worker,cores\n5,a,1\n1,a,2\n",
        "seconds,worker,cores\n0,a,evicted\n",
        "seconds,worker,cores\n9,a,4\n",
        "id,cores,start,end\na,1,5,1\n",
        "id,cores,start,end\na,1\n",
        f"{FLEET}a,1,1,5,1,1\n",
        f"{FLEET}a,1\n",
        f"{FLEET}a,2000,1,5,7,1\n",
        f"{FLEET}a,2,1,5,2e12,1\n",
        f"{FLEET}a,2,1,5,2e12,0\nb,1,1,5,7,1\n",
        decision(1, 1),
        '{"t": 1}\n{"t": 2}\n',
        '{"t": "x"}\n[]\n{}\n',
        decision(1, -1) + decision(2, 1) + "{}\n",
        decision(1, 2000) + decision(3000, 1),
        decision(1, 1) + decision(1.0001, 2) + decision(1.0002, 1),
    ],
)
def test_what_is_no_record_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(TraceError, match="record: "):
        record(tmp_path / "record", text)
