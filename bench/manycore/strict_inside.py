"""What runs in the guest of ``make strict-check``."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.compiling import build_program
from bench.manycore.inside import Host
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.process.policy import is_ext, policy_of
from smartharvest.host.sched_ext.loader import NAME, loaded
from tests.commands import as_command

WAKER = Path(__file__).with_name("waker.c")
GROUPS = Path("/sys/fs/cgroup")
ROUNDS, WAKES, PERIOD_US = 4, 100, 1000
"""In each of the rounds, and on each CPU, so many without the batch and so many beside it."""
LONGEST_S = 60.0
STATE = "/tmp/strict-check"
CPUS = os.cpu_count() or 1


def check(host: Host) -> None:
    """Tells all figures."""
    waker = str(build_program(WAKER))
    web, batch = _group("web"), _group("batch")
    before = _files(batch)
    host.tell(kernel=platform.release(), mechanism="strict", cpus=CPUS)
    with _running([waker, "spin", str(CPUS)], batch):
        _until("the bully runs", lambda: len(_threads(batch)) == CPUS)
        threads = _threads(batch)
        _signal(threads, signal.SIGSTOP)
        agent = subprocess.Popen(as_command(_agent()), stdout=sys.stderr)
        try:
            _until("the scheduler is in force", lambda: loaded() == NAME, agent)
            _until("all of the batch is in it", lambda: _all_ext(batch), agent)
            _until("everything is lent", lambda: _effective(batch) == set(range(CPUS)), agent)
            cores = []
            with host.slow_time():
                for _ in range(ROUNDS):
                    host.tell(idle=_wakes(waker, web))
                    _signal(threads, signal.SIGCONT)
                    time.sleep(0.01)
                    ran_us, began_s = _used_us(batch), time.monotonic()
                    host.tell(batch=_wakes(waker, web))
                    cores.append((_used_us(batch) - ran_us) / 1e6 / (time.monotonic() - began_s))
                    _signal(threads, signal.SIGSTOP)
            _signal(threads, signal.SIGCONT)
            host.tell(batch_cores=round(sum(cores) / len(cores), 2))
            killed_s = time.monotonic()
            agent.kill()
            agent.wait()
            restored = _comes(lambda: _is_restored(batch, before, threads))
            took_ms = round(1e3 * (time.monotonic() - killed_s))
            host.tell(restored=restored, restored_ms=took_ms, files=_files(batch), was=before)
        finally:
            agent.kill()


def _agent() -> list[str]:
    return [
        *("agent", "--primary", "cgroup:web", "--elastic", "cgroup:batch"),
        *("--mechanism", "strict", "--policy", "everywhere", "--long-term", "off"),
        *("--state-dir", STATE),
    ]


def _group(name: str) -> Path:
    path = GROUPS / name
    path.mkdir()
    return path


def _within(command: list[str], group: Path) -> list[str]:
    """A process that is in ``group`` before it runs ``command``."""
    return ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", *command]


@contextmanager
def _running(command: list[str], group: Path) -> Iterator[None]:
    process = subprocess.Popen(_within(command, group))
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _wakes(waker: str, group: Path) -> list[float]:
    """How late the tasks were, us."""
    command = [waker, "wake", str(CPUS), str(WAKES), str(PERIOD_US)]
    done = subprocess.run(_within(command, group), stdout=subprocess.PIPE, text=True, check=True)
    return [round(int(word) / 1e3, 1) for word in done.stdout.split()]


def _signal(threads: dict[int, int | None], number: int) -> None:
    for tid in threads:
        os.kill(tid, number)


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
    anybody = any(
        is_ext(policy_of(tid)) for pid in tasks.process_ids() for tid in tasks.process_threads(pid)
    )
    return (
        loaded() is None and not anybody and _threads(group) == threads and _files(group) == files
    )


def _comes(true: Callable[[], bool]) -> bool:
    end_s = time.monotonic() + LONGEST_S
    while not true():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.01)
    return True


def _until(
    what: str, true: Callable[[], bool], agent: subprocess.Popen[bytes] | None = None
) -> None:
    """Raises RuntimeError if it does not come true, or the agent ends before."""

    def ended() -> bool:
        return agent is not None and agent.poll() is not None

    if not _comes(lambda: true() or ended()) or ended():
        raise RuntimeError(f"not seen that {what}; agent: {agent and agent.poll()}")


def main() -> None:
    host = Host()
    try:
        check(host)
    except Exception as error:
        traceback.print_exc()
        host.tell(failed=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
