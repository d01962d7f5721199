"""What a guest of ``bench.memory`` runs: a batch that fills its memory while a primary grows.

The same with an agent that lends memory, with one that lends cores only, and without. While the
primary grows every CPU computes for somebody, below everything else (cpu.idle): an emulator's CPUs
take turns, and its clock counts the instructions of all, so a MiB would take longer only since one
more of them had something to do. A round with idle CPUs shows how much that is. Needs cgroup v2
with the memory controller, and root; the swap is a file that is removed at the end. Each episode is
a line of JSON to standard output.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

Side = Literal["memory", "cores", "none"]
"""What an agent lends; none: there is no agent."""
SIDES: tuple[Side, ...] = ("memory", "cores", "none")
ROUNDS = 3

MIB = 1 << 20
SWAP = Path("/var/swap")
SWAP_MIB = 448
CONTROLLERS = "+cpuset +cpu +memory"
ROOT = Path("/sys/fs/cgroup")
LONGEST_S = 300.0
SETTLES_S = 8.0
FILL_PAUSE_S, GROW_PAUSE_S, HOLD_PAUSE_S = 0.008, 0.002, 0.025
"""After each MiB. A limit rises by a part of its range a second: who holds is to be slower."""
RESTED_S = 12.0
"""After which a limit rises again, whatever it fell for."""
COUNTED = {
    "primary": ("pgfault", "pgmajfault", "pgscan_", "pgsteal_", "workingset_refault"),
    "batch": ("pgmajfault", "pgscan_", "pgsteal_", "workingset_refault"),
    "host": ("allocstall_", "pgscan_direct", "pgscan_kswapd"),
}
"""Beginnings of the names of the counters that it reports."""
SAMPLE_S = 0.02
STILL_LOOKS = 150
"""In which what comes back has to stand still: the first steps of an emulated guest are slow."""
HELD_OF_SWAP = 0.75
"""What is to come back has to have room there; it is lent by that room, too."""

FILL = """
import mmap, sys, time
size, pause = int(sys.argv[1]) << 20, float(sys.argv[2])
memory, page = mmap.mmap(-1, size), bytes(range(256)) * 4096
while True:
    for at in range(0, size, 1 << 20):
        memory[at:at + (1 << 20)] = page
        time.sleep(pause)
"""
"""A batch: writes all its memory, over and over."""
HOLD = """
import mmap, sys, time
memory, page = mmap.mmap(-1, int(sys.argv[1]) << 20), bytes(range(256)) * 4096
for at in range(0, len(memory), 1 << 20):
    memory[at:at + (1 << 20)] = page
    time.sleep(float(sys.argv[2]))
print("full", flush=True)
sys.stdin.readline()
"""
"""A batch that writes its memory once and keeps it."""
GROW = """
import json, mmap, os, sys, time
size, pause = int(sys.argv[1]) << 20, float(sys.argv[2])
memory, page = mmap.mmap(-1, size), bytes(range(256)) * 4096
waits = os.open("/proc/self/schedstat", os.O_RDONLY)
stalls = os.open(sys.argv[3], os.O_RDONLY)
def seen():
    waited = int(os.pread(waits, 200, 0).split()[1])
    stalled = int(os.pread(stalls, 400, 0).split(b"total=")[1].split()[0]) * 1000
    return time.monotonic_ns(), time.thread_time_ns(), waited, stalled
print("ready", flush=True)
sys.stdin.readline()
took = []
for at in range(0, size, 1 << 20):
    before = seen()
    memory[at:at + (1 << 20)] = page
    took.append([now - then for now, then in zip(seen(), before)])
    time.sleep(pause)
print(json.dumps(took), flush=True)
sys.stdin.readline()
"""
"""A primary: on a line from outside it takes one MiB after the other. For each, in ns: how long it
took, its CPU time, for how long it waited for a CPU, and for how long for memory (PSI)."""
COMPUTE = """
import os, sys
os.sched_setaffinity(0, [int(sys.argv[1])])
print("computes", flush=True)
while True:
    pass
