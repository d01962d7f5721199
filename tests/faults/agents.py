"""An agent that a campaign starts and strikes: forked, so that a start takes milliseconds."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import re
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from smartharvest.agent import loop_builder
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.safeguard import AggressiveSafeguard, ShortTermSafeguard
from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _sensors
from smartharvest.core.window import Window
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup import tree as cgroup
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.mechanism import choice, cpugroups
from smartharvest.sensor.choice import Sensing

Kind = Literal[
    "kill", "stop", "kill both", "kill beside a stopped guardian", "kill after its guardian"
]
"""What happens to the agent, and before that to its guardian."""
KINDS: tuple[Kind, ...] = (
    *("kill", "stop", "kill both", "kill beside a stopped guardian", "kill after its guardian"),
)
RUN_S = 0.15
HAND_OVER_SHARE = 0.3
"""Of the agents that live long enough: to a successor."""
LIFE_S = 0.5
"""About how long an agent lives that is not struck; on a busy host its guardian takes most."""
_MADE_CORES = 8
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True)
class Fault:
    """What is done to an agent, and when."""

    kind: Kind
    operation: int | None
    """Before or after the change of the host or the journal with this number, counted from 0."""
    afterwards: bool
    delay_s: float
    """Without ``operation``: so long after the start."""


class Blackboard:
    """What a struck agent leaves to be read: memory shared with its parent."""

    _HEAD = struct.Struct("=qqB")

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, 256)

    def clear(self) -> None:
        self._map[:] = bytes(256)

    def note(self, changes: int, struck_ns: int = 0, where: str = "") -> None:
        text = where.encode()[:200]
        self._map[self._HEAD.size : self._HEAD.size + len(text)] = text
        self._HEAD.pack_into(self._map, 0, struck_ns, changes, len(text))

    @property
    def struck_ns(self) -> int:
        """When the agent struck itself; 0 if it has not."""
        return int(self._HEAD.unpack_from(self._map)[0])

    @property
    def changes(self) -> int:
        """How many it began."""
        return int(self._HEAD.unpack_from(self._map)[1])

    @property
    def where(self) -> str:
        length = self._HEAD.unpack_from(self._map)[2]
        return self._map[self._HEAD.size : self._HEAD.size + length].decode(errors="replace")


class Restless:
    """A policy that wants another number of cores with every window."""

    name = "restless"
    buffer = 0
    quiet_ns = None
    shared = False

    def __init__(self, total: int, numbers: random.Random) -> None:
        self.short_term: ShortTermSafeguard = AggressiveSafeguard(total)
        self._total = total
        self._numbers = numbers

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, _window: Window) -> int:
        return self._numbers.randint(0, self._total)


class Striker:
    """Counts the agent's changes of host and journal, and strikes at the one of the fault."""

    def __init__(self, fault: Fault, board: Blackboard) -> None:
        self.session: Supervisor | None = None
        self._fault = fault
        self._board = board
        self.count = 0

    def around(self, where: str, change: Callable[[], Any]) -> Any:
        number, self.count = self.count, self.count + 1
        self._board.note(self.count)
        due = number == self._fault.operation
        if due and not self._fault.afterwards:
            self._strike(f"before {where}")
        result = change()
        if due and self._fault.afterwards:
            self._strike(f"after {where}")
        return result

    def _strike(self, where: str) -> None:
        undo = self.session.arrangement.undo if self.session else None
        keeper = undo.guardian if undo else None
        before = {"kill both": signal.SIGKILL, "kill beside a stopped guardian": signal.SIGSTOP}
        if keeper is not None and self._fault.kind in before:
            os.kill(keeper.pid, before[self._fault.kind])
        self._board.note(self.count, time.monotonic_ns(), where)
        # Before it has a guardian an agent has changed nothing, and nobody ends it for us.
        if self._fault.kind == "stop" and keeper is not None:
            # Sent to the process, another thread may take it, and this one goes on till then.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, files: KernelFiles) -> KernelFiles:
        """``files`` with every change counted, whatever class they are."""
        for name in ("write", "mkdir", "rmdir"):
            real = getattr(files, name)

            def counted(path: str, *rest: str, _real: Any = real, _name: str = name) -> Any:
                return self.around(f"{_name} {_kind_of(path)}", lambda: _real(path, *rest))

            setattr(files, name, counted)
        return files


