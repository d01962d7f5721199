"""What the agent finds out at its start about the running kernel's cpu.idle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.preemption import GROUP, probe_preemption

pytestmark = [
    pytest.mark.timing,
    pytest.mark.lab,
    pytest.mark.skipif(
        "tsc=reliable" not in Path("/proc/cmdline").read_text(),
        reason="CPUs that take turns give no answer: python -m bench.manycore lab --cpus 2",
    ),
]


def test_an_idle_group_in_user_mode_gives_way_and_nothing_of_the_probe_is_left(
    tmp_path: Path,
) -> None:
    tree, journal = CgroupTree.discover(), Journal(str(tmp_path / "state"))
    found = probe_preemption(tree, HostWriter(tree.files, journal), sorted(os.sched_getaffinity(0)))
    assert (found.gives_way, found.defence) == (True, "cpu.idle"), str(found)
    assert found.cpu is not None
    assert not list(Path("/sys/fs/cgroup").glob(f"{GROUP}*"))
    assert not list(journal.entries)
    journal.release()
