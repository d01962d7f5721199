"""Scores say which node is best, by their formulas; constraints say which are allowed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.fleet.constraints import Labelled
from smartharvest.fleet.csv_tables import read_nodes
from smartharvest.fleet.placement import (
    NO_NODE,
    WAYS,
    Cluster,
    best_fit,
    choose,
    cosine,
    dot_product,
    ffd_prod,
    ffd_sum,
    first_fit,
    fits,
    l2_norm_diff,
    l2_norm_ratio,
    least_harvested,
    worst_fit,
)
from smartharvest.fleet.tables import Constraints

REQUEST = np.array([4.0, 16.0])


def cluster(*free: tuple[float, float]) -> Cluster:
    """Nodes of 10 cores and 100 GiB."""
    made = Cluster.empty(read_nodes(f"{len(free)}x10c100g"))
    made.free[:] = np.array(free).T
    return made


def test_the_scores_are_their_formulas() -> None:
    c = cluster((10, 100), (5, 20))
    r, a = np.array([0.4, 0.16]), np.array([[1.0, 1.0], [0.5, 0.2]])
    left = (a - r).sum(axis=1)
    norms = np.sqrt((a**2).sum(axis=1)) * np.sqrt((r**2).sum())
    expected = {
        first_fit: [0, -1],
        best_fit: -left,
        worst_fit: left,
        cosine: a @ r / norms,
        dot_product: a @ r,
        l2_norm_diff: -((r - a) ** 2).sum(axis=1),
        l2_norm_ratio: (r / a).sum(axis=1),
    }
    for score, values in expected.items():
        np.testing.assert_allclose(score(REQUEST, c), values, err_msg=score.__name__)


def test_first_fit_decreasing_takes_the_largest_first() -> None:
    requests = np.array([[0.1, 0.5], [0.4, 0.4], [0.9, 0.1]])
    np.testing.assert_allclose(ffd_prod(requests), [0.05, 0.16, 0.09])
    weights = requests.mean(axis=0)
    np.testing.assert_allclose(ffd_sum(requests), requests @ weights)


def test_nothing_is_free_and_nothing_is_asked_for_without_warnings() -> None:
    c = cluster((0, 0), (10, 0))
    with np.errstate(all="raise"):
        for way in WAYS.values():
            assert np.isfinite(way.score(np.array([1.0, 0.0]), c)).all()
            assert np.isfinite(way.score(np.array([0.0, 0.0]), c)).all()


@pytest.mark.parametrize("way", WAYS)
def test_only_a_node_with_room_is_chosen(way: str) -> None:
    c = cluster((3, 100), (10, 15), (5, 50), (3.9, 100))
    assert choose(WAYS[way].score, REQUEST, c) == 2
    c.free[:] = 1.0
    assert choose(WAYS[way].score, REQUEST, c) == NO_NODE


def test_the_first_of_equal_nodes_is_chosen() -> None:
    c = cluster((5, 50), (8, 80), (5, 50))
    assert choose(best_fit, REQUEST, c) == 0
    assert choose(worst_fit, REQUEST, c) == 1
    assert choose(first_fit, REQUEST, c, np.array([False, True, True])) == 1


free = st.tuples(st.floats(0, 10), st.floats(0, 100))


@given(
    free=st.lists(free, min_size=1, max_size=12),
    request=free,
    way=st.sampled_from(sorted(WAYS)),
    barred=st.integers(0, 11),
)
def test_a_choice_is_the_best_of_those_that_fit(
    free: list[tuple[float, float]], request: tuple[float, float], way: str, barred: int
) -> None:
    c, r = cluster(*free), np.array(request)
    allowed = np.arange(len(free)) != barred
    node = choose(WAYS[way].score, r, c, allowed)
    can = fits(r, c) & allowed
    assert (node == NO_NODE) == (not can.any())
    if node != NO_NODE:
        assert can[node]
        scores = WAYS[way].score(r, c)
        assert scores[node] == scores[can].max()


def harvested(lent: list[float], age_s: list[float]) -> Cluster:
    """Nodes of which 8 cores are free; one of them is a Harvest VM's minimum."""
    c = cluster(*[(8.0, 80.0)] * len(lent))
    c.lent[:], c.age_s[:], c.minimum[:] = lent, age_s, 1.0
    return c


def test_ours_spares_the_longest_lived_harvest_vm() -> None:
    c = harvested([7, 7, 7], [9e5, 60, 9e5])
    assert choose(least_harvested, REQUEST, c) == 1


def test_ours_takes_idle_cores_before_harvested_ones() -> None:
    c = harvested([7, 2, 7], [9e5, 9e5, 9e5])
    assert choose(least_harvested, REQUEST, c) == 1


def test_ours_evicts_nobody_if_it_can_help_it() -> None:
    c = harvested([7, 7], [9e5, 9e5])
    c.free[0, 0], c.lent[0] = 4, 3  # the tighter fit, but its minimum would go
    assert choose(best_fit, REQUEST, c) == 0
    assert choose(least_harvested, REQUEST, c) == 1


def test_ours_breaks_no_promise_if_it_can_help_it() -> None:
    c = harvested([7, 7], [9e5, 9e5])
    c.promised[0] = 6
    assert choose(least_harvested, REQUEST, c) == 1


def test_ours_is_the_best_fit_where_nothing_is_harvested() -> None:
    c = cluster((9, 90), (6, 60), (7, 70))
    assert choose(least_harvested, REQUEST, c) == choose(best_fit, REQUEST, c) == 1


def allowed(labelled: Labelled, asks: Constraints) -> list[int]:
    return [int(node) for node in np.flatnonzero(labelled.allowed(asks))]


def test_a_selector_wants_the_nodes_labels() -> None:
    labelled = Labelled(3, [{"disk": "ssd", "zone": "a"}, {"disk": "hdd"}, {}])
    assert allowed(labelled, Constraints(selector={"disk": "ssd"})) == [0]
    assert allowed(labelled, Constraints(selector={"disk": "tape"})) == []
    assert allowed(labelled, Constraints()) == [0, 1, 2]


def test_anti_affinity_keeps_away_in_both_directions() -> None:
    labelled = Labelled(3)
    lonely = Constraints({"app": "db"}, anti_affinity={"app": "db"})
    labelled.place(1, lonely)
    assert allowed(labelled, lonely) == [0, 2]
    assert allowed(labelled, Constraints({"app": "db"})) == [0, 2]
    assert allowed(labelled, Constraints({"app": "web"})) == [0, 1, 2]
    labelled.remove(1, lonely)
    assert allowed(labelled, lonely) == [0, 1, 2]


def test_affinity_follows_once_there_is_somebody_to_follow() -> None:
    labelled = Labelled(3)
    follower = Constraints(affinity={"app": "db"})
    assert allowed(labelled, follower) == [0, 1, 2]
    labelled.place(2, Constraints({"app": "db"}))
    assert allowed(labelled, follower) == [2]
