import numpy as np
import pytest

from bench.statistics import across_rounds, compare, compare_found, ratio, summarize


def test_samples_are_pooled_and_the_spread_is_of_round_medians() -> None:
    figure = summarize([[1000, 2000, 3000], [4000, 5000, 60_000]])
    assert figure["median_us"] == 3.5
    assert figure["max_us"] == 60.0
    assert figure["spread_us"] == [2.0, 5.0]
    assert figure["samples"] == 6


def test_the_99th_percentile_leaves_out_one_sample_in_a_hundred() -> None:
    figure = summarize([[1000] * 199 + [9_000_000] * 2])
    assert figure["p99_us"] == 1.0
    assert figure["max_us"] == 9000.0


def test_rounds_may_differ_in_length() -> None:
    assert summarize([[1000], [3000, 3000, 3000]])["spread_us"] == [1.0, 3.0]


def test_a_case_stands_beside_its_floor() -> None:
    figures = compare({"ours": [[6000]], "bare": [[4000]]}, {"ours": "bare"})
    assert isinstance(figures["ours"], dict)
    assert figures["ours"]["floor"] == "bare"
    assert figures["ours"]["median_ratio"] == 1.5
    assert figures["ours"]["p99_ratio"] == 1.5
    assert isinstance(figures["bare"], dict)
    assert "floor" not in figures["bare"]


def test_there_is_no_ratio_to_a_floor_the_clock_cannot_see() -> None:
    assert ratio(1.0, 0.0) is None


def test_figures_have_four_significant_digits() -> None:
    assert summarize([[123_456.789]])["median_us"] == 123.5


@pytest.mark.parametrize(("values", "median"), [([3.0, 1.0, 2.0], 2.0), ([1.0, 2.0], 1.5)])
def test_what_a_round_has_one_of_keeps_its_extremes(values: list[float], median: float) -> None:
    assert across_rounds(values) == {"median": median, "spread": [min(values), max(values)]}


def test_rounds_and_cases_without_a_sample_are_left_out() -> None:
    none, some = np.array([], dtype=np.int64), np.array([2000], dtype=np.int64)
    found = compare_found({"a": [some, none], "b": [none, none], "floor": [some, some]}, "floor")
    assert found.keys() == {"a", "floor"}
    assert found["a"]["median_ratio"] == 1.0  # type: ignore[index]
    alone = compare_found({"a": [some], "floor": [none]}, "floor")
    assert "floor" not in alone["a"]  # type: ignore[operator]
