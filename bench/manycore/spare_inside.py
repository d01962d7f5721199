"""What runs in the guest of ``bench.manycore spare``: no agent, only its scheduler."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.compiling import build_program
from bench.manycore.inside import Host
from bench.manycore.strict_inside import AGENT, CPUS, Tasks, make_group
from smartharvest.host.process.policy import SCHED_EXT, set_policy
from smartharvest.host.sched_ext import program, state
from smartharvest.host.sched_ext.loader import Loaded

QUEUER = Path(__file__).with_name("queuer.c")
CPU, ROUNDS = CPUS // 2, 3
COUNT, PERIOD_US, BURST_US = 60, 2000, 3000
"""Of a round: so often it wakes, so long it sleeps, so long it computes."""
SLICE_NS = 20_000_000
SERVERS, SHARE_S = Path("/sys/kernel/debug/sched/ext_server"), 2.0
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
SPARES = {"0 spare": 0, "1 spare": 1, "2 spare": 2}


def measure(host: Host) -> None:
    """Tells, for each round, kind and wake, how long the task's burst took and both waited, us."""
    web, batch = make_group("web"), make_group("batch")
    with Tasks(web, batch) as tasks, Loaded() as scheduler, ExitStack() as ends:
        for pid in tasks.bully:
            set_policy(pid, SCHED_EXT)
        command = [str(build_program(QUEUER)), *map(str, (CPU, COUNT, PERIOD_US, BURST_US))]
        pipe = subprocess.PIPE
        queuer = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        ends.callback(queuer.kill)
        os.sched_setaffinity(0, AGENT)

        def wakes() -> list[list[float]]:
            assert queuer.stdin is not None
            assert queuer.stdout is not None
            queuer.stdin.write("\n")
            queuer.stdin.flush()
            lines = (queuer.stdout.readline().split() for _ in range(COUNT))
            return [[round(int(word) / 1e3, 1) for word in line] for line in lines]

        def control(spare: int) -> None:
            state.control(
                scheduler.memory,
                slice_ns=SLICE_NS,
                keep_preempted=scheduler.calls_back,
                spare={frozenset(range(CPUS)): spare},
            )

        control(0)
        scheduler.attach()
        with host.slow_time():
            for _ in range(ROUNDS):
                host.tell(kind="alone", wakes=wakes())
                for kind, spare in SPARES.items():
                    control(spare)
                    before = state.counts(scheduler.memory)
                    tasks.signal(signal.SIGCONT)
                    host.tell(kind=kind, wakes=wakes())
                    tasks.signal(signal.SIGSTOP)
                    after = state.counts(scheduler.memory)
                    counts = {
                        name: now - getattr(before, name)
                        for name, now in vars(after).items()
                        if name != "runnable"
                    }
                    host.tell(kind=kind, counts=counts)
            tasks.signal(signal.SIGCONT)
            control(1)
            with program_times() as times:
                wakes()
            host.tell(programs=times)
            host.tell(share_of_a_cpu=shares_beside_the_server())
            tasks.signal(signal.SIGSTOP)
    host.tell(burst_us=BURST_US, complete=True)


@contextmanager
def program_times() -> Iterator[dict[str, dict[str, float]]]:
    """How often each of our scheduler's programs ran meanwhile, and for how many ns on average."""
    found: dict[str, dict[str, float]] = {}
    STATISTICS.write_text("1")
    before = _program_runs()
    yield found
    for name, was, now in zip(program.PROGRAMS, before, _program_runs(), strict=True):
        count = now[0] - was[0]
        found[name.partition("/")[2]] = {
            "runs": count,
            "mean_ns": round((now[1] - was[1]) / count) if count else 0,
        }
    STATISTICS.write_text("0")


def _program_runs() -> list[tuple[int, int]]:
    """(runs, ns) of each program that this process has loaded, in that order."""
    found = []
    for fd in sorted(map(int, os.listdir("/proc/self/fdinfo"))):
        try:
            text = Path(f"/proc/self/fdinfo/{fd}").read_text()
        except OSError:  # the listing's own
            continue
        words = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        if "run_cnt" in words:
            found.append((int(words["run_cnt"]), int(words["run_time_ns"])))
    return found


def shares_beside_the_server() -> dict[str, float]:
    """What a normal task that computes gets of its CPU with the server that 7.3 gives sched_ext
    against starvation (debugfs) and without."""
    if not SERVERS.exists():
        subprocess.run(["mount", "-t", "debugfs", "none", "/sys/kernel/debug"], check=True)
    runtime = SERVERS / f"cpu{CPU}" / "runtime"
    before = runtime.read_text()
    spinner = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    found = {}
    try:
        os.sched_setaffinity(spinner.pid, [CPU])
        for name, runtime_ns in (("server", before), ("no server", "0")):
            runtime.write_text(runtime_ns)
            began_s, ran_s = time.monotonic(), _ran_s(spinner.pid)
            time.sleep(SHARE_S)
            took_s = time.monotonic() - began_s
            found[name] = round((_ran_s(spinner.pid) - ran_s) / took_s, 4)
    finally:
        spinner.kill()
        spinner.wait()
        runtime.write_text(before)
    return found


def _ran_s(task: int) -> float:
    return int(Path(f"/proc/{task}/schedstat").read_text().split()[0]) / 1e9


def main() -> None:
    host = Host()
    try:
        measure(host)
    except Exception as error:
        traceback.print_exc()
        host.tell(failed=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
