"""``make vm-demo``: a guest that serves requests, one that computes, and the agent between them.

Prints one JSON document. Requests come over the loopback at fixed times whatever the answers do,
and each is timed from when it was due. ``alone``: the batch stands still. Both guests' groups
always share all CPUs; ``cpu-idle`` puts the batch's below the other; ``smartharvest`` has the
agent.
"""

from __future__ import annotations

import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which
from typing import Any

import click

from bench.real.primaries import free_port
from bench.subject import NotMeasurableError
from bench.virtual.guests import Guest, make_initramfs
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.process import tasks
from smartharvest.host.process.waits import read_schedstat
from smartharvest.host.target.qmp import read_vcpus
from smartharvest.telemetry.client import sockets

CONDITIONS = ("alone", "both", "cpu-idle", "smartharvest")
CONTROLLERS = ("cpuset", "cpu", "freezer")
BOOT_S = 60.0
CONNECTIONS = 8


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--seconds", default=5.0, show_default=True, help="Of each condition and round.")
@click.option("--rate", default=200.0, show_default=True, help="Requests a second.")
@click.option("--work-us", default=300, show_default=True, help="Of each request.")
@click.option("--primary-cpus", default=2, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(
    rounds: int, seconds: float, rate: float, work_us: int, primary_cpus: int, seed: int
) -> None:
    """Two guests under every condition, in interleaved rounds."""
    missing = [program for program in ("qemu-system-x86_64", "cc", "cpio") if not which(program)]
    if missing:
        raise click.ClickException(
            f"{', '.join(missing)} not found; make lab-image needs them, too"
        )
    if os.geteuid():
        raise click.ClickException("the guests need control groups of their own: run as root")
    try:
        compare(rounds, seconds, rate, work_us, primary_cpus, seed)
    except NotMeasurableError as error:
        raise click.ClickException(str(error)) from error


def compare(
    rounds: int, seconds: float, rate: float, work_us: int, primary_cpus: int, seed: int
) -> None:
    """The document goes to standard output, what a reader wants to standard error."""
    chance = random.Random(seed)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CONDITIONS}
    with tempfile.TemporaryDirectory(prefix="smartharvest-vm-") as text, groups() as (web, batch):
        directory = Path(text)
        boot, port = make_initramfs(directory), free_port()
        cpus = len(tasks.online_cpus())
        tell(f"booting two guests, of {primary_cpus} vCPUs and of {cpus}")
        with (
            Guest(boot, directory, "server", cpus=primary_cpus, work_us=work_us,
                  groups=directories(web), port=port) as server,
            Guest(boot, directory, "bully", cpus=cpus, work_us=1000,
                  groups=directories(batch)) as bully,
        ):  # fmt: skip
            wait_for(lambda: bool(server.describe() and bully.describe()))
            wait_for(lambda: answers(port))
            for number in range(rounds):
                for name in chance.sample(CONDITIONS, len(CONDITIONS)):
                    report: dict[str, float] = {}
                    with condition(name, web, batch, directory / "state", report):
                        time.sleep(1.0)
                        figures = measure(server, bully, port, rate, seconds, chance)
                    found[name].append(figures | report)
                    tell(f"round {number + 1} of {rounds}, {in_words(name, figures)}")
    medians = {name: summary(one) for name, one in found.items()}
    tell("medians of the rounds:")
    for name, figures in medians.items():
        tell(f"  {in_words(name, figures)}")
    agent = medians["smartharvest"]
    tell(f"lent {agent['harvested_cores']:.2f} cores; the agent took {agent['agent_cores']:.3f}")
    print(json.dumps(medians | {"rounds": found}))


def tell(what: str) -> None:
    print(f"vm-demo: {what}", file=sys.stderr, flush=True)


def in_words(name: str, figures: Mapping[str, float]) -> str:
    """Who was there, and what requests and batch had."""
    latency = f"P50 {figures['p50_ms']:6.1f} ms, P99 {figures['p99_ms']:6.1f} ms"
    return f"{name:<13} {latency}, batch {figures['batch_per_s']:6.0f} units/s"


