"""One real primary and one real batch, under every condition, in interleaved rounds."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_program
from bench.machine import steal_s
from bench.probe import load_ns
from bench.real.batch import NEEDED
from bench.real.bootstrap import BLOCK_NS
from bench.real.conditions import BASELINE, RIVAL, UNCHANGED, Condition, Experiment
from bench.real.figures import (
    Slice,
    against,
    kept_share,
    summarize,
    without_disturbed,
    without_standstills,
)
from bench.real.foreign import Foreign, disturbed, stood_still, watching
from bench.real.primaries import PRIMARIES, Primary, free_port, wait_until_it_answers
from bench.real.processes import batch, cpu_s, release, waiting, watchers_s
from bench.real.traffic import Load, encode_requests, poisson_arrivals, with_quiet_gaps
from bench.real.without import without
from bench.statistics import rounded
from bench.subject import Figures, NotMeasurableError, Watch
from smartharvest.errors import SmartHarvestError
from smartharvest.lab.demo.figures import NO_AGENT
from smartharvest.lab.demo.groups import DemoGroups, demo_groups
from smartharvest.lab.demo.standstill import Standstills

SETTLE_S = 0.2
"""Between arranging a condition and measuring it."""
CALIBRATION: Load = [(1.5, 500.0)]
UNIT_S = 1.5
SHORTEST_S = 1.2
FEWEST_ROUNDS = 5
MOST_LEARNING = 0.2
"""Of an experiment's time, for all rows together that learn before they are measured."""
BEST_SLICE_S = 2.0
"""With more time there are more rounds rather than longer slices."""
LEARNING = {"digits", "regression"}
"""Primaries and batches of scikit-learn."""
YARDSTICKS = {"to_alone": BASELINE, "to_rival": RIVAL, "to_default": UNCHANGED}
OVERHEAD_GUESS_S = 0.8
"""What a slice takes beyond its traffic, before any was run."""
MOST_FOREIGN = 0.02
"""Of one CPU: a block of arrivals in which others had more is left out, of whatever row it is."""
FEWEST_LEFT = 0.4
"""Where less of a row's blocks would be left, none is left out: the machine is not ours."""


@dataclass(frozen=True)
class Plan:
    """What to run and for how long."""

    experiment: Experiment
    conditions: Sequence[Condition]
    rounds: int | None
    """None: as many as the time allows, FEWEST_ROUNDS at least."""
    budget_s: float
    """For everything, starting and calibrating included; a slice is never below SHORTEST_S."""
    seed: int

    def rounds_in(self, left_s: float) -> int:
        if self.rounds is not None:
            return self.rounds
        slices = sum(condition.slices for condition in self.conditions)
        round_s = slices * (BEST_SLICE_S + OVERHEAD_GUESS_S) + self.warm_up_s
        return max(FEWEST_ROUNDS, int(left_s / round_s))

    @property
    def warm_up_s(self) -> float:
        """Of a round."""
        return sum(condition.warm_up_s for condition in self.conditions)

    def learning(self) -> Iterator[tuple[Condition, float]]:
        """The conditions that learn before the first round, and for how long each does."""
        asked_s = sum(condition.learns_s for condition in self.conditions)
        part = min(1.0, MOST_LEARNING * self.budget_s / asked_s) if asked_s else 0.0
        for condition in self.conditions:
            if condition.learns_s:
                yield replace(condition, warm_up_s=0.0), part * condition.learns_s


