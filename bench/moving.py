"""What moving a core costs the primary: bursts of short processes beside a batch under cpu.idle.

The batch may run everywhere, is confined to one of two CPUs, or has the other one lent and taken
back every so often, by the actuator the agent uses; with and without the rescue (rescue.h).
Why there is a tail at all: docs/research/moving-cores.md. A P99 needs thousands of bursts:
``python -m bench.moving SAMPLES --rounds N [--case NAME]…`` adds rounds to a file and prints the
figures of all there are, so that they can be gathered in slices when a machine is quiet.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from bench import probe
from bench.compiling import build_program
from bench.cpuset import find_tree, find_two_cpus
from bench.others import Others
from bench.statistics import rounded
from bench.subject import (
    Effort,
    Figures,
    NotMeasurableError,
    Subject,
    goal,
    interleave,
)
from smartharvest.agent.loop_builder import CORE_HOLD_PRIORITY, RESCUE_PRIORITY
from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.core import _actuators, _sensors
from smartharvest.core._rescue import Rescue
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess
from smartharvest.lab.demo.standstill import Standstills, touched

SLICE_S = 1.2
"""Some 150 bursts; a slice that is to be kept is longer."""
KEPT_SLICE_S = 3.0
WARM_UP_S = 0.05
BATCH_THREADS = 2
STALL_NS = 2_000_000
"""No burst takes as long as this unless a tick is lost somewhere."""
CONTROLLERS = ("cpuset", "cpu")
NEAR_NS = 25_000_000
MOST_OTHERS_NS = 1_000_000
"""Near a burst: if others, the kernel's threads too, had more CPU time, it is left out."""
RESAMPLES = 2000
P99_RATIO_GOAL = 1.1


@dataclass(frozen=True)
class Case:
    """How the batch is placed; ``period_ms``: how long until the core is lent, or taken back."""

    batch: bool = True
    confined: bool = False
    period_ms: float | None = None
    rescue: bool = False


CASES = {
    "alone": Case(batch=False),
    "idle_everywhere": Case(),
    "confined": Case(confined=True),
    "moved_25ms": Case(period_ms=25),
    "moved_25ms_rescue": Case(period_ms=25, rescue=True),
    "moved_250ms": Case(period_ms=250),
    "moved_250ms_rescue": Case(period_ms=250, rescue=True),
    "idle_everywhere_rescue": Case(rescue=True),
}
STATIC = ("idle_everywhere", "confined")


@dataclass(frozen=True)
class Slice:
    """``units_per_s``: the batch's work; ``rescue_cpu_s``: of the threads that rescue."""

    latencies_ns: NDArray[np.int64]
    seconds: float
    units_per_s: float
    displacements: int = 0
    rescues: int = 0
    rescue_cpu_s: float = 0.0
    left_out: int = 0
    """Further bursts, which a standstill of the machine touched, or others who had CPU time."""


@dataclass(frozen=True)
class Surroundings:
    """What belongs to no case: the machine's standstills, and others on its CPUs."""

    cpus: list[int]
    standstills: Standstills
    others: Others

    @contextmanager
    def watched(self) -> Iterator[list[tuple[int, int]]]:
        with self.others.series(self.cpus) as rows:
            yield rows

    def undisturbed(
        self,
        due_ns: NDArray[np.int64],
        end_ns: NDArray[np.int64],
        rows: list[tuple[int, int]],
    ) -> NDArray[np.bool_]:
        """Which of the bursts nothing has touched: no standstill, and no others near it."""
        still = self.standstills.so_far()
        at_ns, used_ns = np.array(rows).T
        had_ns = np.interp(end_ns + NEAR_NS, at_ns, used_ns) - np.interp(
            due_ns - NEAR_NS, at_ns, used_ns
        )
        ran = [not touched(begin, end, still) for begin, end in zip(due_ns, end_ns, strict=True)]
        kept: NDArray[np.bool_] = np.array(ran) & (had_ns < MOST_OTHERS_NS)
        return kept


def measure(effort: Effort) -> Figures:
    seconds = effort.seconds(SLICE_S)
    return summarize(run_slices(list(CASES), effort, seconds))


