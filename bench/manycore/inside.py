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
from numpy.typing import NDArray

from bench.compiling import build_program
from bench.manycore.interpreter import piece_ms
from bench.manycore.plan import CONDITIONS, QUEUE, TASKS_TOO
from bench.real.conditions import Condition
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.figures import NO_AGENT
from smartharvest.lab.demo.groups import DemoGroups, demo_groups

PORT = "/dev/ttyS1"
SETTLE_S = 0.05
OUTLIVES_S = 0.3
"""How much longer than the traffic an agent runs: the last requests are its primary's, too."""
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
        while not counters.exists() or not counters.stat().st_size:
            if process.poll() is not None:
                raise RuntimeError("the batch has ended before it began")
            time.sleep(0.001)
        self._counts: NDArray[np.uint64] = np.memmap(counters, dtype=np.uint64, mode="r")[::8]

    def start(self) -> None:
        """In the group it is in by now, which may be frozen: who calls it is not to wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()

    def units(self) -> int:
        """Done by all workers so far."""
        return int(self._counts.sum())


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


class Readings(threading.Thread):
    """Reads the counters when the warm-up ends, and the slice.

    It is nobody's primary and nobody's batch, and may go before a task that others wait for: what
    takes long is done ahead.
    """

    def __init__(self, groups: DemoGroups, work: Batch | None, *after_s: float) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._files = [
            os.open(Path(path, "cpu.stat"), os.O_RDONLY | os.O_CLOEXEC)
            for path in (groups.path("elastic"), groups.path("primary"))
        ]
        self._after_s = after_s
        self._over = threading.Event()
        self.found: list[tuple[float, int, float, float]] = []
        """(time, the batch's units, its CPU seconds, the primary's)"""

    @staticmethod
    def _used_s(file: int) -> float:
        words = os.pread(file, 4096, 0).split()
        return int(words[words.index(b"usage_usec") + 1]) / 1e6

    def run(self) -> None:
        began_s = time.monotonic()
        for after_s in self._after_s:
            if self._over.wait(max(0.0, began_s + after_s - time.monotonic())):
                return
            now_s, units = time.monotonic(), self._work.units() if self._work is not None else 0
            batch_s, primary_s = map(self._used_s, self._files)
            self.found.append((now_s, units, batch_s, primary_s))

    def end(self) -> None:
        self._over.set()
        if self.ident is not None:
            self.join()
        for file in self._files:
            os.close(file)


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

        readings = Readings(groups, work, warm_up_s, warm_up_s + seconds)
        stack.callback(readings.end)

        def begin() -> None:
            """Returns soon: an agent's own thread calls it."""
            host.tell(dilate=True)
            host.line()
            if work is not None:
                work.start()
            time.sleep(SETTLE_S)
            for one in servers:
                one.say({})
            readings.start()

        agent = NO_AGENT
        try:
            if condition.policy is None:
                begin()
            else:
                length_s = SETTLE_S + warm_up_s + seconds + OUTLIVES_S
                agent = groups.run_agent(
                    condition.policy,
                    length_s,
                    begin,
                    lambda: None,
                    case=asked["experiment"],
                    **settings,
                )
            for one in servers:
                one.hear()  # all are served
            readings.join()
        finally:
            host.tell(dilate=False)
            host.line()
        server.say({})
        answer = server.hear()
        if second is not None:
            second.say({})
            answer["second_requests"] = second.hear()["requests"]
    (began_s, units, batch_s, primary_s), (ended_s, units_then, batch_then_s, primary_then_s) = (
        readings.found
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
        with host.slow_time():
            python_ms = piece_ms()
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
                host.tell(result={**result, "unit": units[kind], "python_ms": python_ms})
            except Exception as error:
                traceback.print_exc()
                host.tell(failed=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
