"""How many spans were how long, held against a list of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._spans import SpanCounts

LONGEST_NS = 60_000_000_000
WIDTH = 2 ** (1 / 16)
"""Of a bucket over which a span is spread."""
COARSE = 2 ** (1 / 6)
"""The same of a delay, to the middle of a quarter of an octave."""
SPANS = st.lists(st.tuples(st.integers(2_000, LONGEST_NS), st.integers(1, 1000)), min_size=1)
SECONDS = st.lists(st.tuples(st.integers(2_000, 10**10), st.integers(1, 1000)), min_size=1)


def counted(*spans: tuple[int, float]) -> SpanCounts:
    counts = SpanCounts()
    counts.add(spans)
    return counts


@given(SPANS, st.floats(2_000, LONGEST_NS))
def test_as_many_are_longer_as_in_the_list(spans: list[tuple[int, int]], limit_ns: float) -> None:
    least = sum(count for ns, count in spans if ns > limit_ns * WIDTH)
    most = sum(count for ns, count in spans if ns > limit_ns / WIDTH)
    counts = counted(*spans)
    assert least - 1e-6 <= counts.beyond(limit_ns) <= most + 1e-6
    assert counts.total == sum(count for _, count in spans)


@given(SPANS, st.sampled_from([0.5, 0.95, 0.99, 0.999]))
def test_beyond_a_quantile_is_its_share(spans: list[tuple[int, int]], q: float) -> None:
    counts = counted(*spans)
    ns = counts.quantile_ns(q)
    assert counts.beyond(ns) == pytest.approx((1 - q) * counts.total, abs=1e-6 * counts.total)


@given(SPANS, SPANS)
def test_what_is_taken_away_leaves_nothing_behind(
    stay: list[tuple[int, int]], go: list[tuple[int, int]]
) -> None:
    counts = counted(*stay, *go)
    counts.add(go, -1)
    left = counted(*stay)
    assert counts.total == left.total
    assert all(counts.beyond(2.0**i) == left.beyond(2.0**i) for i in range(9, 37))


def test_all_fade_alike_and_are_forgotten_at_once() -> None:
    counts = counted((100_000, 8))
    counts.scale(0.25)
    assert (counts.total, counts.beyond(1_000)) == (2, 2)
    counts.clear()
    assert (counts.total, counts.beyond(0), counts.quantile_ns(0.5)) == (0, 0, 0)


@given(SPANS)
def test_by_time_each_counts_by_how_long_it_is(spans: list[tuple[int, int]]) -> None:
    counts = counted(*spans).by_time(1.0)
    whole_ns = sum(ns * count for ns, count in spans)
    for limit_ns, _ in spans:
        least = sum(ns * count for ns, count in spans if ns > limit_ns * WIDTH)
        most = sum(ns * count for ns, count in spans if ns > limit_ns / WIDTH)
        share = counts.beyond(limit_ns) / counts.total
        assert least / whole_ns / 1.1 - 1e-6 <= share <= most / whole_ns * 1.1 + 1e-6


def test_by_time_the_longest_are_left_out() -> None:
    counts = counted((100_000, 95), (1_000_000_000, 5)).by_time(0.95)
    assert counts.beyond(200_000) == pytest.approx(0, abs=1e-6)
    assert counts.total == pytest.approx(9_500_000, rel=0.02)


def test_by_time_nothing_is_nothing() -> None:
    assert SpanCounts().by_time(0.95).total == 0


@given(SECONDS, SECONDS, st.integers(1, 10**10))
def test_delayed_each_is_longer_by_one_of_the_delays(
    spans: list[tuple[int, int]], delays: list[tuple[int, int]], limit_ns: int
) -> None:
    def beyond(width: float) -> float:
        return sum(
            count * times
            for ns, count in spans
            for delay_ns, times in delays
            if (ns + delay_ns) * width > limit_ns
        ) / sum(times for _, times in delays)

    found = counted(*spans).beyond(limit_ns, counted(*delays))
    assert beyond(1 / COARSE) - 1e-6 <= found <= beyond(COARSE) + 1e-6


@given(SECONDS, SECONDS, st.floats(0.05, 0.95))
def test_delayed_a_quantile_is_what_the_others_are_beyond(
    spans: list[tuple[int, int]], delays: list[tuple[int, int]], q: float
) -> None:
    counts, by = counted(*spans), counted(*delays)
    left = (1 - q) * counts.total
    quantile_ns = counts.quantile_ns(q, by)
    assert counts.beyond(quantile_ns * 1.001, by) <= left + 1e-6
    assert counts.beyond(quantile_ns / 1.001, by) >= left - 1e-6


def test_delayed_by_nothing_they_are_as_they_were() -> None:
    counts = counted((100_000, 95), (1_000_000, 5))
    assert counts.beyond(200_000, SpanCounts()) == counts.beyond(200_000)
    assert counts.quantile_ns(0.9, SpanCounts()) == counts.quantile_ns(0.9)
    assert SpanCounts().quantile_ns(0.9, counts) == 0


@given(SPANS, st.floats(0, 1))
def test_the_longest_are_a_share_of_all(spans: list[tuple[int, int]], share: float) -> None:
    counts = counted(*spans)
    longest = counts.longest(share)
    assert longest.total == pytest.approx(share * counts.total, abs=1e-6)
    for ns, _ in spans:
        least, most = (min(counts.beyond(ns * by), longest.total) for by in (WIDTH, 1))
        assert least - 1e-6 <= longest.beyond(ns) <= most + 1e-6


@pytest.mark.parametrize("ns", [0, 1, 100, 10**15])
def test_beyond_the_table_they_count_as_its_ends(ns: int) -> None:
    counts = counted((ns, 3))
    assert counts.total == 3
    assert counts.beyond(0) == 3
    assert counts.beyond(1e18) == 0
