from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smartharvest.algorithm.policy.base import Spans
from smartharvest.algorithm.policy.strain import Strain
from tests.unit.algorithm.policy.dispatches import period


def test_nothing_seen_is_no_strain() -> None:
    strain = Strain()
    assert (strain.inflation(0.5), strain.run_ns(0.99), strain.dispatches) == (0.0, 0.0, 0.0)
    assert strain.waits_beyond(0) == 0.0


def test_run_times_are_known_to_a_bucket() -> None:
    strain = Strain()
    strain.observe(period(1, runs={100: 900, 3000: 100}))
    assert strain.run_ns(0.5) == pytest.approx(100_000, rel=0.1)
    assert strain.run_ns(0.99) == pytest.approx(3_000_000, rel=0.1)


def test_waits_of_nothing_raise_nothing() -> None:
    strain = Strain()
    strain.observe(period(1))
    assert strain.inflation(0.5) == pytest.approx(0, abs=0.003)
    assert strain.inflation(0.99) == pytest.approx(0, abs=0.003)


def test_a_wait_of_everybody_adds_up() -> None:
    strain = Strain()
    strain.observe(period(1, waits={500: 1000}))
    assert strain.inflation(0.5) == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("q", [0.5, 0.99])
@pytest.mark.parametrize(("share", "wait_us"), [(0.05, 100), (0.2, 60), (0.02, 2000)])
def test_it_foretells_what_random_waits_do_to_random_runs(
    q: float, share: float, wait_us: int
) -> None:
    rng = np.random.default_rng(1)
    runs = rng.lognormal(np.log(60), 1.0, 100_000)
    waits = np.where(rng.random(100_000) < share, wait_us, 0)
    counted: dict[int, int] = {}
    for run in np.ceil(runs).astype(int).tolist():
        counted[run] = counted.get(run, 0) + 1
    strain = Strain()
    waited = int((waits > 0).sum())
    strain.observe(period(1, waits={0: 100_000 - waited, wait_us: waited}, runs=counted))
    true = np.quantile(runs + waits, q) / np.quantile(runs, q) - 1
    assert strain.inflation(q) == pytest.approx(true, abs=0.02 + 0.15 * true)


def test_what_was_long_ago_counts_less() -> None:
    strain = Strain(half_life_ns=100_000_000)
    strain.observe(period(1, waits={500: 1000}))
    strain.observe(period(2))
    assert strain.waits_beyond(100_000) == pytest.approx(1 / 3)
    for number in range(3, 20):
        strain.observe(period(number))
    assert strain.waits_beyond(100_000) < 0.001


def handed_over(waits: dict[int, int], woken_by_own: int) -> Strain:
    """Of a thousand threads, about half of which take 15 us, the others 500."""
    spans = Spans(((600_000, 1_000),), (), woken_by_own=woken_by_own)
    strain = Strain()
    strain.observe(replace(period(1, waits, runs={15: 520, 500: 480}), spans=(spans,)))
    return strain


def test_where_tasks_wake_each_other_their_sum_takes_the_medians_place() -> None:
    strain = handed_over({0: 800, 50: 200}, woken_by_own=490)
    assert strain.wakes_itself
    together = strain.inflation(0.5, together=True)
    assert together == pytest.approx(10 / 230, rel=0.15)
    longer = strain.inflation(0.5, held_up=0.1, delay_ns=100_000, together=True)
    assert longer == pytest.approx(20 / 230, rel=0.15)
    assert strain.inflation(0.5) > 3 * together
    assert strain.inflation(0.99, together=True) == strain.inflation(0.99)
    assert not handed_over({0: 800, 50: 200}, woken_by_own=390).wakes_itself


@pytest.mark.parametrize(("before", "after"), [(90_000, 90), (0, 900)])
def test_how_many_they_woke_long_ago_counts_less(before: int, after: int) -> None:
    strain = Strain()
    strain.observe(
        replace(period(1), spans=(Spans(((600_000, 100_000),), (), woken_by_own=before),))
    )
    assert strain.wakes_itself is (before > after)
    for number in range(2, 60):
        spans = Spans(((600_000, 1_000),), (), woken_by_own=after)
        strain.observe(replace(period(number), spans=(spans,)))
    assert strain.wakes_itself is (after > before)
