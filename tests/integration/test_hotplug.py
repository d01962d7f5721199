"""CPUs that go and come while a session runs on a fake tree."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from smartharvest.agent import host_watch
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from tests.integration.processes import Processes
from tests.integration.supervisors import Harvest, Script, run_until, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing

MACHINE = {1: ("cpuset/cpuset.cpus", "cpuset/cpuset.effective_cpus"), 2: ("cpuset.cpus.effective",)}


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_SHARE", 1)


def set_online(world: World, cpus: str) -> None:
    for name in MACHINE[world.tree.version]:
        path = Path(world.tree.root, name)
        whole = path.with_suffix(".new")
        whole.write_text(f"{cpus}\n")  # nobody reads half of it
        whole.rename(path)


def lends(window: Window, _decision: Decision) -> bool:
    return window.primary_cores == 3


@pytest.mark.usefixtures("signals_kept")
@pytest.mark.parametrize("placement", ["shared", "exclusive"])
def test_the_agent_goes_on_with_what_is_left_and_with_all_when_the_cpu_is_back(
    quiet_world: World, placement: str
) -> None:
    world, exclusive = quiet_world, placement == "exclusive"
    before = world.files()
    harvesting = Harvest(world, placement=placement, guardian=exclusive)
    masks: list[str] = []

    def step(_window: Window) -> bool:
        if masks[-1:] != [world.mask()]:
            masks.append(world.mask())
        shared = harvesting.totals[-1]
        if len(harvesting.totals) == 1 and world.mask() == "1-7":
            set_online(world, "0-6")
        elif shared == 6 and world.mask() == "1-6":
            if world.tree.version == 1 and not exclusive:
                return True  # the kernel takes a CPU out of a v1 mask for good
            set_online(world, "0-7")
        return len(harvesting.totals) == 3 and world.mask() == "1-7"

    harvesting.run(step)
    # Never as wide as before the agent came: nothing was given back in between.
    assert not {"0-7", "0-6"} & set(masks)
    assert world.journals() == []
    if harvesting.totals == [7, 6]:
        assert world.mask() == "0-6"
        return
    assert harvesting.totals == [7, 6, 7]
    assert world.mask() == "0-7"
    if world.tree.version == 2 or exclusive:
        assert world.files() == before


@pytest.mark.usefixtures("signals_kept")
def test_chosen_cores_that_are_offline_are_done_without(quiet_world: World) -> None:
    harvesting = Harvest(quiet_world, cores=frozenset(range(4, 8)))

    def step(_window: Window) -> bool:
        if harvesting.totals == [3]:
            set_online(quiet_world, "0-6")
        return harvesting.totals[-1] == 2

    harvesting.run(step)
    assert harvesting.totals == [3, 2]


@pytest.mark.usefixtures("signals_kept")
def test_with_too_few_cpus_left_the_agent_waits_for_more(
    tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartharvest.agent.lifecycle.CPUS_MAY_COME_BACK_S", 0.1)
    world = make_world(tmp_path, 2, primary=(processes.asleep(),), elastic=(processes.asleep(),))
    before = world.files()
    harvesting = Harvest(world, cores=frozenset({4, 5, 6, 7}), elastic_min=2)
    back = threading.Event()

    def bring_back() -> None:
        set_online(world, "0-7")
        back.set()

    later = threading.Timer(0.3, bring_back)

    def step(window: Window) -> bool:
        if not later.ident:
            set_online(world, "0-5")
            later.start()
        return back.is_set() and window.primary_cores == 1

    harvesting.run(step)
    assert world.files() == before


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

    with Supervisor(settings_for(quiet_world, cores=frozenset(range(7)))) as session:
        run_until(session, Script(3, total=6), take_it_and_go_on)
    assert quiet_world.mask() == {1: "0-6", 2: "0-7"}[quiet_world.tree.version]
