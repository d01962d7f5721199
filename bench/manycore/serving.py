"""A primary in a guest: ``python -m bench.manycore.serving CPUS NAME``.

The demo's server, or a real one behind the open-loop generator. A line prepares it, and the next
has it calibrate, with traffic of its own. Then a line of JSON with ``load``, ``seconds``, ``seed``,
``service_us``, ``gaps`` and ``shape`` draws a slice and is answered by ``{"drawn": N}``; the next
line starts it, it is answered when all are served, and one more asks for the requests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.compiling import build_program
from bench.manycore.plan import QUEUE, SIGMA
from bench.manycore.samples import packed
from bench.real import primaries
from bench.real.processes import cpu_s
from bench.real.traffic import encode_requests, poisson_arrivals, with_quiet_gaps
from smartharvest.core import _demo
from smartharvest.host.process.parent import die_with

Times = NDArray[np.int64]
"""ns"""
CALIBRATION_QPS, CALIBRATION_S = 1000.0, 0.3
SEARCH_FILES = 60
"""An emulated guest takes minutes to index more."""


def arrivals(asked: dict[str, Any], rate: float, rng: np.random.Generator) -> Times:
    """``rate`` is what the load asked for makes a second, before the shape's steps."""
    steps = asked["shape"]
    load = [(asked["seconds"] / len(steps), rate * step) for step in steps]
    return poisson_arrivals(with_quiet_gaps(load, rng) if asked["gaps"] else load, rng)


def draw(asked: dict[str, Any], cpus: int) -> tuple[Times, Times]:
    """(arrivals, CPU time of each request) in ns; equal arguments draw equal traffic."""
    rng = np.random.default_rng(asked["seed"])
    mean_s = asked["service_us"] * 1e-6 * float(np.exp(SIGMA**2 / 2))
    arrival_ns = arrivals(asked, asked["load"] * cpus / mean_s, rng)
    service_us = rng.lognormal(np.log(asked["service_us"]), SIGMA, arrival_ns.size)
    return arrival_ns, (service_us * 1e3).astype(np.int64)


class Primary(Protocol):
    """A server with its traffic."""

    def calibrate(self) -> dict[str, float]:
        """What its traffic is drawn with, and the samples keep."""

    def draw(self, asked: dict[str, Any]) -> Times:
        """Prepares a slice. Its arrivals."""

    def serve(self) -> None:
        """Sends the slice; returns when all are answered."""

    def latencies(self) -> Times:
        """Of the slice; -1: no answer."""


class Queue:
    """The demo's server: twice as many threads as CPUs behind one queue.

    A request takes the CPU time that was drawn: an emulated CPU is up to a third slower at one
    minute than at another, and P99 with nothing lent differs by more. So what sharing does to
    caches does not show.
    """

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._steps_per_ms = 0
        self._slice = array("q"), array("q"), array("q")

    def calibrate(self) -> dict[str, float]:
        self._steps_per_ms = _demo.calibrate()
        self._server = _demo.Server(2 * self._cpus)
        return {"steps_per_ms": self._steps_per_ms, "timed": True}

    def draw(self, asked: dict[str, Any]) -> Times:
        arrival_ns, service_ns = draw(asked, self._cpus)
        work_ns = array("q", service_ns.tolist())
        self._slice = array("q", arrival_ns.tolist()), work_ns, array("q", bytes(8 * len(work_ns)))
        return arrival_ns

    def serve(self) -> None:
        self._server.serve(*self._slice, self._steps_per_ms)

    def latencies(self) -> Times:
        return np.array(self._slice[2], dtype=np.int64)


class Remote:
    """One of bench.real.primaries on loopback; it and its generator are this process's children."""

    def __init__(self, name: str, cpus: int, directory: Path) -> None:
        self._cpus = cpus
        self._directory = directory
        self._primary: primaries.Primary = (
            primaries.Search(SEARCH_FILES) if name == "search" else primaries.PRIMARIES[name]()
        )
        self._port = primaries.free_port()
        parent = os.getpid()
        self._server = subprocess.Popen(
            self._primary.command(self._port, directory),
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
        )
        primaries.wait_until_it_answers(self._port, self._server, name)
        self._primary.fill(self._port, np.random.default_rng(1))
        self._cost_s = 0.0
        self._generator: subprocess.Popen[bytes] | None = None

    def calibrate(self) -> dict[str, float]:
        """CPU time of a request, generator included."""
        for seed in range(2):  # the first warms up
            rng = np.random.default_rng(seed)
            count = self._prepare(poisson_arrivals([(CALIBRATION_S, CALIBRATION_QPS)], rng), rng)
            before_s = self._used_s()
            self.serve()
            self._cost_s = max(1e-6, (self._used_s() - before_s) / count)
        return {"cost_us": 1e6 * self._cost_s}

    def _used_s(self) -> float:
        """Of the server and of all generators: the start of one is no part of its requests."""
        assert self._generator is not None
        generating_s = 0.0 if self._generator.returncode is not None else cpu_s(self._generator.pid)
        return cpu_s(self._server.pid) + generating_s + sum(os.times()[2:4])

    def _prepare(self, arrival_ns: Times, rng: np.random.Generator) -> int:
        names = ("arrivals", "requests", "latencies")
        files = [self._directory / name for name in names]
        files[0].write_bytes(arrival_ns.tobytes())
        files[1].write_bytes(encode_requests(self._primary.requests(arrival_ns.size, rng)))
        program = build_program(Path(primaries.__file__).with_name("openloop.c"), "-pthread")
        speaks = [str(self._port), str(self._primary.connections), self._primary.terminator]
        self._generator = subprocess.Popen(
            [program, *speaks, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._generator.stdout is not None
        if self._generator.stdout.readline() != b"ready\n":
            raise RuntimeError(f"{self._primary.name} does not answer")
        return int(arrival_ns.size)

    def draw(self, asked: dict[str, Any]) -> Times:
        rng = np.random.default_rng(asked["seed"])
        arrival_ns = arrivals(asked, asked["load"] * self._cpus / self._cost_s, rng)
        self._prepare(arrival_ns, rng)
        return arrival_ns

    def serve(self) -> None:
        assert self._generator is not None
        self._generator.communicate(b"go\n")
        if self._generator.returncode:
            raise RuntimeError(f"the generator ended with {self._generator.returncode}")

    def latencies(self) -> Times:
        return np.fromfile(self._directory / "latencies", dtype=np.int64)


@contextmanager
def primary_of(name: str, cpus: int) -> Iterator[Primary]:
    if name == QUEUE:
        yield Queue(cpus)
        return
    with tempfile.TemporaryDirectory(prefix="smartharvest-manycore-") as made:
        yield Remote(name, cpus, Path(made))


def main(cpus: int, name: str) -> None:
    """Obeys until standard input ends."""
    die_with(os.getppid())

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    tell(ready=True)
    if not sys.stdin.readline():
        return
    with primary_of(name, cpus) as primary:
        tell(prepared=True)
        if not sys.stdin.readline():
            return
        tell(calibrated=primary.calibrate())
        for line in sys.stdin:
            arrival_ns = primary.draw(json.loads(line))
            tell(drawn=arrival_ns.size)
            if not sys.stdin.readline():
                break
            primary.serve()
            tell(served=True)
            if not sys.stdin.readline():  # packing takes CPU time, which is not to count
                break
            tell(requests=packed(arrival_ns, primary.latencies()))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
