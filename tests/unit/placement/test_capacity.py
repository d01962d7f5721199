from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smartharvest.errors import ConfigError, SmartHarvestError, TargetError
from smartharvest.placement.capacity import Capacity, PrimaryCpus, plan_capacity

EIGHT = range(8)


def plan(*primaries: PrimaryCpus, **settings: object) -> Capacity:
    chosen = primaries or (PrimaryCpus(EIGHT),)
    return plan_capacity(online=EIGHT, primaries=chosen, **settings)  # type: ignore[arg-type]


def test_by_default_the_pool_is_what_the_primaries_have_and_one_core_is_elastic() -> None:
    capacity = plan(PrimaryCpus({2, 3}), PrimaryCpus({5, 6}))
    assert capacity.pool == (2, 3, 5, 6)
    assert (capacity.elastic_min, capacity.total) == (1, 3)
    assert capacity.allocations == (2, 2)


def test_two_cores_have_no_elastic_minimum() -> None:
    capacity = plan(PrimaryCpus({0, 1}))
    assert (capacity.elastic_min, capacity.total, capacity.max_harvest) == (0, 2, 1)


def test_cores_are_lent_from_the_highest_and_the_minimum_comes_first() -> None:
    capacity = plan(elastic_min=2)
    assert capacity.elastic_cpus(0) == (6, 7)
    assert capacity.elastic_cpus(2) == (4, 5, 6, 7)


def test_with_no_minimum_and_nothing_harvested_the_elastic_group_is_parked_on_the_last_core() -> (
    None
):
    capacity = plan(elastic_min=0)
    assert capacity.is_parked(0)
    assert capacity.elastic_cpus(0) == capacity.elastic_cpus(1) == (7,)
    assert not capacity.is_parked(1)


def test_a_quota_below_the_cpuset_caps_the_pool_to_its_lowest_cpus() -> None:
    assert plan(PrimaryCpus(EIGHT, 3.2)).pool == (0, 1, 2, 3)
    assert plan(PrimaryCpus(EIGHT, 12.0)).pool == tuple(EIGHT)
    two = plan(PrimaryCpus({0, 1, 2}, 1.5), PrimaryCpus({4, 5, 6}, 1.5))
    assert two.pool == (0, 1, 2)
    assert two.allocations == (2, 2)


def test_one_primary_without_a_quota_counts_with_all_its_cpus() -> None:
    capacity = plan(PrimaryCpus({0, 1, 2, 3}, 1.5), PrimaryCpus({4, 5, 6, 7}))
    assert capacity.pool == (0, 1, 2, 3, 4, 5)
    assert capacity.allocations == (2, 4)


@pytest.mark.parametrize(
    ("primaries", "left_over"),
    [
        ([PrimaryCpus(EIGHT, 3.2)], (7, 6, 5, 4)),
        ([PrimaryCpus(EIGHT)], ()),
        ([PrimaryCpus(EIGHT, 3.2, {6})], (7, 5, 4)),
        ([PrimaryCpus(EIGHT, 1.5), PrimaryCpus(EIGHT, 2.5)], (7, 6, 5, 4)),
        # The second has none but these, and so the quota of the first leaves nothing of them.
        ([PrimaryCpus({0, 1, 2, 3}, 1.5), PrimaryCpus({4, 5, 6, 7}, 1.5)], (3,)),
        ([PrimaryCpus({0, 1, 2, 3}, 1.5), PrimaryCpus({4, 5, 6, 7})], ()),
    ],
)
def test_what_quotas_leave_over_is_nobodys_if_that_is_asked_for(
    primaries: list[PrimaryCpus], left_over: tuple[int, ...]
) -> None:
    assert plan(*primaries, unallocated=True).unallocated == ()
    assert plan(*primaries, unallocated=True, by_quota=True).unallocated == left_over
    chosen = plan(*primaries, unallocated=True, by_quota=True, cores={0, 1, 2})
    assert chosen.unallocated == ()


def test_chosen_cores_win_over_cpusets_and_quotas() -> None:
    capacity = plan(PrimaryCpus({0, 1, 2, 3}, 1.0), cores={2, 3, 4, 5}, elastic_min=2)
    assert capacity.pool == (2, 3, 4, 5)
    assert capacity.elastic_cpus(0) == (4, 5)


def test_cores_with_pinned_primary_threads_or_others_tasks_are_never_lent() -> None:
    capacity = plan(PrimaryCpus(EIGHT, pinned={7, 2}), foreign={5: "irq"}, grantable=range(1, 8))
    assert capacity.lendable == (6, 4, 3, 1)
    assert capacity.max_harvest == 3


def test_the_hard_limits_bound_the_harvest() -> None:
    assert plan(max_harvest=2).max_harvest == 2
    capacity = plan(keep_idle=3)
    assert capacity.max_harvest == 4
    assert capacity.primary_cores(0, 2) == 5
    assert plan(keep_idle=0).primary_cores(0, 2) == 3


