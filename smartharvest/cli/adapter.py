"""``smartharvest adapter``: offer the idle cores of this node to a cluster engine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from smartharvest.cli.command_group import CommandGroup
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cluster.engine import Engine
from smartharvest.cluster.follow import FollowSettings, Signals, follow
from smartharvest.cluster.reconcile import Hysteresis
from smartharvest.cluster.source import from_http, from_socket, of_group
from smartharvest.config.durations import parse_duration_ns

HTCONDOR_FILE = "/run/smartharvest-htcondor/harvest.ad"
"""In a directory of its own: HTCondor's user may not enter the agent's."""
Command = TypeVar("Command", bound=Callable[..., Any])


def _seconds(_context: click.Context, parameter: click.Parameter, text: str) -> float:
    return 0.0 if text in ("0", "0s") else parse_duration_ns(text, parameter.opts[0]) / 1e9


@click.group(cls=CommandGroup)
def adapter() -> None:
    """Offer the idle cores of this node to a cluster engine.

    Runs next to the agent and sets how many cores the engine has for new work. Work above that
    number has a grace time; then the adapter ends it, and the engine runs it again. However the
    adapter or the agent ends, the engine keeps the guaranteed minimum. Start the engine's workers
    in the elastic group (smartharvest run --elastic -- ...): then the cpuset protects the primary,
    whatever the engine does.
    """


_duration = partial(click.option, metavar="DURATION", callback=_seconds, show_default=True)
_OPTIONS = (
    click.option("--pid", type=int, metavar="PID", help="The agent, if several run."),
    click.option("--url", metavar="URL", help="The agent's /capacity page instead."),
    click.option("--group", metavar="NAME",
                 help="The elastic group that the engine's workers are in, if there are several."),
    click.option("--follow", "what", type=click.Choice(["promised", "now"]), default="promised",
                 show_default=True,
                 help="The number of cores that will last, or that of the moment."),
    click.option("--most", type=click.IntRange(0), metavar="N",
                 help="Never offer more than N cores."),
    click.option("--guaranteed", type=click.IntRange(0), metavar="N",
                 help="Cores to offer until an agent answers; without it an agent must run."),
    _duration("--every", default="500ms", help="Time between two updates."),
    _duration("--grow-after", default="2s",
              help="Offer more cores only once they have lasted this long."),
    _duration("--shrink-after", default="0s",
              help="Offer fewer cores only once they have been missing this long."),
    _duration("--grace", default="5s",
              help="Time that work above the number has to end by itself."),
)  # fmt: skip


def _following(command: Command) -> Command:
    """Adds the options every adapter has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return settings_options("state_dir")(command)


def _run(make_engine: Callable[[], Engine], options: dict[str, Any]) -> None:
    pid, url, group = (options.pop(name) for name in ("pid", "url", "group"))
    settings = FollowSettings(
        Hysteresis(*(options.pop(name) for name in ("grow_after", "shrink_after", "grace"))),
        *(options.pop(name) for name in ("every", "what", "most", "guaranteed")),
    )
    source = from_http(url) if url else from_socket(settings_from(options).state_dir, pid)
    signals = Signals()
    follow(of_group(source, group), make_engine, settings, lambda: signals.asked)


@adapter.command()
@click.option(
    "--address", metavar="HOST:PORT", default="127.0.0.1:6379", show_default=True, help="Ray's GCS."
)
@click.option("--node", metavar="ID", help="The node's id or name, if several run on this host.")
@click.option("--resource", metavar="NAME", default="CPU", show_default=True,
              help="The resource to set: CPU, or one of your own.")  # fmt: skip
@_following
def ray(address: str, node: str | None, resource: str, **options: Any) -> None:
    """A Ray node of this host (needs the extra ray)."""
    from smartharvest.cluster.ray_node import RayNode

    _run(lambda: RayNode(address, node, resource), options)


