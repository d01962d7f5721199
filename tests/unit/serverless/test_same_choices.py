"""The simulator's balancers (C) and the pure ones (Python) make the same choices."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.core import _serverless
from smartharvest.serverless.balancers import BALANCER_NAMES, Balancer, make_balancer
from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.view import CAREFUL, Function, Worker, home_hash

MOST_WORKERS = 7
FUNCTIONS = [Function("resize", 128), Function("train", 1024), Function("json", 0)]
OPTIONS = {
    "fresh_s": CAREFUL.fresh_s,
    "lost_s": CAREFUL.lost_s,
    "fill": 1.0,
    "grow_at": 1.0,
    "forget_s": 300.0,
    "cold_cost": 0.0,
}
STATES = st.fixed_dictionaries(
    {
        "cores": st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 8.0]),
        "min_cores": st.sampled_from([0.0, 1.0, 2.0]),
        "load": st.integers(0, 9).map(float),
        "age_s": st.sampled_from([0.0, 1.0, 3.0, 7.3, 12.0, 15.0, 99.0, float("inf")]),
        "notice": st.integers(0, 5).map(lambda n: n == 0),
        "warm": st.sets(st.sampled_from([one.name for one in FUNCTIONS])),
        "busy_memory_mib": st.sampled_from([0.0, 512.0, 1920.0, 2048.0]),
    }
)
STEPS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, MOST_WORKERS - 1), STATES, max_size=MOST_WORKERS),
        st.lists(st.integers(0, len(FUNCTIONS) - 1), min_size=1, max_size=8),
        st.sampled_from([0.0, 0.5, 5.0, 40.0, 301.0]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize(
    ("name", "cold_cost"),
    [*((name, 0.0) for name in BALANCER_NAMES), ("mws", 4.0), ("jsq", 4.0)],
)
@settings(max_examples=40, derandomize=True)
@given(steps=STEPS, seed=st.integers(0, 2**63 - 1))
def test_both_choose_the_same_workers_from_whatever_they_know(
    name: str,
    cold_cost: float,
    steps: list[tuple[dict[int, dict[str, object]], list[int], float]],
    seed: int,
) -> None:
    draw = _serverless.Random(seed, 3).below
    match name, cold_cost:
        case "mws", 4.0:
            ours: Balancer = MinWorkerSet(cold_cost=cold_cost)
        case "jsq", 4.0:
            ours = ShortestQueue(draw, cold_cost=cold_cost)
        case _:
            ours = make_balancer(name, draw)
    options = {**OPTIONS, "cold_cost": cold_cost}
    theirs = _serverless.Balancer(name, len(FUNCTIONS), MOST_WORKERS, seed, 3, **options)
    now_s = 100.0
    for states, asked, passed_s in steps:
        now_s += passed_s
        workers = {slot: _worker(slot, state, now_s) for slot, state in states.items()}
        for number in asked:
            function = FUNCTIONS[number]
            by_name = {str(slot): worker for slot, worker in workers.items()}
            chosen = ours.choose(function, by_name, now_s)
            slot = theirs.choose(
                number,
                home_hash(function.name),
                function.memory_mib,
                workers,
                now_s,
                function.name,
            )
            assert chosen == (None if slot is None else str(slot))
            if slot is not None:
                workers[slot].load += 1.0
                workers[slot].busy_memory_mib += function.memory_mib


def _worker(slot: int, state: dict[str, object], now_s: float) -> Worker:
    values = dict(state)
    age_s, notice = values.pop("age_s"), values.pop("notice")
    return Worker(
        str(slot),
        memory_mib=2048.0,
        reported_s=now_s - age_s,  # type: ignore[operator]
        eviction_s=now_s + 30.0 if notice else None,
        **values,  # type: ignore[arg-type]
    )


def test_the_pure_balancers_have_the_settings_that_the_simulator_passes() -> None:
    defaults = MinWorkerSet.__init__.__kwdefaults__
    assert defaults is not None
    assert {**defaults, "caution": CAREFUL} == {
        "caution": CAREFUL,
        **{key: OPTIONS[key] for key in ("fill", "grow_at", "forget_s", "cold_cost")},
    }
