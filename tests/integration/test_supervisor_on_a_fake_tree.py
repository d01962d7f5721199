"""A session's writes, one by one: the plan's masks, journaled first, and undone when refused."""

from __future__ import annotations

import errno
import json
import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.loop_builder import BuiltLoop
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy.prev_peak import PrevPeak
from smartharvest.config.settings import Settings
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import Sensor
from smartharvest.core.window import Window
from smartharvest.errors import (
    RightsError,
    SensorError,
    SmartHarvestError,
    TargetError,
    WriteRefused,
)
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.journal.restoration import put_back
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.sensor.choice import SENSORS
from tests.commands import smartharvest_here
from tests.integration.processes import Processes
from tests.integration.supervisors import (
    Change,
    Script,
    WatchedKernel,
    after,
    run_until,
    settings_for,
    watch,
)
from tests.integration.worlds import EITHER, World, make_world

pytestmark = pytest.mark.timing


@pytest.mark.parametrize("primary_cores", [7, 5, 1])
def test_the_mask_in_force_is_the_decisions(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, primary_cores: int
) -> None:
    kernel = watch(quiet_world, monkeypatch)
    expected = {7: "7", 5: "5-7", 1: "1-7"}[primary_cores]

    def in_force(window: Window, decision: Decision) -> bool:
        assert decision.primary_cores in (primary_cores, 7)  # 7 after a stale window
        return window.primary_cores == primary_cores and quiet_world.mask() == expected

    with Supervisor(settings_for(quiet_world)) as session:
        report = run_until(session, Script(primary_cores), in_force)
    assert report.total == 7
    assert set(kernel.written(quiet_world.elastic.cpus_file)) <= {"7", expected, "0-7"}


@pytest.mark.parametrize(("limit", "expected"), [("max_harvest", "5-7"), ("keep_idle", "2-7")])
def test_the_hard_limits_hold_whatever_the_policy_wants(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, limit: str, expected: str
) -> None:
    kernel = watch(quiet_world, monkeypatch)
    with Supervisor(settings_for(quiet_world, **{limit: 2})) as session:
        run_until(session, Script(0), lambda _w, _d: quiet_world.mask() == expected)
    assert set(kernel.written(quiet_world.elastic.cpus_file)) == {"7", expected, "0-7"}


def test_nothing_is_written_before_its_original_is_on_disk(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch, processes: Processes
) -> None:
    elastic = processes.asleep()
    world = make_world(tmp_path, version, elastic=(elastic,))
    if version == 1:  # a counterpart to make and a child to narrow, too
        world.add_group("batch/job", "4-7")
        for controller in ("cpu", "freezer"):
            mount = world.tree.hierarchies[controller]
            world.kernel.rmdir(f"{mount}/batch/job")
        freezer = world.tree.hierarchies["freezer"]
        world.kernel.write(f"{freezer}/tasks", str(elastic))
        world.kernel.rmdir(f"{freezer}/batch")
    before = world.files()
    kernel = watch(world, monkeypatch)
    checked: set[str] = set()

    def check(change: Change) -> None:
        _, path, _ = change
        entries = _journaled(world)
        original = before.get(os.path.relpath(path, world.tree.root))
        kind = entries.get(path) or entries.get(os.path.dirname(path))
        assert kind is not None, f"{change} without a journal entry"
        if kind[0] == "file" and original is not None:  # None: in a group the session made
            assert kind[1] == original.decode().strip()
        checked.add(os.path.relpath(path, world.tree.root))

    kernel.before_change = check
    settings = settings_for(world, elastic_min=0, park="freeze")
    with Supervisor(settings) as session:
        run_until(session, Script(8, 3, total=8), after(8))
    assert world.files() == before
    expected = {
        1: {"cpuset/batch/cpuset.cpus", "cpu/batch/cpu.idle", "cpu/batch/cpu.shares"}
        | {"cpuset/batch/job/cpuset.cpus", "freezer/batch", "freezer/batch/tasks"}
        | {"freezer/batch/freezer.state"},
        2: {"batch/cpuset.cpus", "batch/cpu.idle", "batch/cpu.weight", "batch/cgroup.freeze"},
    }
    assert expected[version] <= checked


