"""A journal is obeyed only where nobody else wrote it, and only in what an agent writes."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.contents import VERSION, boot_id, read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.places import page_path
from smartharvest.host.journal.reach import check_reach
from smartharvest.host.journal.recovery import recover, shrink
from smartharvest.host.parameters import PARAMETERS
from tests.unit.host.fake_trees import make_group, make_v1_tree

DEAD_PID = 2**22 + 1
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    made = make_v1_tree(tmp_path / "tree")
    make_group(made, "g", "0-3")
    return made


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir(mode=0o700)
    return tmp_path / "state"


def plant(state: Path, **contents: Any) -> Path:
    """A journal as a dead agent would have left it."""
    path = state / f"agent-{DEAD_PID}.journal"
    document = {
        "version": VERSION, "boot_id": boot_id(), "pid": DEAD_PID, "start_time": 1, "claims": [],
        "minimum": [], "ours": {}, "entries": [],
    }  # fmt: skip
    path.write_text(json.dumps(document | contents))
    path.chmod(0o600)
    return path


def file_entry(path: object) -> dict[str, Any]:
    return {"kind": "file", "path": str(path), "original": "planted"}


OUTSIDE: dict[str, Callable[[str, Path], dict[str, Any]]] = {
    "a file elsewhere": lambda _, there: {"entries": [file_entry(there)]},
    "a file of a name that is not written": lambda root, _: {
        "entries": [file_entry(f"{root}/cpuset/release_agent")]
    },
    "a limit that kills": lambda root, _: {
        "entries": [file_entry(f"{root}/cpuset/g/memory.limit_in_bytes")]
    },
    "a way out of the tree": lambda root, there: {
        "entries": [file_entry(f"{root}/cpuset/../../{there.name}")]
    },
    "a relative path": lambda *_: {"entries": [file_entry("cpuset.cpus")]},
    "a group elsewhere": lambda _, there: {
        "entries": [{"kind": "created", "directory": str(there.parent)}]
    },
    "a destination elsewhere": lambda root, there: {
        "entries": [
            {"kind": "moved", "tid": 1, "start_time": 1, "origin": str(there.parent),
             "destination": root}
        ]
    },
    "a confined group elsewhere": lambda _, there: {
        "entries": [{"kind": "confined", "directory": str(there.parent)}]
    },
    "a minimum elsewhere": lambda _, there: {"minimum": [[str(there), "planted"]]},
    "a value elsewhere": lambda _, there: {"ours": {str(there): ["1"]}},
}  # fmt: skip


@pytest.mark.parametrize("what", OUTSIDE)
def test_a_journal_that_names_more_than_an_agent_writes_is_refused_whole(
    tree: CgroupTree, state: Path, tmp_path: Path, what: str
) -> None:
    there = tmp_path / "cpu.weight"
    there.write_text("as it was")
    found = OUTSIDE[what](tree.root, there)
    group = tree.group("g")
    found["entries"] = [*found.get("entries", []), file_entry(group.cpus_file)]
    path = plant(state, **found)
    report = recover(tree.files, str(state))
    assert [str(error).count("the journal is damaged") for error in report.damaged] == [1]
    assert "\n" not in str(report.damaged[0])
    assert (list(report.restored), there.read_text(), group.cpus()) == (
        [],
        "as it was",
        frozenset(range(4)),
    )
    assert path.exists()


def test_a_minimum_elsewhere_is_not_written_either(
    tree: CgroupTree, state: Path, tmp_path: Path
) -> None:
    there = tmp_path / "cpu.weight"
    there.write_text("as it was")
    plant(state, minimum=[[str(there), "planted"]])
    shrink(tree.files, str(state))
    assert there.read_text() == "as it was"


def test_what_an_agent_writes_may_be_named(tree: CgroupTree, state: Path) -> None:
    group = tree.group("g")
    entries = [file_entry(group.cpus_file), file_entry(group.idle_file), file_entry(PARAMETERS[0])]
    entries.append(file_entry(f"{group.path}/memory.high"))
    path = plant(state, entries=entries, claims=["pid:7", group.path])
    check_reach(str(path), read_journal(str(path)), tree.files)


@as_root
def test_the_groups_of_a_host_are_below_its_mounts(state: Path) -> None:
    files = PosixFiles()
    for mount in files.mounts():
        path = plant(state, entries=[file_entry(f"{mount}/web/cpuset.cpus")])
        check_reach(str(path), read_journal(str(path)), files)


@as_root
def test_a_journal_of_another_user_is_not_obeyed(tree: CgroupTree, state: Path) -> None:
    path = plant(state, entries=[{"kind": "file", "path": tree.group("g").cpus_file,
                                  "original": "1"}])  # fmt: skip
    os.chown(path, 65534, 65534)
    report = recover(tree.files, str(state))
    (refused,) = report.damaged
    assert "belongs to nobody (65534)" in str(refused)
    assert tree.group("g").cpus() == {0, 1, 2, 3}


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_journals_in_a_directory_that_others_may_write_are_not_obeyed(
    tree: CgroupTree, state: Path, mode: int
) -> None:
    plant(state, entries=[file_entry(tree.group("g").cpus_file)])
    state.chmod(mode)
    with pytest.raises(RightsError, match=r"others may put files there; chmod go-w .*state$"):
        recover(tree.files, str(state))
    with pytest.raises(RightsError, match="the journal cannot be kept"):
        Journal(str(state))


@pytest.mark.parametrize("suffix", [".journal", ".journal.new", ".shared", ".lock"])
def test_no_file_of_a_journal_is_written_through_a_link(
    state: Path, tmp_path: Path, suffix: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("as it was")
    (state / f"agent-{os.getpid()}{suffix}").symlink_to(precious)
    with contextlib.suppress(SmartHarvestError):  # it may be replaced instead
        Journal(str(state)).close()
    assert precious.read_text() == "as it was"


def test_a_page_behind_a_link_is_not_mapped(tree: CgroupTree, state: Path, tmp_path: Path) -> None:
    path = plant(state, entries=[])
    (tmp_path / "page").write_bytes(bytes(4096))
    os.symlink(tmp_path / "page", page_path(str(path)))
    (refused,) = recover(tree.files, str(state)).damaged
    assert "is a link" in str(refused)