def run_slices(names: list[str], effort: Effort, seconds: float) -> dict[str, list[Slice]]:
    """One slice of each case in every round."""
    tree = find_tree()
    cpus = find_two_cpus(tree)
    program = build_program(Path(__file__).with_name("bursts.c"), "-lm")
    with ExitStack() as stack:
        stage = stack.enter_context(made_stage(tree, cpus))
        bully = stack.enter_context(BullyProcess(BATCH_THREADS))
        stage.enter()
        surroundings = Surroundings(
            cpus,
            stack.enter_context(Standstills(cpus)),
            stack.enter_context(Others(tree, [stage.primary, stage.elastic, stage.bench])),
        )
        stage.place(bully.pid, stage.elastic)
        bully.start()
        seeds = random.Random(effort.seed)

        def run(case: Case) -> Callable[[], Slice]:
            return lambda: _run(
                stage, bully, program, case, seconds, seeds.randrange(2**31), surroundings
            )

        return interleave({name: run(CASES[name]) for name in names}, effort)


def _with_bursts(slices: Mapping[str, list[Slice]]) -> dict[str, list[Slice]]:
    """Without the rounds in which a case had every burst left out. NotMeasurableError if all."""
    rounds = max(map(len, slices.values()))
    kept = [
        number
        for number in range(rounds)
        if all(of[number].latencies_ns.size for of in slices.values() if number < len(of))
    ]
    found = {name: [of[n] for n in kept if n < len(of)] for name, of in slices.items()}
    if not all(found.values()):
        raise NotMeasurableError("others had the machine all the time")
    return found


def summarize(slices: Mapping[str, list[Slice]]) -> Figures:
    """Each case's bursts, and its tail over that of the better static case, if one was run."""
    slices = _with_bursts(slices)
    static = [name for name in STATIC if name in slices]
    figures: Figures = {
        "batch_threads": BATCH_THREADS,
        "cases": {name: _of_case(of_case) for name, of_case in slices.items()},
    }
    if not static:
        return figures
    best = min(static, key=lambda name: _p99_ns(slices[name]))
    ratios = {name: _ratio(slices[name], slices[best]) for name in slices if name not in static}
    figures["better_static"] = best
    figures["p99_over_better_static"] = ratios
    goals: Figures = {}
    if "moved_25ms_rescue" in ratios:
        value = ratios["moved_25ms_rescue"]["ratio"]
        goals["moved_25ms_rescue_p99_to_better_static"] = goal(P99_RATIO_GOAL, value)
    return {**figures, "goals": goals}


def _of_case(slices: list[Slice]) -> Figures:
    pooled = np.concatenate([part.latencies_ns for part in slices])
    p99s_us = [float(np.percentile(part.latencies_ns, 99)) / 1e3 for part in slices]
    seconds = sum(part.seconds for part in slices)
    p50, p90, p99, p999 = (rounded(float(q) / 1e3) for q in np.percentile(pooled, PERCENTILES))
    figures: Figures = {
        "bursts": pooled.size,
        "left_out": sum(part.left_out for part in slices),
        "p50_us": p50,
        "p90_us": p90,
        "p99_us": p99,
        "p999_us": p999,
        "max_us": rounded(float(pooled.max()) / 1e3),
        "p99_by_slice_us": [
            rounded(float(q)) for q in np.percentile(p99s_us, [0, 25, 50, 75, 100])
        ],
        "stalled_per_1000": rounded(1000 * float(np.mean(pooled > STALL_NS))),
        "batch_units_per_s": rounded(float(np.median([part.units_per_s for part in slices]))),
    }
    if any(part.rescues for part in slices):
        figures["displacements_per_s"] = rounded(sum(p.displacements for p in slices) / seconds)
        figures["rescues_per_s"] = rounded(sum(p.rescues for p in slices) / seconds)
        figures["rescue_cpu_share"] = rounded(sum(p.rescue_cpu_s for p in slices) / seconds)
    return figures


PERCENTILES = (50, 90, 99, 99.9)