def _journaled(world: World) -> dict[str, tuple[str, str]]:
    """path -> (kind, original) as a recovery would read it now."""
    found: dict[str, tuple[str, str]] = {}
    for journal in world.state_dir.glob("*.journal"):
        for entry in json.loads(journal.read_text())["entries"]:
            match entry["kind"]:
                case "file":
                    found[entry["path"]] = ("file", entry["original"])
                case "created":
                    found[entry["directory"]] = ("created", "")
                case "moved":
                    found[entry["origin"]] = ("moved", "")
                    found[entry["destination"]] = ("moved", "")
    return found


@pytest.mark.parametrize("error", [errno.EINVAL, errno.EACCES])
def test_whichever_write_is_refused_the_host_is_as_it_was(
    tmp_path: Path,
    version: int,
    error: int,
    monkeypatch: pytest.MonkeyPatch,
    processes: Processes,
) -> None:
    elastic = processes.asleep()
    world = make_world(tmp_path, version, elastic=(elastic,))
    if version == 1:
        world.add_group("batch/job", "4-7")
        freezer = world.tree.hierarchies["freezer"]
        world.kernel.rmdir(f"{freezer}/batch/job")
        world.kernel.write(f"{freezer}/tasks", str(elastic))
        world.kernel.rmdir(f"{freezer}/batch")
    before = world.files()
    settings = settings_for(world, elastic_min=0, park="freeze")

    def run_refusing(number: int | None) -> WatchedKernel:
        kernel = watch(world, monkeypatch)
        kernel.refused, kernel.error = number, error
        with Supervisor(settings) as session:
            run_until(session, Script(8, 3, total=8), after(6))
        return kernel

    refusals: list[SmartHarvestError] = []
    for number in range(len(run_refusing(None).changes)):
        try:
            run_refusing(number)
        except SmartHarvestError as caught:
            refusals.append(caught)
        assert world.files() == before, number
        assert world.journals() == [], number
    assert len(refusals) >= 5
    for refusal in refusals:
        assert isinstance(refusal, WriteRefused | TargetError | RightsError), refusal
        assert world.tree.root in str(refusal)
    named = {refusal.path for refusal in refusals if isinstance(refusal, WriteRefused)}
    assert {world.elastic.cpus_file, world.elastic.idle_file} <= named


@EITHER
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_whenever_a_signal_comes_the_host_is_as_it_was(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = quiet_world.files()
    changes_left = 0
    done = False

    def send(_change: Change) -> None:
        nonlocal changes_left, done
        if changes_left == 0:
            done = True
            os.kill(os.getpid(), number)
        changes_left -= 1

    at = 0
    while True:
        watch(quiet_world, monkeypatch).before_change = send
        changes_left, done = at, False
        outcome = smartharvest_here(
            *("agent", *quiet_world.arguments, *quiet_world.targets),
            *("--policy", "fixed-buffer:1", "--window", "5ms", "--duration", "80ms"),
        )
        assert outcome.code == 0, (at, outcome)
        assert quiet_world.files() == before, at
        assert quiet_world.journals() == [], at
        if not done:  # it ended before there were so many
            break
        at += 1
    assert at >= 6


def test_without_the_right_to_make_a_counterpart_the_agent_says_what_it_runs_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world(tmp_path, 1)
    world.kernel.rmdir(f"{world.tree.hierarchies['cpu']}/batch")
    before = world.files()
    kernel = watch(world, monkeypatch)
    kernel.fail_next("cpu/batch", errno.EACCES)
    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(3), lambda _w, _d: world.mask() == "3-7")
    assert "cpu/batch: creating the group failed" in caplog.text
    assert "running without cpu.idle" in caplog.text
    assert world.files() == before


def test_a_file_that_stays_refused_is_named_and_left_to_restore(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    kernel = watch(quiet_world, monkeypatch)

    def refuse_originals(change: Change) -> None:
        if change[1:] == (quiet_world.elastic.cpus_file, "0-7\n"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), change[1])

    kernel.before_change = refuse_originals
    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(SmartHarvestError, match="run smartharvest restore") as refusal, session:
        run_until(session, Script(3), after(4))
    assert quiet_world.elastic.cpus_file in str(refusal.value)
    assert quiet_world.idle() == "0"
    kernel.before_change = lambda _change: None
    (journal,) = quiet_world.state_dir.glob("*.journal")
    assert put_back(read_journal(str(journal)).entries, kernel).failed == []
    assert quiet_world.files() == before


