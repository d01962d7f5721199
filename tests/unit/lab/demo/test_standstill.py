from __future__ import annotations

import itertools

import pytest

from smartharvest.core._demo import StandstillWatch
from smartharvest.lab.demo.standstill import LEAST_LATE_NS, Standstills, common, touched

MS = 1_000_000


def test_only_what_all_cpus_missed_at_once_is_a_standstill() -> None:
    first = [(0, 20 * MS), (100 * MS, 140 * MS), (200 * MS, 230 * MS)]
    second = [(5 * MS, 25 * MS), (50 * MS, 80 * MS), (110 * MS, 150 * MS)]
    assert common([first, second]) == [(5 * MS, 20 * MS), (110 * MS, 140 * MS)]
    assert common([first]) == first
    assert common([first, []]) == []
    assert common([]) == []


def test_gaps_that_hardly_overlap_are_none() -> None:
    assert common([[(0, 20 * MS)], [(20 * MS - LEAST_LATE_NS, 40 * MS)]]) == []


def test_a_request_is_touched_if_it_lasts_into_a_standstill_or_begins_in_its_aftermath() -> None:
    still = [(100, 150)]
    assert touched(10, 100, still)
    assert touched(120, 121, still)
    assert touched(200, 201, still)
    assert not touched(201, 300, still)
    assert not touched(10, 99, still)


def test_a_watch_on_a_cpu_that_is_not_there_sees_nothing_and_says_so() -> None:
    with Standstills([1_000_000]) as standstills:
        assert not standstills.watched
        assert standstills.so_far() == []


def test_a_watch_needs_a_cpu() -> None:
    with pytest.raises(ValueError, match="no CPUs"):
        StandstillWatch([], 1, 1)


@pytest.mark.timing
@pytest.mark.root
def test_every_wake_up_that_is_late_enough_is_kept_and_the_watch_ends() -> None:
    watch = StandstillWatch([0], period_ns=100_000, least_late_ns=-1)
    try:
        while len(watch.gaps()[0]) < 1024:
            pass
    finally:
        watch.stop()
    (gaps,) = watch.gaps()
    assert len(gaps) == 1024
    assert all(until_ns - from_ns >= 100_000 for from_ns, until_ns in gaps)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(gaps))
