"""Simulated time as a test bench: whatever goes wrong, the primaries get what is theirs."""

from __future__ import annotations

import os

import pytest

from tests.simulated.world import CPUS_FILE, InvariantBroken, Odds, World

SEED = os.environ.get("SMARTHARVEST_SEED")
SHORT = [int(SEED)] if SEED else list(range(1, 13))
LONG = [int(SEED)] if SEED else list(range(1001, 1007))


@pytest.mark.parametrize("seed", SHORT)
def test_the_invariants_hold_through_half_a_minute_of_faults(seed: int) -> None:
    World(seed).run(30)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", LONG)
def test_the_invariants_hold_through_an_hour_of_faults(seed: int) -> None:
    World(seed).run(3600)


def test_every_fault_happens_and_cores_are_lent_all_the_same() -> None:
    tallies = [
        World(seed, Odds(refused_write=0.1, failed_sensor=0.1)).run(20) for seed in range(16)
    ]
    kinds = set().union(*(tally.faults for tally in tallies))
    assert kinds >= {
        "broken policy", "deaf", "doubt", "failed sensor", "late for long", "late poll",
        "refused write", "silent", "stuck waiter", "vm",
    }  # fmt: skip
    assert sum(tally.lent_polls for tally in tallies) > 0.1 * sum(t.polls for t in tallies)
    assert sum(tally.halts for tally in tallies) > 0
    assert sum(tally.trips for tally in tallies) > 0
    assert sum(tally.steps_down for tally in tallies) > 0


def test_the_same_seed_gives_the_same_run() -> None:
    assert World(5).run(5) == World(5).run(5)
    assert World(5).run(5) != World(6).run(5)


def test_a_run_that_fails_says_the_seed_that_repeats_it() -> None:
    """A kernel that keeps a core that was given back is found out."""

    def run() -> None:
        world = World(6)
        write = world.files.write

        def keep(path: str, value: str) -> None:
            if world.loop.harvested < 1 or path != CPUS_FILE:
                write(path, value)

        world.files.write = keep  # type: ignore[method-assign]
        world.run(30)

    messages = []
    for _ in range(2):
        with pytest.raises(InvariantBroken, match="SMARTHARVEST_SEED=6 pytest") as raised:
            run()
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
