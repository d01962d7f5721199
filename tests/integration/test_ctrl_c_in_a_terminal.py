"""Ctrl-C in a terminal ends what runs until it is ended, without a traceback."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.telemetry.client import sockets
from tests.commands import LONGEST_S, as_command
from tests.integration.processes import Processes
from tests.integration.test_page_of_an_agent import free_address
from tests.integration.worlds import World
from tests.unit.cluster.test_yarn_node import NODE, made_manager

pytestmark = pytest.mark.timing

WAITING = {
    "agent": "Lending",
    "agent --dry-run": "Dry run",
    "dashboard": "The page is at",
    "top": "q quit",
    "status --watch": "sensor",
    "metrics --textfile": "",
    "adapter slurm": "advertised",
    "adapter htcondor": "advertised",
    "adapter yarn": "advertised",
}
"""Command -> a word that it shows once it waits."""

SLURM = """#!/bin/sh
[ "${0##*/}" = squeue ] || echo 'NodeName=n PartitionName=p MaxCPUsPerNode=4 Gres=h:4'
"""


CONDOR_STATUS = r"""#!/bin/sh
case "$*" in
    *MyAddress*) echo '<127.0.0.1:9618>' ;;
    *)
        seen=$(sed -n 's/^\(Harvest[A-Za-z]*\) = \([0-9]*\)$/"\1": \2/p' ADVERTISEMENT |
            paste -sd,)
        echo "[{${seen:+$seen, }\"SlotType\": \"Partitionable\"}]"
        ;;
esac
"""


@pytest.fixture
def version() -> int:
    return 2


@pytest.fixture
def page() -> Iterator[str]:
    """Of a double of YARN's ResourceManager."""
    with made_manager() as (_, address):
        yield address


@pytest.fixture
def advertisement() -> Iterator[str]:
    """A file where every user gets."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        yield f"{directory}/harvest.ad"


def typed(name: str, world: World, tmp_path: Path, page: str, advertisement: str) -> list[str]:
    state = ("--state-dir", str(world.state_dir))
    match name.split():
        case ["agent", *more]:
            return ["agent", *more, *world.arguments, *world.targets]
        case ["dashboard"]:
            return ["dashboard", "--listen", free_address(), *state]
        case ["status", *more]:
            return ["status", *more, "--every", "0.1", *state]
        case ["metrics", *more]:
            return ["metrics", *more, str(tmp_path / "made.prom"), "--every", "1s", *state]
        case ["adapter", "slurm"]:
            return ["adapter", "slurm", "--node", "n", "--partition", "p", *state]
        case ["adapter", "htcondor"]:
            return ["adapter", "htcondor", "--machine", "n7", "--file", advertisement, *state]
        case ["adapter", "yarn"]:
            return ["adapter", "yarn", "--page", page, "--node", NODE, *state]
        case other:
            return [*other, *state]


class OnTerminal:
    """A command whose controlling terminal is a new one."""

    def __init__(self, command: list[str], path: str) -> None:
        self._ours, theirs = pty.openpty()

        def take() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=take, env={**os.environ, "PATH": path, "TERM": "xterm"},  # noqa: PLW1509
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def read_until(self, word: str | None) -> None:
        """Until ``word`` is shown; None: until the terminal is closed."""
        until_s = time.monotonic() + LONGEST_S
        while word is None or word not in self.shown:
            assert time.monotonic() < until_s, self.shown
            if not select.select([self._ours], [], [], 1.0)[0]:
                continue
            try:
                read = os.read(self._ours, 65536)
            except OSError:  # its last user has ended
                read = b""
            if not read:
                assert word is None, self.shown
                return
            self.shown += read.decode(errors="replace")

    def press_ctrl_c(self) -> None:
        os.write(self._ours, b"\x03")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.mark.parametrize("name", WAITING)
def test_it_ends_without_a_traceback(
    name: str, world: World, processes: Processes, tmp_path: Path, page: str, advertisement: str
) -> None:
    word = WAITING[name]
    if name.partition(" ")[0] != "agent":
        agent = processes.agent(*world.arguments, *world.targets)
        agent.wait_until(lambda: bool(sockets(str(world.state_dir))))
    tools = tmp_path / "tools"
    tools.mkdir()
    condor_status = CONDOR_STATUS.replace("ADVERTISEMENT", advertisement)
    for tool in ("scontrol", "squeue", "condor_status"):
        (tools / tool).write_text(condor_status if tool == "condor_status" else SLURM)
        (tools / tool).chmod(0o755)
    on = OnTerminal(
        as_command(typed(name, world, tmp_path, page, advertisement)),
        f"{tools}:{os.environ['PATH']}",
    )
    try:
        if word:
            on.read_until(word)
        else:
            while not (tmp_path / "made.prom").exists():
                assert on.process.poll() is None
                time.sleep(0.01)
        on.press_ctrl_c()
        on.read_until(None)
        # The agent has an end of its own; others may have been interrupted while they began.
        codes = (0,) if name == "agent" else (0, 130)
        assert on.process.wait(LONGEST_S) in codes, on.shown
        assert "Traceback" not in on.shown
    finally:
        on.close()
