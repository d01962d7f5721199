from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median

import pytest

from smartharvest.lab.demo.traffic import (
    BURST_REQUESTS_PER_CPU,
    QUIET_NS,
    SERVICE_MEDIAN_NS,
    TAIL_NS,
    draw_traffic,
)

LONG_S = 60.0


def quiet_gaps_ns(arrival_ns: list[int]) -> list[int]:
    return [b - a for a, b in pairwise([0, *arrival_ns]) if b - a >= QUIET_NS[0]]


def test_equal_arguments_draw_equal_traffic_and_another_seed_draws_other() -> None:
    assert draw_traffic(2.0, 2, seed=5) == draw_traffic(2.0, 2, seed=5)
    assert draw_traffic(2.0, 2, seed=5) != draw_traffic(2.0, 2, seed=6)


def test_arrivals_ascend_within_the_slice_and_leave_its_ends_quiet() -> None:
    arrival_ns = list(draw_traffic(2.0, 2, seed=1).arrival_ns)
    assert arrival_ns == sorted(arrival_ns)
    assert arrival_ns[0] >= QUIET_NS[0]
    assert arrival_ns[-1] < 2_000_000_000 - TAIL_NS


def test_every_request_has_work_of_about_the_service_time() -> None:
    traffic = draw_traffic(LONG_S, 2, seed=1)
    assert len(traffic.service_ns) == len(traffic.arrival_ns)
    assert min(traffic.service_ns) > 0
    assert median(traffic.service_ns) == pytest.approx(SERVICE_MEDIAN_NS, rel=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_more_than_two_fifths_of_the_time_lie_in_quiet_gaps(seed: int) -> None:
    gaps = quiet_gaps_ns(list(draw_traffic(LONG_S, 2, seed).arrival_ns))
    assert 0.4 <= sum(gaps) / (LONG_S * 1e9) <= 0.6


@pytest.mark.parametrize("cpus", [2, 8])
def test_on_periods_load_every_cpu_to_a_quarter_up_to_a_third(cpus: int) -> None:
    traffic = draw_traffic(LONG_S, cpus, seed=3)
    on_ns = LONG_S * 1e9 - sum(quiet_gaps_ns(list(traffic.arrival_ns)))
    assert 0.25 <= sum(traffic.service_ns) / on_ns / cpus <= 0.35


def test_bursts_send_several_requests_for_each_cpu_at_once() -> None:
    at_once = Counter(draw_traffic(LONG_S, 2, seed=3).arrival_ns).values()
    bursts = [count for count in at_once if count > 2]
    low, high = BURST_REQUESTS_PER_CPU
    assert {min(bursts), max(bursts)} == {2 * low, 2 * high}


def test_a_slice_too_short_for_its_quiet_ends_has_no_requests() -> None:
    assert len(draw_traffic(0.1, 2, seed=1).arrival_ns) == 0
