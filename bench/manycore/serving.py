"""The primary in a guest: ``python -m bench.manycore.serving CPUS``.

The demo's server with traffic as asked for. A line of JSON with ``load``, ``seconds``, ``seed``,
``service_us``, ``gaps`` and ``shape`` draws a slice and is answered by ``{"drawn": N}``; the next
line starts it, and it is answered by the requests. The first line of all calibrates.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.manycore.plan import SIGMA
from bench.manycore.samples import packed
from bench.real.traffic import poisson_arrivals, with_quiet_gaps
from smartharvest.core import _demo
from smartharvest.host.process.parent import die_with


def draw(asked: dict[str, Any], cpus: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(arrivals, CPU time of each request) in ns; equal arguments draw equal traffic."""
    rng = np.random.default_rng(asked["seed"])
    mean_s = asked["service_us"] * 1e-6 * float(np.exp(SIGMA**2 / 2))
    rate, steps = asked["load"] * cpus / mean_s, asked["shape"]
    load = [(asked["seconds"] / len(steps), rate * step) for step in steps]
    arrival_ns = poisson_arrivals(with_quiet_gaps(load, rng) if asked["gaps"] else load, rng)
    service_us = rng.lognormal(np.log(asked["service_us"]), SIGMA, arrival_ns.size)
    return arrival_ns, (service_us * 1e3).astype(np.int64)


def main(cpus: int) -> None:
    """Obeys until standard input ends."""
    die_with(os.getppid())

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    tell(ready=True)
    if not sys.stdin.readline():
        return
    steps_per_ms = _demo.calibrate()
    server = _demo.Server(2 * cpus)
    tell(steps_per_ms=steps_per_ms)
    for line in sys.stdin:
        arrival_ns, service_ns = draw(json.loads(line), cpus)
        work = array("q", (service_ns * steps_per_ms // 1_000_000).tolist())
        latency_ns = array("q", bytes(8 * len(work)))
        tell(drawn=len(work))
        if not sys.stdin.readline():
            break
        server.serve(array("q", arrival_ns.tolist()), work, latency_ns)
        tell(served=True)
        if not sys.stdin.readline():  # packing takes CPU time, which is not to count
            break
        tell(requests=packed(arrival_ns, np.array(latency_ns, dtype=np.int64)))
    server.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
