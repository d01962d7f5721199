"""The demo's groups on this host, and the agent in them: the real side of bench.Bench."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from smartharvest.agent.outcome import Restart
from smartharvest.agent.report import Report
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.policy import Policy
from smartharvest.config.settings import Settings
from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.mechanism.choice import MakeMechanism, make_mechanism

_log = logging.getLogger(__name__)

CONTROLLERS = ("cpuset", "cpu")

Role = Literal["primary", "elastic"]
ROLES: tuple[Role, ...] = ("primary", "elastic")


def _nothing() -> None:
    """Where the run has begun."""


def _figures(reports: Sequence[Report]) -> AgentFigures:
    """Of one arrangement after the other."""
    seconds = sum(one.seconds for one in reports)
    lent_core_s = sum(one.harvested_cores * one.seconds for one in reports)
    return AgentFigures(
        harvested_cores=lent_core_s / seconds if seconds else 0.0,
        short=sum(one.short_safeguards for one in reports),
        long=sum(one.long_safeguards for one in reports),
        agent_cpu_seconds=sum(one.agent_cpu_seconds for one in reports),
        moves=sum(one.assignments for one in reports),
    )


@contextmanager
def demo_groups() -> Iterator[DemoGroups]:
    """Creates the demo's two groups; at the end removes them and puts everything back.

    Raises RightsError, naming what is missing for the demo.
    """
    tree = CgroupTree.discover()
    missing = _missing(tree)
    if missing:
        raise RightsError(f"demo: this machine lacks {missing}")
    recover(tree.files, STATE_DIRECTORY)
    # Right below the root, as a service's and a batch's usually are: within a group of their own
    # the batch would count as the primary to everybody else, and starve who serves it.
    groups = {role: tree.group(f"smartharvest-demo-{os.getpid()}-{role}") for role in ROLES}
    claims = [group.path for group in groups.values()]
    journal = Journal(STATE_DIRECTORY, name="demo", claims=claims)
    writer = HostWriter(tree.files, journal)
    try:
        yield DemoGroups(tree, groups, writer)
    finally:
        writer.restore()


def why_not_here() -> str | None:
    """What this machine, or its user, lacks for the demo; None if nothing."""
    try:
        missing = _missing(CgroupTree.discover())
    except SmartHarvestError as error:
        return str(error)
    return f"this machine lacks {missing}" if missing else None


def _missing(tree: CgroupTree) -> str:
    missing = []
    if os.geteuid() != 0:
        missing.append("root (run it with sudo)")
    for controller in CONTROLLERS:
        mount = tree.hierarchies.get(controller)
        if mount is None:
            missing.append(f"the {controller} controller of cgroup v{tree.version}")
        elif not os.access(mount, os.W_OK):
            missing.append(f"write access to {mount}")
    if len(tree.online_cpus()) < 2:
        missing.append("a second CPU")
    return ", ".join(missing)


def _as_it_is(policy: Policy) -> Policy:
    return policy


@dataclasses.dataclass(frozen=True)
class Seams:
    """What an ablation puts in the place of a part of the agent."""

    name: str = ""
    wrap: Callable[[Policy], Policy] = _as_it_is
    make_mechanism: MakeMechanism = make_mechanism


class DemoGroups:
    """Implements bench.Bench; created by ``demo_groups``."""

    def __init__(self, tree: CgroupTree, groups: dict[Role, Group], writer: HostWriter) -> None:
        self._tree = tree
        self._writer = writer
        self._groups = groups
        if tree.version == 2:
            writer.enable_controllers(tree.group("").path, CONTROLLERS)
        for group in groups.values():
            self._make(group)
        if self._groups["elastic"].idle_file is None:
            raise RightsError("demo: this machine lacks cpu.idle (Linux 5.15 or newer)")
        self._policies: dict[str, Policy] = {}
        self._bully = 0
        self._is_apart = False
        """Whether the primary lacks what the batch has."""
        settings = self._settings()
        with Supervisor(settings) as session:
            self._capacity = session.capacity

    def _make(self, group: Group) -> None:
        directories = {group.directory(controller) for controller in CONTROLLERS}
        for directory in sorted(directory for directory in directories if directory):
            self._writer.make_group(directory)

    def _settings(self) -> Settings:
        primary, elastic = self._groups["primary"].path, self._groups["elastic"].path
        return Settings(
            primary=(TargetSpec("cgroup", primary),),
            elastic=TargetSpec("cgroup", elastic),
            lend_shared=True,  # on a small machine some thread is pinned somewhere
        )

    def path(self, role: Role) -> str:
        """The directory of the group in the hierarchy of the cpuset controller."""
        return self._groups[role].path

    @property
    def cpus(self) -> tuple[int, ...]:
        return self._capacity.pool

    @property
    def elastic_min(self) -> int:
        return self._capacity.elastic_min

    @property
    def park(self) -> str:
        return self._settings().park

    def place(self, role: Role, pid: int) -> None:
        for controller in CONTROLLERS:
            self._move(pid, controller, self._groups[role])
        if role == "elastic":
            self._bully = pid

    def _move(self, pid: int, controller: str, group: Group) -> None:
        """Moves all threads of a process; in v2 the first move takes the others along."""
        destination = group.directory(controller)
        assert destination is not None
        for tid in tasks.process_threads(pid):
            origin = self._tree.group_of(tid, controller)
            if origin != group:
                self._writer.move_task(tid, origin.directory(controller) or "", destination)

    def enter_phase(self, name: str) -> None:
        elastic = self._groups["elastic"]
        if name == "cpu-idle":
            self._writer.set(elastic.idle_file or "", "1")
        elif name == "nice-19":
            # Nice counts only within one cpu group, so the batch joins the primary's.
            self._move(self._bully, "cpu", self._groups["primary"])
            self._set_nice(19)
        elif name == "static-half":
            self._writer.set(elastic.idle_file or "", "1")
            half = len(self.cpus) // 2 - self.elastic_min
            self._confine(self._capacity.elastic_cpus(half))
        elif name.startswith("cpu-idle:"):
            self._writer.set(elastic.idle_file or "", "1")
            cpus = int(name.removeprefix("cpu-idle:")) - self.elastic_min
            self._confine(self._capacity.elastic_cpus(cpus))
        elif name.startswith("apart:"):
            given = self._capacity.elastic_cpus(int(name.removeprefix("apart:")) - self.elastic_min)
            self._confine(given)
            self._is_apart = True
            left = tuple(cpu for cpu in self.cpus if cpu not in given)
            self._confine(left, "primary")
        elif name == "one-core":
            self._confine(self._capacity.lendable[:1])
        elif name in ("no-harvest", "sensing-only") and self.elastic_min > 0:
            self._confine(self._capacity.elastic_cpus(0))

    def leave_phase(self) -> None:
        elastic = self._groups["elastic"]
        if self._bully:
            self._set_nice(0)
            self._move(self._bully, "cpu", elastic)
        self._writer.set(elastic.idle_file or "", "0")
        self._confine(self.cpus)
        if self._is_apart:
            self._confine(self.cpus, "primary")
            self._is_apart = False

    def _confine(self, cpus: tuple[int, ...], role: Role = "elastic") -> None:
        self._writer.set(self._groups[role].cpus_file, format_cpulist(cpus))

    def _set_nice(self, nice: int) -> None:
        for tid in tasks.process_threads(self._bully):
            os.setpriority(os.PRIO_PROCESS, tid, nice)

    def run_agent(
        self,
        policy: str,
        seconds: float,
        started: Callable[[], None],
        finished: Callable[[], None],
        *,
        seams: Seams = Seams(),
        case: str = "",
        **settings: object,
    ) -> AgentFigures:
        """A policy goes on with what it found in the last run of the same ``case``.

        Like ``smartharvest agent``, the run arranges the host again where a supervisor asks for it.
        """
        changed = dataclasses.replace(self._settings(), **{"policy": policy, **settings})  # type: ignore[arg-type]
        reports: list[Report] = []
        left, apart, begin = None, False, started
        while True:
            with Supervisor(changed, left, apart=apart, make=seams.make_mechanism) as session:
                made_for = session.arrangement.settings.placement, session.capacity.total
                name = f"{policy} {sorted(settings.items())} {seams.name} {made_for} {case}"
                if name not in self._policies:
                    self._policies[name] = seams.wrap(session.make_policy(policy))
                left_s = max(0.0, seconds - sum(one.seconds for one in reports))
                outcome = session.run(
                    self._policies[name], seconds=left_s, started=begin, finished=finished
                )
            reports.append(outcome.report)
            if not isinstance(outcome, Restart):
                return _figures(reports)
            left, apart, begin = session.left, outcome.apart, _nothing
