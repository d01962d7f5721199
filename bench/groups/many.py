"""Taking a core back from 64 groups, against taking it back from one.

On a made host of 256 CPUs the project's own part: plain files instead of the kernel's, written by
the actuator that the loop has. With root the kernel's part as well: groups on this host that hold
the same sleeping processes, 64 of them with one each, or one with all.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.groups.figures import ratio_of
from bench.statistics import rounded
from smartharvest.agent.supervisor import Supervisor
from smartharvest.config.elastic_groups import ElasticGroup, common_parent
from smartharvest.config.settings import Settings
from smartharvest.core._actuators import CpusetActuator
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.target.spec import TargetSpec
from smartharvest.mechanism.divided import DividedMechanism
from smartharvest.mechanism.levels import added_cpus
from tests.unit.host.fake_trees import make_group, make_v1_tree, make_v2_tree

MANY, CPUS = 64, 256
ROUNDS, TIMES = 5, 20
REAL_TIMES = 200

CASES = ("one", "whole", "time")

Files = list[tuple[str, str | None, list[str]]]
"""As CpusetActuator has them."""


def measure_made(directory: Path) -> dict[str, Any]:
    """CPU time and writes of one core taken back, at each number of cores that can be lent.

    ``whole``: each group has cores of its own; ``time``: all share them by time.
    """
    found: dict[str, Any] = {"groups": MANY, "cpus": CPUS}
    for version in (1, 2):
        made = {case: made_actuator(directory, version, case) for case in CASES}
        took: dict[str, list[float]] = {case: [] for case in CASES}
        writes: dict[str, list[int]] = {}
        for _ in range(ROUNDS):
            for case, (actuator, most) in made.items():
                rounds = [taken_back(actuator, most) for _ in range(TIMES)]
                took[case].append(float(np.median([us for us, _ in rounds])))
                writes[case] = rounds[0][1]
        found[f"v{version}"] = {
            case: {
                "writes": rounded(float(np.mean(writes[case]))),
                "most_writes": max(writes[case]),
                "cpu_us": rounded(float(np.median(took[case]))),
                "ratio_to_one": ratio_of(took["one"], took[case]),
            }
            for case in CASES
        }
    return found


def made_actuator(directory: Path, version: int, case: str) -> tuple[CpusetActuator, int]:
    """As the loop has it on a made host, over plain files, and how many cores can be lent."""
    place = directory / f"v{version}-{case}"
    with _session(place, version, case != "one") as session:
        mechanism, seen = session.arrangement.mechanism, session.arrangement.snapshot
        if isinstance(mechanism, DividedMechanism):
            names = [share.name for share in mechanism.shares]
            mechanism.divide(seen, mechanism.shares, names if case == "time" else ())
        masks = [masks for _, _, masks in mechanism.files(seen)]
        added = added_cpus(seen.capacity)
    files: Files = [(str(place / f"{number}.cpus"), None, of) for number, of in enumerate(masks)]
    for path, _, _ in files:
        Path(path).touch()
    return CpusetActuator(files, added), len(added) - 1


@contextmanager
def _session(directory: Path, version: int, several: bool) -> Iterator[Supervisor]:
    """A made host of its own that is arranged for lending."""
    make = {1: make_v1_tree, 2: make_v2_tree}[version]
    cpus = format_cpulist(range(CPUS))
    tree = make(directory / "tree", cpus)
    for name in ("web", "batch"):
        make_group(tree, name, cpus)
    if version == 2:
        batch = tree.group("batch").path
        tree.files.write(f"{batch}/cgroup.subtree_control", "+cpuset +cpu")
    groups = tuple(
        ElasticGroup(f"g{number}", TargetSpec("cgroup", f"batch/g{number}"))
        for number in range(MANY if several else 0)
    )
    for group in groups:
        make_group(tree, group.target.value, cpus)
    settings = Settings(
        primary=(TargetSpec("cgroup", "web"),),
        elastic=common_parent(groups) if several else TargetSpec("cgroup", "batch"),
        elastic_groups=groups,
        cgroup_root=tree.root,
        state_dir=str(directory / "state"),
        guardian=False,
    )
    with Supervisor(settings) as session:
        yield session


def taken_back(actuator: CpusetActuator, most: int) -> tuple[float, list[int]]:
    """CPU time of a core, in us, on average of ``most`` that are lent; and the writes of each."""
    actuator.assign(most)
    writes, before = [], actuator.writes
    began_ns = time.thread_time_ns()
    for level in range(most - 1, -1, -1):
        actuator.assign(level)
        writes.append(actuator.writes - before)
        before = actuator.writes
    return (time.thread_time_ns() - began_ns) / 1e3 / len(writes), writes


def measure_real(tree: CgroupTree) -> dict[str, Any]:
    """Wall time of one core taken back by this kernel, from groups that share it by time."""
    took: dict[int, list[float]] = {1: [], 3: [], MANY: []}
    with ExitStack() as stack:
        asleep = [stack.enter_context(_asleep()) for _ in range(MANY)]
        for _ in range(ROUNDS):
            for number, of in took.items():
                with real_actuator(tree, number, asleep) as actuator:
                    of.append(_median_us(actuator))
    return {
        "cgroup_version": tree.version,
        "processes": MANY,
        "took_us": {str(number): rounded(float(np.median(of))) for number, of in took.items()},
        "ratio_to_one": {str(number): ratio_of(took[1], took[number]) for number in (3, MANY)},
    }


@contextmanager
def _asleep() -> Iterator[int]:
    """The id of a process that does nothing."""
    with subprocess.Popen(["sleep", "86400"]) as program:
        try:
            yield program.pid
        finally:
            program.kill()


@contextmanager
def real_actuator(tree: CgroupTree, number: int, pids: Sequence[int]) -> Iterator[CpusetActuator]:
    """Level 1 has all CPUs of this host, level 0 one less; ``pids`` are in so many groups.

    One group has nothing below it. Raises OSError; the groups are gone at the end.
    """
    cpus = sorted(tree.online_cpus())
    masks = [format_cpulist(cpus[:-1]), format_cpulist(cpus)]
    above = tree.group(f"smartharvest-bench-many-{os.getpid()}")
    below = [tree.group(f"{above.relative}/g{index}") for index in range(number)]
    groups = [above, *(below if number > 1 else ())]
    with ExitStack() as stack:
        switch = f"{tree.root}/cgroup.subtree_control"
        if tree.version == 2 and "cpuset" not in tree.files.read(switch).split():
            tree.files.write(switch, "+cpuset")
            stack.callback(tree.files.write, switch, "-cpuset")
        for group in groups:
            tree.files.mkdir(group.path)
            stack.callback(tree.files.rmdir, group.path)
            if tree.version == 2 and number > 1 and group is above:
                tree.files.write(f"{group.path}/cgroup.subtree_control", "+cpuset")
            if tree.version == 1:
                tree.files.write(group.mems_file, tree.files.read(tree.group("").mems_file))
            tree.files.write(group.cpus_file, masks[1])
        for index, pid in enumerate(pids):
            home = tree.group_of(pid)
            tree.files.write(f"{groups[-1 - index % number].path}/cgroup.procs", str(pid))
            stack.callback(tree.files.write, f"{home.path}/cgroup.procs", str(pid))
        effective = above.effective_cpus_file
        files: Files = [(above.cpus_file, effective, masks)]
        if tree.version == 1:
            files += [(group.cpus_file, None, masks) for group in groups[1:]]
        yield CpusetActuator(files, [-1, cpus[-1]])


def _median_us(actuator: CpusetActuator) -> float:
    took = []
    for _ in range(REAL_TIMES):
        actuator.assign(1)
        began_ns = time.perf_counter_ns()
        actuator.assign(0)
        took.append(time.perf_counter_ns() - began_ns)
    return float(np.median(took)) / 1e3