def run(plan: Plan, watch: Watch) -> Figures:
    """The figures of every condition; the host is as before when it returns or raises.

    After ctrl-C the whole rounds are kept and ``watch`` knows; KeyboardInterrupt if there is none.
    Raises NotMeasurableError if a program is missing and RightsError where groups cannot be made.
    """
    began_s = time.monotonic()
    experiment, conditions = plan.experiment, plan.conditions
    slices: dict[str, list[Slice]] = {condition.name: [] for condition in conditions}
    failed: dict[str, str] = {}
    """Rows that could not be measured, and why: they do not cost the others."""
    missing = NEEDED.get(experiment.batch)
    if missing and shutil.which(missing) is None:
        raise NotMeasurableError(f"{missing} is not installed")
    if {experiment.primary, experiment.batch} & LEARNING and find_spec("sklearn") is None:
        raise NotMeasurableError("scikit-learn is not installed; pip install '.[real]'")
    with (
        watching() as foreign,
        demo_groups() as groups,
        Standstills(groups.cpus) as standstills,
        serving(plan, groups) as server,
    ):
        unit = batch_unit(experiment.batch, groups)
        cost_s = server.cost_s(plan.seed)
        rate = experiment.load * len(groups.cpus) / cost_s
        order = random.Random(plan.seed)
        overhead_s = OVERHEAD_GUESS_S
        each = [condition for condition in conditions for _ in range(condition.slices)]
        stage = Stage(experiment, groups, server, foreign, standstills)
        try:
            for condition, seconds in plan.learning():
                # Its failure is met again, and noted, in its first slice.
                with suppress(NotMeasurableError, SmartHarvestError):
                    stage.measure(condition, [(seconds, rate)], plan.seed)
            rounds = plan.rounds_in(began_s + plan.budget_s - time.monotonic())
            for number in range(rounds):
                round_began_s = time.monotonic()
                left_s = began_s + plan.budget_s - round_began_s
                round_s = left_s / (rounds - number) - plan.warm_up_s
                slice_s = max(SHORTEST_S, round_s / len(each) - overhead_s)
                load = [
                    (slice_s / len(experiment.shape), rate * share) for share in experiment.shape
                ]
                for place, condition in enumerate(order.sample(each, len(each))):
                    watch.advance(number * len(each) + place, rounds * len(each), condition.name)
                    seed = plan.seed * 1000 + number
                    if condition.name in failed:
                        continue
                    try:
                        slices[condition.name].append(stage.measure(condition, load, seed))
                    except (NotMeasurableError, SmartHarvestError) as error:
                        if condition.name == BASELINE:
                            raise
                        failed[condition.name] = str(error)
                took_s = time.monotonic() - round_began_s - plan.warm_up_s
                overhead_s = took_s / len(each) - slice_s
        except KeyboardInterrupt:
            watch.interrupted = True
            lacking = [one.name for one in conditions if len(slices[one.name]) < one.slices]
            if set(lacking) - failed.keys():
                raise
    conditions = [one for one in conditions if one.name not in failed]
    whole = min(len(slices[one.name]) // one.slices for one in conditions)
    measured = {one.name: slices[one.name][: whole * one.slices] for one in conditions}
    kept = {name: [without_standstills(one) for one in each] for name, each in measured.items()}
    calm = {name: [without_disturbed(one) for one in each] for name, each in kept.items()}
    ours = all(kept_share(calm[name], kept[name]) >= FEWEST_LEFT for name in kept)
    if ours:
        kept = calm
    return {
        "primary": experiment.primary,
        "batch": experiment.batch,
        "load": experiment.load,
        "shape": list(experiment.shape),
        "gaps": experiment.gaps,
        "about": experiment.about,
        "rate_qps": rounded(rate),
        "core_us_per_request": rounded(cost_s * 1e6),
        "batch_unit_per_core_s": rounded(unit),
        "rounds": whole,
        "seconds_a_condition": rounded(sum(one.seconds for one in kept[conditions[-1].name])),
        "others_seen": foreign.seen,
        "standstills_seen": standstills.watched,
        "disturbed_blocks_left_out": ours,
        "failed": failed,
        "conditions": {
            condition.name: _figures_of(condition, kept, plan, unit)
            | {"left_out": rounded(1 - kept_share(kept[condition.name], measured[condition.name]))}
            for condition in conditions
        },
    }


def _figures_of(
    condition: Condition, slices: dict[str, list[Slice]], plan: Plan, unit: float
) -> Figures:
    own = slices[condition.name]
    figures = summarize(own, shape=plan.experiment.shape, batch_unit=unit)
    for name, other in YARDSTICKS.items():
        if other in slices and other != condition.name:
            figures[name] = against(own, slices[other], plan.seed)
    return figures


class Traffic:
    """A slice's requests, and a generator in the primary's group that waits to send them."""

    def __init__(
        self,
        generator: subprocess.Popen[bytes],
        warm_up: int,
        arrival_ns: NDArray[np.int64],
        latencies: Path,
    ) -> None:
        self.arrival_ns = arrival_ns
        self._warm_up = warm_up
        self._generator = generator
        self._latencies = latencies

    def go(self) -> None:
        """Begins to send."""
        release(self._generator)

    def wait(self) -> float:
        """Returns the generator's CPU seconds once the last answer is in."""
        _, status, usage = os.wait4(self._generator.pid, 0)
        self._generator.returncode = os.waitstatus_to_exitcode(status)
        if self._generator.returncode:
            raise NotMeasurableError("the load generator failed")
        return usage.ru_utime + usage.ru_stime

    def latency_ns(self) -> NDArray[np.int64]:
        """One a request after the warm-up, after ``wait``; -1 where no answer came."""
        return np.fromfile(self._latencies, dtype=np.int64)[self._warm_up :]


class Server:
    """A primary that answers."""

    def __init__(
        self, primary: Primary, port: int, pid: int, groups: DemoGroups, directory: Path
    ) -> None:
        self._primary = primary
        self._port = port
        self._pid = pid
        self._groups = groups
        self._directory = directory

    @contextmanager
    def traffic(
        self, load: Load, seed: int, *, gaps: bool = False, warm_up_s: float = 0.0
    ) -> Iterator[Traffic]:
        """Draws and prepares a slice; equal arguments draw equal traffic, whatever the warm-up.

        That has the load's first step; its requests are in no figure.
        """
        rng = np.random.default_rng(seed)
        arrival_ns, asked = self._draw(load, gaps, rng)
        if not arrival_ns.size:
            raise NotMeasurableError("a slice without a request; give it more time")
        warm_up: Load = [(warm_up_s, load[0][1])] if warm_up_s else []
        early_ns, early = self._draw(warm_up, gaps, np.random.default_rng(seed + 1))
        all_ns = np.concatenate([early_ns, arrival_ns + int(warm_up_s * 1e9)])
        names = ("arrivals", "requests", "latencies")
        arrivals, requests, latencies = (self._directory / name for name in names)
        arrivals.write_bytes(all_ns.tobytes())
        requests.write_bytes(encode_requests([*early, *asked]))
        program = build_program(Path(__file__).with_name("openloop.c"), "-pthread")
        speaks = [str(self._port), str(self._primary.connections), self._primary.terminator]
        with waiting([program, *speaks, arrivals, requests, latencies]) as generator:
            self._groups.place("primary", generator.pid)
            release(generator)
            assert generator.stdout is not None
            if generator.stdout.readline() != b"ready\n":
                raise NotMeasurableError(f"{self._primary.name}: cannot be reached")
            yield Traffic(generator, early_ns.size, arrival_ns, latencies)

    def _draw(
        self, load: Load, gaps: bool, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], list[bytes]]:
        """Arrivals, and what is asked at them."""
        if not load:
            return np.empty(0, dtype=np.int64), []
        arrival_ns = poisson_arrivals(with_quiet_gaps(load, rng) if gaps else load, rng)
        return arrival_ns, self._primary.requests(arrival_ns.size, rng)

    def cost_s(self, seed: int) -> float:
        """CPU seconds of a request, server and generator together, when alone and warm."""
        for _ in range(2):
            with self.traffic(CALIBRATION, seed) as traffic:
                before_s = cpu_s(self._pid)
                traffic.go()
                generator_s = traffic.wait()
                spent_s = cpu_s(self._pid) - before_s + generator_s
        return max(1e-7, spent_s / traffic.arrival_ns.size)


