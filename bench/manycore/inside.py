"""What runs in the guest: a slice for each line of JSON that the host sends to the serial port."""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import tty
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from bench.compiling import build_program
from bench.manycore.plan import CONDITIONS, QUEUE, TASKS_TOO
from bench.real.conditions import Condition
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.figures import NO_AGENT
from smartharvest.lab.demo.groups import DemoGroups, demo_groups

PORT = "/dev/ttyS1"
SETTLE_S = 0.05
UNIT_S = 0.25
"""Of the batch on one CPU alone, to know what its work is worth."""
NAMED = {one.name: one for one in CONDITIONS}
OTHER_SEED = 500_000
"""What the second primary's traffic is drawn from, beyond the first's."""


class Words(logging.Handler):
    """What an agent says of itself while this is entered: (time, message), the last ones."""

    MOST = 200

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: deque[tuple[float, str]] = deque(maxlen=self.MOST)
        self._of = logging.getLogger("smartharvest")

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append((time.monotonic(), record.getMessage()))

    def __enter__(self) -> Self:
        self._level = self._of.level
        self._of.setLevel(logging.INFO)
        self._of.addHandler(self)
        return self

    def __exit__(self, *_error: object) -> None:
        self._of.removeHandler(self)
        self._of.setLevel(self._level)

    def since(self, began_s: float) -> list[tuple[float, str]]:
        """With seconds since then, which may be negative."""
        return [(round(at_s - began_s, 3), said) for at_s, said in self.said]


