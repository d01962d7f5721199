"""What a user without rights does to an agent on this machine's own control groups is harmless."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.telemetry.client import ask, socket_path
from tests.integration.hosts import Host, need_a_free_cpu
from tests.integration.intruder import GID, UID, as_nobody, nobody_keeps
from tests.integration.intrusions import told_in_lines
from tests.integration.processes import Processes

pytestmark = pytest.mark.timing


@pytest.mark.root
def test_a_crowd_of_pinned_threads_leaves_the_agent_of_a_host_alone(
    processes: Processes, tmp_path: Path
) -> None:
    """Many sleep on the CPUs that the agent lends."""
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)

    def crowd() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 18, 1 << 18))
        threading.stack_size(1 << 16)
        own_cpu = max(os.sched_getaffinity(0))
        for _ in range(300):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        ctypes.CDLL(None).prctl(15, b"`id`\nsmarthar", 0, 0, 0)  # PR_SET_NAME
        for tid in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(tid), {own_cpu})

    try:
        host.populate()
        before = host.files()
        with nobody_keeps(crowd):
            agent = processes.agent(*host.targets, *host.state, "--model", "off", "--lend-shared")
            path = socket_path(str(host.state_dir), agent.pid)
            agent.wait_until(lambda: os.path.exists(path))
            agent.wait_until(lambda: ask(path, "status", {}, 30.0)["loop"]["windows"] > 40)
            ended = agent.send(signal.SIGINT)
        assert ended.code == 0, ended.err
        told_in_lines(ended.err)
        assert host.files() == before
    finally:
        host.remove()


@pytest.mark.root
def test_groups_that_are_nested_without_end_end_no_agent(
    processes: Processes, tmp_path: Path
) -> None:
    """By whom the batch's group was delegated to."""
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)
    try:
        host.populate()
        before = host.files()
        agent = processes.agent(*host.targets, *host.state, "--model", "off", "--lend-shared")
        path = socket_path(str(host.state_dir), agent.pid)
        agent.wait_until(lambda: os.path.exists(path))
        os.chown(host.batch.path, UID, GID)
        with nested(host.batch.path, "d", 1200):
            windows = ask(path, "status", {}, 30.0)["loop"]["windows"]
            agent.wait_until(
                lambda: ask(path, "status", {}, 30.0)["loop"]["windows"] > windows + 80
            )
            ended = agent.send(signal.SIGINT)
        assert ended.code == 0, ended.err
        assert host.files() == before
    finally:
        host.remove()


@contextlib.contextmanager
def nested(place: str, name: str, depth: int) -> Iterator[None]:
    """Meanwhile nobody's directories stand in ``place``, each in the one before."""

    def nest() -> None:
        at = os.open(place, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=at)
            at, above = os.open(name, os.O_RDONLY, dir_fd=at), at
            os.close(above)

    try:
        assert as_nobody(nest) is None
        yield
    finally:
        flatten = ("find", place, "-mindepth", "1", "-type", "d", "-delete")
        subprocess.run(flatten, check=False)
