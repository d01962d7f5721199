"""What an agent inherits from who starts it, by sudo or a script: it must not cost the host."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.host.process import tasks
from smartharvest.telemetry.client import ask, sockets
from tests.commands import LONGEST_S, as_command
from tests.integration.processes import wait_until
from tests.integration.worlds import World, make_world

MOST_FILES = 200


def without_standard_streams() -> None:
    os.closerange(0, 3)


def with_signals_ignored() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


def with_signals_blocked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def with_narrow_limits() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    for limit, most in ((resource.RLIMIT_CPU, 3600), (resource.RLIMIT_FSIZE, 1 << 20)):
        resource.setrlimit(limit, (most, resource.getrlimit(limit)[1]))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))


def with_files_that_anybody_may_write() -> None:
    os.umask(0)


def with_files_that_nobody_may_read() -> None:
    os.umask(0o777)


def in_a_directory_that_is_gone() -> None:
    gone = tempfile.mkdtemp()
    os.chdir(gone)
    os.rmdir(gone)


def below_everybody_else() -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.nice(19)


ENDS, DIES = signal.SIGTERM, signal.SIGKILL


@pytest.mark.rights
@pytest.mark.timing
@pytest.mark.parametrize(
    ("inherit", "number"),
    [
        (without_standard_streams, ENDS),
        (without_standard_streams, DIES),
        (with_signals_ignored, ENDS),
        (with_signals_blocked, ENDS),
        (with_narrow_limits, DIES),
        (with_files_that_anybody_may_write, ENDS),
        (with_files_that_nobody_may_read, DIES),
        (in_a_directory_that_is_gone, DIES),
        (below_everybody_else, ENDS),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_an_agent_gives_back_whatever_it_inherits(
    tmp_path: Path, inherit: Callable[[], None], number: signal.Signals
) -> None:
    world = make_world(tmp_path, 2)
    before = world.files()
    agent = start(world, inherit)
    try:
        wait_until(lambda: agent.poll() is not None or answers(world), lambda: "it never answers")
        assert agent.poll() is None
        for stream in (0, 1, 2):
            assert not opened(agent.pid, stream).startswith(str(tmp_path)), "a file of its own"
        assert not set(limits_of(guardian_of(agent.pid))) & {"Max cpu time", "Max file size"}
        agent.send_signal(number)
        agent.wait(LONGEST_S)
    finally:
        agent.kill()
        agent.wait()
    assert agent.returncode in (0, -signal.SIGKILL)
    wait_until(lambda: world.journals() == [], world.journals)
    assert world.files() == before


def start(world: World, inherit: Callable[[], None]) -> subprocess.Popen[bytes]:
    command = ["agent", *world.arguments, *world.targets, "--model", "off"]
    return subprocess.Popen(as_command(command), preexec_fn=inherit)  # noqa: PLW1509


def answers(world: World) -> bool:
    return any(ask(path, "status", {})["pid"] for path in sockets(str(world.state_dir)))


def opened(pid: int, descriptor: int) -> str:
    return os.readlink(f"/proc/{pid}/fd/{descriptor}")


def guardian_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (guardian,) = (int(one) for one in children if tasks.name(int(one)) == "sh-guardian")
    return guardian


def limits_of(pid: int) -> list[str]:
    """What the process is not unlimited in, as the kernel calls it."""
    _, *lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return [line[:25].strip() for line in lines if line[25:].split()[0] != "unlimited"]
