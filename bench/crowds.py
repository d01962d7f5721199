"""What thousands of threads cost: those of a batch, and those of other users.

And what looking at tasks costs where the kernel does not say what changes: the /proc sensor, and a
recorder, which polls.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

import click

from smartharvest.host.process import tasks

CROWD = """
import os, sys, threading
threads, user, cpus = int(sys.argv[1]), int(sys.argv[2]), set(map(int, sys.argv[3].split(",")))
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
os.sched_setaffinity(0, cpus)
threading.stack_size(64 * 1024)
stay = threading.Lock()
stay.acquire()
for _ in range(threads - 1):
    threading.Thread(target=stay.acquire, daemon=True).start()
print(flush=True)
stay.acquire()
"""
"""Arguments: how many threads sleep, as which user (0: the caller), on which CPUs."""
NOBODY = 65534
_PATIENCE_S = 120.0
_WARM_UP_S = 15.0
"""From the start until strangers have lived for long enough to be heeded."""


@contextlib.contextmanager
def _crowd(threads: int, cpus: Sequence[int], user: int = 0) -> Iterator[int]:
    """The pid of a process with so many threads that sleep."""
    numbers = ",".join(map(str, cpus))
    command = [sys.executable, "-c", CROWD, str(threads), str(user), numbers]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise click.ClickException(f"a process of {threads} threads could not be started")
            yield process.pid
        finally:
            process.kill()


@contextlib.contextmanager
def _agent(primary: int, elastic: int, *options: str) -> Iterator[tuple[int, float]]:
    """(pid, seconds until it lends) of an agent; it is ended and waited for."""
    with tempfile.TemporaryDirectory() as state:
        command = [sys.executable, "-m", "smartharvest", "agent", "--state-dir", state]
        command += ["--primary", f"pid:{primary}", "--elastic", f"pid:{elastic}", "--lend-shared"]
        command += options
        began_s = time.monotonic()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as agent:
            try:
                assert agent.stderr is not None
                said = []
                for line in agent.stderr:
                    said.append(line)
                    if "Lending " in line:
                        yield agent.pid, time.monotonic() - began_s
                        break
                else:
                    raise click.ClickException("".join(said))
            finally:
                agent.send_signal(signal.SIGINT)
                agent.communicate(timeout=_PATIENCE_S)


def _cores(pid: int, seconds: float) -> float:
    """What all threads of a process use, as a share of one core."""
    before = tasks.cpu_ticks(pid) or 0
    time.sleep(seconds)
    ticks = (tasks.cpu_ticks(pid) or 0) - before
    return round(ticks / os.sysconf("SC_CLK_TCK") / seconds, 4)


def start_and_end(threads: int, cpus: Sequence[int]) -> dict[str, float]:
    """Seconds for an agent to lend to a batch of so many threads, and to give all back."""
    with _crowd(1, cpus) as primary, _crowd(threads, cpus) as batch:
        with _agent(primary, batch) as (_, start_s):
            ending_s = time.monotonic()
        end_s = time.monotonic() - ending_s
        confined = sum(len(tasks.affinity(tid)) < len(cpus) for tid in tasks.threads_of([batch]))
    return {"start_s": round(start_s, 3), "end_s": round(end_s, 3), "left_confined": confined}


def with_strangers(threads: int, cpus: Sequence[int], seconds: float, *options: str) -> float:
    """Cores that an agent takes while another user has ``threads`` pinned to the last CPU."""
    with contextlib.ExitStack() as stack:
        primary, batch = (stack.enter_context(_crowd(1, cpus)) for _ in range(2))
        if threads:
            stack.enter_context(_crowd(threads, cpus[-1:], NOBODY))
        pid, _ = stack.enter_context(_agent(primary, batch, *options))
        time.sleep(_WARM_UP_S)
        return _cores(pid, seconds)


def with_proc(threads: int, cpus: Sequence[int], seconds: float) -> float:
    """Cores of an agent with the /proc sensor, its primary having so many threads."""
    with (
        _crowd(threads, cpus) as primary,
        _crowd(1, cpus) as batch,
        _agent(primary, batch, "--sensor", "proc") as (pid, _),
    ):
        time.sleep(2.0)
        return _cores(pid, seconds)


def recorder(cpus: Sequence[int], seconds: float, *options: str) -> dict[str, float]:
    """Cores of a recorder, and how often it looked in a second."""
    with _crowd(1, cpus) as primary, tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "smartharvest", "record", f"{directory}/trace"]
        command += ["--primary", f"pid:{primary}", "--seconds", str(seconds), "--json", *options]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        figures = json.loads(done.stdout)
    return {
        "cores": round(figures["cpu"], 4),
        "polls_per_s": round(figures["polls"] / figures["seconds"]),
    }


@click.command()
@click.option("--threads", default=20_000, show_default=True, help="Of the batch.")
@click.option("--strangers", default=4_000, show_default=True, help="Threads of another user.")
@click.option("--seconds", default=20.0, show_default=True, help="That each share is watched.")
def crowds(threads: int, strangers: int, seconds: float) -> None:
    """Measure what thousands of threads cost. As root, on a machine of two CPUs or more."""
    cpus = sorted(os.sched_getaffinity(0))
    alone, crowded = (with_strangers(count, cpus, seconds) for count in (0, strangers))
    found = {
        "batch_of_1": start_and_end(1, cpus),
        f"batch_of_{threads}": start_and_end(threads, cpus),
        "cores_alone": alone,
        f"cores_with_{strangers}_strangers": crowded,
        "cores_for_strangers": round(crowded - alone, 4),
        "proc_sensor_cores": {count: with_proc(count, cpus, seconds) for count in (1, 50, 500)},
        "recorder": recorder(cpus, seconds),
        "recorder_unbounded": recorder(cpus, seconds, "--most-cpu", "100"),
    }
    click.echo(json.dumps(found, indent=1))
