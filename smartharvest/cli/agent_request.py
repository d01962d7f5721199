"""Finding the running agent and sending it a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from click import option

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.errors import ConfigError, SmartHarvestError, TargetVanished
from smartharvest.telemetry.client import (
    NoAgent,
    agents,
    ask_patiently,
    lives,
    not_one,
    socket_path,
)
from smartharvest.telemetry.protocol import ProtocolError


def agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say which agent is meant."""
    pid = option("--pid", type=int, metavar="PID", help="The agent, if several run.")
    return pid(settings_options("state_dir")(command))


json_option = option("--json", "as_json", is_flag=True, help="Print the agent's answer as JSON.")


def format_changes(answer: dict[str, Any], as_json: bool) -> str:
    """What a command has changed in the agent's settings, in a sentence or as JSON."""
    if as_json:
        return json.dumps(answer)
    if not answer["changed"]:
        return "nothing changed: the agent has these settings already"
    changed = f"changed: {', '.join(answer['changed'])}"
    if answer["restarts"]:
        changed += "; the agent gives everything back and starts again"
    return "\n".join((changed, *answer.get("notes", ())))


def ask_agent(options: dict[str, Any], pid: int | None, command: str, **arguments: Any) -> Any:
    """The running agent's answer; an argument of None is not sent.

    Raises ConfigError if the agent refuses or several run, TargetVanished if it was killed,
    SmartHarvestError if it does not answer.
    """
    state_dir = settings_from(options).state_dir
    paths = agents(state_dir) if pid is None else [socket_path(state_dir, pid)]
    if len(paths) != 1:
        raise ConfigError(not_one(state_dir, len(paths)))
    try:
        given = {name: value for name, value in arguments.items() if value is not None}
        return ask_patiently(paths[0], command, given)
    except NoAgent:
        if lives(paths[0]):
            raise SmartHarvestError(
                f"{paths[0]}: its agent is starting, ending or being replaced; try again"
            ) from None
        raise TargetVanished(
            f"{paths[0]}: its agent is gone; run smartharvest restore to put the host back"
        ) from None
    except TimeoutError as error:
        raise SmartHarvestError(str(error)) from None
    except ProtocolError as error:
        raise ConfigError(f"{command}: {error}") from None
