"""``make demo-serverless``: functions on three nodes whose cores come and go, under three routers.

On this machine, on loopback: an agent on each of three simulated machines with different primaries,
a Ray Serve with a replica on each, and an open-loop load. Each invocation goes to three deployments
of the same functions, one after the other: under Min-Worker-Set, Join-the-Shortest-Queue and Ray's
own router. In the middle one node gets a notice and is then evicted. The machines begin with the
load, so that one seed gives the same cores and the same invocations each time. Leaves a picture.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from bench.cluster.node import cores_of
from bench.cluster.processes import ENVIRONMENT, child, patiently, start_head, start_node
from bench.serve.functions import COLD_S, FUNCTIONS, WARM_FUNCTIONS, application
from bench.serve.intervals import BLOCK_S, DRAWS, Answer, intervals
from bench.serve.load import Invocation, described_mix, sampled
from bench.serve.picture import ROUTERS, draw
from bench.serve.replay import RaysOwn, Request, Scene, min_worker_set, replay, shortest_queue
from smartharvest.cluster.source import NoCapacity, from_socket
from smartharvest.errors import SmartHarvestError
from smartharvest.serverless.node_report import CAPACITY_VARIABLE, NOTICE_FILE

NODES = ("search", "cache", "shop")
EVICTED = "cache"
NOTICE_S = 8.0
"""Thirty in the paper, for functions that are longer."""
CLASSES = {"min worker set": "MinWorkerSetRouter", "shortest queue": "ShortestQueueRouter",
           "Ray's default": None}  # fmt: skip
PATIENCE_S = 30.0
"""For the answers after the last invocation."""
LOOK_S = 0.25
BEGIN_S = 35.0
"""Of the machines' time, when the load begins: all three change within the next minute, and what is
left after the eviction can carry the load."""


@click.command()
@click.option("--seconds", default=70.0, show_default=True, help="Of load.")
@click.option("--rps", default=9.0, show_default=True, help="Invocations a second.")
@click.option("--functions", metavar="PREFIX", help="A trace sample; default: a described mix.")
@click.option("--seed", default=1, show_default=True)
@click.option("--picture", default="build/serverless/demo.png", show_default=True)
@click.option("--replay", "in_virtual_time", is_flag=True, help="The same in virtual time: no Ray, "
              "no picture, and nothing by chance.")  # fmt: skip
def main(
    seconds: float,
    rps: float,
    functions: str | None,
    seed: int,
    picture: str,
    in_virtual_time: bool,
) -> None:
    """Runs the demonstration."""
    _end_on_sigterm()
    if functions is None:
        load = described_mix(rps, seconds, seed)
    else:
        load = sampled(functions, rps, seconds, seed)
    if in_virtual_time:
        _tell(_replayed(load, seconds, seed), seconds)
        return
    with ExitStack() as stack:
        # From here on a second ctrl-C must not stop what cleans up.
        stack.callback(signal.signal, signal.SIGINT, signal.default_int_handler)
        directory = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="smartharvest-", ignore_cleanup_errors=True)
            )
        )
        cluster = _Cluster(stack, directory, seed)
        handles = cluster.deploy()
        print(
            f"{len(load)} invocations in {seconds:.0f} s, to each of three routers ...", flush=True
        )
        cores, answers = asyncio.run(_run(cluster, handles, load, seconds))
        stack.callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    marks = {"notice": seconds / 2, f"{EVICTED} evicted": seconds / 2 + NOTICE_S}
    draw(cores, answers, marks, Path(picture))
    _tell(answers, seconds)
    print(picture)


def _end_on_sigterm() -> None:
    """Cleans up. Ray has a handler of its own, which would end this process at once."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not stop that
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)


class _Cluster:
    """Three agents and a Ray of three nodes, which end with the stack."""

    def __init__(self, stack: ExitStack, directory: Path, seed: int) -> None:
        import ray

        self.directory, self._stack = directory, stack
        print(f"three simulated machines: {', '.join(NODES)}", flush=True)
        self._machines: list[subprocess.Popen[str]] = []
        for name in NODES:
            (directory / name).mkdir()
            command = [
                "-m",
                "bench.cluster.node",
                str(directory / name),
                name,
                str(seed),
                f"{BEGIN_S:g}",
            ]
            self._machines.append(child(stack, command))
        address = start_head(stack, directory)
        patiently(lambda: _connect(address))
        _end_on_sigterm()
        self.nodes: dict[str, subprocess.Popen[str]] = {}
        for number, name in enumerate(NODES):  # one after the other: two may take the same port
            ENVIRONMENT[CAPACITY_VARIABLE] = str(directory / name)
            join = [f"--address={address}", "--num-cpus=4", f"--node-name={name}",
                    "--dashboard-agent-listen-port=0"]  # fmt: skip
            self.nodes[name] = start_node(stack, join, partial(_has, number + 2))
        stack.callback(ray.shutdown)

    def deploy(self) -> dict[str, Any]:
        """A handle for each router."""
        from ray import serve

        serve.start(proxy_location="Disabled")
        self._stack.callback(serve.shutdown)
        handles = {}
        for router, name in CLASSES.items():
            built = application(name, router.replace(" ", "-").replace("'", ""), len(NODES))
            handles[router] = serve.run(built, name=router, route_prefix=None)
        return handles

    def begin(self) -> None:
        """The machines' time goes on from here."""
        for machine in self._machines:
            assert machine.stdin is not None
            machine.stdin.write("go\n")
            machine.stdin.flush()

    def cores(self, name: str) -> float | None:
        try:
            return float(from_socket(str(self.directory / name), None)()["cores"]["now"])
        except NoCapacity:
            return None

    def evict(self, name: str) -> None:
        """The whole node dies, as a virtual machine does."""
        with suppress(ProcessLookupError):
            os.killpg(self.nodes[name].pid, signal.SIGKILL)


