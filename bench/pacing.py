"""How late polls are, how many are missed and what CPU the thread takes, alone on its machine.

The floor is a bare clock_nanosleep(2) loop, scheduled alike.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from bench import probe
from bench.statistics import across_rounds, ratio
from bench.subject import Effort, Figures, Picture, Subject, interleave
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.core import _actuators, _loop, _sensors

PACINGS = ("sleep", "spin")
POLL_NS = 50_000
SECONDS = 1.2
"""Longer than the second for which the kernel grants real-time threads their budget (sched(7))."""

Run = dict[str, float]


def measure(effort: Effort) -> Figures:
    """Each round one run a case. Lateness of the loop's own is known within 12.5 %."""
    seconds = effort.seconds(SECONDS)
    fifo = probe.fifo_allowed()
    cases: dict[str, Callable[[], Run]] = {}
    for scheduling in ("fifo", "short-slice") if fifo else ("short-slice",):
        cases[f"nanosleep_{scheduling}"] = bare_loop(scheduling, seconds)
        for pacing in PACINGS:
            cases[f"{pacing}_{scheduling}"] = _paced(pacing, scheduling, seconds)
    figures: Figures = {
        "poll_us": POLL_NS / 1000,
        "seconds_per_run": seconds,
        "rt_runtime_us": _rt_runtime_us(),
    }
    if not fifo:
        figures["fifo"] = {"skipped": "SCHED_FIFO is refused: no right or no real-time budget"}
    return figures | summarize(interleave(cases, effort))


def _paced(pacing: str, scheduling: str, seconds: float) -> Callable[[], Run]:
    def run() -> Run:
        loop = _loop.Loop(
            sensor=_sensors.FakeSensor(core_count=2),
            actuator=_actuators.FakeActuator(),
            total=2,
            poll_ns=POLL_NS,
            pacing=pacing,
            fifo_priority=FIFO_PRIORITY if scheduling == "fifo" else 0,
        )
        start = time.monotonic()
        loop.start()
        time.sleep(seconds)
        loop.stop()
        elapsed_s = time.monotonic() - start
        counters = loop.counters()
        return {
            "late_p50_us": loop.lateness_ns(0.5) / 1000,
            "late_p99_us": loop.lateness_ns(0.99) / 1000,
            "late_max_us": loop.lateness_ns(1.0) / 1000,
            "missed_share": counters["missed_polls"]
            / max(1, counters["missed_polls"] + counters["polls"]),
            "cpu_share": loop.cpu_ns / 1e9 / elapsed_s,
            "as_asked": loop.scheduling == scheduling,
        }

    return run


def bare_loop(scheduling: str, seconds: float) -> Callable[[], Run]:
    results: list[Run] = []

    def loop() -> None:
        try:
            probe.set_scheduling(scheduling)
            as_asked = True
        except PermissionError:
            as_asked = False
        start, cpu_ns = time.monotonic(), time.thread_time_ns()
        late_ns, missed = probe.nanosleep_loop(POLL_NS, int(seconds * 1e9 / POLL_NS))
        elapsed_s = time.monotonic() - start
        p50, p99 = np.percentile(late_ns, (50, 99)) / 1000
        results.append(
            {
                "late_p50_us": float(p50),
                "late_p99_us": float(p99),
                "late_max_us": float(late_ns.max()) / 1000,
                "missed_share": missed / (missed + len(late_ns)),
                "cpu_share": (time.thread_time_ns() - cpu_ns) / 1e9 / elapsed_s,
                "as_asked": as_asked,
            }
        )

    def run() -> Run:
        # A thread of its own, as the polling loop has: its scheduling ends with it.
        thread = threading.Thread(target=loop)
        thread.start()
        thread.join()
        return results.pop()

    return run


def summarize(runs: dict[str, list[Run]]) -> Figures:
    figures: dict[str, Figures] = {}
    for name, rounds in runs.items():
        keys = [key for key in rounds[0] if key != "as_asked"]
        figures[name] = {key: across_rounds([run[key] for run in rounds]) for key in keys}
        figures[name]["scheduled_as_asked"] = all(run["as_asked"] for run in rounds)
    for name, figure in figures.items():
        pacing, scheduling = name.split("_", 1)
        if pacing == "nanosleep":
            continue
        floor = f"nanosleep_{scheduling}"
        figure["floor"] = floor
        figure["ratio"] = {
            key: ratio(_median(figure[key]), _median(figures[floor][key]))
            for key in ("late_p50_us", "late_p99_us", "cpu_share")
        }
    return dict(figures)


def _median(figure: object) -> float:
    assert isinstance(figure, dict)
    return float(figure["median"])


def _rt_runtime_us() -> int | None:
    """What of each second real-time threads may have (sched(7)); -1: all."""
    try:
        with open("/proc/sys/kernel/sched_rt_runtime_us") as file:
            return int(file.read())
    except OSError:
        return None


SUBJECT = Subject(
    measure,
    seconds=52.0,
    least_s=2.0,
    title="The loop: lateness, missed polls, CPU",
    about="""\
The loop at a poll each 50 µs, beside a bare clock_nanosleep(2) loop that is scheduled alike.
Each round one run of every way to wait; a figure is the median round, in brackets the extremes.""",
    pictures=(
        Picture((), "late_p99_us", caption="late at the 99th percentile, µs", log=True),
        Picture((), "missed_share", caption="share of polls missed"),
        Picture((), "cpu_share", caption="share of a CPU"),
    ),
)
