"""The ``strict`` mechanism on a kernel that has sched_ext."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
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
CROWDED = (*STRICT, "--policy", "everywhere", "--no-guardian")
"""Emulated, a guardian takes longer to come up beside many that compute than it may."""


@contextmanager
def in_force(slice_ns: int = 20_000_000, spare: int = 0) -> Iterator[Loaded]:
    """The scheduler without an agent."""
    with Loaded() as scheduler:
        state.control(
            scheduler.memory,
            slice_ns=slice_ns,
            keep_preempted=scheduler.calls_back,
            spare={frozenset(CPUS): spare},
        )
        scheduler.attach()
        yield scheduler


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


def test_only_who_leaves_the_class_is_counted_and_not_who_ends(processes: Processes) -> None:
    with in_force() as scheduler:
        leaves, ends = processes.spinning(), processes.spinning()
        for pid in (leaves, ends):
            set_policy(pid, SCHED_EXT)
        os.kill(ends, signal.SIGKILL)
        wait_until(lambda: state.counts(scheduler.memory).runnable == 1)
        assert state.counts(scheduler.memory).left == 0
        set_policy(leaves, os.SCHED_BATCH)
        assert state.counts(scheduler.memory).left == 1


def test_a_scheduler_that_is_there_is_respected_and_named(host: Host, processes: Processes) -> None:
    with in_force():
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


def test_a_cpu_may_go_and_come_while_the_batch_runs_there(host: Host, processes: Processes) -> None:
    online = host.tree.online_cpus()
    switch = Path(f"/sys/devices/system/cpu/cpu{max(online)}/online")
    for _ in online:
        host.place(processes.spinning(), host.batch)
    agent = processes.agent(*host.state, *host.targets, *CROWDED)
    agent.wait_until(lambda: loaded() == NAME and are_ext(host.batch))
    try:
        switch.write_text("0")
        agent.wait_until(lambda: max(online) not in host.batch.effective_cpus())
    finally:
        switch.write_text("1")
    agent.wait_until(lambda: loaded() == NAME and are_ext(host.batch))
    assert agent.send(signal.SIGTERM).code == 0
    assert loaded() is None
    assert not any(is_ext(policy_of(tid)) for tid in host.batch.tasks())


SLEEP, REHEARSAL = Path("/sys/power/state"), Path("/sys/power/pm_test")


@pytest.mark.skipif(not REHEARSAL.exists(), reason="this kernel cannot rehearse sleeping")
def test_a_host_may_sleep_while_the_batch_runs(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets, *CROWDED)
    agent.wait_until(lambda: loaded() == NAME and are_ext(host.batch))
    agent.wait_until(lambda: len(host.batch.effective_cpus()) > 1)
    REHEARSAL.write_text("processors")  # all but waiting for somebody to wake it
    SLEEP.write_text("mem")
    assert loaded() == NAME
    agent.wait_until(lambda: len(host.batch.effective_cpus()) > 1)
    assert are_ext(host.batch)
    assert agent.send(signal.SIGTERM).code == 0
    assert loaded() is None
    assert not any(is_ext(policy_of(tid)) for tid in host.batch.tasks())


# --- who runs -------------------------------------------------------------------------------------

SERVERS = Path("/sys/kernel/debug/sched/ext_server")
CPUS = sorted(os.sched_getaffinity(0))
SPIN = "while :; do :; done"
MEASURED_S = 2.0


class Batch:
    """Tasks in SCHED_EXT that only compute, by groups."""

    def __init__(self, name: str, weights: Sequence[int], tasks: int) -> None:
        root = Path("/sys/fs/cgroup")
        self.groups = [root / f"{name}-{i}" for i in range(len(weights))]
        self._parents: list[subprocess.Popen[bytes]] = []
        self.count = len(weights) * tasks
        for group, weight in zip(self.groups, weights, strict=True):
            group.mkdir()
            (group / "cpu.weight").write_text(str(weight))
            # The first waits in the group for a line, the others for the end of the input.
            begin = f"read go; exec 3<&0; for _ in $(seq {tasks}); do (read go <&3; {SPIN}) & done"
            parent = subprocess.Popen(["sh", "-c", f"{begin}; wait"], stdin=subprocess.PIPE)
            self._parents.append(parent)
            (group / "cgroup.procs").write_text(str(parent.pid))
            assert parent.stdin is not None
            parent.stdin.write(b"go\n")
            parent.stdin.flush()

    def start(self, scheduler: Loaded) -> None:
        wait_until(lambda: len(self.tasks()) == self.count)
        for task in self.tasks():
            set_policy(task, SCHED_EXT)
        for parent in self._parents:
            assert parent.stdin is not None
            parent.stdin.close()
        wait_until(lambda: state.counts(scheduler.memory).runnable >= self.count)

    def tasks(self) -> list[int]:
        parents = {parent.pid for parent in self._parents}
        pids = (int(pid) for group in self.groups for pid in _words(group / "cgroup.procs"))
        return [pid for pid in pids if pid not in parents]

    def end(self) -> None:
        for group in self.groups:
            (group / "cgroup.kill").write_text("1")
        for parent in self._parents:
            parent.wait()
        for group in self.groups:
            wait_until(partial(_is_empty, group))
            group.rmdir()


@contextmanager
def running(
    name: str, weights: Sequence[int], tasks: int, slice_ns: int, spare: int = 0
) -> Iterator[Batch]:
    batch = Batch(name, weights, tasks)
    try:
        with in_force(slice_ns, spare) as scheduler:
            batch.start(scheduler)
            yield batch
    finally:
        batch.end()


def used_meanwhile(tasks: Sequence[int], seconds: float = MEASURED_S) -> tuple[list[float], float]:
    """CPU seconds of each task, and how long it really was."""
    began_s, before = time.monotonic(), [_ran_s(task) for task in tasks]
    time.sleep(seconds)
    used = [_ran_s(task) - was for task, was in zip(tasks, before, strict=True)]
    return used, time.monotonic() - began_s


WEIGHTS = (100, 100, 200, 200, 50, 50, 400, 100)
TASKS = 125
"""Of each group."""


def test_a_thousand_tasks_in_eight_groups_share_by_weight() -> None:
    """The host may hold up a turn, which is small beside the least share only after seconds."""
    with running("weighted", WEIGHTS, TASKS, 2_000_000) as batch:
        before = [_used_us(group) for group in batch.groups]
        time.sleep(4 * MEASURED_S)
        used = [_used_us(group) - was for group, was in zip(batch.groups, before, strict=True)]
    fair = [sum(used) * weight / sum(WEIGHTS) for weight in WEIGHTS]
    assert used == pytest.approx(fair, rel=0.05)


def test_no_task_waits_while_a_cpu_is_idle() -> None:
    with running("fewer", (100,), len(CPUS) - 1, 20_000_000) as batch:
        used, took_s = used_meanwhile(batch.tasks())
    assert min(used) > 0.8 * took_s


def test_a_task_that_was_displaced_for_long_gets_its_share_elsewhere(processes: Processes) -> None:
    """With one task a CPU nobody is idle when it is displaced, and it waits there."""
    with running("displaced", (100,), len(CPUS), 20_000_000) as batch:
        os.sched_setaffinity(processes.spinning(), CPUS[-1:])
        used, took_s = used_meanwhile(batch.tasks(), 2 * MEASURED_S)
    assert min(used) > 0.6 * took_s * (len(CPUS) - 1) / len(CPUS)


def test_a_task_that_was_displaced_goes_where_a_cpu_becomes_idle(processes: Processes) -> None:
    with running("freed", (100,), len(CPUS), 20_000_000) as batch:
        os.sched_setaffinity(processes.spinning(), CPUS[-1:])
        time.sleep(0.5)
        tasks = batch.tasks()
        os.kill(tasks[0], signal.SIGKILL)
        time.sleep(0.5)
        used, took_s = used_meanwhile(tasks[1:])
    assert min(used) > 0.8 * took_s


def test_a_cpu_is_kept_idle_while_another_is_taken(processes: Processes) -> None:
    with running("spare", (100,), len(CPUS), 20_000_000, spare=1) as batch:

        def most_cpus_used() -> float:
            """Disturbances only take some away."""
            looks = (used_meanwhile(batch.tasks(), MEASURED_S / 4) for _ in range(8))
            return max(sum(used) / took_s for used, took_s in looks)

        assert most_cpus_used() > len(CPUS) - 1
        spinner = processes.spinning()
        os.sched_setaffinity(spinner, CPUS[:1])
        assert len(CPUS) - 3 < most_cpus_used() < len(CPUS) - 1.4
        os.kill(spinner, signal.SIGKILL)
        assert most_cpus_used() > len(CPUS) - 1


@pytest.fixture
def no_server() -> Iterator[None]:
    """The kernel gives sched_ext no time where normal tasks want all."""
    if not SERVERS.exists():
        subprocess.run(["mount", "-t", "debugfs", "none", "/sys/kernel/debug"], check=True)
    files = sorted(SERVERS.glob("cpu*/runtime"))
    before = [file.read_text() for file in files]
    for file in files:
        file.write_text("0")
    yield
    for file, was in zip(files, before, strict=True):
        file.write_text(was)


@pytest.mark.usefixtures("no_server")
def test_a_batch_that_starves_is_given_back_before_the_kernel_does_it(
    host: Host, processes: Processes
) -> None:
    agent = processes.agent(*host.state, *host.targets, *CROWDED)
    agent.wait_until(lambda: loaded() == NAME and are_ext(host.batch))
    # Only a loop that runs lends; who starts beside so many that compute takes longer than 30 s.
    agent.wait_until(lambda: len(host.batch.effective_cpus()) > 1)
    for cpu in CPUS:
        spinner = processes.start(["sh", "-c", SPIN]).pid
        os.sched_setaffinity(spinner, [cpu])
    agent.wait_until(lambda: loaded() is None)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0
    assert "since the primaries use all" in outcome.err, outcome.err[-1200:]


def _ran_s(task: int) -> float:
    return int(_words(Path(f"/proc/{task}/schedstat"))[0]) / 1e9


def _is_empty(group: Path) -> bool:
    return not _words(group / "cgroup.procs")


def _words(path: Path) -> list[str]:
    return path.read_text().split()


def _used_us(group: Path) -> int:
    words = _words(group / "cpu.stat")
    return int(words[words.index("usage_usec") + 1])
