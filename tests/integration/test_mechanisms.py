"""Mechanisms that leave the elastic group's cpuset alone: on fake trees and on this host."""

from __future__ import annotations

import errno
import os
import re
import signal
from dataclasses import replace

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core._confine import give_back
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host import kernels
from smartharvest.host.target.spec import TargetSpec
from tests.commands import smartharvest_here
from tests.integration.hosts import Host
from tests.integration.processes import Processes, wait_until
from tests.integration.supervisors import Script, after, run_until, settings_for
from tests.integration.worlds import World

pytestmark = pytest.mark.timing


def splits_of(world: World) -> dict[str, str]:
    """Name of a split's group -> its mask."""
    batch = world.elastic.path
    return {
        name: world.kernel.read(f"{batch}/{name}/cpuset.cpus").strip()
        for name in world.kernel.subdirectories(batch)
    }


# --- cpugroups on fake trees ----------------------------------------------------------------------


def test_the_tasks_are_in_the_group_of_the_split_and_come_back(world: World) -> None:
    before = world.files()
    (worker,) = world.elastic.tasks()
    inside = f"{world.elastic.path}/smartharvest-split-3"

    def there(window: Window, _decision: Decision) -> bool:
        listing = "tasks" if world.tree.version == 1 else "cgroup.threads"
        return window.primary_cores == 5 and str(worker) in world.kernel.read(f"{inside}/{listing}")

    settings = settings_for(world, mechanism="cpugroups", primary=(TargetSpec("cgroup", "quiet"),))
    world.add_group("quiet")
    before = world.files()
    with Supervisor(settings) as session:
        run_until(session, Script(5), there)
        assert splits_of(world)["smartharvest-split-3"] == "5-7"
        assert len(splits_of(world)) == 1 + session.capacity.max_shared
    assert world.files() == before


def test_who_joins_the_elastic_group_comes_along(world: World, processes: Processes) -> None:
    world.add_group("quiet")
    settings = settings_for(world, mechanism="cpugroups", primary=(TargetSpec("cgroup", "quiet"),))
    late = processes.asleep()
    joined = False

    def come_along(_window: Window, _decision: Decision) -> bool:
        nonlocal joined
        listing = "tasks" if world.tree.version == 1 else "cgroup.procs"
        if not joined:
            world.kernel.write(f"{world.elastic.path}/{listing}", str(late))
            joined = True
        inside = set(world.elastic.tasks())
        outer = world.kernel.read(world.elastic.tasks_file).split()
        return late in inside and str(late) not in outer

    with Supervisor(settings) as session:
        run_until(session, Script(5), come_along)
    assert str(late) in world.kernel.read(world.elastic.tasks_file).split()


def test_many_cores_change_hands_in_steps(quiet_world: World) -> None:
    settings = settings_for(quiet_world, mechanism="cpugroups", elastic_min=0)
    with Supervisor(settings) as session:
        coarse = session.capacity.in_steps(4)
    assert len({coarse.elastic_cpus(n) for n in range(coarse.max_harvest + 1)}) <= 4
    assert coarse.max_harvest == 6  # of 7, in steps of three
    assert [coarse.whole_harvest(n) for n in (2, 3, 5, 6)] == [0, 3, 3, 6]


def test_what_cannot_be_is_refused_with_nothing_changed(quiet_world: World) -> None:
    world = quiet_world
    settings = settings_for(world, mechanism="cpugroups")
    before = world.files()
    for wrong, why in (
        ({"placement": "exclusive"}, "cannot place exclusively"),
        ({"park": "freeze"}, "cannot freeze"),
        ({"mechanism": "affinity"}, "needs a real host"),
    ):
        with pytest.raises(ConfigError, match=why):
            Supervisor(replace(settings, **wrong)).__enter__()  # type: ignore[arg-type]
    assert world.files() == before
    world.kernel.mkdir(f"{world.elastic.path}/job")
    with pytest.raises(TargetError, match="has groups below it, such as job"):
        Supervisor(settings).__enter__()