def start_agent(settings: Settings, fault: Fault, board: Blackboard, seed: int, log: int) -> int:
    """Forks an agent that runs for a moment unless it is struck before; its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = _run_agent(settings, Striker(fault, board), seed)
    except SmartHarvestError as error:
        os.write(2, f"{error}\n".encode())
        code = error.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _run_agent(settings: Settings, striker: Striker, seed: int) -> int:
    session = Supervisor(settings)
    striker.session = session
    signal.signal(signal.SIGTERM, lambda *_: session.stop())
    _put_around(cgroup, "files_for", striker.hook)
    _put_around(cgroup, "PosixFiles", striker.hook)
    system: Any = os
    rename = os.rename
    system.rename = lambda a, b: striker.around(f"rename {_kind_of(b)}", lambda: rename(a, b))
    set_affinity = os.sched_setaffinity
    system.sched_setaffinity = lambda *args: striker.around(
        "sched_setaffinity", lambda: set_affinity(*args)
    )

    module: Any
    for module in (_actuators, cpugroups):
        _count_writes(module, session)
    # The tasks that a campaign's fake tree names are its own.
    affinity = replace(choice.MECHANISMS["affinity"], on_fake_trees=True)
    choice.MECHANISMS["affinity"] = affinity
    numbers = random.Random(seed)
    if settings.order == "dynamic" and settings.cgroup_root is not None:
        _sense_at_random(numbers)
    hands_over = numbers.random() < HAND_OVER_SHARE
    with session:
        session.run(
            Restless(session.capacity.total, numbers),
            seconds=RUN_S / 2 if hands_over else RUN_S,
            finished=partial(session.rearrange, settings, keeps_arranged=True)
            if hands_over
            else _nothing,
        )
    if session.left is not None:
        session = striker.session = Supervisor(settings, session.left)
        with session:
            session.run(Restless(session.capacity.total, numbers), seconds=RUN_S / 2)
    return 0


def _count_writes(module: Any, session: Supervisor) -> None:
    """The loop's writes go through the counted files as well, on a host too."""
    for name in ("CpusetActuator", "CpuGroupsActuator"):
        real = getattr(module, name, None)
        if real is None:
            continue

        class Counted(real):  # type: ignore[misc, valid-type]
            def __new__(cls, *args: Any, **options: Any) -> Any:
                return super().__new__(
                    cls, *args, **{**options, "kernel_files": session.arrangement.tree.files}
                )

        setattr(module, name, Counted)


def _sense_at_random(numbers: random.Random) -> None:
    """Nobody runs on a fake tree: who uses which core is rolled anew with every decision."""
    sensor = _sensors.FakeSensor(core_count=_MADE_CORES)
    module: Any = loop_builder
    module.make_sensor = lambda *_, **__: Sensing(sensor, "fake", "a fake tree")
    policy_class: Any = Restless
    predict = policy_class.predict

    def rolling(policy: Restless, window: Window) -> Any:
        for core in range(_MADE_CORES):
            sensor.set_free(core, numbers.choice((0, 10_000_000, 1_000_000_000)))
        return predict(policy, window)

    policy_class.predict = rolling


def _nothing() -> None:
    pass


def _kind_of(path: str) -> str:
    """The file's name without what differs between agents."""
    return re.sub(r"\d+", "N", os.path.basename(path))


def _put_around(module: object, name: str, hook: Callable[[Any], Any]) -> None:
    """Has ``hook`` change whatever the function or class of that name makes."""
    real = getattr(module, name)
    setattr(module, name, lambda *args: hook(real(*args)))


def adopt_orphans() -> None:
    """Makes guardians whose agent died children of this process, to be waited for."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")