"""
CONFIG = """
primary = ["cgroup:{web}"]
state_dir = "{state}"
long_term = "off"
window = "50ms"
poll = "5ms"
sensor = "proc"
policy = "fixed-buffer:1"

[[elastic]]
name = "batch"
target = "cgroup:{batch}"
"""
MEMORY = """memory = {{ min = "{least}MiB", max = "{most}MiB" }}
"""


@contextmanager
def swap_file(size_mib: int = SWAP_MIB, path: Path = SWAP) -> Iterator[None]:
    """Swap of that size while it lasts."""
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size_mib * MIB)
    path.chmod(0o600)
    try:
        subprocess.run(["mkswap", path], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["swapon", path], check=True)
        try:
            yield
        finally:
            subprocess.run(["swapoff", path], check=False)
    finally:
        path.unlink()


def total_mib() -> int:
    """Of this machine."""
    return int(Path("/proc/meminfo").read_text().split()[1]) // 1024


def swap_free_mib() -> int:
    """Of this machine, now."""
    lines = dict(line.split()[:2] for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["SwapFree:"]) // 1024


def oom_kills() -> int:
    """By the kernel, since the start of the machine, for want of memory."""
    lines = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(lines["oom_kill"])


class Episode:
    """A batch and a primary in groups of their own, with an agent between them or without.

    A context manager; ``run`` once.
    """

    def __init__(self, side: Side, *, busy: bool = True) -> None:
        self.side = side
        self.busy = busy
        """Whether every CPU computes while the primary grows."""
        self.total = total_mib()
        self.grows_mib = int(self.total * 0.4)
        self.fills_mib = int(self.total * 0.6)
        self.least_mib, self.most_mib = 128, int(self.total * 0.7)
        self._stack = ExitStack()

    def __enter__(self) -> Episode:
        stack = self._stack
        try:
            self._directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            self._enabled = (ROOT / "cgroup.subtree_control").read_text().split()
            (ROOT / "cgroup.subtree_control").write_text(CONTROLLERS)
            self.web, self.batch = self._group("web"), self._group("batch")
            self.own, self.others = self._group("agent"), self._group("others")
            (self.others / "cpu.idle").write_text("1")
            (self.web / "memory.max").write_text(str(int(self.total * 0.45) * MIB))
        except BaseException:
            stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        if "memory" not in self._enabled:
            (ROOT / "cgroup.subtree_control").write_text("-memory")

    def _group(self, name: str) -> Path:
        path = ROOT / f"smartharvest-memory-{os.getpid()}-{name}"
        path.mkdir()
        self._stack.callback(self._remove, path)
        cpus = (ROOT / "cpuset.cpus.effective").read_text()
        (path / "cpuset.cpus").write_text(cpus)
        return path

    @staticmethod
    def _remove(path: Path) -> None:
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            with suppress(OSError):
                path.rmdir()
                return
            time.sleep(0.1)

    def _start(
        self, script: str, group: Path, size_mib: int, pause_s: float
    ) -> subprocess.Popen[str]:
        program = subprocess.Popen(
            [sys.executable, "-S", "-c", script, str(size_mib), str(pause_s), _pressure(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(_end, program)
        (group / "cgroup.procs").write_text(str(program.pid))
        return program

    @contextmanager
    def _all_cpus_busy(self) -> Iterator[None]:
        """Each has a program, in a group below everything else, if that is wanted."""
        with ExitStack() as stack:
            for cpu in sorted(os.sched_getaffinity(0)) if self.busy else ():
                program = subprocess.Popen(
                    [sys.executable, "-S", "-c", COMPUTE, str(cpu)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                stack.callback(_end, program)
                (self.others / "cgroup.procs").write_text(str(program.pid))
                assert program.stdout is not None
                program.stdout.readline()
            yield

    def _agent(self) -> subprocess.Popen[str]:
        path = self._directory / "agent.toml"
        text = CONFIG + (MEMORY if self.side == "memory" else "")
        path.write_text(
            text.format(
                web=self.web,
                batch=self.batch,
                state=self._directory / "state",
                least=self.least_mib,
                most=self.most_mib,
            )
        )
        agent = subprocess.Popen(
            [sys.executable, "-m", "smartharvest", "agent", "--config", str(path)],
            stderr=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(_end, agent)
        (self.own / "cgroup.procs").write_text(str(agent.pid))  # as a service has one
        return agent

    def limit_mib(self) -> int | None:
        """Of the batch; None: none."""
        text = (self.batch / "memory.high").read_text().strip()
        return None if text == "max" else int(text) // MIB

    def used_mib(self, group: Path) -> int:
        return int((group / "memory.current").read_text()) // MIB

    def _counters(self) -> dict[str, int]:
        """Of faults and reclaim, in the primary's group, the batch's and the machine."""
        found: dict[str, int] = {}
        for name, path in (
            ("primary", self.web / "memory.stat"),
            ("batch", self.batch / "memory.stat"),
            ("host", Path("/proc/vmstat")),
        ):
            for key, value in (line.split() for line in path.read_text().splitlines()):
                if key.startswith(COUNTED[name]):
                    found[f"{name} {key}"] = int(value)
        return found

    def run(self) -> dict[str, Any]:
        """What came of it; times are of this machine's clock."""
        kills = oom_kills()
        _say(f"lent: {self.side}; CPUs {'busy' if self.busy else 'idle'}")
        agent = None if self.side == "none" else self._agent()

        def runs() -> None:
            if agent is not None and agent.poll() is not None:
                raise RuntimeError(f"the agent ended: {agent.communicate()[1][-500:]}")

        if self.side == "memory":
            _wait(lambda: self.limit_mib() is not None, runs)
        _say(f"limit {self.limit_mib()} MiB; the batch starts")
        batch = self._start(FILL, self.batch, self.fills_mib, FILL_PAUSE_S)
        primary = self._start(GROW, self.web, self.grows_mib, GROW_PAUSE_S)
        assert primary.stdin is not None
        assert primary.stdout is not None
        primary.stdout.readline()
        had = _settled(lambda: self.used_mib(self.batch), runs)
        limit = self.limit_mib()
        _say(f"the batch holds {had} MiB of {limit}; the primary grows")
        before = self._counters()
        with self._all_cpus_busy():
            began_s = time.monotonic()
            primary.stdin.write("\n")
            primary.stdin.flush()
            rows = json.loads(primary.stdout.readline() or "[]")
            grew_s = time.monotonic() - began_s
        after = self._counters()
        took, used, waited, stalled = zip(*rows, strict=True) if rows else ((), (), (), ())
        left = _settled(lambda: self.used_mib(self.batch), runs)
        _say(f"the primary has grown; the batch holds {left} MiB of {self.limit_mib()}")
        found: dict[str, Any] = {
            "side": self.side,
            "busy": self.busy,
            "total_mib": self.total,
            "primary_grew_mib": len(rows),
            "primary_grew_s": round(grew_s, 3),
            "mib_ms": _spread(took),
            "cpu_ms": _spread(used),
            "waited_for_cpu_ms": _spread(waited),
            "stalled_ms": _spread(stalled),
            "meanwhile": {key: after[key] - before.get(key, 0) for key in after},
            "batch_mib": {"before": had, "after": left},
            "limit_mib": {"before": limit, "after": self.limit_mib()},
            "batch_alive": batch.poll() is None,
            "oom_kills": oom_kills() - kills,
        }
        if agent is not None:
            for program in (primary, batch):
                _end(program)
            if self.side == "memory" and swap_free_mib():
                found["given_back"] = self._given_back(runs)
            _say("the agent ends")
            agent.send_signal(signal.SIGTERM)
            found["agent_code"] = agent.wait(LONGEST_S)
            found["limit_restored"] = self.limit_mib() is None
        return found

    def _given_back(self, runs: Callable[[], None]) -> dict[str, Any]:
        """How long another batch's memory takes to come back, once the operator pauses the lending.

        It holds more than its minimum by what the swap takes for sure: the rest could not go.
        """
        time.sleep(RESTED_S)
        holds_mib = self.least_mib + int(swap_free_mib() * HELD_OF_SWAP)
        batch = self._start(HOLD, self.batch, holds_mib, HOLD_PAUSE_S)
        assert batch.stdout is not None
        batch.stdout.readline()
        had = _settled(lambda: self.used_mib(self.batch), runs)
        _say(f"another batch holds {had} MiB of {self.limit_mib()}; pausing")
        began_s = time.monotonic()
        state = str(self._directory / "state")
        subprocess.run(
            [sys.executable, "-m", "smartharvest", "pause", "--state-dir", state],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        # From the first page on: a command takes seconds to start on an emulated processor.
        _wait(lambda: self.used_mib(self.batch) < had - 8, runs)
        first_s = time.monotonic()
        _say("the first of it is back")
        left = _settled(lambda: self.used_mib(self.batch), runs, STILL_LOOKS, LONGEST_S)
        settled_s = time.monotonic() - STILL_LOOKS * SAMPLE_S
        taken = had - left
        _say(f"the batch gave {taken} MiB back")
        took_s = max(SAMPLE_S, settled_s - first_s)
        return {
            "mib": taken,
            "s": round(took_s, 3),
            "gib_s": round(took_s * 1024 / taken, 2) if taken > 0 else None,
            "until_first_s": round(first_s - began_s, 2),
            "limit_mib": self.limit_mib(),
        }


def _end(program: subprocess.Popen[str]) -> None:
    if program.poll() is None:
        program.kill()
    program.wait()
    for stream in (program.stdin, program.stdout, program.stderr):
        if stream is not None:
            stream.close()


def _wait(what: Callable[[], bool], runs: Callable[[], None]) -> None:
    """Until it holds, or for long."""
    deadline = time.monotonic() + LONGEST_S
    while not what() and time.monotonic() < deadline:
        runs()
        time.sleep(SAMPLE_S)


def _say(what: str) -> None:
    """Shows progress: an emulated processor needs minutes for an episode."""
    print(f"{time.monotonic():.1f} s: {what}", file=sys.stderr, flush=True)


def _settled(
    value: Callable[[], int],
    runs: Callable[[], None],
    looks: int = 50,
    longest_s: float = SETTLES_S,
) -> int:
    """Once it has moved by less than a part in thirty in ``looks`` looks, or after some seconds."""
    deadline = time.monotonic() + longest_s
    seen: list[int] = []
    while time.monotonic() < deadline:
        runs()
        seen = [*seen[-looks + 1 :], value()]
        if len(seen) == looks and max(seen) - min(seen) <= max(4, max(seen) // 30):
            break
        time.sleep(SAMPLE_S)
    return seen[-1]


def _pressure(group: Path) -> str:
    """How long tasks of the group have stood still for want of memory."""
    return str(group / "memory.pressure")


def _spread(values_ns: Sequence[int]) -> dict[str, float]:
    """Of what was seen for each MiB, in ms."""
    if not values_ns:
        return {}
    ordered = sorted(values_ns)

    def at(q: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(q * len(ordered)))] / 1e6, 3)

    return {"p50": at(0.5), "p99": at(0.99), "max": at(1.0), "sum": round(sum(ordered) / 1e6, 2)}


def main() -> None:
    """Some rounds of each side with busy CPUs, and one with idle ones."""
    print(json.dumps({"kernel": platform.release(), "complete": False}), flush=True)
    rounds = [(side, True) for _ in range(ROUNDS) for side in SIDES]
    rounds[len(SIDES) : len(SIDES)] = [(side, False) for side in SIDES]
    with swap_file():
        for number, (side, busy) in enumerate(rounds):
            with Episode(side, busy=busy) as episode:
                found = {"slice": str(number), **episode.run()}
            print(json.dumps(found), flush=True)
    print(json.dumps({"complete": True}), flush=True)


if __name__ == "__main__":
    main()
