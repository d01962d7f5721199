"""``smartharvest serverless pool``: the Resource Monitor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from smartharvest.cli.command_group import CommandGroup
from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import ConfigError

Command = TypeVar("Command", bound=Callable[..., Any])
SHORTEST_S = 0.1
"""Between two looks: each asks an autoscaler that others use, too."""


def _seconds(_context: click.Context, parameter: click.Parameter, text: str) -> float:
    return 0.0 if text in ("0", "0s") else parse_duration_ns(text, parameter.opts[0]) / 1e9


def _interval(context: click.Context, parameter: click.Parameter, text: str) -> float:
    found = _seconds(context, parameter, text)
    if found < SHORTEST_S:
        raise click.BadParameter(f"{text!r} must be at least {SHORTEST_S * 1e3:.0f}ms")
    return found


def _number(
    _context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuses what a range lets through: no number, and infinity where that is not the default."""
    if value is not None and not math.isfinite(value) and value != parameter.default:
        raise click.BadParameter(f"{value} must be a finite number")
    return value


@click.group(cls=CommandGroup)
def pool() -> None:
    """Keep the promised cores of a pool above a threshold (the paper's Resource Monitor).

    Looks at what the pool's nodes promise, not at the cores of the moment, and asks an autoscaler
    that you already run for more nodes or fewer. Run one per pool; it may be restarted at any time.
    """


_duration = partial(click.option, metavar="DURATION", callback=_seconds, show_default=True)
_amount = partial(click.option, type=click.FloatRange(0), callback=_number, show_default=True)
_OPTIONS = (
    _amount("--at-least", metavar="CORES", required=True, help="Promised cores to have together."),
    click.option("--most", type=click.IntRange(0, 10_000), metavar="NODES", required=True,
                 help="Never ask for more nodes."),
    click.option("--least", type=click.IntRange(0), metavar="NODES", default=0, show_default=True,
                 help="Never ask for fewer nodes."),
    _amount("--expect", "expected", metavar="CORES", show_default="the mean of those there",
            help="What one more node will promise."),
    _amount("--node-price", "price", metavar="PRICE", default=0.0, help="Of one node, an hour."),
    _amount("--budget", metavar="PRICE", default=math.inf, show_default="none",
            help="For all nodes, an hour."),
    _amount("--spare", metavar="SHARE", default=0.25,
            help="Left above the threshold once a node is given up."),
    _duration("--grow-after", "grow_after_s", default="30s",
              help="Ask for more once too few were promised for this long."),
    _duration("--shrink-after", "shrink_after_s", default="10min",
              help="Give up one node each time enough were promised for this long."),
    _duration("--settle", "settle_s", default="3min",
              help="Time for a node to come and to learn what it promises; doubles if none comes."),
    _duration("--every", "interval_s", default="10s", callback=_interval,
              help="Time between two looks."),
    click.option("--dry-run", is_flag=True, help="Only say what would be asked."),
)  # fmt: skip


def _keeping(command: Command) -> Command:
    """Adds the options every pool has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _run(make: Callable[[], Any], options: dict[str, Any]) -> None:
    from smartharvest.cluster.follow import Signals
    from smartharvest.serverless.keep_pool import keep_pool
    from smartharvest.serverless.pool import PoolSettings

    interval_s, dry_run = options.pop("interval_s"), options.pop("dry_run")
    settings = PoolSettings(**options)
    if settings.least > settings.ceiling:
        raise ConfigError(
            f"--least {settings.least}: --most or --budget allow only {settings.ceiling} nodes"
        )
    signals = Signals()
    keep_pool(make(), settings, interval_s, lambda: signals.asked, dry_run=dry_run)


@pool.command()
@click.option(
    "--address", metavar="HOST:PORT", default="127.0.0.1:6379", show_default=True, help="Ray's GCS."
)
@click.option("--bundle", metavar="JSON", default='{"harvest": 1}', show_default=True,
              help="What one node of the pool has, and no other node.")  # fmt: skip
@click.option("--resource", metavar="NAME", default="CPU", show_default=True,
              help="The resource that adapter ray sets.")  # fmt: skip
@_keeping
def ray(address: str, bundle: str, resource: str, **options: Any) -> None:
    """Ray's autoscaler, by request_resources (needs the extra ray).

    A Ray cluster has one such request: nobody else may make one.
    """
    from smartharvest.serverless.ray_pool import RayPool

    try:
        parsed = {str(name): float(amount) for name, amount in json.loads(bundle).items()}
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(f'--bundle {bundle!r}: write JSON such as {{"harvest": 1}}') from None
    _run(lambda: RayPool(address, parsed, resource), options)


@pool.command()
@click.option("--scale", metavar="GROUP/VERSION/PLURAL/NAMESPACE/NAME", required=True,
              help="What has the scale subresource, such as a MachineDeployment.")  # fmt: skip
@click.option("--selector", metavar="LABELS", required=True, help="The labels of the pool's nodes.")
@click.option("--kubeconfig", metavar="FILE", help="Default: the configuration of a pod.")
@click.option("--resource", metavar="NAME", default="smartharvest.io/cores", show_default=True,
              help="The resource that adapter kubernetes sets.")  # fmt: skip
@_keeping
def kubernetes(
    scale: str, selector: str, kubeconfig: str | None, resource: str, **options: Any
) -> None:
    """A Kubernetes scale subresource (needs the extra kubernetes)."""
    from smartharvest.serverless.kubernetes_pool import KubernetesPool

    _run(lambda: KubernetesPool(scale, selector, kubeconfig, resource), options)


@pool.command()
@click.option("--nodes", metavar="FILE", required=True,
              help="A /capacity URL of an agent on each line; read at each look.")  # fmt: skip
@click.option("--command", metavar="COMMAND", required=True,
              help="Sets the number, which replaces {nodes}; no shell runs it.")  # fmt: skip
@click.option("--asked-command", metavar="COMMAND", help="Prints the number that is set.")
@click.option("--group", metavar="NAME",
              help="The elastic group whose promise counts, if agents have several.")  # fmt: skip
@_keeping
def command(
    nodes: str, command: str, asked_command: str | None, group: str | None, **options: Any
) -> None:
    """A command that resizes the pool."""
    from smartharvest.serverless.command_pool import CommandPool

    _run(lambda: CommandPool(nodes, command, asked_command, group=group), options)
