"""Sessions on a fake tree that changes while they lend: its groups, masks, CPUs and tasks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from smartharvest.agent import host_watch
from smartharvest.agent.host_watch import Resets
from smartharvest.agent.outcome import Restart
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core import _loop
from smartharvest.core._loop import Loop
from smartharvest.core.window import Window
from smartharvest.errors import (
    SmartHarvestError,
    TargetVanished,
)
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.foreign.writer_trace import OtherWriters
from smartharvest.host.foreign.writes import ForeignWrite
from smartharvest.telemetry.audit import read_audit
from smartharvest.telemetry.story import describe
from tests.integration.processes import Processes
from tests.integration.supervisors import (
    Script,
    lent_and_left,
    run_until,
    settings_for,
    watch,
)
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing


@pytest.fixture
def _quick_housekeeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10_000_000)


@pytest.mark.usefixtures("_quick_housekeeping")
def test_a_primary_whose_cpus_change_is_handed_over_to_a_session_with_those(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    primary = quiet_world.tree.group("web")

    def narrow_it(_window: Window, _decision: Decision) -> None:
        quiet_world.kernel.write(primary.cpus_file, "0-3")

    with Supervisor(settings_for(quiet_world)) as session:
        session.run(Script(3), seconds=10.0, observe=narrow_it)
    assert isinstance(session.outcome, Restart)
    assert session.outcome.keeps_arranged
    assert (quiet_world.mask(), quiet_world.idle()) == ("3", "1")
    with Supervisor(session.settings, session.left) as successor:
        assert successor.capacity.pool == (0, 1, 2, 3)
        run_until(successor, Script(1, total=3), lambda *_: quiet_world.mask() == "1-3")
    assert quiet_world.mask() == "0-7"
    assert quiet_world.idle() == "0"


def test_an_elastic_group_that_vanishes_under_a_write_is_named(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = watch(quiet_world, monkeypatch)
    cpus_file, effective = quiet_world.elastic.cpus_file, quiet_world.elastic.effective_cpus_file
    real_read = kernel.read

    def read(path: str) -> str:
        if path == effective and kernel.written(cpus_file)[-1:] == ["3-7"]:
            if kernel.exists(quiet_world.elastic.path):
                kernel.vanish(quiet_world.elastic.path)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return real_read(path)

    monkeypatch.setattr(kernel, "read", read)
    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(TargetVanished, match=f"{cpus_file}: is gone"), session:
        run_until(session, Script(3), lambda _w, _d: False)
    assert quiet_world.journals() == []


def test_a_mask_that_is_taken_but_not_in_force_is_somebody_elses_doing(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    kernel = watch(quiet_world, monkeypatch)
    cpus_file, effective = quiet_world.elastic.cpus_file, quiet_world.elastic.effective_cpus_file
    real_read = kernel.read

    def read(path: str) -> str:
        in_force = path != effective or kernel.written(cpus_file)[-1:] != ["3-7"]
        return real_read(path) if in_force else "0-1\n"

    monkeypatch.setattr(kernel, "read", read)
    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(SmartHarvestError, match="does somebody else manage this group"), session:
        run_until(session, Script(3), lambda _w, _d: False)
    assert quiet_world.files() == before


@pytest.mark.usefixtures("_quick_housekeeping")
@pytest.mark.parametrize("switch", [False, True])
def test_what_somebody_else_writes_ends_the_run_and_stays(quiet_world: World, switch: bool) -> None:
    path = quiet_world.elastic.idle_file if switch else quiet_world.elastic.cpus_file
    assert path is not None
    value = "0" if switch else "0-3"

    lent = lent_and_left(quiet_world, "3-7")

    def write_once_lent(_window: Window, _decision: Decision) -> bool:
        if lent():  # again, should the loop just have moved a core
            quiet_world.kernel.write(path, value)
        return False

    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(ForeignWrite, match=f"{path}: {value!r} was found"), session:
        run_until(session, Script(3), write_once_lent)
    assert quiet_world.mask() == ("0-7" if switch else "0-3")
    assert quiet_world.idle() == "0"
    assert quiet_world.journals() == []


@pytest.mark.usefixtures("_quick_housekeeping")
@pytest.mark.parametrize("in_peace", [True, False])
def test_what_a_service_manager_only_resets_is_arranged_again_without_letting_go(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, in_peace: bool
) -> None:
    resets = Resets()
    while not in_peace and resets.may_be_followed(_loop.monotonic_ns()):
        pass
    monkeypatch.setattr(OtherWriters, "last", lambda *_: "systemd (pid 1)")
    before, path = quiet_world.files(), quiet_world.elastic.idle_file
    assert path is not None
    lent = lent_and_left(quiet_world, "3-7")

    def reset_once_lent(_window: Window, _decision: Decision) -> None:
        if lent():  # again, should the loop just have moved a core
            quiet_world.kernel.write(path, "0")

    session = Supervisor(settings_for(quiet_world), resets=resets)
    if not in_peace:
        with pytest.raises(ForeignWrite, match=r"last: systemd \(pid 1\)"), session:
            session.run(Script(3), seconds=10.0, observe=reset_once_lent)
        return
    with session:
        session.run(Script(3), seconds=10.0, observe=reset_once_lent)
    assert isinstance(session.outcome, Restart)
    assert session.outcome.keeps_arranged
    assert quiet_world.mask() == "7"
    with Supervisor(session.settings, session.left):
        assert quiet_world.idle() == "1"
    assert quiet_world.files() == before


def test_a_service_manager_may_reset_a_few_times_at_once_and_then_not_for_a_while() -> None:
    second = 1_000_000_000
    resets, steady = Resets(), Resets()
    followed = [at for at in range(20) if resets.may_be_followed(at * second)]
    assert followed == [0, 1, 2, 15, 16, 17]
    assert all(steady.may_be_followed(at * 5 * second) for at in range(9))


def test_a_write_that_the_kernel_tells_of_is_looked_at_before_the_next_look_is_due(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 10**18)
    written: list[bool] = []
    monkeypatch.setattr(OtherWriters, "look", lambda _: bool(written))
    lent = lent_and_left(quiet_world, "3-7")

    def write_once_lent(_window: Window, _decision: Decision) -> None:
        if lent():
            quiet_world.kernel.write(quiet_world.elastic.cpus_file, "0-3")
            written.append(True)

    with pytest.raises(ForeignWrite), Supervisor(settings_for(quiet_world)) as session:
        session.run(Script(3), seconds=10.0, observe=write_once_lent)
    assert quiet_world.mask() == "0-3"


def test_what_was_asked_is_unanswered_until_it_has_come_to_its_end(quiet_world: World) -> None:
    session = Supervisor(settings_for(quiet_world))
    session.ask_reload()
    session.ask_reexec()
    assert session.unanswered == {"ask_reload", "ask_reexec"}


@pytest.mark.usefixtures("_quick_housekeeping")
def test_a_value_of_its_own_that_a_service_manager_writes_ends_the_run_and_stays(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtherWriters, "last", lambda *_: "systemd (pid 1)")
    lent = lent_and_left(quiet_world, "3-7")

    def write_once_lent(_window: Window, _decision: Decision) -> None:
        if lent():
            quiet_world.kernel.write(quiet_world.elastic.cpus_file, "0-3")

    with pytest.raises(ForeignWrite), Supervisor(settings_for(quiet_world)) as session:
        session.run(Script(3), seconds=10.0, observe=write_once_lent)
    assert quiet_world.mask() == "0-3"


@pytest.mark.usefixtures("_quick_housekeeping")
def test_what_the_guardian_took_back_is_nobody_elses_doing_and_no_original(
    quiet_world: World,
) -> None:
    before = quiet_world.files()
    lent = lent_and_left(quiet_world, "3-7")
    windows = 0

    def shrink_once_lent(_window: Window, _decision: Decision) -> bool:
        nonlocal windows
        if lent():  # again, should the loop just have moved a core
            assert session.arrangement.undo is not None
            session.arrangement.undo.journal.page.count_shrink()
            quiet_world.kernel.write(quiet_world.elastic.cpus_file, "7")
            windows = max(windows, 1)
        windows += windows > 0
        return windows > 20

    session = Supervisor(settings_for(quiet_world))
    with session:
        run_until(session, Script(3), shrink_once_lent)
    assert quiet_world.files() == before


@pytest.mark.parametrize("by_the_guardian", [True, False])
def test_only_the_guardians_write_amid_a_move_is_no_other_writers(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, by_the_guardian: bool
) -> None:
    lent = lent_and_left(quiet_world, "3-7")
    mask, cpus_file = "3-7", quiet_world.elastic.cpus_file
    write = FakeKernel.write
    session = Supervisor(settings_for(quiet_world))
    met = 0

    def write_and_meet(kernel: FakeKernel, path: str, value: str) -> None:
        nonlocal met
        write(kernel, path, value)
        if (path, value.strip()) == (cpus_file, mask) and not met:
            met += 1
            if by_the_guardian:
                assert session.arrangement.undo is not None
                session.arrangement.undo.journal.page.count_shrink()
            write(kernel, path, "7")

    monkeypatch.setattr(FakeKernel, "write", write_and_meet)
    with session:
        if by_the_guardian:
            run_until(session, Script(3), lambda *_: met > 0 and lent())
        else:
            with pytest.raises(ForeignWrite, match="another set is in force"):
                session.run(Script(3), seconds=10.0)
    assert met == 1


@pytest.mark.usefixtures("_quick_housekeeping")
def test_a_sensor_that_misses_too_much_is_replaced(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_watch.HostWatch, "_steps_down", lambda _watch: True)
    with Supervisor(settings_for(quiet_world)) as session:
        sensors: list[object] = []

        def goes_blind(_window: Window, _decision: Decision) -> bool:
            built = session.arrangement.built
            assert built is not None
            if not any(built.sensing is sensor for sensor in sensors):
                sensors.append(built.sensing)
            if len(sensors) == 1:
                session._watch.check.blind_in_a_row = host_watch.BLIND_CHECKS
            return len(sensors) == 2

        run_until(session, Script(3), goes_blind)
        assert len(sensors) == 2


@pytest.mark.usefixtures("_quick_housekeeping")
def test_what_loops_have_counted_outlasts_them_and_the_audit_log_says_why_they_ended(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(host_watch.HostWatch, "_steps_down", lambda _watch: True)
    log = tmp_path / "audit.jsonl"
    with Supervisor(settings_for(quiet_world, audit_log=str(log))) as session:
        loops: list[Loop] = []
        moves: list[int] = []

        def replaced(_window: Window, _decision: Decision) -> bool:
            control = session._control
            if control.loop not in loops:
                loops.append(control.loop)
            kept = control.histograms()["moves"]
            assert kept is not None
            moves.append(kept["count"])
            if len(loops) == 1 and kept["count"] > 3:
                session._watch.check.blind_in_a_row = host_watch.BLIND_CHECKS
            return len(loops) == 2

        run_until(session, Script(3, 5), replaced)
        kept = session._control.histograms()["moves"]
        assert kept is not None
        assert moves == sorted(moves)
        assert moves[-1] > 3
        assert kept["count"] == session._control.counters()["assignments"]
    told = "".join(describe(read_audit(str(log))))
    assert "The polling loop started again: the sensor misses too much" in told


def test_a_vanished_primary_is_named(quiet_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = watch(quiet_world, monkeypatch)

    def remove_it(_window: Window, _decision: Decision) -> bool:
        if kernel.exists(quiet_world.tree.group("web").path):
            kernel.vanish(quiet_world.tree.group("web").path)
        return False

    session = Supervisor(settings_for(quiet_world))
    with pytest.raises(TargetVanished, match="cgroup:web: is gone"), session:
        run_until(session, Script(3), remove_it)
    assert quiet_world.mask() == "0-7"


@pytest.mark.usefixtures("_quick_housekeeping")
def test_a_task_that_joins_a_counterpart_less_group_later_is_taken_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: Processes
) -> None:
    world = make_world(tmp_path, 1)
    cpu = world.tree.hierarchies["cpu"]
    world.kernel.rmdir(f"{cpu}/batch")
    late = processes.asleep()
    for mount in world.tree.hierarchies.values():
        world.kernel.write(f"{mount}/tasks", str(late))
    before = world.files()
    kernel = watch(world, monkeypatch)

    def join(_window: Window, _decision: Decision) -> bool:
        if world.kernel.read(world.elastic.tasks_file) == "":
            world.kernel.write(world.elastic.tasks_file, str(late))
        return kernel.read(f"{cpu}/batch/tasks") == f"{late}\n"

    with Supervisor(settings_for(world)) as session:
        run_until(session, Script(3), join)
    world.kernel.write(f"{world.tree.hierarchies['cpuset']}/tasks", str(late))
    assert world.files() == before
