"""Sessions inside the test's own process, on a kernel that the test can watch and disturb."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from smartharvest.agent.lifecycle import run_agent
from smartharvest.agent.report import Report
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy import Policy
from smartharvest.algorithm.safeguard import AggressiveSafeguard, ShortTermSafeguard
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.host.cgroup import tree as cgroup
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.target.spec import TargetSpec
from tests.integration.worlds import World

Change = tuple[str, str, str]
"""(operation, path, value) of a write, mkdir or rmdir."""


class WatchedKernel(FakeKernel):
    """Tells of each change before it is made, and refuses the one with number ``refused``."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.changes: list[Change] = []
        self.refused: int | None = None
        self.error = errno.EINVAL
        self.before_change: Callable[[Change], None] = lambda _change: None
        self._lock = threading.Lock()  # the loop's thread writes as well

    def write(self, path: str, value: str) -> None:
        self._note("write", path, value)
        super().write(path, value)

    def mkdir(self, path: str) -> None:
        self._note("mkdir", path, "")
        super().mkdir(path)

    def rmdir(self, path: str) -> None:
        self._note("rmdir", path, "")
        super().rmdir(path)

    def written(self, path: str) -> list[str]:
        return [value.strip() for what, at, value in self.changes if (what, at) == ("write", path)]

    def _note(self, operation: str, path: str, value: str) -> None:
        change = (operation, path, value)
        self.before_change(change)
        with self._lock:
            self.changes.append(change)
            refuse = len(self.changes) - 1 == self.refused
        if refuse:
            raise OSError(self.error, os.strerror(self.error), path)


def watch(world: World, monkeypatch: pytest.MonkeyPatch) -> WatchedKernel:
    """The kernel of every session on this world from now on."""
    kernel = WatchedKernel(world.tree.root)
    monkeypatch.setattr(cgroup, "files_for", lambda _root: kernel)
    return kernel


def lent_and_left(world: World, mask: str) -> Callable[[], bool]:
    """Asked once a window: whether the elastic group has ``mask`` and the loop is done with that.

    Its thread writes, reads back and only then ends the next window: who writes before it has read
    back is taken for a kernel that does not do as it is told.
    """
    seen = [False]

    def lent() -> bool:
        seen.append(world.mask() == mask)
        return seen[-2] and seen[-1]

    return lent


def settings_for(world: World, **more: object) -> Settings:
    """Short windows, so that a few decisions take a moment."""
    values: dict[str, object] = {
        "primary": (TargetSpec("cgroup", "web"),),
        "elastic": TargetSpec("cgroup", "batch"),
        "cgroup_root": world.tree.root,
        "state_dir": str(world.state_dir),
        "window_ns": 5_000_000,
        "poll_ns": 500_000,
        "long_term": "off",
        "guardian": False,
        **more,
    }
    return Settings(**values)  # type: ignore[arg-type]


class Script:
    """A policy that keeps to a list of primary cores, over and over."""

    name = "script"
    buffer = 0
    quiet_ns = None
    shared = False

    def __init__(self, *primary_cores: int, total: int = 7) -> None:
        self.short_term: ShortTermSafeguard = AggressiveSafeguard(total)
        self._primary_cores = primary_cores
        self._turn = 0

    def learn(self, _window: Window) -> int | None:
        return None

    def predict(self, _window: Window) -> int:
        self._turn += 1
        return self._primary_cores[self._turn % len(self._primary_cores)]


def run_until(
    session: Supervisor,
    policy: Policy,
    done: Callable[[Window, Decision], bool],
    longest_s: float = 10.0,
) -> Report:
    """Runs the session until ``done`` says so of a window and its decision."""
    finished = False

    def observe(window: Window, decision: Decision) -> None:
        nonlocal finished
        if not finished and done(window, decision):
            finished = True
            session.stop()

    report = session.run(policy, seconds=longest_s, observe=observe).report
    assert finished, "the run ended before what was waited for"
    return report


def handed_over(settings: Settings, done: Callable[[Window, Decision], bool]) -> Supervisor:
    """One that left what it has arranged to a successor, at a window of which ``done`` is true."""
    with Supervisor(settings) as first:

        def hand_over(window: Window, decision: Decision) -> bool:
            if not done(window, decision):
                return False
            first.rearrange(settings, keeps_arranged=True)
            return True

        run_until(first, Script(3), hand_over)
    assert first.left is not None
    return first


def run_steps(session: Supervisor, *steps: Callable[[], bool], total: int = 7) -> None:
    """Runs until each of the steps, one after the other, has held."""
    left = list(steps)

    def done(_window: Window, _decision: Decision) -> bool:
        if left and left[0]():
            left.pop(0)
        return not left

    with session:
        run_until(session, Script(total, total=total), done)


def row_of(session: Supervisor, name: str) -> dict[str, Any]:
    """What the status says of the elastic group of that name."""
    rows = session._reporting.describe()["elastic"]
    found: dict[str, Any] = next(row for row in rows if row["name"] == name)
    return found


class Harvest:
    """``harvest`` in this process: what a test does from window to window, until it says so."""

    def __init__(self, world: World, **settings: object) -> None:
        self.settings = settings_for(world, policy="fixed-buffer:1", **settings)
        self.totals: list[int] = []
        """The cores shared, each time they change."""

    def run(self, step: Callable[[Window], bool]) -> None:
        def observe(window: Window, decision: Decision) -> None:
            total = decision.primary_cores + decision.harvest_cores
            if self.totals[-1:] != [total]:
                self.totals.append(total)
            if step(window):
                os.kill(os.getpid(), signal.SIGTERM)

        run_agent(self.settings, lambda: self.settings, observe)


def after(windows: int) -> Callable[[Window, Decision], bool]:
    """Done after so many windows."""
    left = [windows]

    def count(_window: Window, _decision: Decision) -> bool:
        left[0] -= 1
        return left[0] <= 0

    return count
