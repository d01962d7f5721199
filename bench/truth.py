"""Every sensor against the truth: threads that switch on and off on a known schedule.

The truth is for how long each thread had its CPU: its own CPU time at the edges of each window,
which is the schedule's but for what noise took from it and gave back later, and what the hypervisor
took of the CPU meanwhile. The loop reads each sensor as the agent does, in
windows of 25 ms: time-weighted where the sensor sees every change, else a sample every 50 us. The
threads run as SCHED_FIFO where that is allowed, and the noise as SCHED_IDLE.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from bench.logged_wave import LoggedWave
from bench.statistics import across_rounds, rounded
from bench.subject import Effort, Figures, NotMeasurableError, Subject, goal, interleave
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core.window import Window
from smartharvest.errors import RightsError
from smartharvest.host.process.waits import Taskstats
from smartharvest.sensor.waits import tells_waits

SECONDS, LEAST_S = 0.5, 0.15
WINDOW_NS = 25_000_000
POLL_NS = 50_000
ON_NS, OFF_NS = 200_000, 300_000
NOISE_NS = (70_000, 170_000)
SETTLE_S = 0.05
SETTLING_WINDOWS = 2
"""They are left out."""
SCHEDULES = {"square": False, "random": True}
EXACT = ("bpf", "perf")
MOST_WAITS_OFF = 0.05
MOST_OFF = 0.01
"""A sensor that sees every change may miss a window's mean by one in a hundred."""

Make = Callable[[], _sensors.Sensor]


@dataclass(frozen=True)
class Judgement:
    """A run of windows against the truth; means in cores."""

    true_mean: float
    mean: float
    off: float
    """The run's mean against its truth, as a share of that."""
    window_off_p50: float
    window_off_p99: float
    """One window's mean against its truth, as a share of that."""
    peaks_right: float
    """Share of the windows whose peak is the truth's."""


def measure(effort: Effort) -> Figures:
    """Each schedule on one and on both CPUs, with noise on both; a run of windows a round.

    A sensor is made once a round for all schedules: loading the in-kernel one takes a second.
    """
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise NotMeasurableError("needs two CPUs")
    seconds = max(LEAST_S, effort.seconds(SECONDS))
    with ExitStack() as children:

        def wave(cpu: int, spans_ns: tuple[int, int], seed: int, policy: int) -> LoggedWave:
            started = children.enter_context(LoggedWave(cpu, *spans_ns, seed=seed, policy=policy))
            started.pause()
            return started

        noise = [wave(cpu, NOISE_NS, effort.seed + 10 + cpu, os.SCHED_IDLE) for cpu in cpus]
        pids: list[int] = []
        schedules: dict[str, list[LoggedWave]] = {}
        for schedule, varied in SCHEDULES.items():
            waves = [
                wave(cpu, (ON_NS, OFF_NS), (effort.seed + cpu) * varied, os.SCHED_FIFO)
                for cpu in cpus
            ]
            pids += [one.pid for one in waves]
            for used in (waves[1:], waves):
                schedules[f"{schedule}_on_{len(used)}_cpu"] = used
        cases = {
            name: _case(way, schedules, noise, len(cpus), seconds)
            for name, way in _ways(pids).items()
        }
        judged = interleave(cases, effort)
    groups: dict[str, Figures] = {}
    worst: dict[str, float] = {}
    """By quantile of the windows, over the schedules: the worst one's median round."""
    for schedule in schedules:
        groups[schedule] = {}
        for sensor, rounds in judged.items():
            runs = [run[schedule] for run in rounds]
            groups[schedule][sensor] = _across(runs)
            for quantile in ("p50", "p99") if sensor in EXACT else ():
                off = float(np.median([getattr(run, f"window_off_{quantile}") for run in runs]))
                goal_name = f"{sensor}_windows_off_truth_{quantile}"
                worst[goal_name] = max(worst.get(goal_name, 0.0), off)
    figures: Figures = {"window_ms": WINDOW_NS / 1e6, "seconds_per_run": seconds, **groups}
    goals = {name: goal(MOST_OFF, rounded(off)) for name, off in worst.items()}
    try:
        figures["waits"], off = _waits(effort, cpus)
        goals["bpf_waits_off_taskstats"] = goal(MOST_WAITS_OFF, rounded(off))
    except (OSError, RightsError) as error:
        figures["waits"] = {"skipped": str(error)}
    return {**figures, "goals": goals}


