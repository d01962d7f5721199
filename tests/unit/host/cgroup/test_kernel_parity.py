"""The same script on the fake tree and on this machine's v1 hierarchies: the same answers."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.kernel_files import KernelFiles, PosixFiles
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from tests.unit.host.fake_trees import make_v1_tree

pytestmark = pytest.mark.root

GROUP = f"smartharvest-test-parity-{os.getpid()}"
Hierarchies = dict[str, str]

# (operation, hierarchy, path below it, value). {last} is the machine's highest CPU, {next} one more
# and {pid} a sleeping child; %s is where the test's group is.
SCRIPT = [
    ("mkdir", "cpuset", "%s", ""),
    ("mkdir", "cpuset", "%s", ""),
    *[("read", "cpuset", f"%s/{name}", "") for name in ("cpuset.cpus", "cpuset.mems", "tasks")],
    *[
        ("write", "cpuset", "%s/cpuset.cpus", value)
        for value in (
            *("{last},0", "", "\n", "x", "1-0", "{next}", "0-{next}", "0x1", " 0", "0 ", "0,,1"),
            *(",0", "0-1:1/2", "0-1:3/2", "0-1:0/2", "all", "N", "0-N", "0\n1", "-1", "0-", "0 1"),
            *("0;", "00", " ", "0\0", "4294967296", "0-1,", "0 - 1", "0\n\n", "0-1"),
        )
    ],
    ("mkdir", "cpuset", "%s/child", ""),
    ("read", "cpuset", "%s/child/cpuset.effective_cpus", ""),
    ("write", "cpuset", "%s/cpuset.cpus", "0"),
    ("write", "cpuset", "%s/child/cpuset.cpus", "0-1"),
    ("write", "cpuset", "%s/child/cpuset.cpus", "0"),
    ("write", "cpuset", "%s/cpuset.cpus", "1"),
    ("write", "cpuset", "%s/cpuset.cpus", "\n"),
    ("write", "cpuset", "%s/cpuset.cpus", "0-1"),
    ("read", "cpuset", "%s/child/cpuset.effective_cpus", ""),
    ("write", "cpuset", "%s/child/tasks", "{pid}"),
    ("write", "cpuset", "%s/child/cpuset.mems", "0"),
    ("write", "cpuset", "%s/cpuset.mems", "0"),
    ("write", "cpuset", "%s/child/cpuset.mems", "0"),
    ("write", "cpuset", "%s/child/tasks", "{pid}"),
    ("read", "cpuset", "%s/child/tasks", ""),
    ("write", "cpuset", "%s/child/cpuset.cpus", "\n"),
    ("write", "cpuset", "%s/child/cpuset.mems", "\n"),
    ("write", "cpuset", "%s/child/cpuset.cpus", "1"),
    ("rmdir", "cpuset", "%s", ""),
    ("rmdir", "cpuset", "%s/child", ""),
    *[
        ("write", "cpuset", "%s/child/tasks", value)
        for value in ("x", "", "-1", "99999999999", "4194304", " {pid} \n", "{pid} {pid}")
    ],
    ("write", "cpuset", "%s/tasks", "{pid}\n"),
    ("read", "cpuset", "%s/child/tasks", ""),
    ("read", "cpuset", "%s/cgroup.procs", ""),
    ("write", "cpuset", "%s/child/cpuset.effective_cpus", "0"),
    ("write", "cpuset", "%s/child/cpuset.nope", "0"),
    ("write", "cpuset", "cpuset.cpus", "0"),
    ("write", "cpuset", "%s/cgroup.clone_children", "1"),
    ("mkdir", "cpuset", "%s/clone", ""),
    ("read", "cpuset", "%s/clone/cpuset.cpus", ""),
    ("read", "cpuset", "%s/clone/cpuset.mems", ""),
    ("read", "cpuset", "%s/clone/cgroup.clone_children", ""),
    ("mkdir", "cpuset", "%s/bad\nname", ""),
    ("mkdir", "cpuset", "%s/none/child", ""),
    ("rmdir", "cpuset", "%s/clone", ""),
    ("rmdir", "cpuset", "%s/clone", ""),
    ("mkdir", "cpu", "%s", ""),
    *[
        step
        for name, value in (
            *(("cpu.shares", "4096"), ("cpu.idle", "1"), ("cpu.shares", "2048"), ("cpu.idle", "1")),
            *(("cpu.idle", "0"), ("cpu.shares", "1"), ("cpu.shares", "9999999")),
            *(("cpu.shares", "x"), ("cpu.shares", ""), ("cpu.shares", "0x100")),
            *(("cpu.shares", "-5"), ("cpu.shares", " 20"), ("cpu.shares", "20\n")),
            *(("cpu.idle", "0"), ("cpu.idle", "2"), ("cpu.idle", "-1"), ("cpu.idle", " 1\n")),
        )
        for step in (("write", "cpu", f"%s/{name}", value), ("read", "cpu", "%s/cpu.shares", ""))
    ],
    *[
        step
        for value in ("50000", "-1", "500", "-2", "0")
        for step in (
            ("write", "cpu", "%s/cpu.cfs_quota_us", value),
            ("read", "cpu", "%s/cpu.cfs_quota_us", ""),
        )
    ],
    ("write", "cpu", "%s/tasks", "{pid}"),
    ("rmdir", "cpu", "%s", ""),
    ("mkdir", "freezer", "%s", ""),
    ("mkdir", "freezer", "%s/child", ""),
    *[
        step
        for path, value in (
            *(("%s", "FROZEN"), ("%s/child", "THAWED"), ("%s", " THAWED\n"), ("%s", "frozen")),
            *(("%s", ""), ("%s/child", "FROZEN")),
        )
        for step in (
            ("write", "freezer", f"{path}/freezer.state", value),
            ("read", "freezer", "%s/freezer.state", ""),
            ("read", "freezer", "%s/child/freezer.state", ""),
        )
    ],
]


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "100"]) as process:
        yield process.pid
        process.kill()


@pytest.fixture
def real_hierarchies(sleeper: int) -> Iterator[Hierarchies]:
    """This machine's hierarchies; the test's groups are removed from them afterwards."""
    tree = CgroupTree.discover()
    if os.geteuid():
        pytest.skip("needs root")
    if tree.version != 1 or not {"cpu", "freezer"} <= set(tree.hierarchies):
        pytest.skip("this machine has no v1 cpuset, cpu and freezer hierarchies")
    hierarchies = {name: tree.hierarchies[name] for name in ("cpuset", "cpu", "freezer")}
    yield hierarchies
    for mount in hierarchies.values():
        if os.path.exists(f"{mount}/{GROUP}"):
            PosixFiles().write(f"{mount}/tasks", str(sleeper))
            for directory, _, _ in os.walk(f"{mount}/{GROUP}", topdown=False):
                os.rmdir(directory)


def answers(files: KernelFiles, hierarchies: Hierarchies, words: dict[str, str]) -> list[str]:
    """What each step of the script gives: the text read, ``ok``, or the error's name."""
    found = []
    for operation, hierarchy, below, value in SCRIPT:
        path = f"{hierarchies[hierarchy]}/{below.replace('%s', GROUP)}"
        filled = value
        for word, replacement in words.items():
            filled = filled.replace(word, replacement)
        actions: dict[str, Callable[[], object]] = {
            "read": lambda path=path: files.read(path),  # type: ignore[misc]
            "write": lambda path=path, filled=filled: files.write(path, filled),  # type: ignore[misc]
            "mkdir": lambda path=path: files.mkdir(path),  # type: ignore[misc]
            "rmdir": lambda path=path: files.rmdir(path),  # type: ignore[misc]
        }
        try:
            outcome = actions[operation]()
            answer = "ok" if outcome is None else repr(outcome)
        except OSError as error:
            answer = errno.errorcode[error.errno or 0]
        if operation == "write" and os.path.basename(path) == "cpuset.cpus":
            answer += f", then {files.read(path)!r}"
        found.append(f"{operation} {hierarchy}/{below} {value!r}: {answer}")
    return found


def test_the_fake_kernel_answers_as_the_real_one(
    tmp_path: Path, sleeper: int, real_hierarchies: Hierarchies
) -> None:
    online = tasks.online_cpus()
    if len(online) < 2:
        pytest.skip("the script needs two CPUs")
    with open("/sys/devices/system/cpu/possible") as file:
        if file.read().strip() != format_cpulist(online):
            pytest.skip("the script needs every possible CPU online")
    words = {"{last}": str(max(online)), "{next}": str(max(online) + 1), "{pid}": str(sleeper)}
    made = make_v1_tree(tmp_path, format_cpulist(online))
    fake = FakeKernel(made.root, thread_exists=lambda tid: tasks.start_time(tid) is not None)
    assert answers(fake, dict(made.hierarchies), words) == answers(
        PosixFiles(), real_hierarchies, words
    )
