"""Finding the agents that are meant, and sending them a command.

What an operator types in an emergency works whatever else is wrong: of a configuration only the
state directory is read, and without a hint every state directory of the machine is looked at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from smartharvest.cli.state_options import state_options
from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.errors import ConfigError, RightsError, SmartHarvestError
from smartharvest.host.journal.registry import state_directories
from smartharvest.telemetry import groups
from smartharvest.telemetry.agents import Found, find, pid_of
from smartharvest.telemetry.client import NoAgent, ask, ask_patiently, lives
from smartharvest.telemetry.protocol import ProtocolError

NONE_RUNS = 3
ORPHANED = 4
"""Exit codes of the commands that look for agents."""

COMPLETED_WITHIN_S = 1.0
"""So long a shell waits for an agent."""

BEING_REPLACED = "its agent is starting, ending or being replaced"


class NotThere(click.ClickException):
    """No agent that is meant runs."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]


def complete_agent(
    context: click.Context, _option: click.Parameter, typed: str
) -> list[CompletionItem]:
    """For a shell: the pids of the agents that run where the flags typed so far say."""
    try:
        pids = [str(pid_of(path)) for path in find_agents(dict(context.params)).sockets]
    except (SmartHarvestError, OSError):
        return []
    return [CompletionItem(pid) for pid in pids if pid.startswith(typed)]


def complete_group(
    context: click.Context, _option: click.Parameter, typed: str
) -> list[CompletionItem]:
    """For a shell: the elastic groups of these agents."""
    names: set[str] = set()
    try:
        for path in find_agents(dict(context.params)).sockets:
            seen = ask(path, "status", {}, timeout_s=COMPLETED_WITHIN_S)
            names.update(str(row["name"]) for row in groups.rows(seen))
    except (SmartHarvestError, NoAgent, ProtocolError, OSError):
        pass
    return [CompletionItem(name) for name in sorted(names) if name.startswith(typed)]


def agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say which agent is meant."""
    pid = click.option(
        "--pid",
        type=int,
        metavar="PID",
        help="The agent, if several run.",
        shell_complete=complete_agent,
    )
    return pid(state_options(command))


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the agent's answer as JSON."
)


reset_option = click.option(
    "--reset", is_flag=True, help="Go back to what the configuration says of this."
)


def places(options: dict[str, Any], *names: str) -> list[dict[str, str]]:
    """Where to look: for each state directory its ``state_dir``, and the ``names`` besides.

    It is the one of the flags, or of the --config file; without either, or if the file does not
    show it, every one that agents of this machine use.
    """
    wanted = ("state_dir", *names)
    flags = {name: os.path.abspath(options[name]) for name in wanted if options.get(name)}
    config_file = options.get("config_file")
    in_file: dict[str, str] = {}
    if config_file is not None:
        from smartharvest.config.loading import read_alone

        in_file, problems = read_alone(config_file, *wanted)
        if not problems:
            in_file.setdefault("state_dir", STATE_DIRECTORY)
        elif "state_dir" not in in_file | flags:
            click.echo(f"smartharvest: {problems[0]}; looking at every agent instead", err=True)
    meant = in_file | flags
    if "cgroup_root" in meant:  # no other state directory is of that tree
        meant.setdefault("state_dir", STATE_DIRECTORY)
    if "state_dir" in meant:
        return [meant]
    everywhere = dict.fromkeys([STATE_DIRECTORY, *state_directories()])
    return [meant | {"state_dir": state_dir} for state_dir in everywhere]


def find_agents(options: dict[str, Any]) -> Found:
    """What there is where ``options`` say. Raises SmartHarvestError without the right to look."""
    try:
        return find(place["state_dir"] for place in places(options))
    except RightsError as error:  # whose exit code means here that none runs
        raise SmartHarvestError(str(error)) from None


def ask_agent(options: dict[str, Any], pid: int | None, command: str, **arguments: Any) -> Any:
    """The answer of the one agent that is meant; an argument of None is not sent.

    Raises NotThere if none runs, ConfigError if several do or it refuses, SmartHarvestError if it
    does not answer.
    """
    sockets = _meant(options, pid)
    if len(sockets) > 1:
        raise ConfigError(
            f"{len(sockets)} agents run; choose one with --pid (smartharvest status lists them)"
        )
    return _ask(sockets[0], command, arguments)


group_option = click.option(
    "--group",
    metavar="NAME",
    help="Only this one of several elastic groups.",
    shell_complete=complete_group,
)


def ask_agents(
    options: dict[str, Any], pid: int | None, command: str, **arguments: Any
) -> Iterator[tuple[int | None, Any]]:
    """(pid, answer) of every agent that is meant; an argument of None is not sent.

    Raises as ``ask_agent`` does, but in the end: one that is stuck shields no other.
    """
    failure: SmartHarvestError | NotThere | None = None
    for socket in _meant(options, pid):
        try:
            yield pid_of(socket), _ask(socket, command, arguments)
        except (SmartHarvestError, NotThere) as error:
            failure = error
    if failure is not None:
        raise failure


def _meant(options: dict[str, Any], pid: int | None) -> list[str]:
    """The sockets of the agents that run, or of the one with ``pid``; at least one."""
    found = find_agents(options)
    sockets = [
        socket
        for socket in found.sockets
        if pid in (None, pid_of(socket)) and (lives(socket) or os.path.exists(socket))
    ]
    if sockets:
        return sockets
    for orphan in found.orphans:
        if pid in (None, orphan.pid):
            raise NotThere(orphan.describe(), ORPHANED)
    if pid is not None:
        what = "is no agent" if os.path.exists(f"/proc/{pid}") else "is no process"
        raise NotThere(f"pid {pid} {what}; smartharvest status lists the agents", NONE_RUNS)
    raise NotThere(none_runs(options), NONE_RUNS)


def none_runs(options: dict[str, Any]) -> str:
    where = [place["state_dir"] for place in places(options)]
    return f"No agent is running (state directory {', '.join(where)})"


def _ask(socket: str, command: str, arguments: dict[str, Any]) -> Any:
    try:
        given = {name: value for name, value in arguments.items() if value is not None}
        return ask_patiently(socket, command, given)
    except NoAgent:
        if lives(socket):
            raise SmartHarvestError(f"{socket}: {BEING_REPLACED}; try again") from None
        raise NotThere(f"{socket}: its agent has ended", NONE_RUNS) from None
    except RightsError as error:
        raise SmartHarvestError(str(error)) from None
    except TimeoutError as error:
        raise SmartHarvestError(str(error)) from None
    except ProtocolError as error:
        raise ConfigError(f"{command}: {error}") from None


def format_changes(answer: dict[str, Any], as_json: bool) -> str:
    """What a command has changed in the agent's settings, in a sentence or as JSON."""
    if as_json:
        return json.dumps(answer)
    kept = answer.get("kept", ())
    keeps = f"kept until --reset or a restart: {', '.join(kept)}" if kept else ""
    if not answer["changed"]:
        return "\n".join(filter(None, ("nothing changed: the agent has these settings", keeps)))
    changed = f"changed: {', '.join(answer['changed'])}"
    if answer["restarts"]:
        changed += "; the agent gives everything back and starts again"
    return "\n".join(filter(None, (changed, *answer.get("notes", ()), keeps)))
