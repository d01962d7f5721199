"""What a trace leaves is counted exactly, and the same seed gives the same run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.csv_tables import read_nodes, write_table
from smartharvest.fleet.free_time import FreeTime, rectangles
from smartharvest.fleet.placement import NO_NODE, WAYS
from smartharvest.fleet.pool import HARVEST, SPOT, Kind, Lives, Pool, parse_harvest, parse_spot
from smartharvest.fleet.simulation import Plan, Run, Timeline, simulate
from smartharvest.fleet.summary import summarise
from smartharvest.fleet.tables import DAY_S, Allocations, Constraints
from tests.commands import smartharvest_here

HOUR = 3600.0


def table(
    *rows: tuple[float, float, float, float | None],
    until_s: float | None = None,
    constraints: dict[int, Constraints] | None = None,
) -> Allocations:
    """Rows of cores, GiB, start and end in hours."""
    cores, memory, start = (np.array([float(row[i] or 0) for row in rows]) for i in range(3))
    end = np.array([math.inf if row[3] is None else row[3] * HOUR for row in rows])
    times = [*(start * HOUR), *end[np.isfinite(end)]]
    return Allocations(
        [f"vm-{i}" for i in range(len(rows))], cores, memory, start * HOUR, end,
        np.zeros(len(rows), dtype=np.int64), max(times) if until_s is None else until_s,
        constraints or {},
    )  # fmt: skip


def test_regular_vms_are_placed_or_rejected_and_leave() -> None:
    rows = table((4, 4, 0, 2), (6, 4, 1, 3), (4, 4, 2, 4), (8, 8, 3, 4), (2, 2, 3, 4))
    run = simulate(rows, read_nodes("1x8c16g"), Plan())
    assert run.placed_on.tolist() == [0, NO_NODE, 0, NO_NODE, 0]
    assert (run.placed, run.rejected) == (3, 2)


def test_the_rest_is_filled_and_the_eviction_counted() -> None:
    # 8 cores; a VM of 8 takes all of them from hour 4 to hour 6, one of 3 from hour 8 to hour 10.
    rows = table((8, 1, 4, 6), (3, 1, 8, 10))
    result = summarise(simulate(rows, read_nodes("1x8c16g"), Plan()))
    assert result["regular"] == {"placed": 2, "rejected": 0, "mean_cores": pytest.approx(2.2)}
    assert result["unallocated"]["mean_cores"] == pytest.approx(5.8)
    # Free for an hour: 8 x 3 h from hour 0, 8 x 1 h from hour 6, 5 of 4 h throughout.
    assert result["unallocated"]["1h"] == pytest.approx((8 * 3 + 3 * 1 + 5 * 3) / 9)
    assert result["harvest"]["vms"] == 2
    assert result["harvest"]["evictions"] == 1
    assert result["harvest"]["mean_extra_cores"] == pytest.approx((7 * 4 + 7 * 2 + 4 * 2) / 8)
    assert result["spot"]["vms"] == 16
    assert result["spot"]["evictions"] == 8 + 3
    assert result["spot"]["mean_extra_cores"] == 0
    assert result["ratio"] == pytest.approx(8)


def test_harvest_vms_have_their_most_and_share_a_node() -> None:
    rows = table((2, 1, 0, 10))
    plan = Plan(harvest=Kind(1, 4, 2))
    run = simulate(rows, read_nodes("1x16c16g"), plan)
    assert len(run.harvest.born_s) == 2
    assert run.harvest.mean_extra_cores == pytest.approx(3)
    run = simulate(rows, read_nodes("1x16c16g"), Plan(harvest=Kind(1, 40, 2)))
    assert run.harvest.mean_extra_cores == pytest.approx(6)


def test_memory_limits_the_vms_if_it_is_asked_for() -> None:
    rows = table((2, 8, 0, 10))
    run = simulate(rows, read_nodes("1x16c40g"), Plan(spot=Kind(1, 1, memory_gib=16)))
    assert len(run.spot.born_s) == 2


def test_half_a_core_is_nobodys() -> None:
    run = simulate(table((2.5, 1, 0, 10)), read_nodes("1x8c16g"), Plan())
    assert len(run.spot.born_s) == 5
    assert run.harvest.mean_extra_cores == pytest.approx(4)


def test_days_count_from_their_begin_and_know_what_ran_before() -> None:
    rows = table((4, 1, 0, 36), (2, 1, 30, 40), (2, 1, 60, 70))
    run = simulate(rows, read_nodes("1x8c16g"), Plan(days=(1, 2)))
    assert (run.placed, run.rejected) == (1, 0)
    assert run.timelines[0].times_s.tolist() == [24 * HOUR, 30 * HOUR, 36 * HOUR, 40 * HOUR]
    assert run.timelines[0].cores.tolist() == [4, 2, 6, 8]
    assert run.timelines[0].vms.tolist() == [1, 2, 1, 0]
    assert run.harvest.born_s.tolist() == [24 * HOUR]


@pytest.mark.parametrize("days", [(3, 3), (5, 4), (-1, 2), (0, 4)])
def test_days_beyond_the_trace_are_refused(days: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match="--days"):
        simulate(table((1, 1, 0, 72)), read_nodes("1x8c16g"), Plan(days=days))


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ConfigError, match="random"):
        simulate(table((1, 1, 0, 72)), read_nodes("1x8c16g"), Plan(place="random"))


def test_a_vm_that_ends_as_it_starts_holds_nothing() -> None:
    run = simulate(table((4, 1, 1, 1), (8, 1, 1, 2)), read_nodes("1x8c16g"), Plan())
    assert run.placed == 2
    assert run.timelines[0].cores.tolist() == [8, 0]


def test_what_leaves_and_what_comes_at_one_moment_is_one_change() -> None:
    rows = table((3, 1, 0, 5), (3, 1, 5, 10))
    result = summarise(simulate(rows, read_nodes("1x8c16g"), Plan()))
    assert (result["spot"]["vms"], result["spot"]["evictions"]) == (5, 0)
    assert result["harvest"]["mean_extra_cores"] == 4


def test_first_fit_decreasing_orders_what_comes_at_once() -> None:
    rows = table((2, 2, 0, 1), (5, 5, 0, 1), (3, 3, 0, 1), (6, 6, 0, 1))
    run = simulate(rows, read_nodes("2x8c8g"), Plan(place="ffd-sum"))
    assert run.placed_on.tolist() == [0, 1, 1, 0]
    assert simulate(rows, read_nodes("2x8c8g"), Plan(place="first-fit")).rejected == 1


def test_anti_affinity_holds_in_a_simulation() -> None:
    lonely = Constraints({"app": "db"}, anti_affinity={"app": "db"})
    rows = table(*[(1, 1, 0, 5)] * 3, constraints=dict.fromkeys(range(3), lonely))
    run = simulate(rows, read_nodes("2x8c8g"), Plan())
    assert sorted(run.placed_on.tolist()) == [NO_NODE, 0, 1]


def random_table(seed: int, n: int = 120) -> Allocations:
    random = Random(seed)
    rows = []
    for _ in range(n):
        start = random.uniform(0, 90)
        ends = None if random.random() < 0.1 else start + random.expovariate(0.1)
        rows.append((random.choice([0.5, 1, 2, 4, 6]), random.choice([1, 4, 8]), start, ends))
    return table(*rows, until_s=100 * HOUR)


def what_is_left(rows: Allocations, run: Run, node: int, at_s: float) -> float:
    here = run.placed_on == node
    there = here & (rows.start_s <= at_s) & (at_s < rows.end_s)
    return float(run.nodes.cores[node] - rows.cores[there].sum())


@pytest.mark.parametrize("way", WAYS)
def test_no_node_is_ever_overfull_and_timelines_say_what_is_left(way: str) -> None:
    rows = random_table(5)
    run = simulate(rows, read_nodes("4x8c24g"), Plan(place=way))
    for node, timeline in enumerate(run.timelines):
        assert (timeline.cores >= -1e-9).all()
        assert (timeline.memory_gib >= -1e-9).all()
        for at_s, cores in zip(timeline.times_s, timeline.cores, strict=True):
            assert cores == pytest.approx(what_is_left(rows, run, node, at_s), abs=1e-6)


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    rows, nodes = random_table(7), read_nodes("3x8c24g")
    results = [json.dumps(summarise(simulate(rows, nodes, Plan(seed=s)))) for s in (1, 1, 2)]
    assert results[0] == results[1]
    first, second = (simulate(rows, nodes, Plan(seed=s)).spot.born_s for s in (1, 2))
    assert first.tolist() != second.tolist()


def test_evictable_vms_are_where_there_is_room_and_only_there() -> None:
    rows = random_table(11)
    run = simulate(rows, read_nodes("4x8c24g"), Plan())
    for at_s in np.linspace(1, 99, 41) * HOUR + 0.5:
        for node in range(4):
            left = what_is_left(rows, run, node, at_s)
            for lives, most in ((run.spot, math.inf), (run.harvest, 1)):
                there = (lives.node == node) & (lives.born_s <= at_s) & (at_s < lives.died_s)
                assert there.sum() == min(most, math.floor(left + 1e-9))


steps = st.lists(
    st.tuples(st.floats(0.1, 5), st.integers(0, 6).map(float)), min_size=1, max_size=12
)


@settings(max_examples=25)
@given(steps=steps, horizon=st.floats(0, 8))
def test_what_stays_free_is_what_a_look_at_every_moment_finds(
    steps: list[tuple[float, float]], horizon: float
) -> None:
    times = np.cumsum([0.0, *(step[0] for step in steps[:-1])])
    values = np.array([step[1] for step in steps])
    until = float(times[-1] + steps[-1][0])
    heights, seconds = rectangles(times, values, until)
    area = float((np.diff(np.append(times, until)) * values).sum())
    assert float(heights @ seconds) == pytest.approx(area)
    timeline = Timeline(times, values, values, values.astype(np.int64))
    found = FreeTime([timeline], 0.0, until).mean_cores(horizon)
    if until <= horizon:
        assert found is None
        return
    moments = np.linspace(0, until - horizon, 401)
    first = np.searchsorted(times, moments, side="right") - 1
    last = np.searchsorted(times, moments + horizon, side="left")
    lowest = [values[a : max(b, a + 1)].min() for a, b in zip(first, last, strict=True)]
    assert found == pytest.approx(float(np.mean(lowest)), abs=0.4)


def lives(*rows: tuple[float, float], until_s: float = 100.0) -> Lives:
    born, died = (np.array([row[i] for row in rows]) for i in range(2))
    return Lives(np.zeros(len(rows), dtype=np.int64), born, died, 0.0, until_s, 0.0, 0.0)


@given(
    lengths=st.lists(st.floats(0.5, 50), min_size=1, max_size=10),
    horizons=st.tuples(st.floats(0, 60), st.floats(0, 60)),
)
def test_survival_falls_and_without_censoring_is_a_plain_share(
    lengths: list[float], horizons: tuple[float, float]
) -> None:
    known = lives(*[(0.0, length) for length in lengths])
    shorter, longer = sorted(horizons)
    for horizon in (shorter, longer):
        share = sum(max(0.0, one - horizon) for one in lengths) / sum(lengths)
        assert known.survival(horizon) == pytest.approx(share, abs=1e-6)
        lived = sum(one > horizon for one in lengths) / len(lengths)
        assert known.survival_from_birth(horizon) == pytest.approx(lived)
    some = lives(*[(0.0, one if i % 2 else math.inf) for i, one in enumerate(lengths)])
    assert 0 <= some.survival(longer) <= some.survival(shorter) <= 1
    assert some.survival(longer) >= known.survival(longer) - 1e-9


def test_those_still_there_at_the_end_are_no_deaths() -> None:
    assert lives((0.0, math.inf), (90.0, math.inf)).survival(50.0) == 1
    assert lives((0.0, math.inf), (90.0, math.inf)).survival_from_birth(50.0) == 1
    assert lives((0.0, 1.0), (1.0, math.inf)).survival(50.0) > 0.9
    assert lives((0.0, 1.0), (1.0, math.inf)).survival_from_birth(50.0) == 0.5
    assert lives().survival(1.0) == 1


def test_a_pool_counts_core_seconds() -> None:
    pool = Pool(HARVEST, 1, 0.0, Random(1))
    pool.update(0, 0.0, 5.0, 0.0)
    assert (pool.count(0), pool.extra(0), pool.oldest_s(0)) == (1, 4.0, 0.0)
    pool.update(0, 10.0, 2.0, 0.0)
    pool.update(0, 20.0, 0.0, 0.0)
    assert (pool.count(0), pool.oldest_s(0)) == (0, math.inf)
    closed = pool.close(30.0, lambda _node: (0.0, 0.0))
    assert closed.extra_core_s == 50
    assert closed.vm_s == 20
    assert closed.evictions == 1


def test_kinds_are_parsed() -> None:
    assert parse_harvest("min=1,max=40,per-node=1") == HARVEST
    assert parse_harvest("min=2,memory=16") == Kind(2, 40, 1, 16)
    assert parse_spot("cores=1") == SPOT
    for text in ("min=2,max=1", "min=0", "cores=2", "per-node=1.5", "max", "min=x", "max=inf"):
        with pytest.raises(ConfigError, match="--harvest"):
            parse_harvest(text)
    with pytest.raises(ConfigError, match="--spot"):
        parse_spot("cores=-1")


@pytest.fixture
def written(tmp_path: Path) -> str:
    path = str(tmp_path / "vms.csv.gz")
    write_table(path, random_table(3))
    return path


def test_the_command_prints_the_document(written: str) -> None:
    arguments = ("fleet", "simulate", "--trace", f"table:{written}", "--nodes", "4x8c24g")
    outcome = smartharvest_here(*arguments, "--days", "0-2", "--seed", "3", "--json")
    assert outcome.code == 0
    document = json.loads(outcome.out)
    assert {"placed", "rejected"} <= document["regular"].keys()
    assert {"mean_cores", "1h", "1d"} <= document["unallocated"].keys()
    for name in ("harvest", "spot"):
        assert {"vms", "evictions", "survival", "mean_extra_cores"} <= document[name].keys()
        assert list(document[name]["survival"]) == ["1h", "1d"]
    assert document["ratio"] > 1
    outcome = smartharvest_here(*arguments, "--place", "least-harvested")
    assert outcome.code == 0
    assert "evictable VMs for each Harvest VM" in outcome.out


@pytest.mark.parametrize(
    ("more", "code"),
    [(("--nodes", "0x8c8g"), 11), (("--nodes", "2x1c24g"), 11), (("--days", "1-9"), 2),
     (("--days", "x"), 2), (("--place", "luck"), 2), (("--nodes", "lots"), 2),
     (("--harvest", "min=9,max=1"), 2)],
)  # fmt: skip
def test_bad_input_is_one_line_and_a_code(written: str, more: tuple[str, ...], code: int) -> None:
    arguments = {"--trace": f"table:{written}", "--nodes": "4x8c24g", more[0]: more[1]}
    outcome = smartharvest_here(
        "fleet", "simulate", *(x for pair in arguments.items() for x in pair)
    )
    assert outcome.code == code
    assert outcome.failure
    assert outcome.out == ""


def test_a_vm_larger_than_every_node_is_named() -> None:
    with pytest.raises(TraceError, match="vm-0: asks for 9 cores"):
        simulate(table((9, 1, 0, 5)), read_nodes("2x8c8g"), Plan())


def test_what_comes_after_the_window_need_not_fit() -> None:
    rows = table((1, 1, 0, 50), (9, 1, 40, 60))
    assert simulate(rows, read_nodes("2x8c8g"), Plan(days=(0, 1))).placed == 1
    assert rows.until_s > DAY_S
