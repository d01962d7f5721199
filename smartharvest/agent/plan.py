"""What an agent would find and write on this host, without writing any of it.

The agent's own code arranges the host, on files that only remember (planned_files.py) and with a
journal in a directory of its own that is removed.
"""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from smartharvest.agent.group_evictions import eviction_writes
from smartharvest.agent.group_sharing import weight_writes
from smartharvest.agent.model_store import evidence_path, model_path
from smartharvest.algorithm.division import Share, divide
from smartharvest.algorithm.policy import is_shared
from smartharvest.config.addresses import split_address
from smartharvest.config.elastic_groups import group_tables
from smartharvest.config.settings import Settings
from smartharvest.errors import (
    ConfigError,
    RightsError,
    SensorError,
    SmartHarvestError,
    Unavailable,
)
from smartharvest.host.cgroup.counterparts import exists_somewhere
from smartharvest.host.cgroup.planned_files import PlannedFiles
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal import registry
from smartharvest.host.journal.journal import Journal, check_claims
from smartharvest.host.journal.places import is_live, journal_path, journal_paths
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.preemption import GROUP as PROBE_GROUP
from smartharvest.host.preemption import MOST_S as PROBE_MOST_S
from smartharvest.host.target.base import Target
from smartharvest.host.target.targets import claim_of, expand
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.choice import make_mechanism, needs_of
from smartharvest.mechanism.exclusive import PrimarySide, make_primary_side
from smartharvest.mechanism.group_freezer import frozen_values, planned_freeze_file
from smartharvest.mechanism.memory_bounds import check_memory, memory_writes
from smartharvest.placement.choice import lending_minimum, lends_minimum, why_shared
from smartharvest.placement.confinement import Confinement
from smartharvest.placement.snapshot import HostSnapshot, take_snapshot
from smartharvest.placement.target_set import open_targets
from smartharvest.sensor.choice import make_sensor

_log = logging.getLogger("smartharvest")

PID = "PID"
"""Stands for the agent's process id in the names of files."""


@dataclass(frozen=True)
class PlannedChange:
    """One thing that would be changed."""

    when: str
    """``start``, ``lending`` or ``file``: of the agent itself, which no primary depends on."""
    path: str
    before: str
    after: str


@dataclass
class Plan:
    """What was found, as far as it was looked at before something kept the agent from starting."""

    found: dict[str, Any] = field(default_factory=dict)
    changes: list[PlannedChange] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    refusal: SmartHarvestError | None = None
    """Why the agent would not start; None: it would."""


def make_plan(settings: Settings) -> Plan:
    """The plan of an agent with ``settings``; writes nothing outside a temporary directory."""
    plan = Plan()
    with _warnings_into(plan):
        try:
            _look(settings, plan)
        except SmartHarvestError as error:
            plan.refusal = error
        except PermissionError as error:
            plan.refusal = RightsError(f"{error.filename}: {error.strerror}; run as root")
        except OSError as error:
            plan.refusal = SmartHarvestError(f"{error.filename}: {error.strerror}")
    return plan


def _look(settings: Settings, plan: Plan) -> None:
    elastic_spec = settings.require_targets()
    tree = CgroupTree.discover(settings.cgroup_root)
    if "freezer" in tree.hierarchies and lends_minimum(settings):
        settings = lending_minimum(settings)
    plan.found["cgroups"] = {"version": tree.version, "root": tree.root}
    check_memory(settings, tree)
    claims = [
        claim_of(spec, tree)
        for pattern in (*settings.primary, elastic_spec)
        for spec in expand(pattern, tree)
    ]
    _check_other_agents(settings, claims, plan)
    files = PlannedFiles(tree.files)
    tree = replace(tree, files=files)
    with (
        tempfile.TemporaryDirectory(prefix="smartharvest-plan-") as directory,
        closing(Journal(directory, name="plan")) as journal,
    ):
        writer = _PlanWriter(files, journal)
        targets = open_targets(settings, tree, elastic_spec, writer)
        elastic = targets.elastic
        assert elastic is not None
        mechanism = make_mechanism(settings, tree, elastic, writer)
        try:
            confinement = None
            if tree.runs_tasks:
                confinement = Confinement(
                    lambda: targets.primaries, lambda: elastic, mechanism.members
                )
                confinement.finish(lambda: None)
            plan.found["primary"] = [_seen(target) for target in targets.primaries]
            plan.found["elastic"] = _seen(elastic)
            exclusive = make_primary_side(settings, tree, targets.primaries, writer, confinement)
            online = tree.online_cpus()
            held = () if exclusive is None else exclusive.held(online)
            needs = needs_of(settings)
            seen = take_snapshot(
                settings, tree, targets.primaries, elastic, confinement, held, needs
            )
            _note_capacity(settings, seen, plan)
            if settings.elastic_groups:
                plan.found["share"] = settings.share
                plan.found["groups"] = _planned_groups(settings, tree, seen)
            if exclusive is not None:
                exclusive.arrange(seen)
            mechanism.arrange(seen, targets.primaries)
            _note_changes(settings, plan, tree, files, writer, mechanism, exclusive, seen)
            if settings.placement == "auto" and "preemption" in plan.found:
                why = why_shared(settings, targets, seen.capacity)
                plan.found["placement"] = (
                    "exclusive if the batch is seen not to give way; --placement exclusive --plan "
                    "lists what is written then"
                    if why is None
                    else f"shared: {why}"
                )
        finally:
            mechanism.close()
        _note_own_files(settings, plan)
        _note_sensor(settings, seen, plan, fake_tree=not tree.runs_tasks)


