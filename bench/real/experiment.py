"""One real primary and one real batch, under every condition, in interleaved rounds."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_program
from bench.machine import steal_s
from bench.real.conditions import BASELINE, RIVAL, UNCHANGED, Condition, Experiment
from bench.real.figures import Slice, against, summarize
from bench.real.primaries import PRIMARIES, Primary, free_port, wait_until_it_answers
from bench.real.processes import batch, cpu_s, release, waiting
from bench.real.traffic import Load, encode_requests, poisson_arrivals, with_quiet_gaps
from bench.real.without import without
from bench.statistics import rounded
from bench.subject import Figures, NotMeasurableError, Watch
from smartharvest.demo.figures import NO_AGENT
from smartharvest.demo.groups import DemoGroups, demo_groups

SETTLE_S = 0.2
"""Between arranging a condition and measuring it."""
CALIBRATION: Load = [(1.5, 500.0)]
UNIT_S = 1.5
SHORTEST_S = 0.6
YARDSTICKS = {"to_alone": BASELINE, "to_rival": RIVAL, "to_default": UNCHANGED}
OVERHEAD_GUESS_S = 1.2
"""What a slice takes beyond its traffic, before any was run."""


@dataclass(frozen=True)
class Plan:
    """What to run and for how long."""

    experiment: Experiment
    conditions: Sequence[Condition]
    rounds: int
    budget_s: float
    """For everything, starting and calibrating included; a slice is never below SHORTEST_S."""
    seed: int


def run(plan: Plan, watch: Watch) -> Figures:
    """The figures of every condition; the host is as before when it returns or raises.

    After ctrl-C the whole rounds are kept and ``watch`` knows; KeyboardInterrupt if there is none.
    Raises NotMeasurableError if a program is missing and RightsError where groups cannot be made.
    """
    began_s = time.monotonic()
    experiment, conditions = plan.experiment, plan.conditions
    slices: dict[str, list[Slice]] = {condition.name: [] for condition in conditions}
    with demo_groups() as groups, serving(plan, groups) as server:
        unit = _batch_unit(experiment.batch, groups)
        cost_s = server.cost_s(plan.seed)
        rate = experiment.load * len(groups.cpus) / cost_s
        order = random.Random(plan.seed)
        overhead_s = OVERHEAD_GUESS_S
        try:
            for number in range(plan.rounds):
                round_began_s = time.monotonic()
                left_s = began_s + plan.budget_s - round_began_s
                slices_left = (plan.rounds - number) * len(conditions)
                slice_s = max(SHORTEST_S, left_s / slices_left - overhead_s)
                load = [
                    (slice_s / len(experiment.shape), rate * share) for share in experiment.shape
                ]
                for place, condition in enumerate(order.sample(list(conditions), len(conditions))):
                    done = number * len(conditions) + place
                    watch.advance(done, plan.rounds * len(conditions), condition.name)
                    seed = plan.seed * 1000 + number
                    done_slice = _measure(experiment, condition, groups, server, load, seed)
                    slices[condition.name].append(done_slice)
                overhead_s = (time.monotonic() - round_began_s) / len(conditions) - slice_s
        except KeyboardInterrupt:
            watch.interrupted = True
            if not all(slices.values()):
                raise
    whole = min(len(of_one) for of_one in slices.values())
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
        "seconds_a_condition": rounded(sum(one.seconds for one in slices[conditions[0].name])),
        "conditions": {
            condition.name: _figures_of(condition, slices, whole, plan, unit)
            for condition in conditions
        },
    }


def _figures_of(
    condition: Condition, slices: dict[str, list[Slice]], whole: int, plan: Plan, unit: float
) -> Figures:
    own = slices[condition.name][:whole]
    figures = summarize(own, shape=plan.experiment.shape, batch_unit=unit)
    for name, other in YARDSTICKS.items():
        if other in slices and other != condition.name:
            figures[name] = against(own, slices[other][:whole], plan.seed)
    return figures


class Traffic:
    """A slice's requests, and a generator in the primary's group that waits to send them."""

    def __init__(
        self, generator: subprocess.Popen[bytes], arrival_ns: NDArray[np.int64], latencies: Path
    ) -> None:
        self.arrival_ns = arrival_ns
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
        """One a request, after ``wait``; -1 where no answer came."""
        return np.fromfile(self._latencies, dtype=np.int64)


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
    def traffic(self, load: Load, seed: int, *, gaps: bool = False) -> Iterator[Traffic]:
        """Draws and prepares a slice; equal arguments draw equal traffic."""
        rng = np.random.default_rng(seed)
        arrival_ns = poisson_arrivals(with_quiet_gaps(load, rng) if gaps else load, rng)
        if not arrival_ns.size:
            raise NotMeasurableError("a slice without a request; give it more time")
        names = ("arrivals", "requests", "latencies")
        arrivals, requests, latencies = (self._directory / name for name in names)
        arrivals.write_bytes(arrival_ns.tobytes())
        requests.write_bytes(encode_requests(self._primary.requests(arrival_ns.size, rng)))
        program = build_program(Path(__file__).with_name("openloop.c"), "-pthread")
        speaks = [str(self._port), str(self._primary.connections), self._primary.terminator]
        with waiting([program, *speaks, arrivals, requests, latencies]) as generator:
            self._groups.place("primary", generator.pid)
            release(generator)
            assert generator.stdout is not None
            if generator.stdout.readline() != b"ready\n":
                raise NotMeasurableError(f"{self._primary.name}: cannot be reached")
            yield Traffic(generator, arrival_ns, latencies)

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


def _batch_unit(name: str, groups: DemoGroups) -> float:
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


def _measure(
    experiment: Experiment,
    condition: Condition,
    groups: DemoGroups,
    server: Server,
    load: Load,
    seed: int,
) -> Slice:
    """One slice; everything it has started has ended."""
    seconds = sum(length for length, _ in load)
    with ExitStack() as stack:
        work = stack.enter_context(batch(experiment.batch)) if condition.batch else None
        traffic = stack.enter_context(server.traffic(load, seed, gaps=experiment.gaps))
        if work is not None:
            groups.place("elastic", work.pid)
            groups.enter_phase(condition.phase)
            stack.callback(groups.leave_phase)
            work.start()
        time.sleep(SETTLE_S)
        readings: list[_Reading] = []

        def read() -> None:
            units, spent_s = (work.units(), work.cpu_s()) if work is not None else (0, 0.0)
            readings.append(_Reading(time.monotonic(), units, spent_s, steal_s()))

        def begin() -> None:
            read()
            traffic.go()

        agent = NO_AGENT
        if condition.policy is None:
            begin()
            time.sleep(seconds)
            read()
        else:
            with without(condition.without):
                agent = groups.run_agent(
                    condition.policy, seconds, begin, read, **condition.settings
                )
        traffic.wait()
    before, after = readings
    return Slice(
        arrival_ns=traffic.arrival_ns,
        latency_ns=traffic.latency_ns(),
        seconds=after.time_s - before.time_s,
        batch_units=after.units - before.units,
        batch_core_s=after.batch_s - before.batch_s,
        harvested_cores=agent.harvested_cores if condition.policy and condition.batch else None,
        short=agent.short,
        long=agent.long,
        agent_core_s=agent.agent_cpu_seconds,
        steal_core_s=after.steal_s - before.steal_s,
    )
