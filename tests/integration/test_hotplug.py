"""CPUs that go and come while a session runs on a made tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest import control
from smartharvest.agent import Decision
from smartharvest.errors import TargetError
from smartharvest.session import Session
from smartharvest.window import Window
from tests.integration.sessions import Script, run_until, settings_for, watch
from tests.integration.worlds import World

MACHINE = {1: ("cpuset/cpuset.cpus", "cpuset/cpuset.effective_cpus"), 2: ("cpuset.cpus.effective",)}


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "HOUSEKEEPING_NS", 10_000_000)
    monkeypatch.setattr(control, "HOUSEKEEPING_SHARE", 1)


def set_online(world: World, cpus: str) -> None:
    for name in MACHINE[world.tree.version]:
        Path(world.tree.root, name).write_text(f"{cpus}\n")


def lends(window: Window, _decision: Decision) -> bool:
    return window.primary_cores == 3


def test_a_cpu_that_goes_offline_ends_the_lending_of_all(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    gone = False

    def take_it(window: Window, decision: Decision) -> bool:
        nonlocal gone
        if lends(window, decision) and not gone:
            set_online(quiet_world, "0-6")
            gone = True
        return False

    def run() -> None:
        with Session(settings_for(quiet_world)) as session:
            run_until(session, Script(3), take_it)

    with pytest.raises(TargetError, match="went from 7 to 6; start the agent again"):
        run()
    # A v1 mask loses a CPU that goes offline for good, whoever wrote it.
    assert quiet_world.mask() == {1: "0-6", 2: "0-7"}[quiet_world.tree.version]
    assert quiet_world.journals() == []


def test_a_cpu_outside_the_pool_is_nobodys_matter(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    windows: list[int] = []

    def take_it_and_go_on(window: Window, decision: Decision) -> bool:
        if lends(window, decision):
            windows.append(window.seq)
            set_online(quiet_world, "0-6")
        return len(windows) > 20

    with Session(settings_for(quiet_world, cores=frozenset(range(7)))) as session:
        run_until(session, Script(3, total=6), take_it_and_go_on)
    assert quiet_world.mask() == {1: "0-6", 2: "0-7"}[quiet_world.tree.version]