def test_an_error_of_the_policy_puts_everything_back(quiet_world: World) -> None:
    class Broken(Script):
        def predict(self, window: Window) -> int:
            if self._turn > 3:
                raise RuntimeError("no idea")
            return super().predict(window)

    before = quiet_world.files()
    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(RuntimeError, match="no idea"), session:
        session.run(Broken(3), seconds=10)
    assert quiet_world.files() == before
    assert quiet_world.journals() == []


def test_a_policy_that_fails_is_replaced_and_the_agent_goes_on(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("no idea")

    monkeypatch.setattr(PrevPeak, "predict", fail)
    with Supervisor(settings_for(quiet_world, policy="prev-peak")) as session:
        report = session.run(
            session.make_policy(),
            seconds=10,
            observe=lambda _w, _d: session.stop() if quiet_world.mask() == "2-7" else None,
        ).report
    step = "policy prev-peak failed (RuntimeError: no idea); fixed-buffer:2 takes over"
    assert (report.policy, report.fallbacks) == ("fixed-buffer:2", [step])
    assert step in caplog.text


@EITHER
def test_another_limit_is_taken_up_by_the_same_loop_and_sensor(quiet_world: World) -> None:
    before = quiet_world.files()
    settings = settings_for(quiet_world)
    loops: list[Loop] = []

    def narrowed() -> Settings:
        return replace(settings, max_harvest=2)

    with Supervisor(settings, load=narrowed) as session:

        def done(window: Window, _decision: Decision) -> bool:
            assert session.arrangement.built is not None
            loop = session.arrangement.built.loop
            if loop not in loops:
                loops.append(loop)
            if window.primary_cores == 3:
                session.ask_reload()
            return window.primary_cores == 5

        report = run_until(session, Script(3), done)
    assert len(loops) == 1
    assert report.dropped_windows == 0
    assert quiet_world.files() == before


@EITHER
def test_another_policy_that_needs_another_sensor_is_taken_up_by_the_same_loop(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    proc = SENSORS["proc"]._replace(made_with=lambda settings: settings.policy)
    monkeypatch.setitem(SENSORS, "proc", proc)
    settings = settings_for(quiet_world, policy="no-harvest")
    seen: list[tuple[Loop, Sensor]] = []
    windows: list[int] = []

    with Supervisor(settings, load=partial(replace, settings, policy="fixed-buffer:2")) as session:

        def done(window: Window, _decision: Decision) -> bool:
            assert session.arrangement.built is not None
            loop = session.arrangement.built.loop
            if (loop, loop.sensor) not in seen:
                seen.append((loop, loop.sensor))
                assert session.arrangement.built.sensing.sensor is loop.sensor
            windows.append(window.seq)
            if len(windows) == 3:
                session.ask_reload()
            return window.primary_cores == 2

        run_until(session, session.make_policy(), done)
    (loop, first), (same, second) = seen
    assert loop is same
    assert first is not second
    assert windows == sorted(set(windows))  # their count goes on
    assert quiet_world.files() == before


@EITHER
def test_a_sensor_that_is_refused_leaves_the_loop_and_its_own(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    proc = SENSORS["proc"]

    def make_once(settings: Settings, snapshot: HostSnapshot) -> Sensor:
        made.append(settings.policy)
        if len(made) > 1:
            raise SensorError("the kernel refuses it")
        return proc.make(settings, snapshot)

    once = proc._replace(make=make_once, made_with=lambda settings: settings.policy)
    monkeypatch.setitem(SENSORS, "proc", once)
    settings = settings_for(quiet_world, policy="no-harvest")
    seen: set[Loop] = set()
    with Supervisor(settings, load=partial(replace, settings, policy="fixed-buffer:2")) as session:

        def done(_window: Window, _decision: Decision) -> bool:
            assert session.arrangement.built is not None
            seen.add(session.arrangement.built.loop)
            if len(made) == 1 and not session.unanswered:
                session.ask_reload()
            return len(made) > 1

        run_until(session, session.make_policy(), done)
        assert session.settings == settings
    assert len(seen) == 1
    assert made == ["no-harvest", "fixed-buffer:2"]


@EITHER
def test_a_reload_refused_after_the_loop_was_taken_apart_makes_a_new_loop(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    settings = settings_for(quiet_world)
    make_loop = Arrangement.make_loop
    refused: list[Loop] = []

    def make_or_refuse(self: Arrangement, *seen: Any) -> BuiltLoop:
        if self.settings.poll_ns != settings.poll_ns:
            assert self.built is not None
            refused.append(self.built.loop)
            raise SensorError("the sensor does not poll so often")
        return make_loop(self, *seen)

    monkeypatch.setattr(Arrangement, "make_loop", make_or_refuse)
    load = partial(replace, settings, poll_ns=settings.poll_ns * 2)
    with Supervisor(settings, load=load) as session:

        def done(window: Window, _decision: Decision) -> bool:
            if not refused and window.primary_cores == 3:
                session.ask_reload()
            assert session.arrangement.built is not None
            goes_on = session.arrangement.built.loop not in refused
            return bool(refused) and goes_on and window.primary_cores == 3

        run_until(session, Script(3), done)
        assert session.settings == settings
    assert quiet_world.files() == before


# --- children of a v1 elastic group ------------------------------------------------------------


def test_children_follow_their_group_leaves_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    world.add_group("batch/high", "6-7")
    world.add_group("batch/low", "0-3")
    world.add_group("batch/low/leaf", "2-3")
    before = world.files()
    kernel = watch(world, monkeypatch)
    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(7, 2), after(8))  # refused writes would end it
    assert world.files() == before
    # The group had 7 and 2-7. What a child has none of at first it keeps: sets only grow.
    written = {name: _masks(kernel, world, f"batch/{name}") for name in ("high", "low", "low/leaf")}
    assert written == {
        "high": {"7", "6-7"},
        "low": {"0-3,7", "7", "2-3,7", "0-3"},
        "low/leaf": {"2-3,7", "7", "2-3"},
    }


def _masks(kernel: WatchedKernel, world: World, path: str) -> set[str]:
    return set(kernel.written(world.tree.group(path).cpus_file))


def test_a_child_made_while_the_agent_runs_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    watch(world, monkeypatch)

    def make_a_child_once_there_is_room(_window: Window, _decision: Decision) -> bool:
        if world.mask() == "2-7" and not (Path(world.elastic.path) / "job").exists():
            world.add_group("batch/job", "4-6")
        return (Path(world.elastic.path) / "job").exists() and world.mask("batch/job") == "7"

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(2, 2, 2, 7, 7), make_a_child_once_there_is_room)
    assert world.mask("batch/job") == "4-6"
    assert world.mask() == "0-7"
    assert world.journals() == []


def test_a_child_made_right_before_the_end_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    watch(world, monkeypatch)

    def make_a_child_once_there_is_room(_window: Window, _decision: Decision) -> bool:
        there_is_room = world.mask() == "2-7"
        if there_is_room:
            world.add_group("batch/job", "2-6")
        return there_is_room

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(2), make_a_child_once_there_is_room)
    assert world.mask("batch/job") == "2-6"
    assert world.mask() == "0-7"


def test_a_child_without_a_mask_is_left_alone_until_it_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    child = world.add_group("batch/job", "")
    kernel = watch(world, monkeypatch)

    def fill_it_once_there_is_room(_window: Window, _decision: Decision) -> bool:
        if world.mask() == "2-7" and world.mask("batch/job") == "":
            assert kernel.written(child.cpus_file) == []
            world.kernel.write(child.cpus_file, "4-6")
        return world.mask("batch/job") == "7"

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(2, 2, 2, 7, 7), fill_it_once_there_is_room)
    assert world.mask("batch/job") == "4-6"


def test_a_child_that_goes_away_while_the_agent_runs_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    before = world.files()
    world.add_group("batch/job", "4-7")
    kernel = watch(world, monkeypatch)
    count = after(6)

    def remove_it(window: Window, decision: Decision) -> bool:
        if world.kernel.exists(f"{world.elastic.path}/job"):
            for controller in world.tree.hierarchies:
                world.kernel.rmdir(world.tree.group("batch/job").directory(controller) or "")
        return count(window, decision)

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(2, 7), remove_it)
    assert world.files() == before
    assert kernel.written(world.elastic.cpus_file)[-1] == "0-7"


def test_v2_children_are_the_kernels_affair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 2)
    world.kernel.write(f"{world.elastic.path}/cgroup.subtree_control", "+cpuset")
    child = world.add_group("batch/job", "0-3")
    kernel = watch(world, monkeypatch)

    def is_squeezed(_window: Window, _decision: Decision) -> bool:
        return kernel.read(child.effective_cpus_file) == "7\n"

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(7), is_squeezed)
    assert kernel.written(child.cpus_file) == []
    assert kernel.read(child.effective_cpus_file) == "0-3\n"