def test_groups_of_splits_do_not_make_the_loop_start_anew(world: World) -> None:
    with Supervisor(settings_for(world, mechanism="cpugroups")) as session:
        assert session.arrangement.poll() == session.arrangement.snapshot
        run_until(session, Script(5), after(3))


# --- on this host ---------------------------------------------------------------------------------

PLAIN = ("--sensor", "proc")


def _free(pid: int) -> bool:
    """No affinity of its own: it follows its cpuset."""
    return os.sched_getaffinity(pid) == set(range(os.cpu_count() or 1))


@pytest.mark.root
def test_affinities_are_narrowed_and_the_cpuset_is_not(host: Host, processes: Processes) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, *PLAIN, "--mechanism", "affinity")
    agent.wait_until(lambda: len(os.sched_getaffinity(host.worker)) == 1)
    assert host.tree.files.read(host.batch.cpus_file) in map(bytes.decode, before.values())
    late = host.place(processes.spinning(), host.batch)
    wait_until(lambda: len(os.sched_getaffinity(late)) == 1)
    assert agent.send(signal.SIGTERM).code == 0
    assert _free(host.worker)
    assert _free(late)


@pytest.mark.root
def test_affinities_come_back_after_a_kill(host: Host, processes: Processes) -> None:
    last = max(host.tree.online_cpus())
    own = host.place(processes.spinning(), host.batch)
    os.sched_setaffinity(own, {last})
    agent = processes.agent(
        *host.state, *host.targets, *PLAIN, "--mechanism", "affinity", "--no-guardian"
    )
    agent.wait_until(lambda: len(os.sched_getaffinity(host.worker)) == 1)
    agent.send(signal.SIGKILL)
    outcome = smartharvest_here("restore", *host.state)
    assert outcome.code == 0, outcome.err
    assert _free(host.worker)
    assert os.sched_getaffinity(own) == {last}


@pytest.mark.root
def test_a_thread_that_was_free_follows_its_cpuset_again(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets, *PLAIN, "--mechanism", "affinity")
    agent.wait_until(lambda: len(os.sched_getaffinity(host.worker)) == 1)
    agent.send(signal.SIGTERM)
    everything = host.tree.files.read(host.batch.cpus_file)
    for mask in (str(min(host.tree.online_cpus())), everything):
        host.tree.files.write(host.batch.cpus_file, mask)
    assert _free(host.worker)


@pytest.mark.root
def test_a_pin_outlasts_that_somebody_else_narrows_the_cpuset_while_it_is_given_back(
    host: Host, processes: Processes
) -> None:
    if not kernels.has(kernels.USER_CPUS_PTR):
        pytest.skip("needs Linux 6.2: the kernel drops affinities with each change of the mask")
    online = host.tree.online_cpus()
    first, last = frozenset({min(online)}), frozenset({max(online)})
    own = host.place(processes.asleep(), host.batch)
    os.sched_setaffinity(own, last)
    everything = host.tree.files.read(host.batch.cpus_file)
    host.tree.files.write(host.batch.cpus_file, str(min(first)))
    assert os.sched_getaffinity(own) == first
    assert give_back([own], [last, first], online, first | last) == [-errno.EINVAL]
    host.tree.files.write(host.batch.cpus_file, everything)
    assert os.sched_getaffinity(own) == last


@pytest.mark.root
def test_tasks_are_moved_between_groups_and_the_groups_are_removed(
    host: Host, processes: Processes
) -> None:
    before = host.files()

    def where() -> str:
        text = open(f"/proc/{host.worker}/cgroup").read()  # noqa: SIM115
        found = re.search(r"/smartharvest-split-(\d+)$", text, re.MULTILINE)
        return found[1] if found else ""

    agent = processes.agent(
        *host.state, *host.targets, *PLAIN, "--mechanism", "cpugroups", "--no-guardian"
    )
    agent.wait_until(lambda: where() != "")
    assert len(os.sched_getaffinity(host.worker)) == int(where())
    agent.send(signal.SIGKILL)
    outcome = smartharvest_here("restore", *host.state)
    assert outcome.code == 0, outcome.err
    assert where() == ""
    assert host.files() == before