@contextmanager
def running(waves: Sequence[LoggedWave]) -> Iterator[None]:
    """Paused ones run inside it. Sensors are made outside: beside noise that takes a second."""
    for wave in waves:
        wave.go_on()
    try:
        yield
    finally:
        for wave in waves:
            wave.pause()


def _waits(effort: Effort, cpus: Sequence[int]) -> tuple[Figures, float]:
    """The BPF sensor's waits beside taskstats' of the same threads, which stand in a queue."""
    with ExitStack() as children:
        waves = []
        for cpu in cpus:
            for i in (0, 100, 200):
                wave = LoggedWave(cpu, ON_NS, OFF_NS, seed=effort.seed + cpu + i)
                waves.append(children.enter_context(wave))
                wave.pause()
        pids = [wave.pid for wave in waves]
        makes = sensors(pids)
        if "bpf" not in makes:
            raise RightsError("BPF is not allowed here")
        sensor = children.enter_context(closing(makes["bpf"]()))
        assert tells_waits(sensor)
        taskstats = Taskstats()
        children.callback(taskstats.close)
        shares, counts = [], []
        with running(waves):
            for _ in range(effort.rounds):
                before, earlier = _totals(taskstats, pids), sensor.waits()
                time.sleep(max(LEAST_S, effort.seconds(SECONDS)))
                after, waits = _totals(taskstats, pids), sensor.waits().since(earlier).counts
                shares.append(waits["total_ns"] / (after[0] - before[0]))
                counts.append(waits["waits"] / (after[1] - before[1]))
    figures: Figures = {
        "total_of_taskstats": across_rounds(shares),
        "dispatches_of_taskstats": across_rounds(counts),
    }
    return figures, abs(float(np.median(shares)) - 1)


def _totals(taskstats: Taskstats, pids: Sequence[int]) -> tuple[int, int]:
    """(total wait in ns, dispatches) of all ``pids``."""
    found = [taskstats.read(pid) or (0, 0) for pid in pids]
    return sum(wait for wait, _ in found), sum(count for _, count in found)


def sensors(pids: Sequence[int]) -> dict[str, Make]:
    """How to make each sensor of these processes as one primary; without those refused here."""
    makes = _makes(pids)
    return {name: makes[name] for name in _allowed()}


@cache
def _allowed() -> tuple[str, ...]:
    """The sensors that this process may make."""
    allowed = []
    for name, make in _makes([os.getpid()]).items():
        with suppress(OSError):
            make().close()
            allowed.append(name)
    return tuple(allowed)


def _makes(pids: Sequence[int]) -> dict[str, Make]:
    sources = [(f"/proc/{pid}/task", 0) for pid in pids]
    targets = [("pid", pid, 0) for pid in pids]
    online = sorted(os.sched_getaffinity(0))
    cores = [min(len(pids), len(online))]
    return {
        "bpf": lambda: _sensors.BpfSensor(targets, cores),
        "perf": lambda: _sensors.PerfSensor(sources, cores),
        "proc": lambda: _sensors.ProcSensor(sources, cores),
        "stat": lambda: _sensors.StatSensor(online, cores[0]),
    }


