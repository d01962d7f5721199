"""A guardian beside an agent whose loop beats and whose control plane does not.

The agent is a process of the test that journals like one; its loop's beats come from the test, as
they come from a thread that needs no interpreter.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.guardian.process import GuardianConfig, GuardianProcess
from smartharvest.guardian.verdict import Limits
from smartharvest.host.journal.places import page_path
from smartharvest.host.journal.shared_page import Phase, SharedPage
from tests.commands import LONGEST_S
from tests.integration.worlds import World, make_world

MS = 1_000_000
PATIENT = Limits(kill_after=300 * MS, hang_timeout=3_600_000 * MS)
"""Judges soon, kills never."""
SHORT = Limits(kill_after=300 * MS, hang_timeout=900 * MS)

BEGIN = """
import os, signal, sys, threading, time
from smartharvest.guardian import stacks
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.journal.writer import HostWriter
state, root, fifo = sys.argv[1:]
stacks.answer()
tree = CgroupTree.discover(root)
journal = Journal(state)
HostWriter(tree.files, journal).set(tree.group("batch").cpus_file, "7")
journal.expect({}, [(tree.group("batch").cpus_file, "7")])
journal.page.beat_as_agent()
journal.page.phase = Phase.RUNNING

def beat():
    print(journal.path, flush=True)
    while True:
        journal.page.beat_as_agent()
        time.sleep(0.01)

def the_place_where_it_hangs():
"""
SLEEPS = "    threading.Event().wait()"
SPINS = "    sys.setswitchinterval(3600)\n    while True: pass"
WAITS_IN_THE_KERNEL = (
    # vfork(2): the child's start waits for a reader's other end, and the parent for the child.
    "    os.posix_spawn('/bin/true', ['true'], {},"
    " file_actions=[(os.POSIX_SPAWN_OPEN, 9, fifo, os.O_RDONLY, 0)])"
)
END = """
print(journal.path, flush=True)
the_place_where_it_hangs()
beat()
"""

LOOP = """
import contextlib, os, sys, time
from smartharvest.host.journal.shared_page import SharedPage
with contextlib.suppress(OSError):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
slot = SharedPage(sys.argv[1]).beat_slot.cast("q")
for number in range(1 << 30):
    slot[0] = time.monotonic_ns()
    if not number:
        os.write(1, b".")
    time.sleep(0.005)
"""


class Silent:
    """A process that journals as an agent does and then falls silent; its loop beats on."""

    def __init__(self, world: World, where: str) -> None:
        self.world = world
        self.fifo = world.state_dir.parent / "fifo"
        os.mkfifo(self.fifo)
        self.errors = world.state_dir.parent / "errors"
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", BEGIN + where + END,
                 str(world.state_dir), world.tree.root, str(self.fifo)],
                stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        self.journal = self.process.stdout.readline().strip()
        self.page = SharedPage(page_path(self.journal))
        self._loop = subprocess.Popen(
            [sys.executable, "-c", LOOP, page_path(self.journal)], stdout=subprocess.PIPE
        )
        assert self._loop.stdout is not None
        self._loop.stdout.read(1)

    def guard(self, limits: Limits) -> threading.Thread:
        config = GuardianConfig(self.journal, self.world.tree.root, restores=True, limits=limits)
        guardian = threading.Thread(target=GuardianProcess(config).run)
        guardian.start()
        return guardian

    def said(self) -> str:
        return self.errors.read_text()

    def end(self) -> None:
        self.process.kill()
        if self.process.poll() is None:
            with open(os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK), "w"):
                self.process.wait(LONGEST_S)
        self._loop.kill()
        self._loop.communicate()
        assert self.process.stdout is not None
        self.process.stdout.close()


pytestmark = pytest.mark.timing


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, 2)


@pytest.fixture
def silent(world: World, request: pytest.FixtureRequest) -> Iterator[Silent]:
    one = Silent(world, request.param)
    try:
        yield one
    finally:
        one.end()


def hears(capfd: pytest.CaptureFixture[str], words: str) -> str:
    """What the guardian has said, once ``words`` are among it."""
    heard, deadline = "", time.monotonic() + LONGEST_S
    while words not in heard:
        assert time.monotonic() < deadline, heard
        heard += capfd.readouterr().err
        time.sleep(0.005)
    return heard


@pytest.mark.parametrize(
    ("silent", "cause"),
    [(SLEEPS, "it sleeps and is not woken"), (SPINS, "it runs and does not come round")],
    indirect=["silent"],
    ids=["asleep", "holding the interpreter"],
)
def test_a_control_plane_that_hangs_says_where_it_stands_and_is_killed_when_its_time_is_over(
    silent: Silent, cause: str, capfd: pytest.CaptureFixture[str]
) -> None:
    lent = silent.world.files()
    guardian = silent.guard(SHORT)
    guardian.join(LONGEST_S)
    assert not guardian.is_alive()
    assert silent.process.wait(LONGEST_S) == -signal.SIGKILL
    told = capfd.readouterr().err
    assert f"{cause}" in told
    assert "its threads stand here:" in told
    assert f"the agent (pid {silent.process.pid}) has hung for" in told
    assert "the_place_where_it_hangs" in silent.said()
    assert silent.world.files() != lent
    assert silent.world.journals() == []


@pytest.mark.parametrize("silent", [SLEEPS], indirect=True)
def test_a_control_plane_is_not_killed_before_its_time_while_the_loop_beats(
    silent: Silent, capfd: pytest.CaptureFixture[str]
) -> None:
    silent.guard(PATIENT)
    hears(capfd, "its threads stand here:")
    assert silent.page.silences == {
        "starved": 0, "blocked": 0, "hung": 1, "frozen": 0, "standstill": 0
    }  # fmt: skip
    assert silent.page.shrinks == 0  # the loop's own rules have given everything back
    assert silent.process.poll() is None


@pytest.mark.parametrize("silent", [WAITS_IN_THE_KERNEL], indirect=True)
def test_an_agent_in_state_d_is_never_killed_and_goes_on(
    silent: Silent, capfd: pytest.CaptureFixture[str]
) -> None:
    guardian = silent.guard(SHORT)
    told = hears(capfd, "(no signal ends that)")
    time.sleep(1)  # longer than a hang may last
    assert "has hung" not in told + capfd.readouterr().err
    assert silent.process.poll() is None
    assert silent.page.silences["blocked"] == 1
    with open(silent.fifo, "w"):  # what it waited for
        hears(capfd, "beats again after")
    assert guardian.is_alive()


@pytest.mark.parametrize("silent", [SLEEPS], indirect=True)
def test_cores_that_a_beating_loop_has_kept_are_taken_back(
    silent: Silent, capfd: pytest.CaptureFixture[str]
) -> None:
    file = silent.world.elastic.cpus_file
    silent.world.kernel.write(file, "2-7")
    silent.guard(PATIENT)
    hears(capfd, "the elastic side is at its minimum")
    assert silent.world.mask() == "7"


@pytest.mark.parametrize("silent", [SLEEPS], indirect=True)
def test_nothing_is_taken_back_from_an_agent_that_arranges(
    silent: Silent, capfd: pytest.CaptureFixture[str]
) -> None:
    silent.page.phase = Phase.ARRANGING
    silent.world.kernel.write(silent.world.elastic.cpus_file, "2-7")
    silent.guard(Limits(kill_after=100 * MS, hang_timeout=300 * MS)).join(LONGEST_S)
    told = capfd.readouterr().err
    assert "has hung for" in told
    assert "at its minimum" not in told
