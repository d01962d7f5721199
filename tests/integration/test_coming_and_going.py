"""Groups that appear and vanish while the agent runs."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent import arrangement, host_watch, lifecycle
from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.target.spec import TargetSpec
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.placement.target_set import has_primaries, open_targets
from tests.commands import LONGEST_S, smartharvest_here
from tests.integration.processes import Processes
from tests.integration.supervisors import Harvest, settings_for
from tests.integration.worlds import EITHER, World, make_world

pytestmark = pytest.mark.timing

PODS = ("--primary", "cgroup:web-*", "--elastic", "cgroup:batch")
BUFFER = ("--policy", "fixed-buffer:1")


def remove(world: World, path: str) -> None:
    world.kernel.vanish(world.tree.group(path).path)


def journaled(world: World) -> str:
    return "".join(path.read_text() for path in world.state_dir.glob("*.journal"))


@EITHER
def test_one_that_appears_is_watched(quiet_world: World, processes: Processes) -> None:
    world = quiet_world
    world.add_group("web-1")
    agent = processes.agent(*world.arguments, *PODS, *BUFFER)
    agent.wait_until(lambda: world.mask() == "1-7")
    world.add_group("web-2", "0-7", (processes.spinning(),))
    agent.wait_until(lambda: world.mask() == "2-7")
    assert agent.send(signal.SIGTERM).code == 0


@EITHER
def test_the_batch_stays_idle_and_confined_while_one_with_more_cores_is_taken_in(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    world = quiet_world
    before, audit = world.files(), tmp_path / "audit.jsonl"
    world.add_group("web-1", "4-7")
    agent = processes.agent(*world.arguments, *PODS, *BUFFER, "--audit-log", str(audit))
    agent.wait_until(lambda: world.mask() == "5-7")
    world.add_group("web-2", "0-7")
    agent.wait_until(lambda: world.mask() == "1-7")
    written = [one for one in map(json.loads, audit.open()) if one["kind"] == "write"]
    idle = [one["value"] for one in written if one["path"].endswith("cpu.idle")]
    assert idle == ["1"], "never switched off"
    assert agent.send(signal.SIGTERM).code == 0
    for group in ("web-1", "web-2"):
        remove(world, group)
    assert world.files() == before


@pytest.mark.parametrize(
    "chosen", [{}, {"cores": frozenset(range(4))}], ids=["more to share", "as many as before"]
)
def test_one_on_cores_of_nobody_has_them_before_anything_else_is_made_for_it(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]
) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)
    world, nobodys = quiet_world, parse_cpulist("4-7")
    world.add_group("web-1", "0-3")
    when_made: list[frozenset[int]] = []
    """The batch's mask whenever a loop is made, or all is handed to another arrangement."""
    for name in ("make_loop", "hand_off"):
        monkeypatch.setattr(Arrangement, name, noting(world, when_made, getattr(Arrangement, name)))
    when_looked: list[frozenset[int]] = []
    """... and whenever the whole host is looked at with both primaries."""
    look = Arrangement.poll

    def note_look(self: Arrangement) -> HostSnapshot:
        if len(self.primaries) == 2:
            when_looked.append(parse_cpulist(world.mask()))
        return look(self)

    monkeypatch.setattr(Arrangement, "poll", note_look)
    primary = (TargetSpec("cgroup", "web-*"),)
    settings = settings_for(world, primary=primary, policy="no-harvest", unallocated=True, **chosen)
    session, windows = Supervisor(settings), 0

    def observe(_window: Window, _decision: Decision) -> None:
        nonlocal windows
        windows += 1
        if windows == 1:
            assert nobodys <= parse_cpulist(world.mask())
            world.add_group("web-2", format_cpulist(nobodys))
        if len(when_made) > 1:
            session.stop()

    with session:
        session.run(session.make_policy(), seconds=LONGEST_S, observe=observe)
    assert nobodys <= when_made[0]
    assert len(nobodys & when_looked[0]) <= 1
    assert len(nobodys & when_made[1]) <= 1, "one of them may be its minimum"


