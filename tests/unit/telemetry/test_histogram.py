from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.telemetry.histogram import BOUNDS_NS, add, histogram


def test_durations_are_counted_below_each_bound() -> None:
    kept = histogram(((0, 1), (1023, 2), (1024, 4), (1 << 40, 8)), 99)
    assert kept["counts"][:2] == [3, 7]
    assert set(kept["counts"][1:]) == {7}
    assert (kept["count"], kept["sum_ns"]) == (15, 99)


def test_histograms_of_one_loop_after_the_other_add_up() -> None:
    first, second = histogram(((0, 1), (1024, 4)), 5), histogram(((1024, 2),), 7)
    both = add(first, second)
    assert both == histogram(((0, 1), (1024, 6)), 12)
    assert add(None, first) == add(first, None) == first
    assert add(None, None) is None


@given(st.dictionaries(st.integers(0, 1 << 45), st.integers(1, 1000)))
def test_what_is_below_a_bound_is_below_the_next(counted: dict[int, int]) -> None:
    kept = histogram(tuple(sorted(counted.items())), 0)
    assert kept["counts"] == [
        sum(count for value, count in counted.items() if value < bound) for bound in BOUNDS_NS
    ]
