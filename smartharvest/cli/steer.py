"""``smartharvest pause``, ``resume``, ``evict``, ``set-policy``, ``set-limit``, ``reload``,
``restart``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import click

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

RESTART_S = 40.0
"""How long a successor may take to report: its trial, then its start."""


def steering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what finds the agent."""
    pid = click.option("--pid", type=int, metavar="PID", help="The agent, if several run.")
    return pid(settings_options("state_dir")(command))


def tell(options: dict[str, Any], pid: int | None, command: str, **arguments: Any) -> Any:
    """The running agent's answer. Raises ConfigError if it refuses or is not clear."""
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
            f"{paths[0]}: its agent is gone; give back with smartharvest restore"
        ) from None
    except TimeoutError as error:
        raise SmartHarvestError(str(error)) from None
    except ProtocolError as error:
        raise ConfigError(f"{command}: {error}") from None


@click.command()
@steering
def pause(pid: int | None, **options: Any) -> None:
    """Take back everything but the elastic minimum, until resume."""
    tell(options, pid, "pause")
    click.echo("paused: nothing is lent until smartharvest resume")


@click.command()
@steering
def resume(pid: int | None, **options: Any) -> None:
    """End a pause or an eviction."""
    tell(options, pid, "resume")
    click.echo("resumed")


@click.command()
@steering
def evict(pid: int | None, **options: Any) -> None:
    """Take back even the elastic minimum: freeze the elastic group until resume.

    A frozen task that holds a lock of the kernel, or of a file, keeps it.
    """
    tell(options, pid, "evict")
    click.echo("evicted: the elastic group is frozen until smartharvest resume")


@click.command("set-policy")
@click.argument("policy", metavar="POLICY")
@click.option("--safeguard", metavar="KIND", help="conservative or aggressive.")
@steering
def set_policy(policy: str, safeguard: str | None, pid: int | None, **options: Any) -> None:
    """Have the running agent decide by another POLICY, which goes on from what was learned."""
    click.echo(json.dumps(tell(options, pid, "set-policy", policy=policy, safeguard=safeguard)))


@click.command("set-limit")
@click.option("--max-harvest", metavar="N", help="Never lend more than N cores.")
@click.option("--keep-idle", metavar="N", help="Always leave the primary N idle cores.")
@steering
def set_limit(
    max_harvest: str | None, keep_idle: str | None, pid: int | None, **options: Any
) -> None:
    """Change the hard limits of the running agent."""
    arguments = {"max_harvest": max_harvest, "keep_idle": keep_idle}
    click.echo(json.dumps(tell(options, pid, "set-limit", **arguments)))


@click.command("reload")
@steering
def reload_(pid: int | None, **options: Any) -> None:
    """Have the running agent read its configuration again, as SIGHUP does, and tell the outcome."""
    click.echo(json.dumps(tell(options, pid, "reload")))


@click.command()
@steering
def restart(pid: int | None, **options: Any) -> None:
    """Replace the running agent by the program installed now, with its configuration read anew.

    The host is not given back in between: the elastic group keeps its minimum until the new program
    lends again. Nothing happens if that does not start.
    """
    tell(options, pid, "restart")
    began_s = time.monotonic()  # whoever has run for less is another
    while time.monotonic() - began_s < RESTART_S:
        time.sleep(0.1)
        try:
            told = tell(options, pid, "status")
        except SmartHarvestError:  # between the two there is nobody to answer
            continue
        if refused := told["agent"]["restart_refused"]:
            raise ConfigError(refused)
        if told["seconds"] < time.monotonic() - began_s:
            click.echo(f"restarted: version {told['version']}, pid {told['pid']}")
            return
    raise SmartHarvestError(f"restart: no successor has reported within {RESTART_S:.0f} s")


STEERING = (pause, resume, evict, set_policy, set_limit, reload_, restart)
