"""Whether every kind of plan keeps its pace with the event-driven in-kernel sensor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from bench import probe
from bench.pacing import POLL_NS, Run, bare_loop, summarize
from bench.subject import Effort, Figures, NotMeasurableError, Picture, Subject, goal, interleave
from bench.truth import sensors
from bench.wave import WaveProcess
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.algorithm.learning.costs import COSTS, cost_table
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core._learner import Decider
from smartharvest.core.plan import Plan

TOTAL = 2
SECONDS = 1.2
ANSWER_MS = 10
PERMIT_NS = 100_000_000
MOST_MISSED = 0.02

Answer = Callable[[_loop.Loop, int], None]
"""Posts a plan for the window of that number."""


def _buffer(loop: _loop.Loop, seq: int) -> None:
    loop.post(Plan(seq, 0, TOTAL, 1))


def _patient(loop: _loop.Loop, seq: int) -> None:
    loop.post(Plan(seq, 0, TOTAL, 1, 250_000))


def _held(loop: _loop.Loop, seq: int) -> None:
    loop.post(Plan(seq, 1, TOTAL))


PLANS: dict[str, Answer] = {
    "plain_fifo": _buffer,
    "patient_fifo": _patient,
    "held_fifo": _held,
    "decided_fifo": lambda _loop, _seq: None,
}
"""A buffer is looked after at events, and at each millisecond while more could be lent; a patient
buffer, and cores held for a window, at events; *decided*: the loop learns, predicts and takes up
its own plan."""


def measure(effort: Effort) -> Figures:
    """A primary's thread computes for 200 us and sleeps for 300; nothing is really moved."""
    if not probe.fifo_allowed():
        raise NotMeasurableError("SCHED_FIFO is refused")
    seconds = effort.seconds(SECONDS)
    cpus = sorted(os.sched_getaffinity(0))
    with ExitStack() as children:
        wave = children.enter_context(WaveProcess(cpus[0]))
        make = sensors([wave.pid]).get("bpf")
        if make is None:
            raise NotMeasurableError("BPF is not allowed here")
        sensor = children.enter_context(closing(make()))
        cases: dict[str, Callable[[], Run]] = {"nanosleep_fifo": bare_loop("fifo", seconds)}
        for name, answer in PLANS.items():
            cases[name] = _following(sensor, answer, name == "decided_fifo", seconds, cpus[-1])
        figures = summarize(interleave(cases, effort))
    plain, decided = figures["plain_fifo"], figures["decided_fifo"]
    assert isinstance(plain, dict)
    assert isinstance(decided, dict)
    return {
        "poll_us": POLL_NS / 1000,
        "seconds_per_run": seconds,
        **figures,
        "goals": {
            "plain_looks_missed_share": goal(MOST_MISSED, plain["missed_share"]["median"]),
            "windows_undecided_share": goal(0.01, decided["undecided_share"]["median"]),
        },
    }


def _following(
    sensor: _sensors.Sensor, answer: Answer, decides: bool, seconds: float, cpu: int
) -> Callable[[], Run]:
    def run() -> Run:
        loop = _loop.Loop(
            sensor=sensor,
            actuator=_actuators.FakeActuator(),
            total=TOTAL,
            poll_ns=POLL_NS,
            fifo_priority=FIFO_PRIORITY,
            realtime_cpus=[cpu],
            exact=True,
            event_driven=True,
        )
        if decides:
            learner = NativeCsoaa(cost_table(COSTS["skewed"], TOTAL), 0.1)
            loop.decide_with(Decider(learner))
        windows = answered = 0
        start = time.monotonic()
        loop.start()
        while time.monotonic() < start + seconds:
            loop.permit(_loop.monotonic_ns() + PERMIT_NS)
            loop.wait(ANSWER_MS)
            while (taken := loop.take_answered()) is not None:
                windows += 1
                answered += taken[1] is not None
                answer(loop, taken[0].seq)
        loop.stop()
        elapsed_s = time.monotonic() - start
        counters = loop.counters()
        looks = counters["polls"]
        figures = {
            "late_p50_us": loop.lateness_ns(0.5) / 1000,
            "late_p99_us": loop.lateness_ns(0.99) / 1000,
            "late_max_us": loop.lateness_ns(1.0) / 1000,
            "missed_share": counters["missed_polls"] / max(1, counters["missed_polls"] + looks),
            "looks_per_s": looks / elapsed_s,
            "moves_per_s": counters["assignments"] / elapsed_s,
            "cpu_share": loop.cpu_ns / 1e9 / elapsed_s,
            "as_asked": loop.scheduling == "fifo",
        }
        if decides:
            figures["undecided_share"] = 1 - answered / max(1, windows)
        return figures

    return run


SUBJECT = Subject(
    measure,
    seconds=33.0,
    least_s=3.0,
    title="Plans and their pace",
    about="""\
The loop with the in-kernel sensor, beside a bare clock_nanosleep(2) loop at a poll of 50 µs; the
primary computes for 200 µs and sleeps for 300, and nothing is really moved. *Plain*: a buffer that
is looked after at events, and each millisecond while more could be lent (fixed-buffer); *patient*:
one that is looked after at events only (adaptive-quiet); *held*: cores for a window; *decided*: the
loop learns and decides itself, and *undecided* is the share of windows that went without. Late is a
look after its time.""",
    pictures=(
        Picture((), "late_p99_us", caption="late at the 99th percentile, µs", log=True),
        Picture((), "cpu_share", caption="share of a CPU"),
    ),
)
