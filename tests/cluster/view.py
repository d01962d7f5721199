"""``python -m tests.cluster.view [ENGINE ...]``: how soon an engine knows of changed cores.

On loopback, with nothing running: ``told`` is from the adapter's call until the engine tells the
new number; ``shrunk`` and ``grown`` are from the change of the agent's answer, through an adapter
with the settings it has by itself (a look each 500 ms; more cores must have been there for 2 s).
Prints JSON: milliseconds, p50 and max. What asks is a second connection, as often as it gets an
answer.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from smartharvest.cluster.engine import Engine
from smartharvest.cluster.follow import Adapter, FollowSettings
from smartharvest.cluster.htcondor_node import HTCondorNode
from smartharvest.cluster.jobserver import JobServer
from smartharvest.cluster.kubernetes_node import KubernetesNode
from smartharvest.cluster.ray_node import RayNode
from smartharvest.cluster.reconcile import Hysteresis
from smartharvest.cluster.slurm_node import SlurmNode
from tests.cluster.agents import free_port

CHANGES = 12
FEW, MANY = 1, 4
SETTINGS = FollowSettings(Hysteresis())
MakeEngine = Callable[[], Engine]
"""A connection of its own at each call."""


def measure(make_engine: MakeEngine) -> dict[str, dict[str, float]]:
    told, looking = make_engine(), make_engine()
    times: dict[str, list[float]] = {"told": [], "shrunk": [], "grown": []}
    for number in range(CHANGES):
        cores = (MANY, FEW)[number % 2]
        began_s = time.monotonic()
        told.advertise(cores)
        times["told"].append(_until(looking, cores) - began_s)
    for number in range(CHANGES):
        _follow(told, looking, times, number)
    for engine in {told, looking}:
        engine.close()
    return {
        name: {"p50_ms": round(1e3 * statistics.median(taken), 1),
               "max_ms": round(1e3 * max(taken), 1)}
        for name, taken in times.items()
    }  # fmt: skip


def _follow(told: Engine, looking: Engine, times: dict[str, list[float]], number: int) -> None:
    """One change up or down while an adapter looks."""
    grows = number % 2 == 0
    before, after = (FEW, MANY) if grows else (MANY, FEW)
    offered, ended = [before], threading.Event()
    adapter = Adapter(
        lambda: {"cores": {"now": offered[0], "promised": offered[0], "guaranteed": FEW}},
        told,
        FollowSettings(Hysteresis(grow_after_s=0.0)) if not grows else SETTINGS,
        FEW,
    )

    def look() -> None:
        while not ended.wait(SETTINGS.interval_s):
            adapter.turn()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        _until(looking, before)
        time.sleep(random.Random(number).uniform(0.0, 1.0))
        began_s, offered[0] = time.monotonic(), after
        times["grown" if grows else "shrunk"].append(_until(looking, after) - began_s)
    finally:
        ended.set()
        thread.join()


def _until(engine: Engine, cores: int) -> float:
    until_s = time.monotonic() + 60.0
    while engine.verify() != cores:
        if time.monotonic() > until_s:
            raise SystemExit("the engine never came to know")
        time.sleep(0.001)
    return time.monotonic()


@contextmanager
def ray(here: Path) -> Iterator[MakeEngine]:
    from tests.cluster.test_ray import MadeRay

    made = MadeRay(here / "log")
    made.start()
    try:
        yield lambda: RayNode(made.address, None)
    finally:
        made.stop()


@contextmanager
def slurm(here: Path) -> Iterator[MakeEngine]:
    from tests.cluster.test_slurm import made_slurm

    with made_slurm(here):
        yield lambda: SlurmNode("harvest1", "harvest", "hcore")


@contextmanager
def htcondor(here: Path) -> Iterator[MakeEngine]:
    from tests.cluster.condor import made_condor

    os.environ["PATH"] = f"{here}:{os.environ['PATH']}"
    with made_condor(free_port(), here) as made:
        yield lambda: HTCondorNode("localhost", str(made.advertisement))


@contextmanager
def kubernetes(here: Path) -> Iterator[MakeEngine]:
    """The double of the API server: the adapter's share, not a cluster's."""
    from tests.kubernetes_api import ApiServer, write_kubeconfig

    with ApiServer().serving() as server:
        config = write_kubeconfig(here / "config", server.server_port)
        yield lambda: KubernetesNode("n1", config)


@contextmanager
def jobserver(here: Path) -> Iterator[MakeEngine]:  # noqa: ARG001
    made = JobServer()
    yield lambda: made  # tokens are where they are told of


ENGINES = {each.__name__: each for each in (ray, slurm, htcondor, kubernetes, jobserver)}


def main(names: list[str]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the engine ends with us
    found = {}
    for name in names or ENGINES:
        with ExitStack() as stack:
            here = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="smartharvest-")))
            found[name] = measure(stack.enter_context(ENGINES[name](here)))
        print(name, json.dumps(found[name]), file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
