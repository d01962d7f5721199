"""The ``strict`` mechanism on a kernel that has sched_ext."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process.policy import SCHED_EXT, is_ext, policy_of, set_policy
from smartharvest.host.sched_ext import state
from smartharvest.host.sched_ext.loader import NAME, Loaded, loaded
from tests.integration.hosts import Host
from tests.integration.processes import Processes, wait_until

pytestmark = [
    pytest.mark.timing,
    pytest.mark.lab,
    pytest.mark.skipif(
        not Path("/sys/kernel/sched_ext").exists(), reason="this kernel has no sched_ext"
    ),
]
STRICT = ("--mechanism", "strict")


def are_ext(group: Group) -> bool:
    return all(is_ext(policy_of(tid)) for tid in group.tasks())


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_every_end_gives_the_policies_back(
    host: Host, processes: Processes, how: signal.Signals
) -> None:
    before = {tid: policy_of(tid) for tid in host.batch.tasks()}
    agent = processes.agent(*host.state, *host.targets, *STRICT)
    agent.wait_until(lambda: loaded() == NAME and are_ext(host.batch))
    agent.send(how)
    wait_until(lambda: {tid: policy_of(tid) for tid in host.batch.tasks()} == before)
    assert loaded() is None


def test_a_scheduler_that_is_there_is_respected_and_named(host: Host, processes: Processes) -> None:
    with Loaded() as other:
        state.control(other.memory, slice_ns=20_000_000, hold_ns=100_000, gate=True)
        other.attach()
        before = host.files()
        outcome = processes.agent(*host.state, *host.targets, *STRICT).outcome()
        assert outcome.code == 4
        assert f"another sched_ext scheduler is loaded: {NAME}" in outcome.err
        assert host.files() == before
        assert not any(is_ext(policy_of(tid)) for tid in host.batch.tasks())


def test_a_scheduler_that_somebody_ends_is_loaded_again(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets, *STRICT)
    agent.wait_until(lambda: loaded() == NAME)
    Path("/proc/sysrq-trigger").write_text("S")
    agent.wait_until(lambda: loaded() is None)
    agent.wait_until(lambda: loaded() == NAME)
    assert are_ext(host.batch)
    assert agent.send(signal.SIGTERM).code == 0


WEIGHTS = (100, 100, 200, 200, 50, 50, 400, 100)
TASKS = 8
"""Of each group."""


def test_groups_share_by_weight() -> None:
    root = Path("/sys/fs/cgroup")
    groups = [root / f"weighted-{i}" for i in range(len(WEIGHTS))]
    spinning = []
    try:
        for group, weight in zip(groups, WEIGHTS, strict=True):
            group.mkdir()
            (group / "cpu.weight").write_text(str(weight))
            for _ in range(TASKS):
                spinner = subprocess.Popen(["sh", "-c", "while :; do :; done"])
                spinning.append(spinner)
                (group / "cgroup.procs").write_text(str(spinner.pid))
                set_policy(spinner.pid, SCHED_EXT)
        with Loaded() as ours:
            state.control(ours.memory, slice_ns=2_000_000, hold_ns=100_000, gate=True)
            ours.attach()
            wait_until(lambda: state.counts(ours.memory).runnable == len(spinning))
            before = [_used_us(group) for group in groups]
            time.sleep(2.0)
            used = [_used_us(group) - was for group, was in zip(groups, before, strict=True)]
    finally:
        for spinner in spinning:
            spinner.kill()
            spinner.wait()
        for group in groups:
            if group.exists():
                group.rmdir()
    fair = [sum(used) * weight / sum(WEIGHTS) for weight in WEIGHTS]
    assert used == pytest.approx(fair, rel=0.05)


def _used_us(group: Path) -> int:
    words = (group / "cpu.stat").read_text().split()
    return int(words[words.index("usage_usec") + 1])