def _p99_ns(slices: list[Slice]) -> float:
    return float(np.percentile(np.concatenate([part.latencies_ns for part in slices]), 99))


def _ratio(slices: list[Slice], base: list[Slice]) -> dict[str, float]:
    """Of the 99th percentiles over all bursts, with 95 % of its bootstrap over whole rounds.

    A burst is not independent of its neighbours, a slice of three seconds nearly is.
    """
    rounds = min(len(slices), len(base))
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(RESAMPLES if rounds > 1 else 0):
        chosen = rng.integers(0, rounds, rounds)
        drawn.append(_p99_ns([slices[i] for i in chosen]) / _p99_ns([base[i] for i in chosen]))
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn else (np.nan, np.nan)
    return {
        "ratio": rounded(_p99_ns(slices[:rounds]) / _p99_ns(base[:rounds])),
        "low": rounded(float(low)),
        "high": rounded(float(high)),
    }


class Stage:
    """A primary and an elastic group in one parent."""

    def __init__(self, tree: CgroupTree, cpus: list[int], writer: HostWriter) -> None:
        self._writer = writer
        self.cpus = cpus
        parent = tree.group(f"smartharvest-bench-{os.getpid()}")
        self.primary, self.elastic, self.bench = (
            tree.group(f"{parent.relative}/{name}") for name in ("primary", "elastic", "bench")
        )
        for above, groups in (
            (tree.group(""), [parent]),
            (parent, [self.primary, self.elastic, self.bench]),
        ):
            if tree.version == 2:
                writer.enable_controllers(above.path, CONTROLLERS)
            for group in groups:
                for directory in sorted({group.directory(c) or "" for c in CONTROLLERS}):
                    writer.make_group(directory)
        if self.elastic.idle_file is None:
            raise NotMeasurableError("needs cpu.idle (Linux 5.15)")
        self.set_idle(True)
        self._tree = tree
        masks = [format_cpulist(cpus[1:]), format_cpulist(cpus)]
        self.actuator = _actuators.CpusetActuator(
            [(self.elastic.cpus_file, self.elastic.effective_cpus_file, masks)],
            [-1, cpus[0]],
            tasks_path=self.elastic.tasks_file,
            fifo_priority=CORE_HOLD_PRIORITY,
        )
        hierarchy = "cpuset" if tree.version == 1 else "v2"
        self.targets = [
            (hierarchy, os.stat(group.path).st_ino, number)
            for group, number in ((self.primary, 0), (self.elastic, -1))
        ]

    def set_idle(self, idle: bool) -> None:
        """Whether the elastic group is under cpu.idle."""
        assert self.elastic.idle_file is not None
        self._writer.set(self.elastic.idle_file, str(int(idle)))

    def enter(self) -> None:
        """Puts this process where the sensor tells it from others; undone with the stage."""
        controller = CONTROLLERS[0]
        for tid in tasks.process_threads(os.getpid()):  # those that hold cores are there already
            origin = self._tree.group_of(tid, controller).directory(controller) or ""
            self._writer.move_task(tid, origin, self.bench.directory(controller) or "")

    def place(self, pid: int, group: Group) -> None:
        for directory in {group.directory(controller) or "" for controller in CONTROLLERS}:
            self._writer.files.write(f"{directory}/cgroup.procs", str(pid))


@contextmanager
def made_stage(tree: CgroupTree, cpus: list[int]) -> Iterator[Stage]:
    recover(tree.files, STATE_DIRECTORY)
    parent = tree.group(f"smartharvest-bench-{os.getpid()}")
    writer = HostWriter(tree.files, Journal(STATE_DIRECTORY, claims=[parent.path]))
    try:
        yield Stage(tree, cpus, writer)
    finally:
        writer.restore()