@pytest.mark.parametrize("undone", [False, True], ids=["kept", "the loop wrote meanwhile"])
def test_one_on_cores_of_nobody_has_them_before_the_loop_ends(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, undone: bool
) -> None:
    """Its end may have to wait for a CPU. What it writes until then is written once more."""
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)
    world, nobodys, audit = quiet_world, parse_cpulist("4-7"), tmp_path / "audit.jsonl"
    world.add_group("web-1", "0-3")
    primary = (TargetSpec("cgroup", "web-*"),)
    settings = settings_for(
        world, primary=primary, policy="no-harvest", unallocated=True, audit_log=str(audit)
    )
    session = Supervisor(settings)
    masks: list[frozenset[int]] = []
    came = False
    stop, hand_off = ControlLoop.stop, Arrangement.hand_off

    def stop_later(control: ControlLoop) -> None:
        if came and not masks:
            masks.append(parse_cpulist(world.mask()))
            if undone:
                world.tree.files.write(world.tree.group("batch").cpus_file, "4-7")
        stop(control)

    def arranged_again(arrangement: Arrangement, **more: Any) -> Any:
        masks.append(parse_cpulist(world.mask()))
        session.stop()
        return hand_off(arrangement, **more)

    monkeypatch.setattr(ControlLoop, "stop", stop_later)
    monkeypatch.setattr(Arrangement, "hand_off", arranged_again)

    def observe(_window: Window, _decision: Decision) -> None:
        nonlocal came
        if not came:
            came = True
            world.add_group("web-2", format_cpulist(nobodys))

    with session:
        session.run(session.make_policy(), seconds=LONGEST_S, observe=observe)
    assert len(masks) == 2
    assert all(len(nobodys & mask) <= 1 for mask in masks), "one of them may be its minimum"
    (record,) = [one for one in map(json.loads, audit.open()) if one["kind"] == "primaries"]
    assert record["free"] >= record["noticed"]


def noting(world: World, masks: list[frozenset[int]], method: Any) -> Any:
    def noted(*arguments: Any, **more: Any) -> Any:
        masks.append(parse_cpulist(world.mask()))
        return method(*arguments, **more)

    return noted


@EITHER
def test_with_all_of_them_gone_nothing_is_lent_until_one_comes(
    quiet_world: World, processes: Processes
) -> None:
    world = quiet_world
    world.add_group("web-1")
    agent = processes.agent(*world.arguments, *PODS, *BUFFER)
    agent.wait_until(lambda: world.mask() == "1-7")
    remove(world, "web-1")
    agent.wait_until(lambda: world.mask() == "7")
    world.add_group("web-2")
    agent.wait_until(lambda: world.mask() == "1-7")
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert world.mask() == "0-7"


@pytest.mark.usefixtures("signals_kept")
@pytest.mark.parametrize(
    ("vanish", "amid", "starts"),
    [
        (("web-2",), "open_targets", 2),
        (("web-2",), "make_loop", 3),
        (("web-2", "web-1"), "open_targets", 3),
    ],
    ids=["the rest stays", "the rest stays, later", "no other is there"],
)
@EITHER
def test_one_that_vanishes_while_the_agent_starts_again_does_not_end_it(
    quiet_world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    vanish: tuple[str, ...],
    amid: str,
    starts: int,
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)
    monkeypatch.setattr(lifecycle, "PRIMARIES_COME_AND_GO_S", 0.1)
    world, before = quiet_world, quiet_world.files()
    world.add_group("web-1", "4-7")
    calls = {"open_targets": 0, "make_loop": 0}

    def remove_amid(name: str, method: Any) -> Any:
        def called(*arguments: Any) -> Any:
            calls[name] += 1
            is_it = name == amid and calls[name] == 2
            found = method(*arguments) if name == "open_targets" else None
            for path in vanish if is_it else ():
                remove(world, path)
            return found or method(*arguments)

        return called

    def return_after_a_look(settings: Settings) -> bool:
        if "web-1" in vanish and not world.kernel.exists(world.tree.group("web-1").path):
            world.add_group("web-1", "4-7")
            return False
        return has_primaries(settings)

    monkeypatch.setattr(arrangement, "open_targets", remove_amid("open_targets", open_targets))
    monkeypatch.setattr(Arrangement, "make_loop", remove_amid("make_loop", Arrangement.make_loop))
    monkeypatch.setattr(lifecycle, "has_primaries", return_after_a_look)
    harvest = Harvest(world, primary=(TargetSpec("cgroup", "web-*"),))

    def step(_window: Window) -> bool:
        if calls["open_targets"] == 1 and not world.kernel.exists(world.tree.group("web-2").path):
            world.add_group("web-2", "0-7")
        return calls["open_targets"] == starts and world.mask() == "5-7"

    harvest.run(step)
    assert harvest.totals[0] == harvest.totals[-1] == 3
    assert "web-2" in caplog.text
    assert ("trying again" in caplog.text) == (starts == 3)
    remove(world, "web-1")
    assert world.files() == before