def test_a_limit_beyond_what_can_be_lent_is_capped_and_noted() -> None:
    two = [PrimaryCpus({0, 1})]
    capacity = plan_capacity(online={0, 1}, primaries=two, max_harvest=99)
    assert capacity.max_harvest == 1
    assert capacity.notes == (
        "max_harvest: 99 is more than this host can lend; at most 1 core is lent",
    )
    assert plan_capacity(online={0, 1}, primaries=two, max_harvest=1).notes == ()
    assert plan_capacity(online={0, 1}, primaries=two).notes == ()


def test_the_primary_gets_what_it_needs_up_to_the_total() -> None:
    capacity = plan(elastic_min=2)
    assert capacity.primary_cores(4, 2) == 4
    assert capacity.primary_cores(1, 2) == 3
    assert capacity.primary_cores(1, 8) == capacity.total


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cores": {7, 8, 9}}, r"^cores: 8-9 is not online here; choose among 0-7"),
        ({"cores": set()}, r"^cores: the list is empty"),
        ({"elastic_min": 8}, r"^elastic_min: 8 leaves the primary none of the pool's 8"),
        ({"elastic_min": -1}, r"^elastic_min: -1"),
        ({"least_elastic": 8}, r"^elastic: the groups' minima add up to 8 cores, .* 7 to promise"),
        (
            {"least_elastic": 5, "foreign": dict.fromkeys(range(4), "irq")},
            r"^elastic: the groups' minima add up to 5 cores, .* 4 to promise",
        ),
        (
            {"elastic_min": 2, "foreign": dict.fromkeys(range(1, 8), "irq")},
            r"^elastic_min: 2 is more than the 1",
        ),
        ({"max_harvest": -1}, r"^max_harvest: -1 is negative"),
        ({"keep_idle": 8}, r"^keep_idle: 8 is not possible with 7"),
    ],
)
def test_settings_that_cannot_be_name_their_key(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plan(**settings)


def test_chosen_cores_that_no_primary_may_use_are_refused() -> None:
    with pytest.raises(ConfigError, match="no primary may run on 6-7"):
        plan(PrimaryCpus({0, 1}), cores={6, 7})


def test_nothing_to_lend_says_why() -> None:
    with pytest.raises(TargetError, match=r"pinned to 0-1; others are confined to 2, such as irq;"):
        plan(PrimaryCpus({0, 1, 2}, pinned={0, 1}), foreign={2: "irq"})
    with pytest.raises(TargetError, match="parent"):
        plan(PrimaryCpus({0, 1}), grantable={5})
    with pytest.raises(TargetError, match="no online CPU"):
        plan(PrimaryCpus({9}))


cpu_sets = st.frozensets(st.integers(0, 7))


@given(
    primaries=st.lists(
        st.builds(
            PrimaryCpus, cpu_sets, st.none() | st.floats(0.01, 9), st.frozensets(st.integers(0, 7))
        ),
        min_size=1,
        max_size=3,
    ),
    cores=st.none() | cpu_sets,
    elastic_min=st.none() | st.integers(0, 8),
    foreign=cpu_sets,
    max_harvest=st.none() | st.integers(0, 9),
    keep_idle=st.integers(0, 8),
    wanted=st.integers(0, 9),
    busy=st.integers(0, 9),
)
def test_whatever_is_asked_for_the_cores_add_up(
    primaries: list[PrimaryCpus],
    cores: frozenset[int] | None,
    elastic_min: int | None,
    foreign: frozenset[int],
    max_harvest: int | None,
    keep_idle: int,
    wanted: int,
    busy: int,
) -> None:
    try:
        capacity = plan(
            *primaries,
            cores=cores,
            elastic_min=elastic_min,
            foreign=dict.fromkeys(foreign, "irq"),
            max_harvest=max_harvest,
            keep_idle=keep_idle,
        )
    except SmartHarvestError:
        assume(False)
        raise
    held = capacity.primary_cores(wanted, busy)
    harvested = capacity.total - held
    assert held >= min(capacity.total, busy + max(1, keep_idle))
    assert 0 <= harvested <= capacity.max_harvest <= capacity.total
    elastic = set(capacity.elastic_cpus(harvested))
    assert len(elastic) == max(1, capacity.elastic_min + harvested)
    assert elastic <= set(capacity.pool) - foreign
    assert elastic.isdisjoint(cpu for primary in primaries for cpu in primary.pinned)
    if harvested < capacity.max_harvest:
        assert elastic <= set(capacity.elastic_cpus(harvested + 1))


def test_what_the_primary_may_preempt_need_leave_no_idle_core_unless_more_are_asked_for() -> None:
    assert (plan(elastic_min=0).max_harvest, plan(elastic_min=0).max_shared) == (7, 8)
    assert plan(elastic_min=0, keep_idle=2).max_shared == 6
    assert plan(elastic_min=0, max_harvest=3).max_shared == 3
    assert plan(elastic_min=0, shared=False).max_shared == 7
    assert plan(elastic_min=0).elastic_cpus(8) == tuple(EIGHT)
