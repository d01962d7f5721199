"""What an elastic group's throughput is counted in, and how much that comes to."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest

from smartharvest.agent.group_meter import GroupMeter, Totals, counts_instructions, difference
from smartharvest.algorithm.guarantee import Guarantee
from smartharvest.config.elastic_groups import ElasticGroup
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process.instructions import Counter, open_counter
from smartharvest.host.target.spec import TargetSpec
from smartharvest.telemetry.heartbeat import Heartbeat
from tests.integration.worlds import make_world

SECOND_NS = 1_000_000_000


class FakeCounters:
    """A counter for each CPU, as the kernel's: a file with what is to be read."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.opened: list[int] = []

    def open_one(self, _group: int, cpu: int) -> int:
        path = self.directory / f"counter-{cpu}"
        os.mkfifo(path)
        self.opened.append(cpu)
        return os.open(path, os.O_RDWR)

    def tell(self, cpu: int, count: int, enabled: int = 10, running: int = 10) -> None:
        (self.directory / f"counter-{cpu}").open("wb", buffering=0).write(
            struct.pack("=3Q", count, enabled, running)
        )


@pytest.fixture
def group(tmp_path: Path) -> Group:
    world = make_world(tmp_path / "world", 2)
    return world.elastic


def test_instructions_are_the_sum_of_all_cpus_and_estimated_where_counters_were_shared(
    tmp_path: Path, group: Group
) -> None:
    fake = FakeCounters(tmp_path)
    counter = Counter(group.path, [0, 1], fake.open_one)
    meter = GroupMeter(group, open_counter=lambda _group: counter)
    fake.tell(0, 100)
    fake.tell(1, 50, enabled=20, running=10)
    before = meter.read()
    assert before.instructions == 200
    fake.tell(0, 600)
    fake.tell(1, 50, enabled=20, running=10)
    assert meter.throughput(before, meter.read(), SECOND_NS // 2) == 1000
    assert meter.measure == "instructions"
    assert fake.opened == [0, 1]
    meter.close()
    assert meter.measure == "CPU time"


def test_a_cpu_on_which_the_group_never_ran_counts_nothing(tmp_path: Path, group: Group) -> None:
    fake = FakeCounters(tmp_path)
    counter = Counter(group.path, [0], fake.open_one)
    fake.tell(0, 0, enabled=0, running=0)
    assert counter.read() == 0
    counter.close()


def test_a_machine_that_refuses_a_counter_leaves_none_open(tmp_path: Path, group: Group) -> None:
    fake = FakeCounters(tmp_path)

    def open_one(directory: int, cpu: int) -> int:
        if cpu == 1:
            raise OSError(2, "No such file or directory")
        return fake.open_one(directory, cpu)

    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="No such file"):
        Counter(group.path, [0, 1], open_one)
    assert set(os.listdir("/proc/self/fd")) == before


def test_without_counters_cpu_time_is_the_measure(group: Group) -> None:
    assert open_counter(group) is None, "nobody runs in a fake tree"
    meter = GroupMeter(group, open_counter=lambda _group: None)
    meter.read()
    assert meter.measure == "CPU time"
    assert meter.throughput(Totals(cpu_ns=0), Totals(cpu_ns=SECOND_NS), SECOND_NS) == 1.0
    assert meter.throughput(Totals(), Totals(cpu_ns=SECOND_NS), SECOND_NS) is None


def test_heartbeats_are_the_measure_where_instructions_are_not_counted(
    tmp_path: Path, group: Group
) -> None:
    page = str(tmp_path / "beats")
    with Heartbeat(page) as heart:
        meter = GroupMeter(group, page)
        before = meter.read()
        heart.beat(7)
        assert meter.throughput(before, meter.read(), SECOND_NS) == 7
    assert meter.measure == "heartbeats"


def test_instructions_come_before_heartbeats(tmp_path: Path, group: Group) -> None:
    fake, page = FakeCounters(tmp_path), str(tmp_path / "beats")
    counter = Counter(group.path, [0], fake.open_one)
    meter = GroupMeter(group, page, lambda _group: counter)
    fake.tell(0, 100)
    before = meter.read()
    fake.tell(0, 400)
    assert meter.throughput(before, meter.read(), SECOND_NS) == 300
    assert meter.measure == "instructions"
    meter.close()
    assert meter.measure == "heartbeats"


def test_a_page_that_begins_again_says_nothing_of_the_last_second(
    tmp_path: Path, group: Group
) -> None:
    page = tmp_path / "beats"
    meter = GroupMeter(group, str(page))
    with Heartbeat(str(page)) as heart:
        heart.beat(1000)
    before = meter.read()
    page.unlink()
    with Heartbeat(str(page)) as heart:
        heart.beat(5)
        again = meter.read()
        assert meter.throughput(before, again, SECOND_NS) is None
        heart.beat(5)
        assert meter.throughput(again, meter.read(), SECOND_NS) == 5


def test_a_group_that_comes_later_or_again_has_counters_of_its_own(
    tmp_path: Path, group: Group
) -> None:
    made: list[FakeCounters] = []

    def open_counter(group: Group) -> Counter:
        made.append(FakeCounters(tmp_path / str(len(made))))
        made[-1].directory.mkdir()
        counter = Counter(group.path, [0], made[-1].open_one)
        made[-1].tell(0, 100)
        return counter

    away = Path(group.path).rename(tmp_path / "away")
    meter = GroupMeter(group, open_counter=open_counter)
    assert (meter.read().instructions, meter.measure) == (None, "CPU time")
    away.rename(group.path)
    before = meter.read()
    assert (before.instructions, meter.measure) == (100, "instructions")
    Path(group.path).rename(away)
    shutil.copytree(away, group.path)
    now = meter.read()
    assert len(made) == 2
    assert meter.throughput(Totals(instructions=500), now, SECOND_NS) is None
    meter.close()


def test_another_group_by_the_same_name_makes_no_difference() -> None:
    assert difference(5, 3) is None
    assert difference(None, 3) is None
    assert difference(3, 5) == 2


@pytest.mark.parametrize(
    ("share", "more", "expected"),
    [
        ("fair", {}, False),
        ("throughput", {}, True),
        ("throughput", {"heartbeats": "/run/beats"}, True),
        ("fair", {"guarantee": Guarantee(equal_share=0.7)}, True),
        ("throughput", {"heartbeats": "/run/beats", "guarantee": Guarantee(rate=4)}, False),
    ],
)
def test_instructions_are_counted_only_where_they_decide_something(
    share: str, more: dict[str, object], expected: bool
) -> None:
    group = ElasticGroup("a", TargetSpec("cgroup", "batch/a"), **more)  # type: ignore[arg-type]
    settings = Settings(share=share)  # type: ignore[arg-type]
    assert counts_instructions(settings, group) is expected
