"""Work that is spread over turns."""

from __future__ import annotations

from collections.abc import Iterator

from smartharvest.host.spread import STEPS_AT_ONCE, Spread

SECOND_NS = 1_000_000_000


class Work:
    """Steps that take ``step_ns`` of a CPU each; a run has ``steps`` of them."""

    def __init__(self, steps: int, step_ns: int = 10_000) -> None:
        self.steps, self.step_ns = steps, step_ns
        self.now_ns = self.spent_ns = 0
        self.made = self.begun = 0

    def run(self) -> Iterator[None]:
        self.begun += 1
        for _ in range(self.steps):
            self.made += 1
            self.now_ns += self.step_ns
            self.spent_ns += self.step_ns
            yield

    def spread(self, share: float = 0.01, most_ns: int = 5_000_000) -> Spread:
        return Spread(
            self.run,
            share=share,
            most_ns=most_ns,
            now_ns=lambda: self.now_ns,
            spent_ns=lambda: self.spent_ns,
        )

    def turns(self, spread: Spread, count: int, apart_ns: int = 50_000_000) -> int:
        """So many turns; how many runs have ended."""
        ended = 0
        for _ in range(count):
            self.now_ns += apart_ns
            ended += spread.turn()
        return ended


def test_it_takes_its_share_of_the_time_however_much_there_is_to_do() -> None:
    work = Work(steps=10_000_000)
    assert work.turns(work.spread(share=0.01), 1000) == 0
    assert 0.008 < work.spent_ns / work.now_ns < 0.0101


def test_a_run_goes_on_where_the_turn_before_has_ended() -> None:
    work = Work(steps=1000)
    assert work.turns(work.spread(share=0.02), 15) == 1
    assert (work.begun, work.made) == (1, 1000)


def test_what_is_soon_done_is_done_once_a_second() -> None:
    work = Work(steps=10)
    assert work.turns(work.spread(), 200) in (10, 11)


def test_a_step_that_took_long_is_made_up_for() -> None:
    work = Work(steps=10_000, step_ns=30_000_000)
    work.turns(work.spread(share=0.01), 20_000)
    assert work.made > STEPS_AT_ONCE
    assert work.spent_ns / work.now_ns < 0.0105


def test_a_turn_that_comes_late_takes_no_more_than_the_most_at_once() -> None:
    work = Work(steps=10_000_000)
    spread = work.spread(share=0.01, most_ns=1_000_000)
    work.turns(spread, 1, apart_ns=3600 * SECOND_NS)
    assert work.spent_ns <= 1_000_000 + STEPS_AT_ONCE * work.step_ns


def test_a_whole_run_can_be_made_at_once_and_shows_life_meanwhile() -> None:
    work, beats = Work(steps=1000), []
    spread = work.spread()
    spread.finish(lambda: beats.append(work.made))
    assert work.made == 1000
    assert beats == list(range(STEPS_AT_ONCE, 1001, STEPS_AT_ONCE))
    assert not work.turns(spread, 1)


def test_it_lets_go_of_the_cpu_every_few_steps_and_pays_for_the_steps_alone() -> None:
    work = Work(steps=10_000_000)
    spread = work.spread(share=0.01)
    rests = 0

    def rest() -> None:
        nonlocal rests
        rests += 1
        work.now_ns += 1_000_000  # somebody else had it

    work.now_ns += 1_000_000_000
    spread.turn(rest)
    assert work.made == rests * STEPS_AT_ONCE
    assert work.spent_ns == 5_120_000  # most_ns, and what the last steps took beyond it
