"""What becomes of the batch when its scheduler is refused, ends, or starves."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.sched_ext import program, state
from smartharvest.host.sched_ext.loader import NoStrict
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.mechanism import strict
from smartharvest.mechanism.choice import make_mechanism
from smartharvest.mechanism.strict import AutoMechanism, StrictMechanism
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.snapshot import HostSnapshot
from tests.unit.host.fake_trees import make_group, make_v2_tree

ENDING, ENDED = 1, 2
LEFT_AT = 160 + 6 * 8
SEEN = HostSnapshot(Capacity((0, 1), 0, (1, 0), (2,), 1, 1, keep_idle=1), (), (), ())


class FakeShared:
    def __init__(self) -> None:
        self.memory = memoryview(bytearray(program.MEMORY))
        self.slot = state.stage_slot(self.memory)
        self.fd = -1


class FakeScheduler:
    """Instead of ``Loaded``. The class says whether the next one is taken."""

    refusal: str | None = None
    made: list[FakeScheduler]
    calls_back = True

    def __init__(self, shared: FakeShared | None) -> None:
        if self.refusal is not None:
            raise NoStrict(f"mechanism: strict: {self.refusal}")
        self.shared = shared or FakeShared()
        self.memory = self.shared.memory
        self.memory[:] = bytes(len(self.memory))
        self.attached = False
        self.made.append(self)

    def attach(self) -> None:
        self.attached = True

    def close(self) -> None:
        self.attached = False

    def end(self, reason: bytes) -> None:
        struct.pack_into("<IIq", self.memory, 16, ENDED, 1026, 0)
        self.memory[32 : 32 + len(reason)] = reason

    def run(self, ran_ns: int, runnable: int) -> None:
        struct.pack_into("<6Q", self.memory, 160, 0, ran_ns, runnable, 0, 0, 0)

    def leave(self) -> None:
        """A task leaves the class."""
        (before,) = struct.unpack_from("<Q", self.memory, LEFT_AT)
        struct.pack_into("<Q", self.memory, LEFT_AT, before + 1)


class World:
    def __init__(self, tree: CgroupTree, writer: HostWriter) -> None:
        self.now_s = 0.0
        self.tree = tree
        self.writer = writer
        self.policies_set = 0
        self.spare: int | None = None

    def set_policies(self, _directory: str) -> tuple[int, list[OSError]]:
        self.policies_set += 1
        return 0, []

    def make(self, kind: type[StrictMechanism]) -> StrictMechanism:
        target = resolve_target(TargetSpec("cgroup", "batch"), self.tree)
        assert target.group is not None
        settings = Settings(
            mechanism="strict" if kind is StrictMechanism else "auto", strict_spare=self.spare
        )
        return kind(settings, self.tree, target, target.group, self.writer)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    tree = make_v2_tree(tmp_path / "tree")
    make_group(tree, "batch", "0-3")
    journal = Journal(str(tmp_path / "state"))
    found = World(tree, HostWriter(tree.files, journal))
    monkeypatch.setattr(FakeScheduler, "refusal", None)
    monkeypatch.setattr(FakeScheduler, "made", [], raising=False)
    monkeypatch.setattr(strict, "Loaded", FakeScheduler)
    monkeypatch.setattr("smartharvest.mechanism.strict.time.monotonic", lambda: found.now_s)
    monkeypatch.setattr(found.writer, "set_policies", found.set_policies)
    yield found
    journal.release()


def test_a_refusal_comes_before_anything_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeScheduler, "refusal", "this kernel has no sched_ext")
    mechanism = world.make(StrictMechanism)
    with pytest.raises(NoStrict, match="no sched_ext"):
        mechanism.arrange(SEEN)
    assert list(world.writer._journal.entries) == []


@pytest.mark.parametrize(
    ("cpus", "setting", "kept"),
    [(1, None, 0), (2, None, 1), (15, None, 1), (16, None, 2), (33, None, 3), (2, 0, 0), (8, 5, 5)],
)
def test_one_cpu_and_one_of_each_sixteen_are_kept_idle_unless_said_otherwise(
    world: World, monkeypatch: pytest.MonkeyPatch, cpus: int, setting: int | None, kept: int
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(state, "control", lambda _, **rest: given.append(rest["spare"]))
    world.spare = setting
    pool = tuple(range(cpus))
    capacity = Capacity(pool, 0, pool[::-1], (cpus,), cpus - 1, cpus - 1, keep_idle=1)
    world.make(StrictMechanism).arrange(HostSnapshot(capacity, (), (), ()))
    assert given == [{frozenset(pool): kept}]


def test_another_number_is_kept_idle_at_once_and_by_the_next_scheduler(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.keep_spare(None)
    mechanism.arrange(SEEN)
    first = FakeScheduler.made[0]
    assert [state.spare(first.memory, cpu) for cpu in range(3)] == [1, 1, 0]
    mechanism.keep_spare(0)
    assert [state.spare(first.memory, cpu) for cpu in range(3)] == [0, 0, 0]
    first.end(b"unregistered")
    mechanism.follow(())
    assert mechanism.spare == 0
    mechanism.keep_spare(2)  # while there is none
    world.now_s = strict.REST_S
    mechanism.follow(())
    second = FakeScheduler.made[1]
    assert [state.spare(second.memory, cpu) for cpu in range(3)] == [2, 2, 0]
    mechanism.keep_spare(None)
    assert [state.spare(second.memory, cpu) for cpu in range(3)] == [1, 1, 0]


@pytest.mark.parametrize(("cpus", "slack"), [(1, 0), (2, 0), (4, 1), (8, 2), (64, 2)])
def test_where_cpus_are_few_fewer_more_may_be_idle_for_a_moment(cpus: int, slack: int) -> None:
    memory = memoryview(bytearray(program.MEMORY))
    state.control(memory, slice_ns=1, keep_preempted=True, spare={frozenset(range(cpus)): 1})
    assert [state.slack(memory, cpu) for cpu in (0, cpus - 1, cpus)] == [slack, slack, 0]
    assert [state.spare(memory, cpu) for cpu in (0, cpus - 1, cpus)] == [1, 1, 0]


def test_a_number_that_was_set_stands(world: World) -> None:
    world.spare = 1
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    mechanism.keep_spare(0)
    assert state.spare(FakeScheduler.made[0].memory, 0) == 1
    assert mechanism.spare == 1


def test_auto_falls_back_to_merge(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeScheduler, "refusal", "this kernel has no sched_ext")
    mechanism = world.make(AutoMechanism)
    mechanism.arrange(SEEN)
    assert mechanism.name == "merge"
    assert not mechanism.keeps_spare
    assert not mechanism.moves_threads
    assert mechanism.revocation is None
    assert mechanism.follow(()) is None
    assert world.policies_set == 0


def test_auto_takes_strict_where_it_works(world: World) -> None:
    mechanism = world.make(AutoMechanism)
    mechanism.arrange(SEEN)
    assert mechanism.name == "strict"
    assert FakeScheduler.made[0].attached
    assert world.policies_set == 1


def test_newcomers_are_taken_in_every_second(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    for tenth in range(31):
        world.now_s = tenth / 10
        assert mechanism.follow(()) is None
    assert world.policies_set == 4


def test_who_leaves_the_class_is_taken_in_at_once_but_not_without_end(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    scheduler = FakeScheduler.made[0]
    scheduler.leave()
    world.now_s = 0.05
    mechanism.follow(())
    assert world.policies_set == 1  # it was looked just before
    world.now_s = strict.SOON_S
    mechanism.follow(())
    assert world.policies_set == 2
    world.now_s = 0.5
    mechanism.follow(())
    assert world.policies_set == 2  # nobody has left since
    for sixteenth in range(8, 17):
        world.now_s = sixteenth / 16
        scheduler.leave()
        mechanism.follow(())
    assert world.policies_set == 7


def test_an_ended_scheduler_is_noticed_at_once_and_retaken_after_a_rest(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    FakeScheduler.made[0].end(b"disabled by sysrq-S")
    assert "has ended" in (mechanism.follow(()) or "")
    assert mechanism.ends == 1
    world.now_s = strict.REST_S - 1
    assert mechanism.follow(()) is not None
    world.now_s = strict.REST_S
    assert mechanism.follow(()) is None
    assert FakeScheduler.made[1].attached


def test_nothing_is_lent_while_the_scheduler_is_ending(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    struct.pack_into("<I", FakeScheduler.made[0].memory, 16, ENDING)
    assert "is ending" in (mechanism.follow(()) or "")
    assert FakeScheduler.made[0].attached
    assert mechanism.ends == 0


def test_schedulers_share_what_the_loop_s_thread_reads(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    assert mechanism.revocation is None
    mechanism.arrange(SEEN)
    shared = mechanism.revocation
    FakeScheduler.made[0].end(b"disabled by sysrq-S")
    mechanism.follow(())
    assert shared is not None
    assert any(shared.slot)  # it rests
    world.now_s = strict.REST_S
    mechanism.follow(())
    assert FakeScheduler.made[1].shared is FakeScheduler.made[0].shared
    assert not any(shared.slot)


def test_rests_grow_while_another_scheduler_stands_in_the_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    FakeScheduler.made[0].end(b"unregistered")
    mechanism.follow(())
    monkeypatch.setattr(FakeScheduler, "refusal", "another one is loaded: lavd")
    tries = 0
    for second in range(200):
        world.now_s = float(second)
        before = mechanism._retake_s
        assert mechanism.follow(()) is not None
        tries += mechanism._retake_s != before
    assert tries == 4  # after 10, 30, 70 and 150 s


def test_a_starving_batch_is_given_back_before_the_kernel_ends_the_scheduler(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    scheduler = FakeScheduler.made[0]
    scheduler.run(1_000, runnable=4)
    assert mechanism.follow(()) is None
    world.now_s = strict.STARVED_S
    assert mechanism.follow(()) is None
    world.now_s += 1
    assert mechanism.follow(()) is not None
    assert not scheduler.attached
    assert strict.STARVED_S < 30


def test_a_batch_that_sleeps_does_not_starve(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    FakeScheduler.made[0].run(1_000, runnable=0)
    for second in range(0, 100, 5):
        world.now_s = float(second)
        assert mechanism.follow(()) is None


def test_the_scheduler_ends_with_the_session(world: World) -> None:
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    mechanism.close()
    assert not FakeScheduler.made[0].attached


def test_a_fake_tree_has_no_tasks_to_schedule(world: World) -> None:
    target = resolve_target(TargetSpec("cgroup", "batch"), world.tree)
    with pytest.raises(ConfigError, match="strict needs a real host"):
        make_mechanism(Settings(mechanism="strict"), world.tree, target, world.writer)


def test_a_dry_run_says_that_an_agent_would_refuse(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("smartharvest.mechanism.choice.why_not", lambda: "no sched_ext here")
    target = resolve_target(TargetSpec("cgroup", "batch"), world.tree)
    make_mechanism(Settings(mechanism="strict", dry_run=True), world.tree, target, None)
    assert "no sched_ext here; an agent would refuse" in caplog.text
    make_mechanism(Settings(dry_run=True), world.tree, target, None)
    assert len(caplog.records) == 1


def test_a_plan_loads_no_scheduler(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.writer.only_plans = True
    monkeypatch.setattr(strict, "why_not", lambda: None)
    mechanism = world.make(StrictMechanism)
    mechanism.arrange(SEEN)
    assert FakeScheduler.made == []
    assert world.policies_set == 1
    monkeypatch.setattr(strict, "why_not", lambda: "this kernel has no sched_ext")
    with pytest.raises(NoStrict, match="no sched_ext"):
        world.make(StrictMechanism).arrange(SEEN)
    world.make(AutoMechanism).arrange(SEEN)
    assert world.policies_set == 1
