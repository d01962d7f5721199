"""The simulated workers: known answers, and laws that every run keeps."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.core import _serverless
from smartharvest.core._serverless import ARRIVES, EVICTED, NOTICED, RESIZED
from smartharvest.serverless.balancers import BALANCER_NAMES
from smartharvest.serverless.simulator.mix import built_in_mix
from smartharvest.serverless.simulator.pool import parse_workers
from smartharvest.serverless.simulator.report import document
from smartharvest.serverless.simulator.run import Experiment, Outcome, simulate
from tests.unit.serverless.test_same_choices import OPTIONS

S = 1_000_000_000


def small(**changes: Any) -> dict[str, Any]:
    """One worker of one core, one function, two invocations of a second each at 0."""
    return {
        "kind": "jsq",
        "options": OPTIONS,
        "controllers": 1,
        "seed": 1,
        "retries": 0,
        "report_ns": S,
        "keep_alive_ns": 600 * S,
        "measure_until_ns": 60 * S,
        "give_up_ns": 600 * S,
        "changes": [(0, ARRIVES, 1.0)],
        "memory_mib": [1024.0],
        "function_memory_mib": [128.0],
        "cold_s": [0.0],
        "regular": [0],
        "idempotent": [0],
        "arrivals": [(0.0, 0, 1.0), (0.0, 0, 1.0)],
        "worker_regular": None,
        **changes,
    }


def play(**changes: Any) -> dict[str, Any]:
    """``changes``: (slot, kind, value[, at_s]); ``arrivals``: (at_s, function, work_s)."""
    run = small(**changes)
    events = np.zeros(len(run["changes"]), _serverless.CHANGE)
    for i, (slot, kind, value, *at_s) in enumerate(run.pop("changes")):
        events[i] = (round((at_s[0] if at_s else 0.0) * S), value, slot, kind)
    arrivals = run.pop("arrivals")
    memory = np.array(run.pop("memory_mib"), float)
    regular = run.pop("worker_regular")
    functions = len(run["function_memory_mib"])
    return _serverless.run(
        changes=events,
        worker_memory_mib=memory,
        worker_min_cores=np.ones(len(memory)),
        worker_regular=np.array(regular or [0] * len(memory), np.uint8),
        function_hash=np.arange(functions, dtype=np.uint32),
        function_memory_mib=np.array(run.pop("function_memory_mib"), float),
        function_cold_ns=np.array([round(one * S) for one in run.pop("cold_s")], np.int64),
        function_regular=np.array(run.pop("regular"), np.uint8),
        function_idempotent=np.array(run.pop("idempotent"), np.uint8),
        arrival_ns=np.array([round(at_s * S) for at_s, _, _ in arrivals], np.int64),
        function=np.array([function for _, function, _ in arrivals], np.uint32),
        work_ns=np.array([round(work_s * S) for _, _, work_s in arrivals], np.int64),
        **run,
    )


def ends_s(result: dict[str, Any]) -> list[float]:
    return [round(float(end) / S, 6) for end in result["end_ns"]]


# --- processor sharing ------------------------------------------------------------------------


def test_one_invocation_takes_its_work_however_many_cores_there_are() -> None:
    assert ends_s(play(changes=[(0, ARRIVES, 8.0)], arrivals=[(0, 0, 1.5)])) == [1.5]


def test_two_invocations_share_a_core() -> None:
    assert ends_s(play()) == [2.0, 2.0]


def test_the_shorter_of_two_goes_first_and_the_other_has_the_core_then() -> None:
    assert ends_s(play(arrivals=[(0, 0, 1.0), (0, 0, 3.0)])) == [2.0, 4.0]


def test_an_invocation_that_comes_later_slows_the_first() -> None:
    assert ends_s(play(arrivals=[(0, 0, 2.0), (1, 0, 2.0)])) == [3.0, 4.0]


def test_cores_that_come_speed_up_what_runs() -> None:
    result = play(changes=[(0, ARRIVES, 1.0), (0, RESIZED, 2.0, 1.0)])
    assert ends_s(result) == [1.5, 1.5]


def test_cores_that_go_slow_down_what_runs() -> None:
    result = play(changes=[(0, ARRIVES, 2.0), (0, RESIZED, 1.0, 0.5)])
    assert ends_s(result) == [1.5, 1.5]


def test_nothing_goes_on_without_cores() -> None:
    result = play(changes=[(0, ARRIVES, 2.0), (0, RESIZED, 0.0, 0.5), (0, RESIZED, 2.0, 10.5)])
    assert ends_s(result) == [11.0, 11.0]


def test_cores_had_and_used_are_counted_while_it_is_measured() -> None:
    result = play(changes=[(0, ARRIVES, 4.0)], measure_until_ns=10 * S)
    assert result["core_ns"][0] == pytest.approx(40 * S)
    assert result["busy_core_ns"][0] == pytest.approx(2 * S)


# --- cold starts and memory -------------------------------------------------------------------


def test_a_cold_start_takes_time_and_a_warm_one_does_not() -> None:
    result = play(cold_s=[0.5], arrivals=[(0, 0, 1.0), (5, 0, 1.0)])
    assert ends_s(result) == [1.5, 6.0]
    assert list(result["cold"]) == [1, 0]


def test_an_instance_is_not_kept_for_ever() -> None:
    result = play(keep_alive_ns=3 * S, arrivals=[(0, 0, 1.0), (5, 0, 1.0), (8, 0, 1.0)])
    assert list(result["cold"]) == [1, 1, 0]


def test_without_memory_for_another_instance_an_invocation_waits() -> None:
    result = play(changes=[(0, ARRIVES, 4.0)], memory_mib=[128.0])
    assert ends_s(result) == [1.0, 2.0]
    assert list(result["cold"]) == [1, 0]


def test_the_instance_that_is_idle_longest_makes_room() -> None:
    result = play(
        memory_mib=[256.0],
        function_memory_mib=[128.0] * 3,
        cold_s=[0.0] * 3,
        regular=[0] * 3,
        idempotent=[0] * 3,
        arrivals=[(at, f, 0.5) for at, f in enumerate([0, 1, 0, 2, 0, 1])],
    )
    assert list(result["cold"]) == [1, 1, 0, 1, 0, 1]


# --- evictions --------------------------------------------------------------------------------

NOTICED_AT_1 = [
    *((0, ARRIVES, 4.0), (0, NOTICED, 30.0, 1.0)),
    *((1, ARRIVES, 4.0, 5.0), (0, EVICTED, 0.0, 31.0)),
]
TWO = {"memory_mib": [1024.0, 1024.0]}


def test_what_ends_within_the_notice_is_not_lost() -> None:
    assert ends_s(play(changes=NOTICED_AT_1, arrivals=[(0, 0, 30.5)], **TWO)) == [30.5]


def test_what_outlives_the_notice_fails() -> None:
    result = play(changes=NOTICED_AT_1, arrivals=[(0, 0, 40.0)], **TWO)
    assert list(result["end_ns"]) == [-1]
    assert list(result["attempts"]) == [1]


@pytest.mark.parametrize("kind", ["mws", "jsq", "p2c"])
def test_a_notice_drains_a_worker(kind: str) -> None:
    result = play(kind=kind, changes=NOTICED_AT_1, arrivals=[(3, 0, 1.0), (6, 0, 1.0)], **TWO)
    assert list(result["worker"]) == [1, 1]
    assert ends_s(result) == [6.0, 7.0]


def test_vanilla_sends_on_to_a_worker_with_a_notice() -> None:
    result = play(kind="vanilla", changes=NOTICED_AT_1, arrivals=[(3, 0, 40.0)], **TWO)
    assert list(result["end_ns"]) == [-1]


def test_what_waits_for_memory_is_handed_back_at_the_notice() -> None:
    changes = [(0, ARRIVES, 1.0), (1, ARRIVES, 1.0, 1.5), (0, NOTICED, 30.0, 2.0),
               (0, EVICTED, 0.0, 32.0)]  # fmt: skip
    result = play(changes=changes, memory_mib=[128.0, 128.0], arrivals=[(0, 0, 9.0), (1, 0, 1.0)])
    assert result["handed_back"] == 1
    assert ends_s(result) == [9.0, 3.0]


def test_an_idempotent_function_is_tried_again_from_the_start() -> None:
    result = play(changes=NOTICED_AT_1, arrivals=[(0, 0, 40.0)], idempotent=[1], retries=1, **TWO)
    assert ends_s(result) == [71.0]
    assert result["retried"] == 1


def test_one_that_is_not_idempotent_is_never_tried_again() -> None:
    result = play(changes=NOTICED_AT_1, arrivals=[(0, 0, 40.0)], retries=9, **TWO)
    assert list(result["end_ns"]) == [-1]
    assert result["retried"] == 0


def test_retries_come_to_an_end() -> None:
    changes = [(0, ARRIVES, 1.0), (0, EVICTED, 0.0, 1.0), (1, ARRIVES, 1.0, 1.0),
               (1, EVICTED, 0.0, 2.0), (2, ARRIVES, 1.0, 2.0)]  # fmt: skip
    result = play(
        changes=changes, memory_mib=[128.0] * 3, arrivals=[(0, 0, 5.0)], idempotent=[1], retries=1
    )
    assert list(result["end_ns"]) == [-1]
    assert list(result["attempts"]) == [2]


def test_functions_that_need_regular_workers_run_there_alone() -> None:
    result = play(
        changes=[(0, ARRIVES, 4.0), (1, ARRIVES, 4.0)],
        memory_mib=[1024.0] * 2,
        worker_regular=[0, 1],
        function_memory_mib=[128.0] * 2,
        cold_s=[0.0] * 2,
        regular=[0, 1],
        idempotent=[0] * 2,
        arrivals=[(0, 0, 1.0), (0, 1, 1.0), (0, 0, 1.0), (0, 1, 1.0)],
    )
    assert list(result["worker"]) == [0, 1, 0, 1]


def test_with_every_worker_gone_invocations_wait_for_the_next() -> None:
    result = play(changes=[(0, ARRIVES, 1.0, 7.0)], arrivals=[(0, 0, 1.0)])
    assert ends_s(result) == [8.0]


def test_what_never_finishes_ends_the_run_all_the_same() -> None:
    result = play(changes=[(0, ARRIVES, 0.0)])
    assert list(result["end_ns"]) == [-1, -1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"arrivals": []},
        {"arrivals": [(0, 1, 1.0)]},
        {"arrivals": [(0, 0, 0.0)]},
        {"arrivals": [(1, 0, 1.0), (0, 0, 1.0)]},
        {"changes": []},
        {"changes": [(1, ARRIVES, 1.0)]},
        {"report_ns": 0},
        {"cold_s": [0.0, 0.0]},
    ],
)
def test_arrays_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"lengths|unknown|ascend|attempt"):
        play(**wrong)


# --- laws -------------------------------------------------------------------------------------


def experiment(**changes: Any) -> Experiment:
    defaults = {"size": parse_workers("6x4"), "minutes": 2.0, "rps": 20.0, "churn": "active"}
    return Experiment(workload=built_in_mix(0.5), **{**defaults, **changes})


@pytest.mark.parametrize("balancer", BALANCER_NAMES)
def test_the_same_seed_gives_the_same_document(balancer: str) -> None:
    first, second = (document(simulate(experiment(balancer=balancer))) for _ in range(2))
    assert first == second


def test_another_seed_gives_another() -> None:
    assert document(simulate(experiment())) != document(simulate(experiment(seed=2)))


def test_every_balancer_meets_the_same_invocations() -> None:
    drawn = [simulate(experiment(balancer=name)).invocations for name in BALANCER_NAMES]
    for other in drawn[1:]:
        assert np.array_equal(drawn[0].arrival_ns, other.arrival_ns)
        assert np.array_equal(drawn[0].work_ns, other.work_ns)


@settings(max_examples=15, derandomize=True)
@given(
    balancer=st.sampled_from(BALANCER_NAMES),
    churn=st.sampled_from(["dedicated", "normal", "active"]),
    strategy=st.sampled_from(["no-failures", "bounded-failures", "live-and-let-die"]),
    workers=st.sampled_from(["2x1", "3x2x4", "8x8"]),
    rps=st.sampled_from([0.5, 10.0, 60.0]),
    controllers=st.integers(1, 3),
    retries=st.integers(0, 2),
    seed=st.integers(0, 1000),
)
def test_every_invocation_has_one_end_and_none_is_faster_than_its_work(**chosen: Any) -> None:
    size = parse_workers(chosen.pop("workers"))
    outcome = simulate(
        experiment(**chosen, size=size, minutes=0.5, idempotent_share=0.5, report_s=2.0)
    )
    finished = outcome.finished
    took_ns = outcome.end_ns - outcome.invocations.arrival_ns
    assert np.all(took_ns[finished] >= outcome.invocations.work_ns[finished] - 2)
    figures = document(outcome)
    failures = figures["failures"]
    assert failures["evicted"] + failures["unfinished"] == len(finished) - finished.sum()
    assert figures["cores_used"] <= figures["cores"] + 1e-6
    assert figures["cost"] <= figures["prices"]["all_regular"] * (1 + 1e-9)
    assert 1 <= figures["workers_per_function"] <= figures["workers"]["ever"]
    _cores_are_conserved(outcome)


def _cores_are_conserved(outcome: Outcome) -> None:
    """Used core seconds are at most what all attempts may have taken."""
    work_s = outcome.invocations.work_ns / 1e9
    cold_s = outcome.experiment.workload.cold_s[outcome.invocations.function]
    tries = outcome.attempts.astype(float) + 1.0
    assert outcome.busy_core_s.sum() <= ((work_s + cold_s) * tries).sum() + 1e-3


def test_min_worker_set_keeps_functions_on_fewer_workers_than_the_shortest_queue() -> None:
    calm = {"churn": "dedicated", "minutes": 5.0, "size": parse_workers("10x4")}
    mws, jsq = (simulate(experiment(balancer=name, **calm)) for name in ("mws", "jsq"))
    assert mws.workers_per_function < jsq.workers_per_function / 2
    assert mws.cold.mean() <= jsq.cold.mean()


def test_no_failures_has_none_when_half_the_workers_are_evicted(tmp_path: Path) -> None:
    rows = [f"0,{i},8" for i in range(12)]
    rows += [f"{120 + 30 * minute},{i},evicted" for minute, i in enumerate(range(6))]
    path = tmp_path / "storm.csv"
    path.write_text("\n".join(["seconds,worker,cores", *rows]))
    stormy = experiment(
        strategy="no-failures",
        balancer="jsq",
        minutes=5.0,
        rps=60.0,
        size=parse_workers("12x8"),
        churn=str(path),
    )
    careless = dataclasses.replace(stormy, strategy="live-and-let-die")
    safe, lost = document(simulate(stormy)), document(simulate(careless))
    assert safe["evictions"] > 0
    assert lost["evictions"] == 6
    assert lost["failures"]["evicted"] > 0
    assert safe["failures"]["evicted"] == 0
    assert safe["cost"] > lost["cost"]


@pytest.mark.parametrize("strategy", ["no-failures", "bounded-failures"])
def test_a_shorter_notice_keeps_more_functions_on_regular_workers(strategy: str) -> None:
    chosen = experiment(strategy=strategy, minutes=1.0, size=parse_workers("12x8"))
    kept = [
        simulate(dataclasses.replace(chosen, notice_s=notice_s)).regular
        for notice_s in (5.0, 30.0, 300.0)
    ]
    assert kept[0] > kept[1] > kept[2] == frozenset()


def test_a_worker_that_comes_after_the_run_is_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    rows = ["seconds,worker,cores", "0,a,8", "30,b,8", "3000,c,8"]
    path.write_text("\n".join(rows))
    late = experiment(churn=str(path), size=parse_workers("3x8"), minutes=1.0)
    assert document(simulate(late))["workers"]["ever"] == 2


def test_dedicated_workers_neither_change_nor_go() -> None:
    outcome = simulate(experiment(churn="dedicated", strategy="no-failures"))
    assert outcome.evictions == 0
    assert outcome.core_s.sum() == pytest.approx(6 * 4 * 120)
