"""One real primary and one real batch, under every condition, in interleaved rounds."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_program
from bench.real.conditions import BASELINE, Condition
from bench.real.figures import Slice, summarize
from bench.real.primaries import PRIMARIES, Primary, free_port, wait_until_it_answers
from bench.real.processes import batch, cpu_s, release, waiting
from bench.real.traffic import Load, encode_requests, poisson_arrivals
from bench.statistics import rounded
from bench.subject import Figures, NotMeasurableError
from smartharvest.demo.figures import NO_AGENT
from smartharvest.demo.groups import DemoGroups, demo_groups

SETTLE_S = 0.3
"""Between arranging a condition and measuring it."""
CALIBRATION: Load = [(2.0, 500.0)]


@dataclass(frozen=True)
class Plan:
    """What to run and for how long."""

    primary: str
    batch: str
    load: float
    """Share of this machine's CPUs that the server and its load generator use when alone."""
    conditions: Sequence[Condition]
    rounds: int
    slice_s: float
    seed: int
    shape: Sequence[float] = (1.0,)
    """The slice's steps of load, as multiples of ``load``."""


def run(plan: Plan, progress: Callable[[str], None]) -> Figures:
    """The figures of every condition; the host is as before when it returns or raises.

    What is measured when ctrl-C comes is kept, if every condition has had one round. Raises
    NotMeasurableError if a program is missing and RightsError where groups cannot be made.
    """
    slices: dict[str, list[Slice]] = {condition.name: [] for condition in plan.conditions}
    interrupted = False
    with demo_groups() as groups, _serving(plan, groups) as server:
        cost_s = server.cost_s(plan.seed)
        rate = plan.load * len(groups.cpus) / cost_s
        load = [(plan.slice_s / len(plan.shape), rate * share) for share in plan.shape]
        order = random.Random(plan.seed)
        try:
            for number in range(plan.rounds):
                for condition in order.sample(list(plan.conditions), len(plan.conditions)):
                    progress(f"round {number + 1}/{plan.rounds}, {condition.name}")
                    with server.traffic(load, plan.seed * 1000 + number) as traffic:
                        slices[condition.name].append(_measure(plan, condition, groups, traffic))
        except KeyboardInterrupt:
            interrupted = True
            if not all(slices.values()):
                raise
    return {
        "primary": plan.primary,
        "batch": plan.batch,
        "load": plan.load,
        "shape": list(plan.shape),
        "rate_qps": rounded(rate),
        "core_us_per_request": rounded(cost_s * 1e6),
        "rounds": min(len(done) for done in slices.values()),
        "slice_s": plan.slice_s,
        "seed": plan.seed,
        "interrupted": interrupted,
        "conditions": {
            name: summarize(done, slices[BASELINE], plan.seed) for name, done in slices.items()
        },
    }


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
    def traffic(self, load: Load, seed: int) -> Iterator[Traffic]:
        """Draws and prepares a slice; equal arguments draw equal traffic."""
        rng = np.random.default_rng(seed)
        arrival_ns = poisson_arrivals(load, rng)
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
def _serving(plan: Plan, groups: DemoGroups) -> Iterator[Server]:
    primary: Primary = PRIMARIES[plan.primary]()
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="smartharvest-bench-") as made,
        waiting(primary.command(port, Path(made))) as process,
    ):
        groups.place("primary", process.pid)
        release(process)
        wait_until_it_answers(port, process, plan.primary)
        primary.fill(port, np.random.default_rng(plan.seed))
        yield Server(primary, port, process.pid, groups, Path(made))


@dataclass(frozen=True)
class _Reading:
    time_s: float
    units: int
    batch_s: float


def _measure(plan: Plan, condition: Condition, groups: DemoGroups, traffic: Traffic) -> Slice:
    with ExitStack() as stack:
        work = None
        if condition.batch:
            work = stack.enter_context(batch(plan.batch))
            groups.place("elastic", work.pid)
        groups.enter_phase(condition.name)
        stack.callback(groups.leave_phase)
        if work is not None:
            work.start()
        time.sleep(SETTLE_S)
        readings: list[_Reading] = []

        def read() -> None:
            units, spent_s = (work.units(), work.cpu_s()) if work is not None else (0, 0.0)
            readings.append(_Reading(time.monotonic(), units, spent_s))

        def begin() -> None:
            read()
            traffic.go()

        agent = NO_AGENT
        if condition.policy is None:
            begin()
            time.sleep(plan.slice_s)
            read()
        else:
            agent = groups.run_agent(
                condition.policy, plan.slice_s, begin, read, **condition.settings
            )
        traffic.wait()
    before, after = readings
    return Slice(
        arrival_ns=traffic.arrival_ns,
        latency_ns=traffic.latency_ns(),
        seconds=after.time_s - before.time_s,
        batch_units=after.units - before.units,
        batch_core_s=after.batch_s - before.batch_s,
        harvested_cores=agent.harvested_cores if condition.policy else None,
        short=agent.short,
        long=agent.long,
        agent_core_s=agent.agent_cpu_seconds,
    )