@adapter.command()
@click.option("--node", metavar="NAME", required=True, help="The node's name in slurm.conf.")
@click.option("--partition", metavar="NAME", required=True, help="The partition for elastic jobs.")
@click.option("--gres", metavar="NAME", help="A generic resource to set, too.")
@_following
def slurm(node: str, partition: str, gres: str | None, **options: Any) -> None:
    """A Slurm node (needs scontrol and squeue, and the rights of an operator)."""
    from smartharvest.cluster.slurm_node import SlurmNode

    _run(lambda: SlurmNode(node, partition, gres), options)


@adapter.command()
@click.option("--node", metavar="NAME", required=True, envvar="NODE_NAME", help="The node's name.")
@click.option("--kubeconfig", metavar="FILE", help="Default: the configuration of a pod.")
@click.option("--resource", metavar="NAME", default="smartharvest.io/cores", show_default=True,
              help="The extended resource to set.")  # fmt: skip
@_following
def kubernetes(node: str, kubeconfig: str | None, resource: str, **options: Any) -> None:
    """A Kubernetes node (needs the extra kubernetes)."""
    from smartharvest.cluster.kubernetes_node import KubernetesNode

    _run(lambda: KubernetesNode(node, kubeconfig, resource), options)


@adapter.command()
@click.option("--machine", metavar="NAME", default=socket.getfqdn, show_default="this host's",
              help="The machine's name in the pool.")  # fmt: skip
@click.option("--file", "advertisement", metavar="FILE", default=HTCONDOR_FILE,
              show_default=True, help="The file that STARTD_CRON reads.")  # fmt: skip
@_following
def htcondor(machine: str, advertisement: str, **options: Any) -> None:
    """An HTCondor execution point (needs condor_status and the file in packaging/htcondor)."""
    from smartharvest.cluster.htcondor_node import HTCondorNode

    _run(lambda: HTCondorNode(machine, advertisement), options)


@adapter.command()
@click.option("--master", metavar="URL", required=True, help="The master, as spark://HOST:PORT.")
@click.option("--page", metavar="URL", default="http://127.0.0.1:8080", show_default=True,
              help="The master's web pages.")  # fmt: skip
@click.option("--directory", metavar="DIR", required=True,
              help="Where the workers work and keep their logs.")  # fmt: skip
@click.option("--memory", metavar="SIZE", default="1g", show_default=True,
              help="Memory of each worker, which has one core.")  # fmt: skip
@click.option("--within", metavar="COMMAND", default="",
              help="Starts the workers, such as 'smartharvest run --elastic --'.")  # fmt: skip
@_following
def spark(master: str, page: str, directory: str, memory: str, within: str, **options: Any) -> None:
    """Workers of a Spark standalone cluster (needs Spark, or the extra spark, and Java)."""
    from smartharvest.cluster.spark_node import SparkNode

    _run(lambda: SparkNode(master, page, directory, memory, within), options)


@adapter.command()
@click.option("--page", metavar="URL", default="http://127.0.0.1:8088", show_default=True,
              help="The ResourceManager's web interface.")  # fmt: skip
@click.option("--node", metavar="HOST:PORT", required=True, help="The NodeManager's id.")
@_following
def yarn(page: str, node: str, **options: Any) -> None:
    """A YARN node (needs an administrator's rights at the ResourceManager)."""
    from smartharvest.cluster.yarn_node import YarnNode

    _run(lambda: YarnNode(page, node), options)


@adapter.command()
@click.option("--monitor", metavar="SOCKET", required=True, help="A QMP monitor of the guest.")
@click.option("--guest-agent", metavar="SOCKET",
              help="The guest agent's socket; without it vCPUs are left alone.")  # fmt: skip
@_following
def qemu(monitor: str, guest_agent: str | None, **options: Any) -> None:
    """A guest of QEMU: its vCPUs by the guest agent, its memory by a balloon."""
    from smartharvest.cluster.qemu_guest import QemuGuest

    before = QemuGuest(monitor, guest_agent).before
    _run(lambda: QemuGuest(monitor, guest_agent, before), options)
