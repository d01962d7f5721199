"""``python -m bench.restoring``: an agent with a large batch is killed, and its guardian restores.

The batch is one process with many threads that sleep, or with ``--busy`` work in turn. Prints a
line of JSON for each way to move it, in milliseconds from the moment of the SIGKILL: until the
batch has its smallest set of CPUs (``cores back``: until the agent's end, as seen here, and from
there as its guardian says), and until the journal is gone (``all back``: then every thread has what
it had). ``started`` is from the agent's start to its tenth window. As where it is installed, its
modules are compiled before the first start, and its journal is in memory. Needs root and a quiet
machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import numpy as np

from bench.compiling import build_program
from bench.cpuset import find_tree, made_group
from smartharvest.errors import SmartHarvestError
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import ask, sockets

HERE = Path(__file__).parent
SLEEPERS, CROWD = HERE / "sleepers.c", HERE.parent / "tests" / "faults" / "crowd.c"
WAYS = ("process", "affinity", "merge")
MEMORY = "/dev/shm"
"""/run of a service, which some hosts keep on a disk."""
LONGEST_S = 60.0
LOOK_S = 0.0002


class TooSlowError(Exception):
    """What was waited for did not come."""


def wait_until(what: Callable[[], bool], whom: str) -> float:
    """When ``what`` first held, on the monotonic clock."""
    deadline = time.monotonic() + LONGEST_S
    while not what():
        if time.monotonic() > deadline:
            raise TooSlowError(f"{whom}: not within {LONGEST_S:.0f} s")
        time.sleep(LOOK_S)
    return time.monotonic()


@contextlib.contextmanager
def running(
    command: list[str], environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def crowd(threads: int, source: Path) -> Iterator[int]:
    """A process of that many threads, which are all there."""
    with running([str(build_program(source, "-pthread")), str(threads)]) as process:
        wait_until(lambda: len(tasks.process_threads(process.pid)) > threads, "the batch")
        yield process.pid


@contextlib.contextmanager
def compiled() -> Iterator[dict[str, str]]:
    """The environment of agents whose modules have been compiled."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-P", "-m", "smartharvest", "agent", "--help"]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        yield environment


def strike(
    batch: int, elastic: str, mechanism: str, environment: Mapping[str, str]
) -> dict[str, float]:
    """Runs an agent until it is at work, and kills it."""
    threads = tasks.process_threads(batch)
    before = [os.sched_getaffinity(tid) for tid in threads]
    with tempfile.TemporaryDirectory(dir=MEMORY) as state, running(["sleep", "1000"]) as primary:
        command = [
            *(sys.executable, "-P", "-m", "smartharvest", "agent", "--state-dir", state),
            *("--primary", f"pid:{primary.pid}", "--elastic", elastic, "--mechanism", mechanism),
            *("--policy", "fixed-buffer:1", "--lend-shared"),
        ]
        begun_s = time.monotonic()
        with running(command, environment) as agent:
            started_s = wait_until(lambda: _works(state), "the agent")
            with open(os.pidfd_open(agent.pid), "rb") as end:
                killed_s = time.monotonic()
                os.kill(agent.pid, signal.SIGKILL)
                select.select([end], [], [])
                ended_s = time.monotonic()
            wait_until(lambda: not list(Path(state).glob("*.journal")), "the guardian")
            back_s = time.monotonic()
            assert agent.stderr is not None
            told = agent.stderr.read().decode()  # its guardian has ended, too
    left = [
        tid for tid, cpus in zip(threads, before, strict=True) if os.sched_getaffinity(tid) != cpus
    ]
    cores = re.search(r"the cores after (\d+) ms", told)
    if left or cores is None:
        raise TooSlowError(f"{len(left)} threads are still confined: {told}")
    return {
        "started": 1000 * (started_s - begun_s),
        "cores back": 1000 * (ended_s - killed_s) + int(cores[1]),
        "all back": 1000 * (back_s - killed_s),
    }


def _works(state: str) -> bool:
    """Whether the agent's loop has run for some windows."""
    for path in sockets(state):
        with contextlib.suppress(SmartHarvestError, OSError):
            return int(ask(path, "status", {})["loop"]["windows"]) > 10
    return False


@click.command()
@click.option("--threads", default=20_000, show_default=True)
@click.option("--rounds", default=20, show_default=True)
@click.option("--way", type=click.Choice(WAYS), multiple=True, help="All of them by default.")
@click.option("--busy", is_flag=True, help="The threads work 20 us each in turn.")
def main(threads: int, rounds: int, way: tuple[str, ...], busy: bool) -> None:
    """Kill an agent with a large batch, again and again."""
    tree = find_tree()
    cpus = sorted(tree.online_cpus() & os.sched_getaffinity(0))[:2]
    for name in way or WAYS:
        with (
            compiled() as environment,
            made_group(tree, cpus) as (group, _),
            crowd(threads, CROWD if busy else SLEEPERS) as batch,
        ):
            if name == "process":
                os.sched_setaffinity(batch, cpus)
                elastic, mechanism = f"pid:{batch}", "merge"
            else:
                group.tree.files.write(f"{group.path}/cgroup.procs", str(batch))
                elastic, mechanism = f"cgroup:{group.path}", name
            times = [strike(batch, elastic, mechanism, environment) for _ in range(rounds)]
        print(json.dumps({"way": name, "threads": threads, "rounds": rounds} | _summary(times)))


def _summary(times: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        what: {
            name: round(float(np.quantile([one[what] for one in times], at)), 1)
            for name, at in (("median_ms", 0.5), ("p99_ms", 0.99), ("max_ms", 1.0))
        }
        for what in times[0]
    }


if __name__ == "__main__":
    main()