class Host:
    """The other end of the serial port."""

    def __init__(self) -> None:
        port = os.open(PORT, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(port)
        self._in = os.fdopen(port, "rb", buffering=0)
        self._out = os.fdopen(os.dup(port), "wb", buffering=0)

    def tell(self, **what: Any) -> None:
        data = json.dumps(what).encode() + b"\n"
        while data:
            data = data[self._out.write(data) or 0 :]

    def line(self) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            found += self._in.read(1)
        return found

    @contextmanager
    def slow_time(self) -> Iterator[None]:
        """Dilated and at constant speed."""
        self.tell(dilate=True)
        self.line()
        try:
            yield
        finally:
            self.tell(dilate=False)
            self.line()


class Server:
    """A primary's process, in the demo's group or one of its own."""

    def __init__(
        self, groups: DemoGroups, host: Host, cpus: int, name: str = QUEUE, own: Path | None = None
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.manycore.serving", str(cpus), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.hear()
        if own is None:
            groups.place("primary", self._process.pid)
        else:
            (own / "cgroup.procs").write_text(str(self._process.pid))
        self.say({})
        self.hear()
        with host.slow_time():
            self.say({})
            self.calibrated: dict[str, float] = self.hear()["calibrated"]

    def say(self, what: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what).encode() + b"\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the primary has ended; its words are on the console")
        said: dict[str, Any] = json.loads(line)
        return said


class Batch:
    """batch.c; made by ``batch``."""

    def __init__(self, process: subprocess.Popen[bytes], counters: Path) -> None:
        self.pid = process.pid
        self._process = process
        self._counters = counters

    def start(self) -> None:
        """In the group it is in by now, which may be frozen: who calls it is not to wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()

    def units(self) -> int:
        if not self._counters.exists():
            return 0
        return int(np.fromfile(self._counters, dtype=np.uint64)[::8].sum())


@contextmanager
def batch(kind: str, workers: int) -> Iterator[Batch]:
    program = build_program(Path(__file__).with_name("batch.c"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        counters = Path(made, "units")
        process = subprocess.Popen(
            [program, kind, str(workers), counters], stdin=subprocess.PIPE, start_new_session=True
        )
        try:
            yield Batch(process, counters)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.communicate()


def used_s(groups: DemoGroups, role: Any) -> float:
    """CPU seconds of a group so far."""
    words = Path(groups.path(role), "cpu.stat").read_text().split()
    return int(words[words.index("usage_usec") + 1]) / 1e6


def measure(
    groups: DemoGroups,
    host: Host,
    server: Server,
    asked: dict[str, Any],
    second: Server | None = None,
) -> dict[str, Any]:
    """One slice; everything it started but the servers has ended."""
    condition: Condition = NAMED[asked["condition"]]
    servers = [server] if second is None else [server, second]
    settings: dict[str, Any] = dict(condition.settings)
    if second is not None:
        places = groups.path("primary"), str(second_group(groups))
        settings["primary"] = tuple(TargetSpec("cgroup", place) for place in places)
    cpus, seconds, warm_up_s = len(groups.cpus), asked["seconds"], asked["warm_up_s"]
    readings: list[tuple[float, int, float, float]] = []
    with ExitStack() as stack:
        words = stack.enter_context(Words())
        work = stack.enter_context(batch(asked["batch"], cpus)) if condition.batch else None
        server.say({**asked, "seconds": warm_up_s + seconds})
        server.hear()
        if second is not None:
            other = {"load": asked["second_load"], "seed": asked["seed"] + OTHER_SEED}
            second.say({**asked, **other, "seconds": warm_up_s + seconds})
            second.hear()
        if work is not None:
            groups.place("elastic", work.pid)
            if condition.name == TASKS_TOO:  # a single process by now
                os.sched_setscheduler(work.pid, os.SCHED_IDLE, os.sched_param(0))
        if condition.batch or condition.phase:
            groups.enter_phase(condition.phase)
            stack.callback(groups.leave_phase)

        def read() -> None:
            units = work.units() if work is not None else 0
            now = (time.monotonic(), units, used_s(groups, "elastic"), used_s(groups, "primary"))
            readings.append(now)

        warm = threading.Timer(warm_up_s, read)
        stack.callback(warm.cancel)

        def begin() -> None:
            """Returns soon: an agent's own thread calls it."""
            host.tell(dilate=True)
            host.line()
            if work is not None:
                work.start()
            time.sleep(SETTLE_S)
            for one in servers:
                one.say({})
            warm.start()

        agent = NO_AGENT
        try:
            if condition.policy is None:
                begin()
                time.sleep(warm_up_s + seconds)
                read()
            else:
                length_s = SETTLE_S + warm_up_s + seconds
                agent = groups.run_agent(
                    condition.policy,
                    length_s,
                    begin,
                    read,
                    case=asked["experiment"],
                    **settings,
                )
            for one in servers:
                one.hear()  # all are served
        finally:
            host.tell(dilate=False)
            host.line()
        server.say({})
        answer = server.hear()
        if second is not None:
            second.say({})
            answer["second_requests"] = second.hear()["requests"]
    (began_s, units, batch_s, primary_s), (ended_s, units_then, batch_then_s, primary_then_s) = (
        readings[0],
        readings[-1],
    )
    return {
        **answer,
        "seconds": ended_s - began_s,
        "units": units_then - units,
        "batch_core_s": batch_then_s - batch_s,
        "primary_core_s": primary_then_s - primary_s,
        "harvested_cores": agent.harvested_cores if condition.policy and condition.batch else None,
        "short": agent.short,
        "long": agent.long,
        "agent_core_s": agent.agent_cpu_seconds,
        "moves": agent.moves,
        "said": words.since(began_s),
        "warm_up_s": warm_up_s,
        **server.calibrated,
    }


def second_group(groups: DemoGroups) -> Path:
    """Next to the first primary's; made if it is not there."""
    path = Path(groups.path("primary")).with_name("second")
    path.mkdir(exist_ok=True)
    return path


def unit_of(groups: DemoGroups, host: Host, kind: str) -> float:
    """The batch's work a second with one CPU and the machine to itself."""
    with batch(kind, 1) as work:
        groups.place("elastic", work.pid)
        with host.slow_time():
            work.start()
            time.sleep(SETTLE_S)
            began_s, units = time.monotonic(), work.units()
            time.sleep(UNIT_S)
            return (work.units() - units) / (time.monotonic() - began_s)


def main() -> None:
    """Serves requests until an empty one."""
    host = Host()
    shutil.rmtree("/run/smartharvest", ignore_errors=True)
    cpus = os.cpu_count() or 1
    host.tell(kernel=platform.release(), cpus=cpus, ready=True)
    time.sleep(0.5)  # the host slows time down: what starts an agent has timeouts
    units: dict[str, float] = {}
    with demo_groups() as groups:
        servers = {QUEUE: Server(groups, host, cpus)}
        seconds: dict[str, Server] = {}
        host.tell(**servers[QUEUE].calibrated)
        while asked := json.loads(host.line()):
            try:
                kind, primary = asked["batch"], asked["primary"]
                if primary not in servers:
                    servers[primary] = Server(groups, host, cpus, primary)
                server = servers[primary]
                if (name := asked["second"]) and name not in seconds:
                    own = second_group(groups)
                    seconds[name] = Server(groups, host, cpus, name, own)
                if kind not in units:
                    units[kind] = unit_of(groups, host, kind)
                result = measure(groups, host, server, asked, seconds.get(name))
                host.tell(result={**result, "unit": units[kind]})
            except Exception as error:
                traceback.print_exc()
                host.tell(failed=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
