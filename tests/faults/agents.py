"""An agent that a campaign starts and strikes: forked, so that a start takes milliseconds."""

from __future__ import annotations

import contextlib
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
from pathlib import Path
from typing import Any

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

RUN_S = 0.15
HAND_OVER_SHARE = 0.3
"""Of the agents that live long enough: to a successor."""
LIFE_S = 0.5
"""About how long an agent lives that is not struck; on a busy host its guardian takes most."""
_LOOK_S = 0.0001
_MADE_CORES = 8
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True)
class Moment:
    """When an agent is struck."""

    operation: int | None
    """Before or after the change of the host or the journal with this number, counted from 0."""
    afterwards: bool = False
    runs: bool = False
    """Without ``operation``: not before it runs."""
    delay_s: float = 0.0
    """Without ``operation``: so long after its start, or since it runs."""
    run_s: float = RUN_S
    """How long the agent runs by itself."""


class Blackboard:
    """What an agent and the campaign tell each other: memory that they share."""

    _HEAD = struct.Struct("=qqB")
    _RELEASED, _BLOCKED, _TEXT = 24, 32, 40
    _NUMBER = struct.Struct("=q")

    def __init__(self, directory: Path) -> None:
        """``directory`` takes a pipe by which blocked threads are let go."""
        self._map = mmap.mmap(-1, 256)
        self.pipe = str(directory / "pipe")
        os.mkfifo(self.pipe)

    def clear(self) -> None:
        self._map[:] = bytes(256)

    def note(self, changes: int, struck_ns: int = 0, where: str = "") -> None:
        text = where.encode()[:200]
        self._map[self._TEXT : self._TEXT + len(text)] = text
        self._HEAD.pack_into(self._map, 0, struck_ns, changes, len(text))

    @property
    def struck_ns(self) -> int:
        """When the agent came to where it is to be struck; 0 if it has not."""
        return int(self._HEAD.unpack_from(self._map)[0])

    @property
    def changes(self) -> int:
        """How many it began."""
        return int(self._HEAD.unpack_from(self._map)[1])

    @property
    def where(self) -> str:
        length = self._HEAD.unpack_from(self._map)[2]
        return self._map[self._TEXT : self._TEXT + length].decode(errors="replace")

    def release(self) -> None:
        """Lets an agent go on that waits to be struck and lives."""
        self._NUMBER.pack_into(self._map, self._RELEASED, 1)

    @property
    def released(self) -> bool:
        return bool(self._NUMBER.unpack_from(self._map, self._RELEASED)[0])

    def block_syncs(self, seconds: float) -> None:
        """For so long nothing that the agent has synchronized reaches its disk."""
        until_ns = time.monotonic_ns() + int(seconds * 1e9) if seconds else 0
        self._NUMBER.pack_into(self._map, self._BLOCKED, until_ns)

    def unblock_syncs(self) -> None:
        """Also lets go who is blocked already, and what an agent that has died has left."""
        self.block_syncs(0)
        with contextlib.suppress(OSError):  # nobody is
            os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK))

    @property
    def blocked_s(self) -> float:
        """How long that still holds."""
        until_ns = int(self._NUMBER.unpack_from(self._map, self._BLOCKED)[0])
        return max(0.0, (until_ns - time.monotonic_ns()) / 1e9)


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
    """Counts the agent's changes of host and journal, and waits at that of the moment."""

    def __init__(self, moment: Moment, board: Blackboard) -> None:
        self.moment = moment
        self._board = board
        self.count = 0

    def around(self, where: str, change: Callable[[], Any]) -> Any:
        number, self.count = self.count, self.count + 1
        self._board.note(self.count)
        due = number == self.moment.operation
        if due and not self.moment.afterwards:
            self._wait(f"before {where}")
        result = change()
        if due and self.moment.afterwards:
            self._wait(f"after {where}")
        return result

    def _wait(self, where: str) -> None:
        """Returns if the campaign, which strikes now, leaves the agent alive."""
        self._board.note(self.count, time.monotonic_ns(), where)
        while not self._board.released:
            time.sleep(_LOOK_S)

    def hook(self, files: KernelFiles) -> KernelFiles:
        """``files`` with every change counted, whatever class they are."""
        for name in ("write", "mkdir", "rmdir"):
            real = getattr(files, name)

            def counted(path: str, *rest: str, _real: Any = real, _name: str = name) -> Any:
                return self.around(f"{_name} {_kind_of(path)}", lambda: _real(path, *rest))

            setattr(files, name, counted)
        return files


def start_agent(
    settings: Settings, moment: Moment, board: Blackboard, seed: int, log: int, cage: str | None
) -> int:
    """Forks an agent that runs for a moment unless it is struck before; its process id.

    It is in the control group ``cage``, and so is its guardian.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        if cage is not None:
            Path(cage, "cgroup.procs").write_text("0")
        code = _run_agent(settings, moment, board, seed)
    except SmartHarvestError as error:
        os.write(2, f"{error}\n".encode())
        code = error.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _run_agent(settings: Settings, moment: Moment, board: Blackboard, seed: int) -> int:
    held = random.Random(seed).choice(({}, {"two": "evicted"}, {"one": "paused"}))
    session = Supervisor(settings, held_groups=held if settings.elastic_groups else None)
    signal.signal(signal.SIGTERM, lambda *_: session.stop())
    system: Any = os
    real_sync = os.fsync

    def sync(fd: int) -> None:
        sleep_uninterruptibly(board)
        real_sync(fd)

    system.fsync = sync
    if moment.operation is not None:  # else all is as in production, the loop's writes in C
        _count_changes(Striker(moment, board), session)
    # The tasks that a campaign's fake tree names are its own.
    affinity = replace(choice.MECHANISMS["affinity"], on_fake_trees=True)
    choice.MECHANISMS["affinity"] = affinity
    numbers = random.Random(seed)
    if settings.order == "dynamic" and settings.cgroup_root is not None:
        _sense_at_random(numbers)
    hands_over = numbers.random() < HAND_OVER_SHARE and moment.run_s == RUN_S
    with session:
        session.run(
            Restless(session.capacity.total, numbers),
            seconds=RUN_S / 2 if hands_over else moment.run_s,
            finished=partial(session.rearrange, settings, keeps_arranged=True)
            if hands_over
            else _nothing,
        )
    if session.left is not None:
        session = Supervisor(settings, session.left)
        with session:
            session.run(Restless(session.capacity.total, numbers), seconds=RUN_S / 2)
    return 0


def _count_changes(striker: Striker, session: Supervisor) -> None:
    """Changes of host and journal go through ``striker``; the loop writes in Python for it."""
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


def sleep_uninterruptibly(board: Blackboard) -> None:
    """In state D, as one who waits for a disk: for a child that shares its memory (vfork).

    That one waits for somebody to open a pipe, which another thread does in time.
    """
    seconds = board.blocked_s
    if not seconds:
        return
    libc = ctypes.CDLL(None)
    actions = ctypes.create_string_buffer(256)  # posix_spawn_file_actions_t
    libc.posix_spawn_file_actions_init(actions)
    libc.posix_spawn_file_actions_addopen(actions, 0, board.pipe.encode(), os.O_RDONLY, 0)
    opener = threading.Timer(seconds, board.unblock_syncs)
    opener.daemon = True
    opener.start()
    child = ctypes.c_int()
    arguments = (ctypes.c_char_p * 2)(b"true", None)
    if not libc.posix_spawnp(ctypes.byref(child), b"true", actions, None, arguments, None):
        os.waitpid(child.value, 0)


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