@pytest.mark.parametrize("placement", ["shared", "exclusive"])
def test_one_made_below_with_a_copied_mask_has_the_whole_one_afterwards(
    tmp_path: Path, processes: Processes, placement: str
) -> None:
    world = make_world(tmp_path, 1)
    for group in ("batch/old", "web/old"):
        world.add_group(group)
    agent = processes.agent(
        *world.arguments, *world.targets, "--placement", placement, "--lend-shared",
        *("--policy", "no-harvest", "--elastic-min", "2"),
    )  # fmt: skip
    agent.wait_until(lambda: world.mask() == "6-7")
    # As libvirt and runc do.
    world.add_group("batch/new", world.mask())
    world.add_group("web/new", world.mask("web"))
    world.add_group("batch/own", "6")
    agent.wait_until(lambda: "batch/new" in journaled(world))
    agent.wait_until(lambda: placement == "shared" or "web/new" in journaled(world))
    assert agent.send(signal.SIGTERM).code == 0
    assert {world.mask(f"{group}/new") for group in ("batch", "web")} == {"0-7"}
    assert world.mask("batch/own") == "6"


def test_one_that_was_made_just_before_the_end_has_the_whole_mask_too(
    tmp_path: Path, processes: Processes
) -> None:
    world = make_world(tmp_path, 1)
    agent = processes.agent(
        *world.arguments, *world.targets, "--policy", "no-harvest", "--no-guardian"
    )
    agent.wait_until(lambda: world.mask() == "7")
    agent.send(signal.SIGKILL)
    for group in ("batch/new", "batch/new/leaf"):  # which no journal tells of
        world.add_group(group, "7")
    outcome = smartharvest_here("restore", *world.arguments)
    assert outcome.code == 0, outcome.err
    for group in ("batch", "batch/new", "batch/new/leaf"):
        assert world.mask(group) == "0-7"


@EITHER
def test_the_elastic_target_is_one_group(quiet_world: World, processes: Processes) -> None:
    quiet_world.add_group("batch2")
    outcome = processes.agent(
        *quiet_world.arguments, "--primary", "cgroup:web", "--elastic", "cgroup:batch*"
    ).outcome()
    assert outcome.code == 4
    assert "stands for 2 targets" in outcome.err


@pytest.mark.usefixtures("signals_kept")
def test_an_elastic_group_that_is_made_again_is_arranged_again_and_left_as_it_came(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_SHARE", 1)
    world = quiet_world
    old = tmp_path / "old"

    def step(_window: Window) -> bool:
        if not old.exists():  # which is kept, so that its number is not the new one's
            old.mkdir()
            directories = {world.elastic.directory(name) for name in world.tree.hierarchies}
            for number, directory in enumerate(directories):
                Path(str(directory)).rename(old / str(number))
            world.add_group("batch", "4-7")
        return world.idle() == "1" and world.mask() == "7"

    Harvest(world, max_harvest=0).run(step)
    assert world.idle() == "0"
    assert world.mask() == "4-7"
    assert world.journals() == []
