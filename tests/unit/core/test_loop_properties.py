"""What holds for the loop after every poll, whatever is polled and planned."""

from __future__ import annotations

import errno
import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.core._actuators import FakeActuator
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window

POLL_NS = 1000
WINDOW_POLLS = 4
STALE_POLLS = 6


@dataclass(frozen=True)
class Step:
    busy: int
    polls_since: int
    plan: tuple[int, int, int, int | None] | None
    """primary cores, safe cores, buffer, quiet time"""
    age: int
    """How many windows ago the window was that the plan answers."""


@dataclass(frozen=True)
class Story:
    total: int
    max_harvest: int
    keep_idle: int
    steps: list[Step]
    threads: int = 1
    """Of each core, which are lent together."""


@st.composite
def stories(draw: st.DrawFn) -> Story:
    total = draw(st.integers(1, 9))
    cores = st.integers(0, total)
    quiet_ns = st.sampled_from([None, None, 0, 2 * POLL_NS, 9 * POLL_NS])
    plan = st.tuples(cores, cores, st.sampled_from([0, 0, 0, 1, 2, 20]), quiet_ns)
    step = st.builds(
        Step,
        busy=st.integers(0, total + 2) | st.integers(0, 1),
        polls_since=st.sampled_from([1] * 12 + [2, STALE_POLLS + 1]),
        plan=st.none() | plan,
        age=st.sampled_from([0, 0, 0, 1, 2]),
    )
    return Story(
        total=total,
        max_harvest=draw(st.integers(0, total + 1)),
        keep_idle=draw(st.integers(1, 3)),
        steps=draw(st.lists(step, min_size=1, max_size=60)),
        threads=draw(st.sampled_from([1, 1, 2, 4])),
    )


class Run:
    """Plays a story to its end and lets the sensor fail then, so that the last window is closed."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.busy = [step.busy for step in story.steps]
        self.actuator = FakeActuator()
        self.loop = Loop(
            sensor=FakeSensor([*self.busy, -errno.EIO]),
            actuator=self.actuator,
            total=story.total,
            window_ns=WINDOW_POLLS * POLL_NS,
            poll_ns=POLL_NS,
            plan_ttl_ns=20 * POLL_NS,
            stale_ns=STALE_POLLS * POLL_NS,
            max_harvest=story.max_harvest,
            keep_idle=story.keep_idle,
            whole_harvests=[n - n % story.threads for n in range(story.total + 1)],
        )
        self.held: list[int] = []
        self.windows: list[Window] = []
        self.now_ns = 1_000_000

    def play(self) -> Run:
        for step in self.story.steps:
            if step.plan is not None:
                primary_cores, safe_cores, buffer, quiet_ns = step.plan
                seq = max(0, len(self.windows) - step.age)
                self.loop.post(
                    Plan(seq, primary_cores, safe_cores, buffer, quiet_ns if buffer else None)
                )
            self.now_ns += step.polls_since * POLL_NS
            assert self.loop.step(self.now_ns, self.now_ns) == 0
            self.held.append(self.loop.primary_cores)
            self.take()
        self.now_ns += POLL_NS
        assert self.loop.step(self.now_ns, self.now_ns) == -errno.EIO
        self.take()
        return self

    def take(self) -> None:
        while (window := self.loop.take()) is not None:
            self.windows.append(window)

    def polled(self) -> list[list[int]]:
        """The busy counts of each window."""
        edges = list(itertools.accumulate((w.polls for w in self.windows), initial=0))
        return [self.busy[a:b] for a, b in itertools.pairwise(edges)]


@given(stories())
def test_the_primary_holds_busy_and_keep_idle_while_there_are_cores(story: Story) -> None:
    run = Run(story).play()
    for busy, held in zip(run.busy, run.held, strict=True):
        assert held >= min(story.total, busy + story.keep_idle)
        assert held >= min(story.total, busy + 1)


@given(stories())
def test_primary_and_harvested_cores_are_the_total_and_within_max_harvest(story: Story) -> None:
    run = Run(story).play()
    assert run.loop.primary_cores + run.loop.harvested == story.total
    for held in run.held:
        assert 0 <= story.total - held <= story.max_harvest
        assert (story.total - held) % story.threads == 0


@given(stories())
def test_only_changes_are_assigned_and_the_last_gives_everything_back(story: Story) -> None:
    run = Run(story).play()
    lent = [story.total - held for held in run.held]
    changes = [level for level, _ in itertools.groupby([0, *lent, 0])]
    assert run.actuator.assigned == changes


@given(stories())
def test_windows_partition_the_polls(story: Story) -> None:
    run = Run(story).play()
    counters = run.loop.counters()
    assert sum(window.polls for window in run.windows) == counters["polls"] == len(story.steps)
    assert [window.seq for window in run.windows] == list(range(1, len(run.windows) + 1))
    assert counters["windows"] == len(run.windows)
    for before, after in itertools.pairwise(run.windows):
        assert before.end_ns == after.start_ns


@given(stories())
@settings(max_examples=50)
def test_every_window_describes_its_own_polls(story: Story) -> None:
    run = Run(story).play()
    for window, busy in zip(run.windows, run.polled(), strict=True):
        if not busy:  # the poll that failed was the first of its window
            assert window is run.windows[-1]
            continue
        expected = (min(busy), max(busy), np.mean(busy), np.std(busy), np.median(busy))
        assert window.features == pytest.approx(expected, abs=1e-12)
        assert window.busy_last == busy[-1]


@given(stories())
def test_a_window_is_exhausted_only_by_its_last_poll(story: Story) -> None:
    run = Run(story).play()
    held_before = [story.total, *run.held]
    polls = itertools.accumulate(window.polls for window in run.windows)
    for window, end, busy in zip(run.windows, polls, run.polled(), strict=True):
        if window.exhausted:
            assert window.primary_cores == held_before[end - 1] < story.total
            assert busy[-1] >= window.primary_cores
            assert run.held[end - 1] > window.primary_cores
