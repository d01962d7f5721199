"""What runs in the guest of ``python -m tests.lab.promises``.

A normal task wakes, by its own timer or since another CPU writes to it, on a CPU where a batch
computes, in user mode or inside long system calls. Time is counted in instructions, so how late it
is depends on the kernel alone.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import platform
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartharvest.host.process.parent import die_with
from tests.lab.strict_price import price

GROUPS = Path("/sys/fs/cgroup")
DEBUG = Path("/sys/kernel/debug")
MODES = DEBUG / "sched" / "preempt"
EXT = Path("/sys/kernel/sched_ext")
STRICT = "strict"
"""What the answer with its prices is called; the others have their mode's name."""
TOLD = ("base_slice_ns", "min_granularity_ns", "cgroup_mode")
"""Of /sys/kernel/debug/sched, where there."""
OWN_CPU, CPU, WAKER_CPU = 0, 2, 3
WAKES = 100
PAUSE_S = (0.0005, 0.0045)
"""Between wakes, uneven: not always as far from a tick."""
BUSY_S, BUSY_WAKES = 0.002, 60
"""What a task that has used its share computes after each wake: one that hardly computes has the
CPU from any other, idle or not."""
SETTLE_S = 0.05
BYTES = 64 << 20
"""Of one read of /dev/zero: some ten milliseconds."""
DESCRIPTORS = 1 << 18
"""Of one poll(2): some seven milliseconds."""
NO_SLACK = 29, 1
"""prctl(PR_SET_TIMERSLACK, 1 ns)."""
_libc = ctypes.CDLL(None)


def _spin() -> None:
    while True:
        pass


def _read() -> None:
    """Looks itself whether somebody else is to run, after each page."""
    buffer = mmap.mmap(-1, BYTES)
    with open("/dev/zero", "rb", buffering=0) as zeros:
        while True:
            zeros.readinto(buffer)


def _poll() -> None:
    """Looks at many descriptors, none of which is one, and at nothing else."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    made = bytearray(struct.pack("ii", -1, 0) * DESCRIPTORS)
    none = (ctypes.c_char * len(made)).from_buffer(made)
    while True:
        _libc.poll(none, DESCRIPTORS, 0)


WORK: dict[str, Callable[[], None]] = {
    "user": _spin,
    "busy": _spin,
    "read": _read,
    "poll": _poll,
}


@dataclass(frozen=True)
class Kind:
    """What a batch is below the task that wakes."""

    idle_group: bool
    idle_tasks: bool


KINDS = {
    "normal": Kind(False, False),
    "task": Kind(False, True),
    "group": Kind(True, False),
    "both": Kind(True, True),
}


def _child(group: str, cpu: int, run: Callable[[], None]) -> int:
    """Its number. It ends with this process."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with(parent)
        Path(GROUPS, group, "cgroup.procs").write_text("0")
        os.sched_setaffinity(0, [cpu])
        _libc.prctl(*NO_SLACK, 0, 0, 0)
        run()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


@contextmanager
def batch(kind: Kind, work: str) -> Iterator[None]:
    """On CPU. It becomes idle once it is in its group, and normal before it ends."""
    switch = GROUPS / "batch" / "cpu.idle"
    ready, go = os.pipe()

    def run() -> None:
        os.read(ready, 1)
        WORK[work]()

    pid = _child("batch", CPU, run)
    try:
        os.write(go, b"x")
        time.sleep(SETTLE_S)
        if kind.idle_tasks:
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
        switch.write_text(str(int(kind.idle_group)))
        time.sleep(SETTLE_S)
        yield
    finally:
        switch.write_text("0")
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ready)
        os.close(go)


def _compute(busy_s: float) -> None:
    end_s = time.thread_time() + busy_s
    while time.thread_time() < end_s:
        pass


def late_us(from_afar: bool, wakes: int, busy_s: float) -> list[float]:
    """Of each wake on CPU, the least first."""
    told, tell = os.pipe()
    pauses = random.Random(1)

    def by_timer() -> None:
        late = []
        for _ in range(wakes):
            due_s = time.monotonic() + pauses.uniform(*PAUSE_S)
            time.sleep(due_s - time.monotonic())
            late.append(1e6 * (time.monotonic() - due_s))
            _compute(busy_s)
        _tell(tell, late)

    def asked() -> None:
        late = []
        for _ in range(wakes):
            (due_s,) = struct.unpack("d", os.read(ask, 8))
            late.append(1e6 * (time.monotonic() - due_s))
            _compute(busy_s)
            os.write(answered, b"x")
        _tell(tell, late)

    def asks() -> None:
        for _ in range(wakes):
            time.sleep(pauses.uniform(*PAUSE_S))
            os.write(asking, struct.pack("d", time.monotonic()))
            os.read(answer, 1)

    ask, asking = os.pipe()
    answer, answered = os.pipe()
    children = [_child("web", CPU, asked if from_afar else by_timer)]
    if from_afar:
        children.append(_child("web", WAKER_CPU, asks))
    os.close(tell)
    with os.fdopen(told) as file:
        found: list[float] = json.load(file)
    for pid in children:
        os.waitpid(pid, 0)
    for fd in (ask, asking, answer, answered):
        os.close(fd)
    return sorted(found)


def _tell(fd: int, late: list[float]) -> None:
    os.write(fd, json.dumps([round(us, 1) for us in late]).encode())


def summary(late: list[float]) -> dict[str, float]:
    return {
        "p50": late[len(late) // 2],
        "p90": late[len(late) * 9 // 10],
        "max": late[-1],
        "wakes": len(late),
    }


def main() -> None:
    """Tells a line of JSON for each mode."""
    answer = os.fdopen(os.dup(1), "w")
    subprocess.run(["mount", "-t", "debugfs", "none", DEBUG], check=False)
    for name in ("web", "batch"):
        (GROUPS / name).mkdir()
    os.sched_setaffinity(0, [OWN_CPU])
    hz = round(1 / time.clock_getres(6))  # CLOCK_MONOTONIC_COARSE: a tick
    shown = {
        name: (DEBUG / "sched" / name).read_text().strip()
        for name in TOLD
        if (DEBUG / "sched" / name).exists()
    }
    booted = MODES.read_text().split()
    default = next(word.strip("()") for word in booted if word.startswith("("))
    for mode in (word.strip("()") for word in booted):
        MODES.write_text(mode)
        found: dict[str, Any] = {"nobody": _both()}
        for name, kind in KINDS.items():
            for work in WORK:
                with batch(kind, work):
                    found[f"{name}, {work}"] = _both(work == "busy")
        told = {
            "release": platform.release(),
            "mode": mode,
            "default": mode == default,
            "hz": hz,
            "sched": shown,
            "late_us": found,
        }
        answer.write(json.dumps({"test": mode, **told}) + "\n")
        answer.flush()
        print(mode, time.monotonic(), file=sys.stderr, flush=True)
    MODES.write_text(default)
    if EXT.exists():
        prices = price(_child, CPU, os.cpu_count() or 1)
        answer.write(json.dumps({"test": STRICT, "prices": prices}) + "\n")
    answer.write(json.dumps({"complete": True}) + "\n")
    answer.flush()


def _both(busy: bool = False) -> dict[str, dict[str, float]]:
    """Of wakes by the task's own timer, and from another CPU."""
    how = (BUSY_WAKES, BUSY_S) if busy else (WAKES, 0.0)
    return {"timer": summary(late_us(False, *how)), "afar": summary(late_us(True, *how))}


if __name__ == "__main__":
    main()
