"""``smartharvest run``: start a command inside the managed group."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from typing import Any

import click

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cluster.build import run_build
from smartharvest.cluster.source import from_socket
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError, RightsError, TargetError, WriteRefused
from smartharvest.host.cgroup.counterparts import CONTROLLERS, exists_somewhere
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.journal.journal import is_live, journal_paths
from smartharvest.host.target.spec import parse_target


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--elastic", "side", flag_value="elastic", help="Start it in the elastic group.")
@click.option("--primary", "side", flag_value="primary", help="Start it in the primary group.")
@click.option("--group", metavar="cgroup:PATH", help="This group instead of the managed one.")
@click.option(
    "--jobserver",
    is_flag=True,
    help="Give make or ninja a job server with as many jobs as there are elastic cores.",
)
@settings_options("cgroup_root", "state_dir")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    side: str | None,
    group: str | None,
    jobserver: bool,
    command: tuple[str, ...],
    **options: Any,
) -> None:
    """Start COMMAND inside the managed group and become it.

    The group is the one of the running agent, or of the --config file.
    """
    if side is None and group is None:
        raise ConfigError("run: say --elastic or --primary")
    config_file = options.get("config_file")
    settings = settings_from(options)
    tree = CgroupTree.discover(settings.cgroup_root)
    target = group or _managed(settings, side or "", config_file)
    spec = parse_target(target, "--group")
    if spec.kind != "cgroup":
        what = str(spec) if group else f"run --{side}: the {side} side is {spec}"
        raise TargetError(f"{what}: a command can be started in a group, not in a process")
    place = tree.group(spec.value)
    if not exists_somewhere(place):
        raise TargetError(f"{place}: does not exist; make the group or start the agent first")
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]}: no such command, or it may not be executed")
    if jobserver:
        source = from_socket(settings.state_dir, None)
        sys.exit(run_build(command, source, lambda: _join(place)))
    _join(place)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ConfigError(f"{command[0]}: cannot be started: {error.strerror}") from None


def _managed(settings: Settings, side: str, config_file: str | None) -> str:
    targets = (
        [str(settings.elastic)]
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


def _of_running_agents(state_dir: str, side: str) -> list[str]:
    """The groups of that side, or the processes if there are no groups."""
    claims: list[str] = []
    journals = journal_paths(state_dir)
    for path in journals:
        name = os.path.basename(path)
        demos = os.path.join(state_dir, name.replace("agent-", "demo-", 1))
        if not name.startswith("agent-") or demos in journals or not is_live(path):
            continue  # a demo's agents have groups that are nobody else's
        try:
            theirs = read_journal(path).claims
        except FileNotFoundError:  # its agent was just closing it
            continue
        claims += theirs[-1:] if side == "elastic" else theirs[:-1]
    groups = [f"cgroup:{claim}" for claim in claims if os.path.isabs(claim)]
    return groups or claims


def _join(group: Group) -> None:
    """Moves this process into the group, in every hierarchy that has it."""
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
