"""Who is born while an elastic process is taken over."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from smartharvest.config.settings import Settings
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.restoration import put_back
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.family import Family
from smartharvest.host.target.process import PidTarget
from smartharvest.host.target.spec import TargetSpec
from smartharvest.mechanism import process_affinity
from smartharvest.mechanism.process_affinity import ProcessAffinityMechanism
from tests.cpus import ALLOWED, needs_two_cpus
from tests.unit.host.fake_trees import make_v1_tree

PARENT = """
import subprocess, sys
for _ in sys.stdin:
    print(subprocess.Popen(["sleep", "100"]).pid, flush=True)
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        for child in tasks.descendants(process.pid):
            os.kill(child, 9)
        process.kill()


def bear(parent: subprocess.Popen[str]) -> int:
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write("\n")
    parent.stdin.flush()
    return int(parent.stdout.readline())


def let_a_tick_pass() -> None:
    """Whoever has started is older than whoever starts now."""
    tick = tasks.start_time_of_newcomers()
    while tasks.start_time_of_newcomers() <= tick:
        time.sleep(0.001)


def family_with(after_the_search: Callable[[], None], *, deaf: bool) -> Any:
    class Searched(Family):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            after_the_search()

        def turn(self) -> list[int]:
            return [] if deaf else super().turn()

    return Searched


@needs_two_cpus
@pytest.mark.parametrize("deaf", [False, True])
def test_a_child_that_is_born_while_its_family_is_looked_for_gets_its_cpus_back(
    tmp_path: Path,
    parent: subprocess.Popen[str],
    monkeypatch: pytest.MonkeyPatch,
    deaf: bool,
) -> None:
    """The agent is killed before it hears of the birth; its guardian confines all descendants."""
    born: list[int] = []

    def bear_one() -> None:
        born.append(bear(parent))
        let_a_tick_pass()

    tree, journal = make_v1_tree(tmp_path / "tree"), Journal(str(tmp_path / "state"))
    monkeypatch.setattr(process_affinity, "Family", family_with(bear_one, deaf=deaf))
    target = PidTarget.resolve(TargetSpec("pid", str(parent.pid)), tree, cast("Any", None))
    mechanism = ProcessAffinityMechanism(
        Settings(), target, parent.pid, HostWriter(tree.files, journal), was_arranged=False
    )
    mechanism.arrange(cast("Any", None))
    given = [[ALLOWED[0]], ALLOWED]
    journal.expect({}, given=given)
    for pid in (parent.pid, *born):
        os.sched_setaffinity(pid, given[0])
    found = read_journal(journal.path)
    put_back(found.entries, tree.files, given=found.given)
    assert [os.sched_getaffinity(pid) for pid in (parent.pid, *born)] == [set(ALLOWED)] * 2
    mechanism.close()
    journal.close()
