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
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from bench.compiling import build_program
from bench.manycore.inside import Host
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.process.policy import is_ext, policy_of
from smartharvest.host.sched_ext.loader import NAME, loaded
from tests.commands import as_command

WAKER = Path(__file__).with_name("waker.c")
GROUPS = Path("/sys/fs/cgroup")
ROUNDS, WAKES, PERIOD_US = 4, 200, 1000
"""Each round has WAKES on each CPU without the batch, and as many with it."""
CPUS = os.cpu_count() or 1
AGENT = (0, 1)
"""Where the control plane runs, and this process: emulated, they take most of a CPU, whose other
tasks wait for them. The agent lends these CPUs all the same (``--lend-shared``)."""
LOOP = "sh-loop"
"""The name of the loop's thread."""
WAKING = (CPUS // 2, 2)
"""First CPU and number of those where tasks wake."""
MOST_TAKEN_BACK = 6
"""Rounds in which the agent lends less meanwhile, which it does when its own windows are late."""
LONGEST_S, SOON_S = 60.0, 0.5
STATE = "/tmp/strict-check"


def check(host: Host) -> None:
    """Tells all figures."""
    web, batch = make_group("web"), make_group("batch")
    before = _files(batch)
    host.tell(kernel=platform.release(), mechanism="strict", cpus=CPUS, waking=WAKING[1])
    with Tasks(web, batch, make_idle_group("idle")) as tasks_there, ExitStack() as ends:
        threads = _threads(batch)
        os.sched_setaffinity(0, AGENT)
        agent = _start_agent(batch, ends)
        cores: list[float] = []
        taken_back = 0
        with host.slow_time():
            while len(cores) < ROUNDS and taken_back < MOST_TAKEN_BACK:
                idle = tasks_there.wake()
                with tasks_there.of_idle_class():
                    idle_class = tasks_there.wake()
                tasks_there.signal(signal.SIGCONT)
                _comes(lambda: _lends_all(batch), SOON_S)
                ran_us, began_s = _used_us(batch), time.monotonic()
                late = tasks_there.wake()
                took_s = time.monotonic() - began_s
                if _lends_all(batch):
                    host.tell(idle=idle, batch=late, idle_class=idle_class)
                    cores.append((_used_us(batch) - ran_us) / 1e6 / took_s)
                else:  # nothing is known of a batch that is not there
                    taken_back += 1
                tasks_there.signal(signal.SIGSTOP)
        if not cores:
            raise RuntimeError("the agent took CPUs back in each round")
        tasks_there.signal(signal.SIGCONT)
        host.tell(batch_cores=round(sum(cores) / len(cores), 2), taken_back=taken_back)
        killed_s = time.monotonic()
        agent.kill()
        agent.wait()
        restored = _comes(lambda: _is_restored(batch, before, threads))
        took_ms = round(1e3 * (time.monotonic() - killed_s))
        host.tell(restored_ms=took_ms, files=_files(batch), was=before)
        tasks_there.signal(signal.SIGSTOP)  # next to it an agent starts in minutes
        agent = _start_agent(batch, ends)
        tasks_there.signal(signal.SIGCONT)
        with host.slow_time():
            host.tell(fallback_ms=_fall_back(batch, tasks_there.bully[0]))
        agent.kill()
        agent.wait()
        host.tell(restored=restored and _comes(lambda: _is_restored(batch, before, threads)))


def _fall_back(batch: Path, task: int) -> dict[str, int | None]:
    """After how many ms what was so, once somebody has ended the scheduler; None: not seen."""
    signs: dict[str, Callable[[], bool]] = {
        "confined": lambda: not _lends_all(batch),
        "fair": lambda: not _in_class(task),
        "ended": lambda: loaded() is None,
    }
    found: dict[str, int | None] = dict.fromkeys(signs)
    began_s = time.monotonic()
    Path("/proc/sysrq-trigger").write_text("S")

    def all_seen() -> bool:
        for name, sign in signs.items():
            if found[name] is None and sign():
                found[name] = round(1e3 * (time.monotonic() - began_s))
        return None not in found.values()

    _comes(all_seen, SOON_S, every_s=0.001)
    return found


def _in_class(task: int) -> bool:
    """Whether the scheduler has a task, whose policy stays SCHED_EXT after the scheduler's end."""
    lines = Path(f"/proc/{task}/sched").read_text().splitlines()
    words = next(line.split(":") for line in lines if line.startswith("ext.enabled"))
    return bool(int(words[1]))


def _start_agent(batch: Path, ends: ExitStack) -> subprocess.Popen[bytes]:
    """One that lends everything."""
    agent = subprocess.Popen(as_command(_agent()), stdout=sys.stderr)
    ends.callback(agent.kill)
    _until("the scheduler is in force", lambda: loaded() == NAME, agent)
    _until("all of the batch is in it", lambda: _all_ext(batch), agent)
    # Before its loop runs nothing is lent by it, and its start takes a CPU.
    _until("its loop runs", lambda: LOOP in map(tasks.name, tasks.threads_of((agent.pid,))), agent)
    _until("everything is lent", lambda: _lends_all(batch), agent)
    return agent


def _lends_all(batch: Path) -> bool:
    return _effective(batch) == set(range(CPUS))


class Tasks:
    """waker.c: its wakers are in one group, and its bully is in another; others that compute, of
    the policy SCHED_IDLE, are in ``idle``."""

    def __init__(self, wakers: Path, bully: Path, idle: Path | None = None) -> None:
        computing = CPUS if idle is None else 2 * CPUS
        command = [str(build_program(WAKER)), *map(str, (computing, *WAKING, WAKES, PERIOD_US))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        (wakers / "cgroup.procs").write_text(str(self._process.pid))
        self.bully = self._numbers(CPUS)
        for pid in self.bully:
            (bully / "cgroup.procs").write_text(str(pid))
        self._idle = self._numbers(computing - CPUS)
        for pid in self._idle:
            assert idle is not None
            (idle / "cgroup.procs").write_text(str(pid))
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))

    def _numbers(self, count: int) -> list[int]:
        assert self._process.stdout is not None
        return [int(self._process.stdout.readline()) for _ in range(count)]

    def wake(self) -> list[list[float]]:
        """How late they were, us, on each CPU."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [[round(ns / 1e3, 1) for ns in self._numbers(WAKES)] for _ in range(WAKING[1])]

    def signal(self, number: int) -> None:
        """Stops or continues the bully."""
        for pid in self.bully:
            os.kill(pid, number)

    @contextmanager
    def of_idle_class(self) -> Iterator[None]:
        """The others run."""
        for pid in self._idle:
            os.kill(pid, signal.SIGCONT)
        yield
        for pid in self._idle:
            os.kill(pid, signal.SIGSTOP)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # and its children with it
        self._process.wait()


def _agent() -> list[str]:
    return [
        *("agent", "--primary", "cgroup:web", "--elastic", "cgroup:batch"),
        *("--mechanism", "strict", "--policy", "everywhere", "--long-term", "off", "--lend-shared"),
        # With a CPU kept idle nobody would wake where the batch runs, but where this agent does.
        *("--strict-spare", "0"),
        *("--poll", "1ms", "--window", "250ms", "--state-dir", STATE),
    ]


def make_group(name: str) -> Path:
    path = GROUPS / name
    path.mkdir()
    return path


def make_idle_group(name: str) -> Path:
    """One that the fair class runs last."""
    path = make_group(name)
    (path / "cpu.idle").write_text("1")
    return path


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


def _comes(true: Callable[[], bool], longest_s: float = LONGEST_S, every_s: float = 0.01) -> bool:
    end_s = time.monotonic() + longest_s
    while not true():
        if time.monotonic() > end_s:
            return False
        time.sleep(every_s)
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
