"""Memory in simulated time: a primary that grows next to a batch that fills all it may."""

from __future__ import annotations

import pytest

from tests.simulated.memory import GIB, SHAPES, MemoryWorld

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SHAPES)
def test_nobody_is_killed_and_the_batch_has_its_minimum(name: str, seed: int) -> None:
    found = MemoryWorld(seed, SHAPES[name]).run(90)
    assert found.killed == 0
    assert min(found.held[5:]) >= 0.99 * SHAPES[name].least


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if not shape.swap])
def test_without_limits_somebody_is_killed_where_nothing_can_be_swapped(name: str) -> None:
    runs = [MemoryWorld(seed, SHAPES[name], lends=False).run(90) for seed in SEEDS]
    assert sum(run.killed for run in runs) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_with_swap_a_primary_stands_still_for_less_than_half_as_long(seed: int) -> None:
    shape = SHAPES["8 GiB of swap"]
    followed, none = (MemoryWorld(seed, shape, lends=lends).run(120) for lends in (True, False))
    assert followed.stalled_s < none.stalled_s / 2
    assert followed.batch_gib > none.batch_gib / 3


def test_what_no_primary_is_allocated_is_lent_without_swap() -> None:
    name = "no swap, the primary may use 6 GiB"
    assert MemoryWorld(1, SHAPES[name]).run(60).held[-1] > 6 * GIB


def test_the_same_seed_gives_the_same_run() -> None:
    assert MemoryWorld(5).run(20) == MemoryWorld(5).run(20)
