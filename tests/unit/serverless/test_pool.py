from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.serverless.pool import PoolSettings, ResourceMonitor, Verdict

EAGER = PoolSettings(at_least=10, most=8, grow_after_s=0, shrink_after_s=100, settle_s=60)


def pool(*promises: int | None) -> Mapping[str, int | None]:
    return {f"n{number}": cores for number, cores in enumerate(promises)}


def test_a_shortage_that_lasts_is_met_with_as_many_nodes_as_the_present_ones_suggest() -> None:
    monitor = ResourceMonitor(PoolSettings(at_least=10, most=8, grow_after_s=30))
    assert monitor.step(0, pool(2, 2), asked=2).ask is None
    assert monitor.step(29, pool(2, 2), asked=2).ask is None
    assert monitor.step(30, pool(2, 2), asked=2).ask == 5


def test_a_dip_that_ends_in_time_costs_nothing() -> None:
    monitor = ResourceMonitor(PoolSettings(at_least=4, most=8, grow_after_s=30))
    for now_s, cores in enumerate([2, 5, 2, 5] * 30):
        assert monitor.step(now_s, pool(cores), asked=1).ask is None


def test_nodes_that_come_are_given_time_before_more_are_asked_for() -> None:
    monitor = ResourceMonitor(EAGER)
    assert monitor.step(0, pool(5), asked=1).ask == 2
    assert monitor.step(30, pool(5, 0), asked=2) == Verdict(
        None, "5 of 10 cores promised by 2 nodes; the new ones settle"
    )
    assert monitor.step(61, pool(5, 3), asked=2).ask == 3  # it turned out smaller


def test_what_does_not_come_is_not_asked_for_twice_and_waited_for_ever_longer() -> None:
    monitor = ResourceMonitor(EAGER)
    assert monitor.step(0, pool(5), asked=1).ask == 2
    said = [monitor.step(now_s, pool(5), asked=2) for now_s in range(1, 1000)]
    assert {verdict.ask for verdict in said} == {None}
    tried_s = [at for at, verdict in enumerate(said, 1) if "did not come" in verdict.why]
    assert tried_s == [60, 180, 420, 900]


def test_the_ceiling_and_the_budget_hold() -> None:
    monitor = ResourceMonitor(EAGER)
    assert monitor.step(0, pool(1), asked=1).ask == 8
    paid = PoolSettings(at_least=10, most=8, grow_after_s=0, price=0.4, budget=1.2)
    monitor = ResourceMonitor(paid)
    assert monitor.step(0, pool(1), asked=1).ask == 3
    assert "the budget of 3 nodes is reached" in monitor.step(999, pool(1, 1, 1), asked=3).why


def test_a_node_is_given_up_only_if_the_rest_has_enough_and_to_spare_without_the_largest() -> None:
    monitor = ResourceMonitor(EAGER)
    assert monitor.step(0, pool(9, 6, 6), asked=3).ask is None
    assert monitor.step(200, pool(9, 6, 6), asked=3).ask is None  # 12 are not 12.5
    assert monitor.step(201, pool(9, 7, 6), asked=3).ask is None
    assert monitor.step(300, pool(9, 7, 6), asked=3).ask is None
    assert monitor.step(301, pool(9, 7, 6), asked=3).ask == 2
    assert monitor.step(401, pool(9, 7, 6), asked=2).ask is None  # it has not gone yet


def test_one_node_goes_at_a_time() -> None:
    monitor = ResourceMonitor(EAGER)
    sizes, nodes = [], 8
    for now_s in range(0, 1000, 10):
        verdict = monitor.step(now_s, pool(*[6] * nodes), asked=nodes)
        nodes = verdict.ask or nodes
        sizes.append(nodes)
    assert sorted(set(sizes), reverse=True) == [8, 7, 6, 5, 4, 3]
    assert sizes[9:11] == [8, 7]


def test_a_silent_node_counts_for_a_while_and_then_no_more() -> None:
    monitor = ResourceMonitor(EAGER)
    assert monitor.step(0, pool(4, 4, 4), asked=3).ask is None
    assert monitor.step(60, pool(4, 4, None), asked=3).ask is None
    assert monitor.step(61, pool(4, 4, None), asked=3).ask == 4


def test_a_monitor_that_sees_too_little_changes_nothing() -> None:
    monitor = ResourceMonitor(EAGER)
    monitor.step(0, pool(4, 4, 4), asked=3)
    for now_s in (100, 1000, 10_000):
        assert monitor.step(now_s, pool(None, None, 4), asked=3).ask is None
    assert "2 of 3 nodes do not answer" in monitor.step(10_001, pool(None, None, 4), asked=3).why


def test_a_number_that_was_lost_is_asked_for_again_and_one_that_somebody_raised_stays() -> None:
    monitor = ResourceMonitor(EAGER)
    monitor.step(0, pool(6, 6), asked=2)
    assert monitor.step(1, pool(6, 6), asked=0).ask == 2
    assert monitor.step(2, pool(6, 6), asked=5).ask is None
    assert monitor.goal == 5


def test_a_monitor_that_is_started_again_takes_over_what_there_is() -> None:
    assert ResourceMonitor(EAGER).step(0, pool(6, 6), asked=2).ask is None
    assert ResourceMonitor(EAGER).step(0, pool(6, 6), asked=None).ask == 2
    assert ResourceMonitor(EAGER).step(0, {}, asked=0).ask == 8  # at least a core each


@given(
    st.lists(
        st.tuples(
            st.floats(0, 100), st.lists(st.none() | st.integers(0, 20), max_size=12),
            st.none() | st.integers(0, 30),
        ),
        max_size=30,
    ),
    st.integers(0, 8),
)  # fmt: skip
def test_whatever_it_sees_it_stays_between_floor_and_ceiling(
    turns: list[tuple[float, list[int | None], int | None]], least: int
) -> None:
    monitor = ResourceMonitor(
        PoolSettings(at_least=10, most=8, least=least, grow_after_s=5, shrink_after_s=9, settle_s=3)
    )
    now_s = 0.0
    for passed_s, promises, asked in turns:
        now_s += passed_s
        verdict = monitor.step(now_s, pool(*promises), asked)
        assert monitor.goal is not None
        if verdict.ask is not None:
            assert verdict.ask == monitor.goal
        if "do not answer" not in verdict.why:
            assert least <= monitor.goal <= 8
