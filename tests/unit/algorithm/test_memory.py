"""Memory divided among groups: bounds, sums, doubt, what can be taken back."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.memory import (
    MIB,
    REST_TURNS,
    RUNGS,
    UNIT,
    GroupMemory,
    HostMemory,
    MemoryLimits,
    MemorySharing,
    PrimariesMemory,
    doubt,
    ladder,
    rung_above,
    rung_below,
)

GIB = 1024 * MIB
SIZES = st.integers(0, 64).map(lambda n: n * 256 * MIB)
HOST = HostMemory(16 * GIB, 12 * GIB, 16 * GIB)
PRIMARY = PrimariesMemory(2 * GIB, None)
GROUP = GroupMemory("batch", GIB, 8 * GIB, GIB, GIB, 1 << 60)


@st.composite
def groups(draw: st.DrawFn) -> list[GroupMemory]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        least = draw(st.integers(16, 2048)) * MIB
        used = draw(SIZES)
        found.append(
            GroupMemory(
                f"g{number}",
                least,
                least + draw(SIZES),
                used,
                draw(st.integers(0, used)),
                draw(st.sampled_from([0, GIB, 1 << 60])),
                weight=draw(st.sampled_from([1.0, 2.0])),
            )
        )
    return found


@st.composite
def hosts(draw: st.DrawFn) -> HostMemory:
    total = draw(st.integers(1, 64)) * GIB
    return HostMemory(total, draw(st.integers(0, total)), draw(SIZES))


@st.composite
def primaries(draw: st.DrawFn) -> PrimariesMemory:
    return PrimariesMemory(draw(SIZES), draw(st.none() | SIZES))


def settle(
    host: HostMemory, primary: PrimariesMemory, some: list[GroupMemory], turns: int = 40
) -> MemoryLimits:
    sharing = MemorySharing()
    return [sharing.turn(host, primary, some) for _ in range(turns)][-1]


@given(st.integers(16 * MIB, 1 << 40), st.integers(0, 1 << 40))
def test_a_ladder_has_few_rungs_within_the_bounds(least: int, more: int) -> None:
    rungs = ladder(least, least + more)
    assert list(rungs) == sorted(set(rungs))
    assert len(rungs) <= RUNGS + 1
    assert all(rung % UNIT == 0 for rung in rungs)
    assert least - UNIT < rungs[0] <= least
    assert rungs[-1] <= least + more < rungs[-1] + UNIT
    for rung in rungs:
        assert rung_below(rungs, rung) == rung_above(rungs, rung) == rung


@given(hosts(), primaries(), groups())
def test_every_limit_is_a_rung_between_minimum_and_maximum(
    host: HostMemory, primary: PrimariesMemory, some: list[GroupMemory]
) -> None:
    found = settle(host, primary, some)
    for group in some:
        assert found.limits[group.name] in ladder(group.min, group.max)


@given(hosts(), primaries(), groups())
def test_all_together_get_no_more_than_is_unused_and_can_be_taken_back(
    host: HostMemory, primary: PrimariesMemory, some: list[GroupMemory]
) -> None:
    found = settle(host, primary, some, turns=1)
    least = sum(group.min for group in some)
    unused = host.available + sum(group.held for group in some) - found.reserve
    assert sum(found.due.values()) <= max(least, unused)
    taken = max(primary.allocated or 0, primary.held) if primary.allocated is not None else None
    nobodys = 0 if taken is None else max(0, host.total - taken - least)
    assert sum(found.due.values()) <= least + nobodys + host.swap_free


@given(hosts(), primaries(), groups())
def test_a_limit_falls_at_once_and_rises_slowly(
    host: HostMemory, primary: PrimariesMemory, some: list[GroupMemory]
) -> None:
    sharing = MemorySharing()
    before = sharing.turn(host, primary, some)
    now = sharing.turn(replace(host, available=host.total), primary, some)
    for group in some:
        rungs = ladder(group.min, group.max)
        rise = now.limits[group.name] - before.limits[group.name]
        assert rise <= (rungs[-1] - rungs[0]) / 16
    least = sharing.turn(replace(host, available=0), primary, [replace(g, held=0) for g in some])
    for group in some:
        assert least.limits[group.name] == ladder(group.min, group.max)[0]


@given(hosts(), primaries(), groups())
def test_more_memory_that_is_free_makes_no_sum_smaller(
    host: HostMemory, primary: PrimariesMemory, some: list[GroupMemory]
) -> None:
    more = replace(host, available=host.total)
    less, much = settle(host, primary, some, 1), settle(more, primary, some, 1)
    assert sum(less.due.values()) <= sum(much.due.values()) + len(some)


@given(hosts(), groups(), st.booleans())
def test_doubt_leaves_the_minima_for_a_while(
    host: HostMemory, some: list[GroupMemory], seen: bool
) -> None:
    sharing = MemorySharing()
    stalled = PrimariesMemory(0, 0, stall=0.5)
    sharing.turn(host, stalled if seen else None, some)
    for _ in range(REST_TURNS - 1):
        found = sharing.turn(replace(host, available=host.total), PrimariesMemory(0, 0), some)
        for group in some:
            assert found.limits[group.name] == ladder(group.min, group.max)[0]


def test_without_swap_a_primary_without_a_limit_may_claim_all() -> None:
    found = settle(replace(HOST, swap_free=0), PRIMARY, [GROUP])
    assert found.limits["batch"] == GROUP.min
    assert "no swap" in found.why


def test_what_no_primary_is_allocated_needs_no_swap() -> None:
    found = settle(replace(HOST, swap_free=0), PrimariesMemory(2 * GIB, 4 * GIB), [GROUP])
    assert found.limits["batch"] == GROUP.max


def test_the_reserve_grows_with_what_a_primary_has_grown_by() -> None:
    sharing = MemorySharing()
    sharing.turn(HOST, PRIMARY, [GROUP])
    calm = sharing.turn(HOST, PRIMARY, [GROUP]).reserve
    burst = sharing.turn(HOST, replace(PRIMARY, held=PRIMARY.held + 2 * GIB), [GROUP]).reserve
    assert (calm, burst) == (GIB, 4 * GIB)


def test_a_rung_of_noise_moves_nothing() -> None:
    sharing = MemorySharing()
    host = replace(HOST, available=5 * GIB)
    for _ in range(40):
        before = sharing.turn(host, PRIMARY, [GROUP]).limits["batch"]
    for less in (0, 20, 40, 0, 30):
        noisy = replace(host, available=host.available - less * MIB)
        assert sharing.turn(noisy, PRIMARY, [GROUP]).limits["batch"] == before


def test_a_group_that_stands_still_at_its_limit_is_no_doubt() -> None:
    stalled = replace(GROUP, stall=0.9)
    assert doubt(replace(HOST, stall=0.9), PRIMARY, [stalled]) is None
    assert doubt(replace(HOST, stall=0.9), PRIMARY, [GROUP]) is not None
    assert doubt(HOST, replace(PRIMARY, stall=0.02), [GROUP]) is not None


def test_an_evicted_group_has_its_minimum_only() -> None:
    assert settle(HOST, PRIMARY, [replace(GROUP, least_only=True)]).limits["batch"] == GROUP.min


def test_an_agent_that_starts_leaves_a_group_what_it_has() -> None:
    found = settle(HOST, PRIMARY, [replace(GROUP, used=6 * GIB, held=6 * GIB)], turns=1)
    assert found.limits["batch"] >= 6 * GIB