def judge(
    sensor: _sensors.Sensor, waves: Sequence[LoggedWave], seconds: float, exact: bool, cores: int
) -> Judgement:
    """Reads ``sensor``, whose primary has so many ``cores``, as the agent does for ``seconds``."""
    loop = _loop.Loop(
        sensor=sensor,
        actuator=_actuators.FakeActuator(),
        total=cores,
        max_harvest=0,
        window_ns=WINDOW_NS,
        poll_ns=POLL_NS,
        exact=exact,
        event_driven=exact and sensor.wakes,
        fifo_priority=FIFO_PRIORITY,
    )
    windows: list[Window] = []
    loop.start()
    end_s = time.monotonic() + seconds + SETTLE_S
    while time.monotonic() < end_s:
        loop.wait(20)
        sensor.attend()
        while (window := loop.take()) is not None:
            windows.append(window)
    loop.stop()
    if loop.halt is not None:
        raise NotMeasurableError(f"the sensor failed: {loop.halt}")
    if len(windows) <= SETTLING_WINDOWS:
        raise NotMeasurableError(f"{len(windows)} windows in {seconds:g} s; more time is needed")
    time.sleep(SETTLE_S)  # the turns under way must be in the log
    return compare(windows[SETTLING_WINDOWS:], waves)


def compare(windows: Sequence[Window], waves: Sequence[LoggedWave]) -> Judgement:
    """The truth of the windows from the waves' logs, against what the windows say."""
    edges = np.array([(window.start_ns, window.end_ns) for window in windows], dtype=np.int64)
    logs = [wave.spans() for wave in waves]
    used = np.zeros(len(windows))
    for log in logs:
        stolen = np.cumsum(log[:, 4])
        times, had = log[:, (0, 2)].ravel(), log[:, (1, 3)]
        had = (had + np.column_stack([stolen - log[:, 4], stolen])).ravel()
        at = np.interp((edges - times[0]).ravel(), times - times[0], had - had[0]).reshape(-1, 2)
        used += at[:, 1] - at[:, 0]
    lengths = (edges[:, 1] - edges[:, 0]).astype(float)
    truth = used / lengths
    means = np.array([window.busy_mean for window in windows])
    peaks = np.array([window.busy_max for window in windows])
    off = np.abs(means - truth) / truth
    true_mean = float(used.sum() / lengths.sum())
    mean = float((means * lengths).sum() / lengths.sum())
    right = [peak == _peak(logs, *edge) for peak, edge in zip(peaks, edges, strict=True)]
    return Judgement(
        true_mean=true_mean,
        mean=mean,
        off=mean / true_mean - 1,
        window_off_p50=float(np.percentile(off, 50)),
        window_off_p99=float(np.percentile(off, 99)),
        peaks_right=float(np.mean(right)),
    )


def _peak(logs: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.int64]]], a: int, b: int) -> int:
    """The most waves that had their turn at the same time between ``a`` and ``b``."""
    near = [log[(log[:, 2] > a) & (log[:, 0] < b)] for log in logs]
    at = np.concatenate([*(np.maximum(log[:, 0], a) for log in near), [a]])
    on = sum(
        ((log[None, :, 0] <= at[:, None]) & (at[:, None] < log[None, :, 2])).any(1) for log in near
    )
    return int(np.max(on))


def _ways(pids: Sequence[int]) -> dict[str, tuple[Make, bool]]:
    """The sensors, and the paper's samples of one that sees every change beside."""
    makes = sensors(pids)
    ways = {name: (make, name in EXACT) for name, make in makes.items()}
    if "bpf" in makes:
        ways["bpf_sampled"] = (makes["bpf"], False)
    return ways


def _case(
    way: tuple[Make, bool],
    schedules: Mapping[str, Sequence[LoggedWave]],
    noise: Sequence[LoggedWave],
    cores: int,
    seconds: float,
) -> Callable[[], dict[str, Judgement]]:
    def run() -> dict[str, Judgement]:
        make, exact = way
        judged = {}
        with closing(make()) as sensor:
            for name, waves in schedules.items():
                with running([*noise, *waves]):
                    judged[name] = judge(sensor, waves, seconds, exact, cores)
        return judged

    return run


def _across(runs: Sequence[Judgement]) -> Figures:
    return {
        name: across_rounds([getattr(run, name) for run in runs])
        for name in Judgement.__dataclass_fields__
    }


SUBJECT = Subject(
    measure,
    seconds=95.0,
    least_s=53.0,
    quick=False,
    title="Sensors against the truth",
    about="""\
Threads switch on and off on a schedule and keep a log of when they ran. Each sensor is read as the
agent reads it, in windows of 25 ms: how far the run's mean is off, one window's, and how often the
peak is right.""",
)