class _PlanWriter(HostWriter):
    """Changes nothing: its files only remember, and so do its affinities and policies."""

    only_plans = True

    def __init__(self, files: PlannedFiles, journal: Journal) -> None:
        super().__init__(files, journal)
        self.affinities: list[tuple[str, str, str]] = []

    def set_affinity(self, tid: int, cpus: Any) -> None:
        before = format_cpulist(os.sched_getaffinity(tid))
        self.affinities.append((f"affinity of thread {tid}", before, format_cpulist(cpus)))

    def set_policies(self, directory: str) -> tuple[int, list[OSError]]:
        self.affinities.append((f"policies of threads in {directory}", "fair", "SCHED_EXT"))
        return 0, []


def _check_other_agents(settings: Settings, claims: Sequence[str], plan: Plan) -> None:
    """Raises AlreadyManaged; notes what a killed agent has left, which comes first."""
    for directory in dict.fromkeys([settings.state_dir, *registry.state_directories()]):
        if not os.path.isdir(directory):
            continue
        check_claims(directory, claims)
        if directory != settings.state_dir:
            continue
        for path in journal_paths(directory):
            if not is_live(path):
                plan.warnings.append(f"{path}: left by a killed agent; it is put back first")


def _seen(target: Target) -> dict[str, Any]:
    return {
        "target": str(target.spec),
        "path": None if target.group is None else target.group.path,
        "cpus": format_cpulist(target.cpus()),
        "threads": len(target.threads()),
        "quota_cores": target.quota_cores(),
    }


def _note_capacity(settings: Settings, seen: HostSnapshot, plan: Plan) -> None:
    capacity = seen.capacity
    plan.found["cores"] = {
        "pool": format_cpulist(capacity.pool),
        "total": capacity.total,
        "elastic_min": capacity.elastic_min,
        "max_harvest": capacity.max_harvest,
        "most_lent": _most_lent(settings, seen),
        "lendable": format_cpulist(capacity.lendable),
        "not_lent": [{"cpu": cpu, "because_of": who} for cpu, who in seen.foreign],
    }
    plan.found["policy"] = settings.policy
    plan.warnings += capacity.notes
    if capacity.max_shared == 0:
        plan.warnings.append("the limits leave no core to lend; the agent would only watch")
    elif _most_lent(settings, seen) == 0:
        plan.warnings.append(
            "the limits leave no core to move; a policy could only share what there is"
        )


def _planned_groups(
    settings: Settings, tree: CgroupTree, seen: HostSnapshot
) -> list[dict[str, Any]]:
    """A row for each elastic group: its bounds, and its cores if all that may be lent is.

    ``exists`` is false of one that is still to come; it has cores once it has.
    """
    places = {one.name: tree.group(one.target.value) for one in settings.elastic_groups}
    there = {name: exists_somewhere(place) for name, place in places.items()}
    weighted = settings.share == "weight"
    shares = [
        Share(one.name, one.weight if weighted else 1.0, one.min, one.max)
        for one in settings.elastic_groups
        if there[one.name]
    ]
    division = divide(seen.capacity.cores, shares)
    lent = frozenset(seen.capacity.elastic_cpus(_most_lent(settings, seen)))
    return [
        {
            **table,
            "min": table.get("min", 0),
            "max": table.get("max"),
            "exists": there[table["name"]],
            "threads": len(places[table["name"]].tasks()) if there[table["name"]] else 0,
            "most_cores": division.count(table["name"], lent),
        }
        for table in group_tables(settings.elastic_groups)
    ]


def _most_lent(settings: Settings, seen: HostSnapshot) -> int:
    """Cores that the settings' policy may lend at once."""
    capacity = seen.capacity
    shared = is_shared(settings.policy)
    return capacity.max_shared if shared else capacity.max_harvest