def _run(
    stage: Stage,
    bully: BullyProcess,
    program: Path,
    case: Case,
    seconds: float,
    seed: int,
    surroundings: Surroundings,
) -> Slice:
    sensor = rescue = None
    stage.actuator.assign(0 if case.confined or case.period_ms else 1)
    if case.rescue:
        sensor = _sensors.BpfSensor(stage.targets, [len(stage.cpus)])
        rescue = Rescue(sensor, stage.cpus, RESCUE_PRIORITY)
    bursts = subprocess.Popen(
        [str(program), str(seconds), str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        stage.place(bursts.pid, stage.primary)
        if case.batch:
            bully.run()
        time.sleep(WARM_UP_S)
        units, began, cpu_s = bully.units(), time.monotonic(), _rescue_cpu_s()
        assert bursts.stdin is not None
        bursts.stdin.write("\n")
        bursts.stdin.flush()
        with surroundings.watched() as watched:
            if case.period_ms:
                _move(stage, case.period_ms / 1e3, began + seconds)
            out, _ = bursts.communicate(timeout=seconds + 30)
        elapsed = time.monotonic() - began
        due_ns, took_ns = np.array(out.split(), dtype=np.int64).reshape(-1, 2).T
        kept = surroundings.undisturbed(due_ns, due_ns + took_ns, watched)
        return Slice(
            took_ns[kept],
            elapsed,
            (bully.units() - units) / elapsed,
            sensor.displacements if sensor else 0,
            rescue.rescues if rescue else 0,
            _rescue_cpu_s() - cpu_s,
            left_out=int(np.sum(~kept)),
        )
    finally:
        bursts.kill()
        bursts.wait()
        bully.pause()
        if rescue is not None:
            rescue.close()


def _rescue_cpu_s() -> float:
    """CPU seconds this process's rescuing threads have used."""
    total_ns = 0
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # another one, which has ended
            if (task / "comm").read_text().strip() == "sh-rescue":
                total_ns += int((task / "schedstat").read_text().split()[0])
    return total_ns / 1e9


def _move(stage: Stage, period_s: float, end: float) -> None:
    """Lends and takes back the first CPU at absolute times, from the second as the loop would."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, stage.cpus[1:])
    level, due = 0, time.monotonic()
    try:
        with probe.scheduled("fifo"):
            while (due := due + period_s) < end:
                time.sleep(max(0.0, due - time.monotonic()))
                level = 1 - level
                stage.actuator.assign(level)
    finally:
        os.sched_setaffinity(0, allowed)
        stage.actuator.assign(0)


SUBJECT = Subject(
    measure,
    seconds=60.0,
    least_s=8.0,
    title="The tail of moving",
    about="""\
A primary forks four processes of 100 us at random times; a sample is one burst, from when it was
due until its last process is reaped. Two threads compute beside it under cpu.idle: everywhere,
confined to one of two CPUs, or with the other CPU lent and taken back. *Stalled* is a burst of more
than 2 ms. Bursts that a standstill of
the whole machine touched, or others who had CPU time, are *left out*.""",
)


@click.command()
@click.argument("samples", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--rounds", default=3, show_default=True)
@click.option("--seconds", default=KEPT_SLICE_S, show_default=True, help="Of a slice.")
@click.option("--case", "names", multiple=True, type=click.Choice(list(CASES)), help="Only this.")
@click.option("--seed", type=int, help="Default: another one each time.")
def main(
    samples: Path, rounds: int, seconds: float, names: tuple[str, ...], seed: int | None
) -> None:
    """Add ROUNDS to the file SAMPLES, and print the figures of all it has."""
    effort = Effort(rounds, 1.0, seed or time.time_ns() % 2**31)
    with samples.open("a") as file:
        for name, slices in run_slices(list(names or CASES), effort, seconds).items():
            for part in slices:
                values = {
                    **dataclasses.asdict(part),
                    "latencies_ns": part.latencies_ns.tolist(),
                }
                file.write(json.dumps({"case": name, **values}) + "\n")
    gathered: dict[str, list[Slice]] = {}
    for line in samples.read_text().splitlines():
        values = json.loads(line)
        latencies = np.array(values.pop("latencies_ns"), dtype=np.int64)
        gathered.setdefault(values.pop("case"), []).append(Slice(latencies, **values))
    click.echo(json.dumps(summarize(gathered), indent=2))


if __name__ == "__main__":
    main()