def _connect(address: str) -> None:
    import ray

    try:
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    except Exception as error:  # it raises many things while Ray starts
        raise OSError(str(error)) from None


def _has(count: int) -> bool:
    """Whether Ray has that many nodes."""
    import ray

    return bool(sum(node["Alive"] for node in ray.nodes()) >= count)


async def _run(
    cluster: _Cluster, handles: dict[str, Any], load: Sequence[Invocation], seconds: float
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[Answer]]]:
    cores: dict[str, list[tuple[float, float]]] = {name: [] for name in NODES}
    answers: dict[str, list[Answer]] = {router: [] for router in handles}
    cluster.begin()
    began_s = time.monotonic()

    async def invoke(router: str, one: Invocation) -> None:
        sent_s = time.monotonic()
        handle = handles[router].options(multiplexed_model_id=one.function)
        node, cold = None, False
        with suppress(Exception):  # whatever Ray raises of a replica that died
            node, cold = await handle.remote(one.core_s)
        took_s = time.monotonic() - sent_s
        answers[router].append(Answer(sent_s - began_s, one.function, node, took_s, cold))

    async def watch() -> None:
        while True:
            for name, seen in cores.items():
                count = await asyncio.to_thread(cluster.cores, name)
                if count is not None:
                    seen.append((time.monotonic() - began_s, count))
            await asyncio.sleep(LOOK_S)

    async def evict() -> None:
        await asyncio.sleep(seconds / 2)
        (cluster.directory / EVICTED / NOTICE_FILE).write_text(f"{time.time() + NOTICE_S}")
        await asyncio.sleep(NOTICE_S)
        cluster.evict(EVICTED)

    around = [asyncio.create_task(watch()), asyncio.create_task(evict())]
    running = []
    order = list(handles)
    for number, one in enumerate(load):
        await asyncio.sleep(max(0.0, began_s + one.at_s - time.monotonic()))
        for turn in range(len(order)):  # each router is the first as often as the others
            router = order[(number + turn) % len(order)]
            running.append(asyncio.create_task(invoke(router, one)))
    await asyncio.wait(running, timeout=PATIENCE_S)
    for task in (*around, *running):
        task.cancel()
    await asyncio.gather(*around, *running, return_exceptions=True)
    return cores, {router: sorted(found, key=lambda a: a.at_s) for router, found in answers.items()}


def _replayed(load: Sequence[Invocation], seconds: float, seed: int) -> dict[str, list[Answer]]:
    """What the routers would have done, had each step taken the time it is meant to take."""
    scene = Scene(
        {name: cores_of(name, seed, BEGIN_S, seconds + PATIENCE_S) for name in NODES},
        lambda: [Request(one.at_s, one.function, one.core_s) for one in load],
        frozenset({EVICTED}),
        seconds / 2,
        seconds / 2 + NOTICE_S,
        WARM_FUNCTIONS,
        COLD_S,
    )
    made = dict(zip(CLASSES, (min_worker_set, shortest_queue, RaysOwn), strict=True))
    return {
        router: [
            Answer(one.at_s, one.model, one.node, one.took_s, one.cold)
            for one in replay(scene, make()).requests
        ]
        for router, make in made.items()
    }


def _tell(answers: dict[str, list[Answer]], seconds: float) -> None:
    print(f"{'router':15}{'done':>5} {'failed':>6}{'P50, s':>18}{'P95, s':>18}{'P99':>6}"
          f"{'cold':>6}{'nodes a function':>17}{'P95 to Rays':>19}")  # fmt: skip
    found = intervals({router: answers[router] for router in ROUTERS}, seconds)
    for router, row in found.items():
        done = [one for one in answers[router] if one.node is not None]
        cold = sum(one.cold for one in done) / len(done)
        spread = [len({one.node for one in done if one.function == name}) for name in FUNCTIONS]
        print(
            f"{router:15}{len(done):5} {len(answers[router]) - len(done):6}{row.p50:>18}"
            f"{row.p95:>18}{row.p99:6.1f}{cold:6.0%}{sum(spread) / len(spread):17.1f}"
            f"{row.ratio:>19}"
        )
    print(f"In brackets: 95 % of what {DRAWS} draws of {BLOCK_S:g}-s pieces of this run give; "
          "another seed gives other cores.")  # fmt: skip


if __name__ == "__main__":
    try:
        main()
    except SmartHarvestError as error:
        raise SystemExit(f"demo-serverless: {error}") from None
