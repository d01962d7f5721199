"""Several elastic groups on this machine's own hierarchies."""

from __future__ import annotations

import json
import os
import signal

import pytest

from smartharvest.host.cgroup.tree import Group
from tests.commands import smartharvest_here
from tests.integration.hosts import Host
from tests.integration.processes import Processes, wait_until

pytestmark = [pytest.mark.timing, pytest.mark.root]
NAMES = ("one", "two", "three")


@pytest.fixture
def groups(host: Host, processes: Processes) -> dict[str, Group]:
    """Three groups with a task that spins each, below one that has none."""
    above = host.make("shared")
    if host.tree.version == 2:
        controllers = f"{above.path}/cgroup.subtree_control"
        host.tree.files.write(controllers, "+cpuset +cpu")
    host.charge(above)
    made = {name: host.make(f"shared/{name}") for name in NAMES}
    for group in made.values():
        host.place(processes.busy(), group)
        host.charge(group)
    return made


def targets(host: Host, groups: dict[str, Group]) -> list[str]:
    named = [part for one in groups.values() for part in ("--elastic", f"cgroup:{one}")]
    return ["--primary", f"cgroup:{host.web}", *named, "--sensor", "proc", "--lend-shared"]


def confined(host: Host, groups: dict[str, Group]) -> bool:
    """The group above them has fewer CPUs than this machine, and so does each."""
    online = host.tree.online_cpus()
    return all(one.effective_cpus() < online for one in groups.values())


@pytest.mark.parametrize("guarded", [True, False], ids=["guardian", "restore"])
def test_three_groups_are_free_after_a_kill(
    host: Host, processes: Processes, groups: dict[str, Group], guarded: bool
) -> None:
    before = host.files()
    agent = processes.agent(
        *host.state, *targets(host, groups), "--guardian" if guarded else "--no-guardian"
    )
    agent.wait_until(lambda: confined(host, groups))
    agent.send(signal.SIGKILL)
    if not guarded:
        assert smartharvest_here("restore", *host.state).code == 0
    wait_until(lambda: host.files() == before)
    for group in groups.values():
        assert all(os.sched_getaffinity(t) == host.tree.online_cpus() for t in group.tasks())


def test_each_group_has_its_throughput_in_the_status(
    host: Host, processes: Processes, groups: dict[str, Group]
) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *targets(host, groups))
    rows: list[dict[str, object]] = []

    def measured() -> bool:
        outcome = smartharvest_here("status", "--json", *host.state)
        rows[:] = [row for one in json.loads(outcome.out)["agents"] for row in one["elastic"]]
        return bool(rows) and all(row["throughput"] is not None for row in rows)

    agent.wait_until(measured)
    assert [row["name"] for row in rows] == list(NAMES)
    assert {row["throughput_by"] for row in rows} == {"CPU time"}
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before
