"""The pure parts of the systemd lab; its guests are for ``make systemd-lab``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab import kernels
from tests.lab.systemd import __main__ as systemd_lab
from tests.lab.systemd import guest, image, matrix, packages, plan
from tests.lab.systemd.inside import host
from tests.lab.systemd.inside.load import ITS_CPUS, SELF_PINNED

EVERY = frozenset(range(4))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path in ("batch.slice", "system.slice/smartharvest.service", "system.slice/web.service"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "cpuset.cpus").write_text("\n")
    return tmp_path


def groups_of(tree: Path) -> host.Snapshot:
    return host.Snapshot(host.read_groups(tree), {})


def test_a_snapshot_leaves_out_the_agents_own_group(tree: Path) -> None:
    groups = host.read_groups(tree)
    assert groups["batch.slice"] == {"cpuset.cpus": ""}
    assert "system.slice/smartharvest.service" not in groups


def test_a_file_that_is_not_as_before_is_named(tree: Path) -> None:
    before = groups_of(tree)
    (tree / "batch.slice" / "cpuset.cpus").write_text("3\n")
    assert host.differences(before, groups_of(tree), EVERY) == [
        "batch.slice/cpuset.cpus: '' became '3'"
    ]


def test_a_mask_of_every_cpu_means_as_much_as_none(tree: Path) -> None:
    before = groups_of(tree)
    (tree / "batch.slice" / "cpuset.cpus").write_text("0-3\n")
    assert host.differences(before, groups_of(tree), EVERY) == []


def test_what_came_and_went_is_nobodys_change(tree: Path) -> None:
    before = groups_of(tree)
    (tree / "system.slice" / "other.service").mkdir()
    (tree / "system.slice" / "web.service" / "cpuset.cpus").unlink()
    assert host.differences(before, groups_of(tree), EVERY) == []


def test_a_group_that_only_an_agent_makes_is_named(tree: Path) -> None:
    before = groups_of(tree)
    (tree / "batch.slice" / "smartharvest-split-2").mkdir()
    (line,) = host.differences(before, groups_of(tree), EVERY)
    assert line == "batch.slice/smartharvest-split-2: a group that was not there"


def test_a_task_is_as_before_or_born_free() -> None:
    task = host.Task("worker", "batch.slice", EVERY, 0, 0)
    before = host.Snapshot({}, {1: task, 2: task})
    confined = replace(task, cpus=frozenset({3}))
    chosen = replace(confined, name=SELF_PINNED, cpus=ITS_CPUS)
    now = {1: task, 2: replace(confined, nice=5), 3: task, 4: confined, 5: chosen}
    after = host.Snapshot({}, now)
    assert host.differences(before, after, EVERY) == [
        "task 2 (worker): cpus [0, 1, 2, 3] became [3], nice 0 became 5",
        "task 4 (worker): born to CPUs [3]",
    ]


def test_an_affinity_lost_to_the_controller_is_an_old_kernels_doing() -> None:
    line = f"task 9 ({SELF_PINNED}): cpus [1] became [0, 1, 2]"
    assert host.is_kernels_doing(line, "6.1.0-50-cloud-amd64")
    assert not host.is_kernels_doing(line, "6.12.107+deb13-cloud-amd64")
    assert not host.is_kernels_doing("task 9 (worker): cpus [1] became [0]", "6.1.0")


@pytest.mark.parametrize(
    ("text", "cpus"), [("", set()), ("3", {3}), ("0-2,5", {0, 1, 2, 5}), ("0,2-3", {0, 2, 3})]
)
def test_a_kernels_list_of_cpus_is_read(text: str, cpus: set[int]) -> None:
    assert host.parse_cpus(text) == cpus


def test_a_scenario_that_took_the_guest_with_it_is_broken() -> None:
    document = guest.told(
        [
            {"kernel": "6.1.0", "systemd": "252", "boot_seconds": 3.6},
            {"unfinished": "kill"},
            {"scenario": "kill", "outcome": "held", "seconds": 9.0},
            {"unfinished": "frozen"},
        ]
    )
    assert not document["complete"]
    assert document["scenarios"]["kill"]["outcome"] == "held"
    assert document["scenarios"]["frozen"]["outcome"] == "broken"


def test_what_no_guest_has_told_of_is_still_to_be_run() -> None:
    done = {"kill": {"outcome": "held"}, "frozen": {"outcome": "broken"}}
    assert plan.left_of(["kill", "frozen", "remove"], done) == ["remove"]


def test_results_are_told_in_the_order_of_the_scenarios() -> None:
    assert list(plan.in_order({"kill": 1, "gone": 2, "install": 3})) == ["install", "kill"]


def test_scenarios_are_shared_among_guests() -> None:
    assert plan.split(["a", "b", "c"], 2) == [["a", "c"], ["b"]]
    assert plan.split(["install", "upgrade", "kill"], 2) == [["install"], ["upgrade"], ["kill"]]
    assert plan.split(["a"], 2) == [["a"]]


def test_the_scenarios_are_known_without_a_guest() -> None:
    assert set(plan.DISKS) < set(plan.SCENARIOS)
    assert plan.SCENARIOS[-1] == "remove"
    assert plan.names_in("ALL: Final = {'a': 1, 'b': 2}") == ("a", "b")


def test_a_kernel_that_is_missing_next_to_others_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [kernels.Kernel("6.12.9-cloud-amd64", tmp_path, tmp_path)]
    wanted = kernels.Kernel("6.1.9-cloud-amd64", tmp_path, tmp_path)
    monkeypatch.setattr(kernels, "unpacked", lambda _: others)
    monkeypatch.setattr(kernels, "fetch", lambda _: [wanted, *others])
    monkeypatch.setattr(systemd_lab, "initramfs_of", lambda _: tmp_path)
    assert systemd_lab.kernel_of("6.1") is wanted
    monkeypatch.setattr(kernels, "fetch", lambda _: others)
    with pytest.raises(SystemExit, match=r"no kernel 6\.1; there are 6\.12"):
        systemd_lab.kernel_of("6.1")


def test_progress_is_told_in_words() -> None:
    assert guest.in_words({"unfinished": "kill"}) == "kill ..."
    told = guest.in_words({"scenario": "kill", "outcome": "held", "seconds": 9.0})
    assert told == "kill: held, 9 s of the guest's time"
    assert guest.in_words({"complete": True}) is None


def test_the_matrix_has_a_row_a_scenario_and_its_reasons_below() -> None:
    document = {
        "systemd": "252",
        "kernel": "6.1.0",
        "scenarios": {
            "kill": {"outcome": "held", "figures": {"cores_back_s": 0.012, "looks": 7.0}},
            "frozen": {"outcome": "broken", "broken": ["the cores\nstay lent"]},
        },
    }
    assert matrix.as_markdown(document).splitlines() == [
        "| systemd 252, Linux 6.1.0 | holds | figures |",
        "|---|---|---|",
        "| kill | yes | cores_back 0.012 s, looks 7 |",
        "| frozen | **no** |  |",
        "",
        "- frozen: the cores / stay lent",
    ]


def test_the_last_package_is_the_newest_tag() -> None:
    assert packages.last_package("v0.2.0\nv0.1.0\n") == "v0.2.0"
    assert packages.last_package("") == packages.NO_RELEASE_YET


@pytest.mark.parametrize(("old", "version"), [("0.1.0", "0.0.0"), ("0.0.9", "0.0.9")])
def test_the_last_package_has_a_version_of_its_own(old: str, version: str) -> None:
    text = f'"""Doc."""\n\n__version__ = "{old}"\n'
    assert f'__version__ = "{version}"\n' in packages.older_version(text, "0.1.0")


def test_the_drop_in_is_the_how_to_pages() -> None:
    assert image.drop_in_of(image.HOWTO.read_text()).startswith("[Service]\n")
