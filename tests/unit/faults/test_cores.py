"""When cores count as lent, and as back."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.shared_page import Phase
from tests.faults.cores import CoresBack
from tests.unit.host.fake_trees import make_group, make_v1_tree


@pytest.mark.parametrize("phase", list(Phase))
def test_only_while_the_loop_runs_cores_are_lent(tmp_path: Path, phase: Phase) -> None:
    tree = make_v1_tree(tmp_path / "tree")
    make_group(tree, "batch", cpus="0-7")
    file = tree.group("batch").cpus_file
    journal = Journal(str(tmp_path / "state"))
    journal.record_file(file, "0-7")
    journal.expect({file: ["7"]}, minimum=((file, "7"),))
    journal.page.phase = phase
    cores = CoresBack(tree.files, str(tmp_path / "state"))
    tree.files.write(file, "7")
    cores.look()
    assert bool(cores.end()) is (phase is Phase.RUNNING)
    journal.close()