def _note_changes(
    settings: Settings,
    plan: Plan,
    tree: CgroupTree,
    files: PlannedFiles,
    writer: _PlanWriter,
    mechanism: Mechanism,
    exclusive: PrimarySide | None,
    seen: HostSnapshot,
) -> None:
    before = {write.path: write.before for write in reversed(files.writes)}
    after = {write.path: write.after for write in files.writes}
    for path, value in after.items():
        if before[path] != value:
            plan.changes.append(PlannedChange("start", path, before[path], value))
    for directory, tids in files.moved.items():
        plan.changes.append(PlannedChange("start", directory, "", f"tasks moved here: {len(tids)}"))
    plan.changes += [PlannedChange("start", *one) for one in writer.affinities]
    if settings.probe_preemption and tree.runs_tasks and mechanism.preempts:
        plan.found["preemption"] = f"is tried at the start, on an idle CPU, for {PROBE_MOST_S} s"
        path = f"{tree.group('').directory('cpu')}/{PROBE_GROUP}{PID}"
        plan.changes.append(PlannedChange("start", path, "", "new group, removed at once"))
    managed = [*mechanism.files(seen), *([] if exclusive is None else exclusive.files(seen))]
    for path, _, masks in managed:
        most = min(_most_lent(settings, seen), len(masks) - 1)
        had = before.get(path)
        text = files.read(path).strip() if had is None else had
        plan.changes.append(PlannedChange("lending", path, text, f"{masks[0]} … {masks[most]}"))
    for path, value in mechanism.minimum(seen):
        if path not in {file for file, _, _ in managed}:  # the freezer, while nothing is lent
            plan.changes.append(PlannedChange("lending", path, files.read(path).strip(), value))
    writes = [
        *_freezing(settings, mechanism),
        *weight_writes(settings, tree),
        *eviction_writes(settings, tree),
        *memory_writes(settings, tree),
    ]
    for path, value in writes:
        had = files.read(path).strip() if files.exists(path) else ""
        plan.changes.append(PlannedChange("lending", path, had, value))
    if sets := mechanism.given_cpus(seen):
        target = mechanism.target
        assert target is not None
        plan.changes.append(
            PlannedChange(
                "lending",
                f"affinity of all threads of {target.spec}",
                format_cpulist(target.cpus()),
                f"{format_cpulist(sets[0])} … {format_cpulist(sets[_most_lent(settings, seen)])}",
            )
        )


def _freezing(settings: Settings, mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """What the policy may write for a batch whose minimum costs too much."""
    group = None if mechanism.target is None else mechanism.target.group
    if settings.policy == "adaptive" and mechanism.may_freeze and group is not None:
        value = f"{frozen_values(group)[0]} (while even the minimum costs too much)"
        yield planned_freeze_file(group), value


def _note_own_files(settings: Settings, plan: Plan) -> None:
    """Raises RightsError or Unavailable where the agent could not write, or listen."""
    journal = journal_path(settings.state_dir, os.getpid()).replace(str(os.getpid()), PID)
    kept = [
        (journal, "with .lock, .shared and .sock; removed at the end"),
        (settings.audit_log, "appended to"),
        (model_path(settings), "what was learned, every minute"),
    ]
    if settings.policy == "adaptive":
        kept.append((evidence_path(settings), "what it found out, every minute"))
    for path, what in kept:
        if path is None:
            continue
        _check_writable(os.path.dirname(path), optional=what.startswith("what"))
        there = "there" if os.path.exists(path) else ""
        plan.changes.append(PlannedChange("file", path, there, what))
    if settings.audit_log is not None and not os.path.isdir(os.path.dirname(settings.audit_log)):
        raise Unavailable(
            f"{settings.audit_log}: its directory does not exist; make it, or choose another"
        )
    if settings.metrics is not None:
        host, port = split_address(settings.metrics)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((host, port))
            except OSError as error:
                raise Unavailable(f"metrics {settings.metrics}: {error.strerror}") from error
        plan.changes.append(PlannedChange("file", settings.metrics, "", "listened at"))


def _check_writable(directory: str, *, optional: bool) -> None:
    while not os.path.isdir(directory) and directory != "/":
        directory = os.path.dirname(directory)
    if not optional and not os.access(directory, os.W_OK):
        raise RightsError(f"{directory}: writing is not allowed; run as root")


def _note_sensor(settings: Settings, seen: HostSnapshot, plan: Plan, *, fake_tree: bool) -> None:
    try:
        sensing = make_sensor(settings, seen, fake_tree=fake_tree)
    except OSError as error:
        raise SensorError(f"sensor {settings.sensor}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(str(error)) from error
    plan.found["sensor"] = {"name": sensing.name, "reason": sensing.reason}


@contextmanager
def _warnings_into(plan: Plan) -> Iterator[None]:
    """What the agent would log as a warning is the plan's; the rest is about writes of no host."""

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            plan.warnings.append(record.getMessage())

    handler, propagated = Collect(logging.WARNING), _log.propagate
    _log.addHandler(handler)
    _log.propagate = False
    try:
        yield
    finally:
        _log.propagate = propagated
        with suppress(ValueError):
            _log.removeHandler(handler)
