"""What a reading of each sensor costs, and how often it is true."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from numpy.typing import ArrayLike

from bench import probe
from bench.statistics import across_rounds, compare
from bench.subject import Effort, Figures, NotMeasurableError, Subject, interleave
from bench.wave import OFF_NS, ON_NS, WaveProcess
from smartharvest.core import _loop, _sensors
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess

TASKS = (1, 4, 16, 64)
READS = 1000
AGREEMENT_SECONDS = 1.0
POLL_NS = 50_000


def measure(effort: Effort) -> Figures:
    return {"cost": _cost(effort), "agreement": _agreement_or_why_not(effort)}


# --- cost ----------------------------------------------------------------------------------------


def _cost(effort: Effort) -> Figures:
    """One sample is one reading. The tasks sleep, as most of a service's do.

    The floor of each is a bare pread(2) of the files it must read; ``empty`` is a sensor that has
    nothing to read, so what timing costs.
    """
    reads = effort.samples(READS)
    cases: dict[str, Callable[[], ArrayLike]] = {}
    floors: dict[str, str] = {}

    def add(name: str, sensor: _sensors.Sensor, files: list[str]) -> None:
        cases[name] = lambda: sensor.time_reads(reads)
        cases[f"pread_{name}"] = lambda: probe.preads_ns(files, reads)
        floors[name] = f"pread_{name}"

    with ExitStack() as children:
        for count in TASKS:
            # The process's own main thread is one of the tasks.
            child = children.enter_context(BullyProcess(max(1, count - 1)))
            if count > 1:
                child.start()
            sensor = _sensors.ProcSensor([(f"/proc/{child.pid}/task", 0)], [count])
            tids = tasks.process_threads(child.pid)
            assert len(tids) == count, f"{count} tasks wanted, {len(tids)} there"
            add(f"proc_{count}", sensor, [f"/proc/{tid}/task/{tid}/stat" for tid in tids])
        cpus = sorted(os.sched_getaffinity(0))
        add("stat", _sensors.StatSensor(cpus, len(cpus)), ["/proc/stat"])
        cases["empty"] = lambda: _sensors.FakeSensor(core_count=1).time_reads(reads)
        return compare(interleave(cases, effort), floors)


# --- agreement -----------------------------------------------------------------------------------


@dataclass
class Agreement:
    """Readings against the truth, by counts."""

    polls: int = 0
    edges: int = 0
    """Polls during which the truth changed; left out of all that follows."""
    true_busy: int = 0
    said_busy: int = 0
    missed_busy: int = 0
    """Busy, but said idle."""
    invented_busy: int = 0
    """Idle, but said busy."""

    def note(self, before: bool, said: bool, after: bool) -> None:
        self.polls += 1
        if before != after:
            self.edges += 1
            return
        self.true_busy += before
        self.said_busy += said
        self.missed_busy += before and not said
        self.invented_busy += said and not before

    def shares(self) -> dict[str, float]:
        judged = max(1, self.polls - self.edges)
        idle = judged - self.true_busy
        return {
            "agrees": 1 - (self.missed_busy + self.invented_busy) / judged,
            "error": (self.missed_busy + self.invented_busy) / judged,
            "truly_busy": self.true_busy / judged,
            "said_busy": self.said_busy / judged,
            "missed_busy_share": self.missed_busy / max(1, self.true_busy),
            "invented_busy_share": self.invented_busy / max(1, idle),
            # A sensor that always gives the commoner answer: whoever agrees less knows nothing.
            "constant_guess_agrees": max(self.true_busy, idle) / judged,
            "edges_share": self.edges / max(1, self.polls),
        }


def _agreement_or_why_not(effort: Effort) -> Figures:
    try:
        return _agreement(effort)
    except NotMeasurableError as reason:
        return {"skipped": str(reason)}


def _agreement(effort: Effort) -> Figures:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        raise NotMeasurableError(
            "needs two CPUs: the poller would stand in the way of what it watches"
        )
    cpu = max(allowed)
    seconds = effort.seconds(AGREEMENT_SECONDS)
    os.sched_setaffinity(0, allowed - {cpu})
    try:
        with WaveProcess(cpu) as wave:
            sensors: dict[str, _sensors.Sensor] = {
                "proc": _sensors.ProcSensor([(f"/proc/{wave.pid}/task", 0)], [1]),
                "stat": _sensors.StatSensor([cpu], 1),
            }

            def watch(sensor: _sensors.Sensor) -> Callable[[], dict[str, float]]:
                return lambda: _watch(sensor, wave.truth, seconds).shares()

            rounds = interleave({name: watch(s) for name, s in sensors.items()}, effort)
    finally:
        os.sched_setaffinity(0, allowed)
    return {
        "on_us": ON_NS / 1000,
        "off_us": OFF_NS / 1000,
        "poll_us": POLL_NS / 1000,
        "seconds_per_run": seconds,
        **{
            name: {key: across_rounds([run[key] for run in runs]) for key in runs[0]}
            for name, runs in rounds.items()
        },
    }


def _watch(sensor: _sensors.Sensor, truth: mmap.mmap, seconds: float) -> Agreement:
    agreement = Agreement()
    now = _loop.monotonic_ns
    deadline_ns = now()
    end_ns = deadline_ns + int(seconds * 1e9)
    while deadline_ns < end_ns:
        while (now_ns := now()) < deadline_ns:
            pass
        before = truth[0]
        busy, _ = sensor.read(now_ns)
        agreement.note(bool(before), busy > 0, bool(truth[0]))
        deadline_ns = max(deadline_ns + POLL_NS, now_ns)
    return agreement


SUBJECT = Subject(
    measure,
    seconds=16.0,
    least_s=1.0,
    title="Portable sensors: cost and agreement",
    about="""\
A sample is one reading, of tasks that sleep; the floor a bare pread(2) of the files that must be
read. Agreement is with a thread that says itself when it runs, at polls that no edge fell into;
who agrees no more often than a constant guess knows nothing.""",
)
