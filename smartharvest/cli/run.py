"""``smartharvest run``: start a command in a managed group."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from smartharvest.cli.agent_request import complete_group
from smartharvest.cli.command_group import examples
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cli.values import complete_target
from smartharvest.cluster.build import run_build
from smartharvest.cluster.source import from_socket, of_place
from smartharvest.config.settings import Settings
from smartharvest.errors import (
    ConfigError,
    RightsError,
    SmartHarvestError,
    TargetError,
    WriteRefused,
)
from smartharvest.host.cgroup.counterparts import CONTROLLERS, exists_somewhere
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.contents import JournalContents, read_journal
from smartharvest.host.journal.places import is_live, journal_paths
from smartharvest.host.target.targets import parse_target
from smartharvest.telemetry import groups
from smartharvest.telemetry.client import NoAgent, ask, socket_path

EPILOG = examples(
    "smartharvest run --elastic -- make -j16",
    "smartharvest run --elastic --jobserver -- make",
    "smartharvest run --group analytics -- ./train.sh",
    "smartharvest run --group cgroup:batch -- ./train.sh",
)


def _complete_group(
    context: click.Context, option: click.Parameter, typed: str
) -> list[CompletionItem]:
    """The elastic groups of agents, and the control groups there are."""
    if typed.startswith("cgroup:"):
        return complete_target(context, option, typed)
    kinds = [CompletionItem("cgroup:")] if "cgroup:".startswith(typed) else []
    return [*complete_group(context, option, typed), *kinds]


@click.command(context_settings={"allow_interspersed_args": False}, epilog=EPILOG)
@click.option("--elastic", is_flag=True, help="Start it in the elastic group.")
@click.option("--primary", is_flag=True, help="Start it in the primary group.")
@click.option("--group", metavar="NAME|cgroup:PATH", shell_complete=_complete_group,
              help="Start it in the elastic group of this name, or in this control group, managed "
              "or not.")  # fmt: skip
@click.option(
    "--jobserver",
    is_flag=True,
    help="Give make or ninja a job server with as many jobs as there are elastic cores.",
)
@settings_options("cgroup_root", "state_dir")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    elastic: bool,
    primary: bool,
    group: str | None,
    jobserver: bool,
    command: tuple[str, ...],
    **options: Any,
) -> None:
    """Start COMMAND in a managed group; it replaces this process.

    The group is the one of the running agent, or of the --config file.
    """
    if elastic and primary:
        raise ConfigError("run: a command is in one group; give --elastic or --primary, not both")
    if not (elastic or primary or group):
        raise ConfigError("run: no group given; use --elastic or --primary")
    side = "elastic" if elastic else "primary"
    config_file = options.get("config_file")
    settings = settings_from(options)
    tree = CgroupTree.discover(settings.cgroup_root)
    if group is None:
        target = _managed(settings, side, config_file)
    else:
        target = group if ":" in group else _named(settings, group, config_file)
    spec = parse_target(target, "--group")
    if spec.kind != "cgroup":
        what = str(spec) if group else f"run --{side}: the {side} side is {spec}"
        raise TargetError(f"{what}: a command can be started in a group, not in a process")
    place = tree.group(spec.value)
    if not exists_somewhere(place):
        raise TargetError(f"{place}: does not exist; make the group or start the agent first")
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]}: no such command, or this user may not execute it")
    if jobserver:
        source = of_place(from_socket(settings.state_dir, None), str(spec))
        sys.exit(run_build(command, source, lambda: _join(place)))
    _join(place)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ConfigError(f"{command[0]}: cannot be started: {error.strerror}") from None


def _managed(settings: Settings, side: str, config_file: str | None) -> str:
    targets = (
        [str(group.target) for group in settings.elastic_groups] or [str(settings.elastic)]
        if side == "elastic" and settings.elastic
        else [str(spec) for spec in settings.primary]
        if side == "primary"
        else []
    )
    if not targets and config_file is None:
        targets = _of_running_agents(settings.state_dir, side)
    if not targets:
        raise ConfigError(
            f"run --{side}: no running agent and no {side} in a --config file; "
            "name the group with --group cgroup:PATH"
        )
    if len(targets) > 1:
        raise ConfigError(
            f"run --{side}: several groups are managed ({', '.join(targets)}); "
            "choose one with --group"
        )
    return targets[0]


def _named(settings: Settings, name: str, config_file: str | None) -> str:
    """The target of the elastic group of that name; ``name`` itself where no group has one.

    Raises ConfigError if there are others only.
    """
    targets = {group.name: str(group.target) for group in settings.elastic_groups}
    if not targets and config_file is None:
        for journal in _running(settings.state_dir):
            rows = _rows(settings.state_dir, journal.pid)
            targets |= {str(row["name"]): str(row["target"]) for row in rows}
    if targets and name not in targets:
        known = ", ".join(targets)
        raise ConfigError(f"run --group: {name!r} is no elastic group; there are {known}")
    return targets.get(name, name)


def _of_running_agents(state_dir: str, side: str) -> list[str]:
    """The groups of that side, or its processes if it has no groups."""
    claims: list[str] = []
    places: list[str] = []
    for journal in _running(state_dir):
        theirs = journal.claims[-1:] if side == "elastic" else journal.claims[:-1]
        sharing = _sharing(state_dir, journal.pid) if side == "elastic" else []
        claims += theirs
        places += sharing or [f"cgroup:{claim}" for claim in theirs if os.path.isabs(claim)]
    return places or claims


def _running(state_dir: str) -> Iterator[JournalContents]:
    """What the agents there have written down. Raises RightsError if that is not for this user."""
    try:
        journals = journal_paths(state_dir)
        for path in journals:
            name = os.path.basename(path)
            demos = os.path.join(state_dir, name.replace("agent-", "demo-", 1))
            if not name.startswith("agent-") or demos in journals or not is_live(path):
                continue  # the groups of a demo's agents are the demo's own
            with contextlib.suppress(FileNotFoundError):  # its agent was just closing it
                yield read_journal(path)
    except PermissionError as error:
        raise RightsError(f"{error.filename}: {error.strerror}; run as root") from None


def _sharing(state_dir: str, pid: int) -> list[str]:
    """The places of several elastic groups of an agent; none if it has one, or does not answer."""
    targets = [str(row["target"]) for row in _rows(state_dir, pid)]
    return targets if len(targets) > 1 else []


def _rows(state_dir: str, pid: int) -> list[groups.Row]:
    """The elastic groups of an agent; none if it does not answer."""
    try:
        return groups.rows(ask(socket_path(state_dir, pid), "status", {}))
    except (NoAgent, SmartHarvestError, OSError):
        return []


def _join(group: Group) -> None:
    """Moves this process into the group, in every hierarchy that has the group."""
    pid = str(os.getpid())
    files = group.tree.files
    for directory in {group.directory(controller) for controller in CONTROLLERS}:
        if directory is None or not files.exists(directory):
            continue
        procs = f"{directory}/cgroup.procs"
        try:
            files.write(procs, pid)
        except PermissionError as error:
            raise RightsError(f"{procs}: {error.strerror}; run as root") from None
        except OSError as error:
            if error.errno == errno.ENOSPC:  # cpuset_can_attach()
                raise TargetError(
                    f"{directory}: has no CPUs or memory nodes; "
                    "write some into its cpuset.cpus and cpuset.mems"
                ) from None
            raise WriteRefused(procs, pid, error.errno or errno.EIO) from None