@contextmanager
def serving(plan: Plan, groups: DemoGroups) -> Iterator[Server]:
    name = plan.experiment.primary
    primary: Primary = PRIMARIES[name]()
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="smartharvest-bench-") as made,
        waiting(primary.command(port, Path(made))) as process,
    ):
        groups.place("primary", process.pid)
        release(process)
        wait_until_it_answers(port, process, name)
        primary.fill(port, np.random.default_rng(plan.seed))
        yield Server(primary, port, process.pid, groups, Path(made))


@dataclass(frozen=True)
class _Reading:
    time_s: float
    units: int
    batch_s: float
    steal_s: float


def batch_unit(name: str, groups: DemoGroups) -> float:
    """The batch's work a second with a core of its own and the machine to itself."""
    with batch(name) as work:
        groups.place("elastic", work.pid)
        groups.enter_phase("one-core")
        try:
            work.start()
            time.sleep(SETTLE_S)
            began_s, units = time.monotonic(), work.units()
            # Whole units: some take a good part of a second.
            while work.units() < units + 2 or time.monotonic() < began_s + UNIT_S:
                time.sleep(0.005)
            return (work.units() - units) / (time.monotonic() - began_s)
        finally:
            groups.leave_phase()


@dataclass(frozen=True)
class Stage:
    """Where the slices of an experiment are measured."""

    experiment: Experiment
    groups: DemoGroups
    server: Server
    foreign: Foreign
    standstills: Standstills

    def measure(self, condition: Condition, load: Load, seed: int) -> Slice:
        """One slice; everything it has started has ended."""
        seconds = sum(length for length, _ in load)
        warm_up_s, experiment = condition.warm_up_s, self.experiment
        readings: list[_Reading] = []
        began_ns: list[int] = []
        watched_s: list[float] = []
        loaded_ns = load_ns()
        with ExitStack() as stack:
            work = stack.enter_context(batch(experiment.batch)) if condition.batch else None
            traffic = stack.enter_context(
                self.server.traffic(load, seed, gaps=experiment.gaps, warm_up_s=warm_up_s)
            )
            if work is not None:
                self.groups.place("elastic", work.pid)
                self.groups.enter_phase(condition.phase)
                stack.callback(self.groups.leave_phase)
                work.start()
            time.sleep(SETTLE_S)
            others = stack.enter_context(self.foreign.series())

            def read() -> None:
                units, spent_s = (work.units(), work.cpu_s()) if work is not None else (0, 0.0)
                readings.append(_Reading(time.monotonic(), units, spent_s, steal_s()))

            warm = threading.Timer(warm_up_s, read)
            stack.callback(warm.cancel)

            def begin() -> None:
                began_ns.append(time.monotonic_ns() + int(warm_up_s * 1e9))
                watched_s.append(watchers_s())
                traffic.go()
                warm.start()

            agent = NO_AGENT
            if condition.policy is None:
                begin()
                time.sleep(warm_up_s + seconds)
                read()
            else:
                agent = self.groups.run_agent(
                    condition.policy,
                    warm_up_s + seconds,
                    begin,
                    read,
                    seams=without(condition.without),
                    case=experiment.name,
                    **condition.settings,
                )
            watched_s.append(watchers_s())
            traffic.wait()
        before, after = sorted(readings, key=lambda reading: reading.time_s)
        measured = seconds / (warm_up_s + seconds)
        still = [
            one
            for one in self.standstills.so_far()
            if began_ns[0] <= one[1] and one[0] <= time.monotonic_ns()
        ]
        blocks = int(traffic.arrival_ns[-1] // BLOCK_NS) + 1
        return Slice(
            arrival_ns=traffic.arrival_ns,
            latency_ns=traffic.latency_ns(),
            seconds=after.time_s - before.time_s,
            batch_units=after.units - before.units,
            batch_core_s=after.batch_s - before.batch_s,
            harvested_cores=agent.harvested_cores if condition.policy and condition.batch else None,
            short=agent.short,
            long=agent.long,
            agent_core_s=max(0.0, agent.agent_cpu_seconds - watched_s[-1] + watched_s[0])
            * measured,
            steal_core_s=after.steal_s - before.steal_s,
            disturbed=disturbed(
                np.array(others), began_ns[0], blocks, BLOCK_NS, int(MOST_FOREIGN * BLOCK_NS)
            ),
            stood_still=stood_still(still, began_ns[0], blocks, BLOCK_NS),
            standstills_ms=[rounded((until_ns - from_ns) / 1e6) for from_ns, until_ns in still],
            load_ns=loaded_ns,
        )
