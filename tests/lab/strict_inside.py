"""What a guest runs for ``make strict-check``: a bully everywhere under ``--mechanism strict``.

Tells what it finds in lines of JSON, as tests/lab/inside.py does for tests.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.compiling import build_program
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.process.policy import is_ext, policy_of
from smartharvest.host.sched_ext.loader import NAME, loaded
from tests.commands import as_command
from tests.lab.image import WAKER

GROUPS = Path("/sys/fs/cgroup")
WAKES, PERIOD_US = 600, 1000
LONGEST_S = 120.0
STATE = "/tmp/strict-check"


def check(tell: Callable[..., None]) -> bool:
    """Whether everything is as it was in the end; ``tell`` gets all figures."""
    waker = str(build_program(WAKER))
    web, batch = _group("web"), _group("batch")
    idle_us = _wake(waker, web)
    bully = _start([waker, "spin", str(os.cpu_count())], batch)
    if not _comes(lambda: len(_threads(batch)) == os.cpu_count()):
        raise SystemExit("the bully does not start")
    tasks_before = _threads(batch)
    before = _files(batch)
    agent = subprocess.Popen(
        as_command(
            [
                *("agent", "--primary", "cgroup:web", "--elastic", "cgroup:batch"),
                *("--mechanism", "strict", "--policy", "everywhere", "--long-term", "off"),
                *("--state-dir", STATE),
            ]
        ),
        stdout=sys.stderr,
    )
    try:
        _wait("the scheduler is in force", lambda: loaded() == NAME, agent)
        _wait("all of the batch is in it", lambda: _all_ext(batch), agent)
        everywhere = set(range(os.cpu_count() or 1))
        _wait("everything is lent", lambda: _effective(batch) == everywhere, agent)
        ran_us, began_s = _used_us(batch), time.monotonic()
        batch_us = _wake(waker, web)
        cores = (_used_us(batch) - ran_us) / 1e6 / (time.monotonic() - began_s)
        tell(mechanism="strict", wake_p99_us={"idle": idle_us, "batch": batch_us})
        tell(batch_cores=round(cores, 2))
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        restored = _comes(lambda: _is_restored(batch, before, tasks_before))
        tell(restored=restored, tasks=len(tasks_before), files=_files(batch), was=before)
        return restored
    finally:
        for process in (agent, bully):
            if process.poll() is None:
                process.kill()


def _group(name: str) -> Path:
    path = GROUPS / name
    path.mkdir()
    return path


def _start(command: list[str], group: Path, **more: Any) -> subprocess.Popen[str]:
    """A process that is in ``group`` before it runs ``command``."""
    inside = ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", *command]
    return subprocess.Popen(inside, text=True, **more)


def _wake(waker: str, group: Path) -> float:
    """The P99 of how late a task was that wakes every millisecond."""
    running = _start([waker, "wake", str(WAKES), str(PERIOD_US)], group, stdout=subprocess.PIPE)
    said, _ = running.communicate(timeout=LONGEST_S)
    return float(said.split()[1])


def _threads(group: Path) -> dict[int, int | None]:
    """Thread -> policy."""
    tids = map(int, (group / "cgroup.threads").read_text().split())
    return {tid: policy_of(tid) for tid in tids}


def _all_ext(group: Path) -> bool:
    return all(map(is_ext, _threads(group).values()))


def _files(group: Path) -> dict[str, str]:
    names = ("cpuset.cpus", "cpu.idle", "cpu.weight")
    return {name: (group / name).read_text().strip() for name in names}


def _effective(group: Path) -> set[int]:
    return set(parse_cpulist((group / "cpuset.cpus.effective").read_text()))


def _used_us(group: Path) -> int:
    words = (group / "cpu.stat").read_text().split()
    return int(words[words.index("usage_usec") + 1])


def _is_restored(group: Path, files: dict[str, str], threads: dict[int, int | None]) -> bool:
    """Nobody on this machine is left in SCHED_EXT, no task is lost, and the files are as before."""
    now = _files(group)
    if not files["cpuset.cpus"] and now["cpuset.cpus"]:  # an older kernel cannot empty a mask
        now["cpuset.cpus"] = ""
    anybody = any(
        is_ext(policy_of(tid)) for pid in tasks.process_ids() for tid in tasks.process_threads(pid)
    )
    return loaded() is None and not anybody and _threads(group) == threads and now == files


def _comes(true: Callable[[], bool]) -> bool:
    end_s = time.monotonic() + LONGEST_S
    while not true():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.05)
    return True


def _wait(what: str, true: Callable[[], bool], agent: subprocess.Popen[bytes]) -> None:
    if not _comes(lambda: true() or agent.poll() is not None) or agent.poll() is not None:
        raise SystemExit(json.dumps({"failed": f"not seen that {what}", "agent": agent.poll()}))
