"""What a running agent costs: CPU time, memory, context switches, its guardian apart.

The agent is the command itself, with Vowpal Wabbit or with decisions in the loop, on this machine's
groups: an idle primary, or one whose thread runs for 200 us and sleeps for 300, beside a batch of
busy threads.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from bench.logged_wave import LoggedWave
from bench.statistics import across_rounds, rounded
from bench.subject import Effort, Figures, NotMeasurableError, Subject, goal, interleave
from smartharvest.errors import RightsError
from smartharvest.guardian.process import NAME as GUARDIAN
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess
from smartharvest.lab.demo.groups import DemoGroups, demo_groups

SECONDS = 3.0
"""Beside each primary."""
WARM_UP_S = 2.5
"""From the start: importing, arranging, the first windows and housekeeping."""
SETTLE_S = 0.3
"""With another primary: the windows under way are over, and what was lent is settled."""
BUSY_NS = (200_000, 300_000)
IDLE_NS = (1_000, 3_600_000_000_000)
WAYS = {
    "event_driven": ("--events",),
    "in_the_loop": ("--events", "--learner", "native"),
    "adaptive": ("--events", "--policy", "adaptive"),
    "polling": ("--no-events",),
}
CPU_GOAL, RSS_GOAL_MB = 0.02, 80.0


@dataclass(frozen=True)
class Cost:
    """Of one process while it was watched."""

    cpu: float
    """Cores."""
    rss_mb: float
    switches_per_s: float


def measure(effort: Effort) -> Figures:
    """Each way once a round, beside each primary."""
    try:
        return _measure(effort)
    except RightsError as error:
        raise NotMeasurableError(str(error)) from error


def _measure(effort: Effort) -> Figures:
    seconds = effort.seconds(SECONDS)
    with ExitStack() as stack:
        groups = stack.enter_context(demo_groups())
        batch = stack.enter_context(BullyProcess(len(groups.cpus)))
        groups.place("elastic", batch.pid)
        batch.start()
        batch.run()
        waves = {
            name: stack.enter_context(LoggedWave(groups.cpus[0], *spans))
            for name, spans in (("idle", IDLE_NS), ("busy", BUSY_NS))
        }

        for wave in waves.values():
            groups.place("primary", wave.pid)
            wave.pause()
        cases = {
            way: partial(_watch, groups, options, waves, seconds) for way, options in WAYS.items()
        }
        watched = interleave(cases, effort)
    results = {
        f"{way}_{primary}": [run[primary] for run in runs]
        for way, runs in watched.items()
        for primary in waves
    }
    figures: Figures = {
        name: {
            process: {
                figure: across_rounds([asdict(run[process])[figure] for run in runs])
                for figure in Cost.__dataclass_fields__
            }
            for process in ("agent", "guardian")
        }
        for name, runs in results.items()
    }
    goals: Figures = {}
    for name, runs in results.items():
        if not name.startswith("polling"):
            cpu = float(np.median([run["agent"].cpu + run["guardian"].cpu for run in runs]))
            goals[f"cores_{name}"] = goal(CPU_GOAL, rounded(cpu))
    most = max(run["agent"].rss_mb for runs in results.values() for run in runs)
    goals["rss_mb"] = goal(RSS_GOAL_MB, rounded(most))
    return {**figures, "seconds_per_run": seconds, "goals": goals}


def _watch(
    groups: DemoGroups, options: tuple[str, ...], waves: Mapping[str, LoggedWave], seconds: float
) -> dict[str, dict[str, Cost]]:
    """An agent after its start-up, beside each of the ``waves`` in turn; ended and waited for."""
    with tempfile.TemporaryDirectory() as state:
        command = [sys.executable, "-m", "smartharvest", "agent"]
        command += ["--primary", f"cgroup:{groups.path('primary')}", "--state-dir", state]
        command += ["--elastic", f"cgroup:{groups.path('elastic')}", "--lend-shared"]
        command += ["--park", groups.park, *options]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0
        ) as agent:
            try:
                time.sleep(WARM_UP_S)
                if agent.poll() is not None:
                    assert agent.stderr is not None
                    raise NotMeasurableError(f"the agent ended: {agent.stderr.read().decode()}")
                processes = {"agent": agent.pid, "guardian": _guardian_of(agent.pid)}
                return {name: _beside(wave, processes, seconds) for name, wave in waves.items()}
            finally:
                agent.terminate()
                agent.communicate()


def _guardian_of(pid: int) -> int:
    for child in tasks.descendants(pid):
        if tasks.name(child) == GUARDIAN:
            return child
    raise NotMeasurableError("the agent has no guardian")


def _beside(wave: LoggedWave, processes: dict[str, int], seconds: float) -> dict[str, Cost]:
    wave.go_on()
    try:
        time.sleep(SETTLE_S)
        return _costs(processes, seconds)
    finally:
        wave.pause()


def _costs(processes: dict[str, int], seconds: float) -> dict[str, Cost]:
    began = {name: _used(pid) for name, pid in processes.items()}
    start_s = time.monotonic()
    time.sleep(seconds)
    passed_s = time.monotonic() - start_s
    costs = {}
    for name, pid in processes.items():
        cpu_ns, switches = (
            after - before for after, before in zip(_used(pid), began[name], strict=True)
        )
        costs[name] = Cost(
            cpu_ns / 1e9 / passed_s, _status(pid, "VmRSS") / 1024, switches / passed_s
        )
    return costs


def _used(pid: int) -> tuple[int, int]:
    """(CPU time in ns, context switches) of all threads so far."""
    cpu_ns = switches = 0
    for tid in tasks.process_threads(pid):
        with open(f"/proc/{tid}/schedstat") as file:
            cpu_ns += int(file.read().split()[0])
        for kind in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"):
            switches += _status(tid, kind)
    return cpu_ns, switches


def _status(pid: int, field: str) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{field}:"))


SUBJECT = Subject(
    measure,
    seconds=150.0,
    title="What an agent costs",
    about="""\
A real agent at windows of 25 ms, with an idle primary and with one that switches 4,000 times a
second: with Vowpal Wabbit and woken by the in-kernel sensor (event driven), the same deciding in
the loop (native learner), `adaptive` with its harm meter, and with Vowpal Wabbit polling every
50 us. `cpu` is in cores, memory in MiB; the goal counts agent and guardian together.""",
    least_s=60.0,
    quick=False,
)
