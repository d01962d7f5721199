"""The pure parts of bench.manycore: the clock, the checks, the plan, the samples and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.manycore import held, samples
from bench.manycore.check import drift, figures_of, missed
from bench.manycore.dilation import Rate
from bench.manycore.guest import GuestEndedError
from bench.manycore.page import front, page, tables
from bench.manycore.plan import (
    CONDITIONS,
    CORE,
    EXPERIMENTS,
    QUEUE,
    next_round,
    rounds_of,
    whole_rounds,
)
from bench.manycore.serving import draw
from bench.real.bootstrap import histograms
from bench.real.primaries import PRIMARIES

D = 20.0
BY_NAME = {one.name: one for one in CONDITIONS}


def said(rates: dict[str, list[float]], p99: float = 100.0) -> list[dict[str, Any]]:
    late = {"p50": 40.0, "p90": 80.0, "p99": p99, "max": 300.0, "samples": 10}
    return [
        {"kernel": "6.12.1", "cpus": 2, "preempt": "full", "hz": 250},
        *({"clock_ns": n, "host_ns": int(n * D)} for n in (0, 1_000)),
        *({"speeds": name, "rates": found} for name, found in rates.items()),
        {"wake_us": "idle", **late},
        {"wake_us": "busy", **late},
        *({"clock_ns": n, "host_ns": int(n * D)} for n in (1_000_000, 1_001_000)),
        {"steal_s": 0.0, "complete": True},
    ]


EQUAL = {"1": [10.0, 10.0], "half": [10.0, 10.0], "all": [10.0, 10.0]}


def test_a_changed_dilation_bends_the_clock_and_does_not_step_it() -> None:
    rate = Rate(1_000, 1_000, 1_000, 1_000)
    slower = rate.changed(20.0, 5_000)
    assert [slower.at(host_ns) for host_ns in (4_000, 5_000, 5_020, 6_000)] == [
        *(4_000, 5_000, 5_001, 5_050)
    ]
    faster = slower.changed(1.0, 25_000)
    assert faster.at(25_000) == slower.at(25_000) == 6_000
    assert faster.at(26_000) == 7_000
    assert faster.at(24_000) == slower.at(24_000)


def test_an_equal_machine_misses_nothing() -> None:
    figures = figures_of(said(EQUAL), D)
    assert figures["missed"] == []
    assert figures["speed_spread"] == {"1": 0.0, "half": 0.0, "all": 0.0}
    assert figures["clock_drift"] == 0.0
    assert {"cpus", "dilation", "kernel", "wake_us"} <= figures.keys()


def test_a_cpu_that_is_faster_when_alone_shows_though_all_are_alike_at_a_time() -> None:
    figures = figures_of(said({**EQUAL, "1": [13.0, 13.0]}), D)
    assert figures["speed_spread"] == {"1": 0.1818, "half": 0.09091, "all": 0.09091}
    assert len(missed(figures)) == 3


def test_late_wake_ups_are_missed() -> None:
    assert missed(figures_of(said(EQUAL, p99=251.0), D)) == ["wake-ups are late by 251 us at P99"]


def test_a_guest_that_did_not_finish_has_no_figures() -> None:
    with pytest.raises(GuestEndedError, match="it ended after"):
        figures_of(said(EQUAL)[:-1], D)


def test_a_stamp_that_the_host_read_late_makes_no_drift() -> None:
    stamps = [(0, 500), (1_000, 20_000), (100_000, 2_000_900), (101_000, 2_020_000)]
    lines = [{"clock_ns": guest, "host_ns": host} for guest, host in stamps]
    assert drift(lines, D) == pytest.approx(0.0)


def test_each_round_has_every_condition_once_and_equal_seeds_give_equal_orders() -> None:
    conditions = [one for one in CONDITIONS if one.name in CORE]
    rounds = rounds_of(EXPERIMENTS[0], conditions, 3, 5, 1)
    assert rounds == rounds_of(EXPERIMENTS[0], conditions, 3, 5, 1)
    assert [steps[0].round for steps in rounds] == [5, 6, 7]
    for steps in rounds:
        assert {step.condition.name for step in steps} == set(CORE)
        assert len(steps) == len(CORE)
        assert len({step.seed for step in steps}) == 1
    orders = {tuple(step.condition.name for step in steps) for steps in rounds}
    assert len(orders) > 1


def test_names_are_unique_and_the_core_is_among_them() -> None:
    assert len(BY_NAME) == len(CONDITIONS)
    assert set(CORE) <= BY_NAME.keys()
    assert len({one.name for one in EXPERIMENTS}) == len(EXPERIMENTS)


def test_rounds_go_on_after_those_that_are_there() -> None:
    there = [
        {"experiment": "e", "kernel": "k", "round": number, "condition": condition}
        for number, condition in [(0, "alone"), (0, "cpu.idle"), (1, "alone")]
    ]
    assert whole_rounds(there, "e", "k", ["alone", "cpu.idle"]) == [0]
    assert next_round(there, "e", "k") == 2
    assert next_round(there, "e", "another") == 0


def test_requests_come_back_from_text_with_one_per_cent_and_in_their_blocks() -> None:
    arrival_ns = np.array([5, 10**8, 10**8 + 7, 2 * 10**8], dtype=np.int64)
    latency_ns = np.array([123_456, -1, 5_000, 3_000_000], dtype=np.int64)
    text = samples.packed(arrival_ns, latency_ns)
    blocks, back_ns = samples.unpacked(text)
    assert blocks.tolist() == [0, 10**8, 10**8, 2 * 10**8]
    assert back_ns.tolist() == pytest.approx([123_456, 5_000, -1, 3_000_000], rel=0.01)
    assert samples.packed(blocks, back_ns) == text


def test_requests_that_are_kept_have_the_histograms_of_those_measured() -> None:
    rng = np.random.default_rng(1)
    arrival_ns = rng.integers(0, 2 * 10**9, 5_000)
    latency_ns = rng.lognormal(13, 1, 5_000).astype(np.int64)
    kept = samples.unpacked(samples.packed(arrival_ns, latency_ns))
    assert np.array_equal(histograms(*kept), histograms(arrival_ns, latency_ns))


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "below" / "samples.jsonl"
    samples.append(path, [{"round": 0}, {"round": 1}])
    with path.open("a") as file:
        file.write('{"round": ')
    assert samples.read(path) == [{"round": 0}, {"round": 1}]
    assert samples.read(tmp_path / "none") == []


def test_equal_requests_are_drawn_for_equal_seeds_at_the_load_asked_for() -> None:
    asked = {"load": 0.5, "seconds": 4.0, "seed": 3, "service_us": 250.0, "gaps": False}
    first, again = (draw({**asked, "shape": [1.0]}, 8) for _ in range(2))
    assert first[0].tolist() == again[0].tolist()
    assert first[1].sum() / 1e9 == pytest.approx(0.5 * 8 * 4.0, rel=0.1)


def sample(condition: str, number: int, scale: float, units: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    arrival_ns = np.sort(rng.integers(0, 2_000_000_000, 4_000))
    latency_ns = (rng.exponential(300_000, 4_000) * scale).astype(np.int64)
    return {
        "host": "A processor",
        "timed": True,
        "experiment": EXPERIMENTS[0].name,
        "kernel": "6.12.1",
        "cpus": 8,
        "seed": number,
        "dilation": 20.0,
        "condition": condition,
        "round": number,
        "seconds": 2.0,
        "requests": samples.packed(arrival_ns, latency_ns),
        "units": units,
        "unit": 100.0,
        "batch_core_s": 4.0,
        "primary_core_s": 4_000 * 362e-6,
        "warm_up_s": 0.0,
        "harvested_cores": None,
        "short": 0,
        "long": 0,
        "agent_core_s": 0.0,
    }


MEASURED = [
    sample(name, number, scale, units)
    for number in range(5)
    for name, scale, units in [
        ("alone", 1.0, 0),
        ("cpu.idle", 2.0, 800),
        ("static half", 2.5, 400),
        ("smartharvest", 1.0, 300),
    ]
]


def in_steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != "timed"} for one in rows]


def test_the_page_begins_with_where_cpu_idle_is_enough_and_who_is_on_the_front() -> None:
    text = page(MEASURED, [figures_of(said(EQUAL), D)])
    name = EXPERIMENTS[0].name
    first, row, thin = (text.splitlines()[number] for number in (2, 6, 8))
    assert "**not protected** in 1 of 1 pairs measured here, **protected** in 0" in first
    assert row.startswith(f"| {name} | 6.12.1 | 20 | 2.0")
    assert "| not protected | cpu.idle 2." in row
    assert "smartharvest 1." in row
    assert "static half" not in row
    assert (
        f"A first look** (some row has less than 20 guest seconds or 5 rounds): {name} at" in thin
    )
    assert "All was measured on A processor." in text
    assert "| smartharvest | " in text
    assert "0.0%" in text
    assert "Alone, a request takes 100 µs of CPU beyond its work" in text  # 262 µs


def test_what_the_agent_took_in_the_warm_up_does_not_count() -> None:
    late = {**sample("adaptive", 0, 1.0, 300), "warm_up_s": 6.0, "agent_core_s": 0.4}
    assert samples.agent_cores(late) == pytest.approx(0.05)
    assert samples.as_slice(late).agent_core_s == pytest.approx(0.1)  # of two seconds


def test_requests_of_the_warm_up_do_not_count() -> None:
    late = {**sample("smartharvest", 0, 1.0, 300), "warm_up_s": 0.5}
    every, counted = (samples.as_slice(one) for one in ({**late, "warm_up_s": 0.0}, late))
    kept = every.arrival_ns >= 500_000_000
    assert 0 < kept.sum() < kept.size
    assert counted.arrival_ns.tolist() == (every.arrival_ns[kept] - 500_000_000).tolist()
    assert counted.latency_ns.tolist() == every.latency_ns[kept].tolist()


def test_a_row_says_what_loads_took_on_the_host_if_that_was_measured() -> None:
    timed = [{**one, "load_ns": 77.7} for one in MEASURED]
    assert "| 78 |" in page(timed, [])
    assert "| load ns |" not in page(MEASURED, [])


def test_the_page_says_how_slow_python_is_in_each_boot_that_has_measured_it() -> None:
    boots = [{"python_ms": 15.1, "host_python_ms": 3.4}, {"python_ms": 26.5, "host_python_ms": 3.5}]
    of_boots = [[one | times for one in MEASURED] for times in boots]
    text = " ".join(page([row for rows in of_boots for row in rows], []).split())
    assert text.count(f"by boot: 15.1 and 3.4 ms at D = {D:g}, 26.5 and 3.5 ms at D = {D:g})") == 1
    assert "a fixed piece took" not in page(MEASURED, [])


def test_work_is_in_the_cores_of_the_host_that_did_it() -> None:
    faster = [{**one, "unit": 300.0, "units": 3 * one["units"]} for one in MEASURED[10:]]
    (one,), (both,) = (tables(rows).values() for rows in (MEASURED, [*MEASURED[:10], *faster]))
    for name in ("alone", "cpu.idle", "smartharvest"):
        assert both[name]["batch_work_cores"] == one[name]["batch_work_cores"]
    assert both["cpu.idle"]["batch_work_cores"] == 4.0


def test_a_pair_measured_at_two_speeds_is_two_tables_and_two_answers() -> None:
    again = [{**one, "dilation": 100.0} for one in MEASURED]
    text = page([*MEASURED, *again], [])
    for dilation in (20, 100):
        assert f"| {EXPERIMENTS[0].name} | 6.12.1 | {dilation} | 2.0" in text
        assert f"\n## {EXPERIMENTS[0].name}, Linux 6.12.1, D = {dilation}\n" in text


def test_requests_in_steps_are_a_table_of_their_own() -> None:
    text = page([*MEASURED, *in_steps(MEASURED)], [])
    for name in (EXPERIMENTS[0].name, f"{EXPERIMENTS[0].name}, in steps"):
        assert f"| {name} | 6.12.1 | 20 | 2.0" in text
        assert f"\n## {name}, Linux 6.12.1, D = 20\n" in text


def test_a_beaten_condition_is_not_on_the_front() -> None:
    rows: dict[str, Any] = {
        name: {"to_alone": {"p99": {"ratio": late}}, "batch_work_cores": work, "batch_work": work}
        for name, late, work in [("a", 1.0, 1.0), ("b", 2.0, 3.0), ("c", 2.0, 2.0), ("d", 1.0, 0)]
    }
    assert front(rows) == ["a", "b"]


def drawn_sample(condition: str, number: int, lateness_ns: int) -> dict[str, Any]:
    """A slice whose arrivals are those that its seed draws; each request takes half a ms more."""
    experiment = EXPERIMENTS[0]
    asked = {
        "seed": number,
        "seconds": 1.0,
        "load": experiment.load,
        "gaps": experiment.gaps,
        "service_us": experiment.service_us,
        "shape": experiment.shape,
    }
    arrival_ns, service_ns = draw(asked, 4)
    return {
        **sample(condition, number, 1.0, 100),
        "cpus": 4,
        "seed": number,
        "seconds": 1.02,
        "requests": samples.packed(arrival_ns, service_ns + lateness_ns),
        "primary_core_s": arrival_ns.size * 362e-6,
        "harvested_cores": 1.5,
        "moves": 30,
    }


DRAWN = [
    drawn_sample(condition, number, lateness_ns)
    for number in range(2)
    for condition, lateness_ns in [
        ("alone", 0),
        ("cpu.idle", 500_000),
        ("fixed-buffer:1", 100_000),
        ("nice 19", 0),
        ("strict", 0),
    ]
]


def test_the_simulator_meets_the_arrivals_of_the_guest_and_equal_samples_give_equal_rows() -> None:
    rows = held.compared(DRAWN, {"cpu.idle": (1.5, 2.5)})
    assert rows == held.compared(DRAWN, {"cpu.idle": (1.5, 2.5)})
    # The simulator knows no niceness, and with one queue no class below the fair one.
    assert [row.condition for row in rows] == ["alone", "cpu.idle", "fixed-buffer:1", "strict"]
    assert {row.rounds for row in rows} == {2}
    alone, idle, lent, strict = rows
    assert list(strict.sides) == [held.GUEST, held.QUEUES]
    assert idle.interval == (1.5, 2.5)
    # Alone a third of the CPUs works: nobody waits, and the median is the service's.
    for model in (held.SHIPPED, held.QUEUES):
        assert alone.sides[model].p50_us == pytest.approx(350, rel=0.1)
        assert alone.p99_ratio[model] == 1.0
    assert idle.p99_ratio["guest"] > 1.5
    assert idle.p99_ratio[held.SHIPPED] < 1.5 < idle.p99_ratio[held.QUEUES]
    assert lent.lent
    assert lent.sides["guest"].cores == 1.5
    assert lent.sides["guest"].moves_per_s == pytest.approx(30 / 1.02)
    assert 0 < lent.sides[held.SHIPPED].cores < 3


def test_a_slice_whose_arrivals_are_not_known_is_not_simulated() -> None:
    other = {**DRAWN[0], "seed": DRAWN[0]["seed"] + 1}
    with pytest.raises(ValueError, match="requests that were measured"):
        held.arrivals_of(other, EXPERIMENTS[0])
    assert held.compared([other], {}) == []


def test_a_model_agrees_within_a_quarter_of_the_change_and_a_seventh_of_the_harvest() -> None:
    guest, near, far = (
        held.Figures(100.0, p99_us, cores, None)
        for p99_us, cores in [(1000.0, 2.0), (1200.0, 2.2), (1300.0, 2.4)]
    )
    ratios = {"guest": 3.0, held.SHIPPED: 3.4, held.QUEUES: 3.6}
    sides = {"guest": guest, held.SHIPPED: near, held.QUEUES: far}
    row = held.Row("x", 1, True, sides, ratios, (2.8, 3.5))
    assert row.agrees(held.SHIPPED) == (True, True, True, True)
    assert row.agrees(held.QUEUES) == (False, False, False, False)


def test_slices_of_half_a_second_and_a_warm_up_have_the_arrivals_that_were_sent() -> None:
    experiment = EXPERIMENTS[0]
    for seconds, warm_up_s in ((0.5, 0.0), (0.5, 0.5), (2.0, 0.5)):
        asked = {
            "seed": 7,
            "seconds": seconds + warm_up_s,
            "load": experiment.load,
            "gaps": experiment.gaps,
            "service_us": experiment.service_us,
            "shape": experiment.shape,
        }
        arrival_ns, service_ns = draw(asked, 4)
        sent = {
            **DRAWN[0],
            "seed": 7,
            "seconds": 0.97 * seconds,
            "warm_up_s": warm_up_s,
            "requests": samples.packed(arrival_ns, service_ns),
        }
        found = held.arrivals_of(sent, experiment)
        assert found.at_ns == tuple(arrival_ns.tolist())
        assert found.seconds == pytest.approx(seconds + warm_up_s)


def test_requests_of_the_warm_up_count_on_neither_side() -> None:
    slow_first = drawn_sample("strict", 1, 0)
    arrival_ns, latency_ns = samples.unpacked(slow_first["requests"])
    latency_ns = np.where(arrival_ns < 500_000_000, 50_000_000, latency_ns)
    slow_first["requests"] = samples.packed(arrival_ns, latency_ns)
    strict = next(one for one in CONDITIONS if one.name == "strict")
    assert held.measured(slow_first, strict).p99_us > 10_000
    later = {**slow_first, "seconds": 0.5, "warm_up_s": 0.5}
    assert held.measured(later, strict).p99_us < 1000


def test_each_experiment_has_a_primary_that_there_is_and_only_the_demos_is_simulated() -> None:
    assert {one.primary for one in EXPERIMENTS} <= {QUEUE, *PRIMARIES}
    real = next(one.name for one in EXPERIMENTS if one.primary != QUEUE)
    samples_of = [{**one, "experiment": real} for one in DRAWN]
    assert held.compared(samples_of, {}) == []
    text = page(samples_of, [])
    assert f"## {real}, Linux" in text
    assert "of CPU beyond its work" not in text
    assert "The simulator held against it" not in text


def test_of_two_primaries_the_page_shows_each_and_the_simulator_none() -> None:
    two = next(one for one in EXPERIMENTS if one.second)
    rounds = [
        {**one, "experiment": two.name, "second_requests": twin["requests"]}
        for one, twin in zip(MEASURED, [*MEASURED[1:], MEASURED[0]], strict=True)
    ]
    text = page(rounds, [])
    assert "with memcached at 10%, next to compute" in text
    second = text.partition("The second primary, memcached at 10%:")[2]
    assert second.count("| cpu.idle | ") == 1
    assert "The simulator held against it" not in text


def test_the_page_has_the_simulator_next_to_the_guest() -> None:
    text = page(in_steps(DRAWN), [])
    assert "## The simulator held against it" in text
    assert "| fixed-buffer:1 | " in text.partition("held against it")[2]
    assert " lent | 29.4 / " in text


def test_a_page_without_samples_claims_nothing() -> None:
    text = page([], [])
    assert "has no answer" in text
    assert "has not been checked" in text


def test_a_round_without_the_baseline_is_in_no_table() -> None:
    assert "|" not in page([one for one in MEASURED if one["condition"] != "alone"], [])
