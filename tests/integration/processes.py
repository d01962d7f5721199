"""Agents and those they manage as real processes, each of which a test ends by its pid.

Where they meet no real control group, commands of ours are copies of this process
(``commands.instead_of``). ``commands.smartharvest`` starts them as a user does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import smartharvest.agent.lifecycle
import smartharvest.algorithm.learning.csoaa_vw
import smartharvest.cli.agent  # noqa: F401  # each copy has them
from smartharvest.core import _sensors
from smartharvest.telemetry.client import sockets
from tests.commands import EMULATED, LONGEST_S, Outcome, as_command, instead_of
from tests.integration.worlds import World

ASLEEP = ("sleep", "86400")
SPINNING = ("nice", "-n", "19", "sh", "-c", "while :; do :; done")
RESTLESS = ("nice", "-n", "19", "bash", "-c", "while :; do read -t 0.01; done")


def need_bpf() -> None:
    """Skips the test where the in-kernel sensor cannot be."""
    try:
        _sensors.BpfSensor([("pid", os.getpid(), 0)], [1]).close()
    except OSError as error:
        pytest.skip(f"no BPF here: {error.strerror}")


def wait_until(what: Callable[[], bool], because: Callable[[], object] = str) -> None:
    """Returns once ``what`` holds; fails the test, saying ``because()``, if it never does."""
    deadline = time.monotonic() + LONGEST_S
    while not what():
        assert time.monotonic() < deadline, because()
        time.sleep(0.005)


class Processes:
    """Starts processes and ends them all, by pid, when a test is over."""

    def __init__(self, *, copied: bool = False) -> None:
        self._copied = copied or EMULATED
        self._started: list[subprocess.Popen[str]] = []

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            preexec_fn=instead_of(command, copied=self._copied),  # noqa: PLW1509
        )
        self._started.append(process)
        return process

    def python(self, program: str) -> subprocess.Popen[str]:
        return self.start([sys.executable, "-c", program])

    def asleep(self) -> int:
        return self.start(ASLEEP).pid

    def spinning(self) -> int:
        return self.start(SPINNING).pid

    def busy(self) -> int:
        """One that runs often, and always where that costs the others nothing."""
        return self.start(RESTLESS if EMULATED else SPINNING).pid

    def start_command(self, *arguments: str) -> subprocess.Popen[str]:
        return self.start(as_command(arguments))

    def agent(self, *arguments: str) -> RunningAgent:
        return RunningAgent(self.start(as_command(["agent", *arguments])))

    def end(self) -> None:
        for process in self._started:
            process.kill()
        while self._started:
            self._started.pop().communicate()


class RunningAgent:
    """``smartharvest agent`` as a user has it in a terminal."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def wait_until(self, what: Callable[[], bool]) -> None:
        """Returns once ``what`` holds, which it must before the agent ends."""

        def holds() -> bool:
            code = self._process.poll()
            assert code is None, (code, *self._process.communicate())
            return what()

        wait_until(holds, lambda: "the agent runs but does not do it")

    def send(self, number: signal.Signals) -> Outcome:
        os.kill(self.pid, number)
        return self.outcome()

    def outcome(self) -> Outcome:
        """How it ended, once it has."""
        out, err = self._process.communicate(timeout=LONGEST_S)
        return Outcome(self._process.returncode, out, err)


def wait_for_sockets(agent: RunningAgent, world: World) -> list[str]:
    """Where the agents of ``world`` listen, once there is one."""
    agent.wait_until(lambda: bool(sockets(str(world.state_dir))))
    return sockets(str(world.state_dir))


def times_without_primaries(audit_log: Path) -> int:
    """How often the agent has seen the last of its primaries go, as its audit log has it.

    That nothing is lent at a moment does not tell: it is so whenever they are busy, too.
    """
    text = audit_log.read_text() if audit_log.exists() else ""
    whole_lines = text[: text.rfind("\n") + 1].splitlines()
    records = [json.loads(line) for line in whole_lines]
    return sum(one["kind"] == "primaries" and not one["now"] for one in records)