def summary(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median of the rounds, figure by figure."""
    return {key: round(statistics.median(one[key] for one in rounds), 3) for key in rounds[0]}


def measure(
    server: Guest, bully: Guest, port: int, rate: float, seconds: float, chance: random.Random
) -> dict[str, float]:
    """Latencies from outside, work done inside, and waits as host and guest see them."""
    vcpus = read_vcpus(server.socket).threads
    before, waits = (server.describe() or {}, bully.describe() or {}), wait_ns(vcpus)
    began_s = time.monotonic()
    latencies = sorted(ask_many(port, rate, seconds, chance))
    took_s = time.monotonic() - began_s
    time.sleep(1.1)  # the guests' next line
    after = server.describe() or {}, bully.describe() or {}
    waited_ns = wait_ns(vcpus) - waits

    def quantile(share: float) -> float:
        return latencies[min(len(latencies) - 1, int(share * len(latencies)))] / 1e3

    return {
        "requests": len(latencies),
        "p50_ms": quantile(0.5),
        "p99_ms": quantile(0.99),
        "batch_per_s": (after[1]["done"] - before[1]["done"]) / (took_s + 1.1),
        "vcpu_wait_ms": waited_ns / 1e6,
        "guest_gap_ms": (after[0]["gap_ns"] - before[0]["gap_ns"]) / 1e6,
        "guest_steal_ticks": after[0]["steal_ticks"] - before[0]["steal_ticks"],
    }


def wait_ns(threads: Sequence[int]) -> int:
    """What the kernel has let ``threads`` wait for a CPU so far, all together."""
    return sum(found[0] for tid in threads if (found := read_schedstat(tid)) is not None)


def ask_many(port: int, rate: float, seconds: float, chance: random.Random) -> list[float]:
    """Latencies in µs of requests at random moments, ``rate`` a second on average."""
    due: list[float] = []
    at = 0.0
    while (at := at + chance.expovariate(rate)) < seconds:
        due.append(at)
    found: list[float] = []
    connections = [connect(port) for _ in range(CONNECTIONS)]
    began_s = time.monotonic() + 0.05

    def ask(connection: socket.socket, mine: Sequence[float]) -> None:
        for moment in mine:
            if (left_s := began_s + moment - time.monotonic()) > 0:
                time.sleep(left_s)
            request(connection)
            found.append((time.monotonic() - began_s - moment) * 1e6)

    threads = [
        threading.Thread(target=ask, args=(connection, due[first::CONNECTIONS]))
        for first, connection in enumerate(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    return found


def connect(port: int) -> socket.socket:
    """A connection that has had an answer: a guest's first packets may be lost, for a second."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request(connection)
    return connection


def request(connection: socket.socket) -> None:
    """Sends one and waits for its answer."""
    connection.sendall(b"request\n")
    if len(connection.recv(8, socket.MSG_WAITALL)) < 8:
        raise SystemExit("the server hung up")


def answers(port: int) -> bool:
    """Whether the server in the guest does."""
    with suppress(OSError, SystemExit):
        connect(port).close()
        return True
    return False


def wait_for(what: Any) -> None:
    """Returns once ``what`` holds."""
    deadline_s = time.monotonic() + BOOT_S
    while not what():
        if time.monotonic() > deadline_s:
            raise SystemExit("the guests do not come up")
        time.sleep(0.2)


@contextmanager
def condition(
    name: str, web: Group, batch: Group, state_dir: Path, report: dict[str, float]
) -> Iterator[None]:
    """Arranges what ``name`` says for as long as the block lasts; ``report`` gets an agent's."""
    files = batch.tree.files
    freeze = batch.freeze_file or ""
    frozen, thawed = ("FROZEN", "THAWED") if batch.tree.version == 1 else ("1", "0")
    if name == "alone":
        files.write(freeze, frozen)
    elif name == "cpu-idle":
        files.write(batch.idle_file or "", "1")
    agent = None
    if name == "smartharvest":
        agent = subprocess.Popen(
            [sys.executable, "-m", "smartharvest", "agent", "--primary", f"cgroup:{web}",
             "--elastic", f"cgroup:{batch}", "--lend-shared", "--json", "--state-dir",
             str(state_dir)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(lambda: bool(sockets(str(state_dir))))
    try:
        yield
    finally:
        if agent is not None:
            agent.terminate()
            told = json.loads(agent.communicate()[0])
            report["harvested_cores"] = told["harvested_cores"]
            report["agent_cores"] = told["agent_cpu_seconds"] / told["seconds"]
            report["moves_per_s"] = told["assignments"] / told["seconds"]
            report["wake_ups_per_s"] = told["wake_ups"] / told["seconds"]
        if name == "alone":
            files.write(freeze, thawed)
        elif name == "cpu-idle":
            files.write(batch.idle_file or "", "0")


@contextmanager
def groups() -> Iterator[tuple[Group, Group]]:
    """Two groups with everything their parent has, removed afterwards."""
    tree = CgroupTree.discover()
    made = [tree.group(f"smartharvest-vm-{os.getpid()}-{name}") for name in ("web", "batch")]
    try:
        for group in made:
            for directory in directories(group):
                os.mkdir(directory)
                for file in ("cpuset.cpus", "cpuset.mems"):
                    if tree.version == 1 and os.path.exists(f"{directory}/{file}"):
                        tree.files.write(
                            f"{directory}/{file}", tree.files.read(f"{directory}/../{file}").strip()
                        )
        yield made[0], made[1]
    finally:
        for group in made:
            for directory in directories(group):
                for _ in range(100):
                    with suppress(OSError):
                        os.rmdir(directory)
                        break
                    time.sleep(0.05)


def directories(group: Group) -> list[str]:
    """Those of ``group`` in all hierarchies."""
    return sorted({path for name in CONTROLLERS if (path := group.directory(name)) is not None})


if __name__ == "__main__":
    main()
