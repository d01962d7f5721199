"""What the sensor saw against what was charged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.host.process.cpu_usage import cpu_usage_of
from smartharvest.host.target.cgroup import CgroupTarget
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.sensor.check import SHORTEST_NS, SensorCheck
from tests.unit.host.fake_trees import make_group, make_v1_tree, make_v2_tree

SECOND = 1_000_000_000


def check(*cores: tuple[float, float | None]) -> SensorCheck:
    """After seconds with (cores seen, cores charged)."""
    made = SensorCheck()
    seen = charged = 0.0
    made.observe(0, 0, 0)
    for second, (saw, used) in enumerate(cores, start=1):
        seen += saw * SECOND
        charged += (used or 0) * SECOND
        made.observe(second * SECOND, int(seen), None if used is None else int(charged))
    return made


@pytest.mark.parametrize(
    ("seen", "charged"),
    [(0, 0), (1.0, 1.0), (0, 0.2), (3.8, 4.0), (8.0, 10.0), (2.0, 0.5)],
)
def test_a_sensor_that_sees_what_was_charged_is_believed(seen: float, charged: float) -> None:
    assert check((seen, charged)).blind is None


@pytest.mark.parametrize(("seen", "charged"), [(0, 0.3), (0.5, 1.0), (4.0, 6.0)])
def test_one_that_misses_much_is_blind(seen: float, charged: float) -> None:
    made = check((seen, charged))
    assert made.blind == (
        f"the sensor saw {seen:.2f} of the {charged:.2f} cores that the primary used"
    )
    assert (made.checks, made.blind_checks) == (1, 1)


def test_it_is_believed_again_once_it_sees() -> None:
    made = check((0, 1), (1, 1))
    assert made.blind is None
    assert (made.checks, made.blind_checks) == (2, 1)


def test_without_a_charge_nothing_can_be_told() -> None:
    assert check((0, 1), (0, None)).blind is None
    assert check((0, None), (0, 1)).blind is None  # the first one after it is the new base


def test_a_moment_is_too_short_to_tell() -> None:
    made = SensorCheck()
    made.observe(0, 0, 0)
    assert made.observe(SHORTEST_NS - 1, 0, SECOND) is None
    assert made.observe(SHORTEST_NS, 0, SECOND) is not None


def test_totals_that_fall_are_those_of_another() -> None:
    made = SensorCheck()
    made.observe(0, 0, 50 * SECOND)
    assert made.observe(SECOND, 0, 5 * SECOND) is None
    assert made.observe(2 * SECOND, 0, 6 * SECOND) is not None


def target(path: Path, version: int) -> CgroupTarget:
    tree = make_v1_tree(path) if version == 1 else make_v2_tree(path)
    make_group(tree, "web", "0-7")
    found = resolve_target(TargetSpec("cgroup", "web"), tree)
    assert isinstance(found, CgroupTarget)
    return found


def test_a_v2_group_tells_its_charge(tmp_path: Path) -> None:
    web = target(tmp_path, 2)
    read = cpu_usage_of([web])
    Path(web.group.path, "cpu.stat").write_text("nr_periods 7\nusage_usec 1500\nuser_usec 9\n")
    assert read() == 1_500_000
    Path(web.group.path, "cpu.stat").write_text("user_usec 9\n")
    assert read() is None


def charged_apart(path: Path, monkeypatch: pytest.MonkeyPatch, *looks: tuple[str, str]) -> bool:
    """Whether a v1 group is charged whose (cpuset, cpuacct) tasks are these at each look."""
    web = target(path, 1)
    directory = path / "cpuacct" / "web"
    directory.mkdir(parents=True)
    (directory / "cpuacct.usage").write_text("1500\n")
    monkeypatch.setattr(type(web.group), "directory", lambda _group, _controller: str(directory))
    listings = iter([listing for look in looks for listing in look])
    files, real_read = web.group.tree.files, web.group.tree.files.read

    def read(name: str) -> str:
        return next(listings) if os.path.basename(name) == "tasks" else real_read(name)

    monkeypatch.setattr(files, "read", read)
    return cpu_usage_of([web])() == 1500


@pytest.mark.parametrize(
    "looks",
    [
        (("1\n2\n", "2\n1\n"), ("1\n2\n", "1\n2\n")),
        (("1\n2\n", "1\n3\n"), ("1\n4\n", "1\n5\n")),  # somebody is born and ends at every look
        (("1\n", "1\n2\n"), ("1\n2\n", "1\n")),  # one was born at the first and ended at the next
    ],
)
def test_a_v1_group_is_charged_where_its_tasks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: tuple[tuple[str, str], ...]
) -> None:
    assert charged_apart(tmp_path, monkeypatch, *looks)


@pytest.mark.parametrize("others", [("1\n2\n", "1\n"), ("1\n", "1\n2\n")])
def test_what_is_charged_to_other_tasks_is_not_the_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: tuple[str, str]
) -> None:
    assert not charged_apart(tmp_path, monkeypatch, others, others)


def test_a_process_tells_its_charge() -> None:
    web = resolve_target(TargetSpec("pid", str(os.getpid())), None)  # type: ignore[arg-type]
    read = cpu_usage_of([web])
    before = read()
    assert before is not None
    spun = os.times()
    while (now := os.times()).user + now.system < spun.user + spun.system + 0.05:
        pass
    after = read()
    assert after is not None
    assert after > before
    assert cpu_usage_of([web, web])() is not None
