"""``smartharvest fleet extender``: tells kube-scheduler what nodes lend and promise."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import shown_option
from smartharvest.cli.time_span import seconds_between
from smartharvest.errors import ConfigError

EPILOG = examples(
    "smartharvest fleet extender --nodes nodes.csv --capacity http://{node}:9444/capacity",
    "smartharvest fleet extender --nodes nodes.csv --scheduler-configuration",
)


@click.command(epilog=EPILOG)
@click.option("--nodes", metavar="SHAPE|FILE", help="A table of the nodes, if not --kubeconfig.")
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="Ask the API server for nodes, pods and promises (needs the extra fleet); "
    "'pod': as a pod does.",
)
@shown_option(
    "--place",
    "least-harvested",
    "WAY",
    "The score that ranks nodes for regular pods (fleet simulate has the list).",
)
@click.option(
    "--capacity",
    "url",
    metavar="URL",
    help="Every agent's /capacity page, with {node} for the node's name.",
)
@click.option(
    "--group", metavar="NAME", help="The elastic group that pods run in, if agents have several."
)
@shown_option(
    "--every", "2s", "TIME", "Time between two looks at all agents.", callback=seconds_between(0.1)
)
@shown_option(
    "--stale",
    "15s",
    "TIME",
    "An agent that is silent for this long promises nothing.",
    callback=seconds_between(0.1),
)
@shown_option(
    "--listen", "127.0.0.1:9445", "HOST:PORT", "Loopback only, unless there is a certificate."
)
@click.option("--cert", metavar="FILE", help="TLS: the server's certificate.")
@click.option("--key", metavar="FILE", help="TLS: its key.")
@click.option("--client-ca", metavar="FILE", help="TLS: answer only clients that it has signed.")
@click.option(
    "--scheduler-configuration",
    is_flag=True,
    help="Print what kube-scheduler's configuration needs, and end.",
)
def extender(
    nodes: str | None, kubeconfig: str | None, place: str, url: str | None, group: str | None,
    every: float, stale: float, listen: str, cert: str | None, key: str | None,
    client_ca: str | None, scheduler_configuration: bool,
) -> None:  # fmt: skip
    """Rank and filter nodes for kube-scheduler, by what they lend and promise."""
    from smartharvest.fleet.csv_tables import read_nodes
    from smartharvest.fleet.extender_server import ExtenderServer, tls_context
    from smartharvest.fleet.extender_view import View
    from smartharvest.fleet.placement import WAYS
    from smartharvest.fleet.pollers import CapacityPoller, Poller

    if (way := WAYS.get(place)) is None:
        raise ConfigError(f"--place: {place!r} is unknown; there are {', '.join(WAYS)}")
    if (cert is None) != (key is None) or (client_ca is not None and cert is None):
        raise ConfigError("--cert, --key: give both; --client-ca needs them")
    host, port = _address(listen)
    if scheduler_configuration:
        click.echo(_configuration(listen, kubeconfig, cert, client_ca is not None))
        return
    if url is not None and "{node}" not in url:
        raise ConfigError(f"--capacity: {url}: write {{node}} where the node's name belongs")
    if (nodes is None) == (kubeconfig is None):
        raise ConfigError("--nodes, --kubeconfig: give one of them")
    view = View(stale)
    names: list[str] = []
    if nodes is not None:
        table = read_nodes(nodes)
        names = list(table.ids)
        for name, cores, memory_gib in zip(names, table.cores, table.memory_gib, strict=True):
            view.set_size(name, float(cores), float(memory_gib))
        view.renew(0.0)
    tls = tls_context(cert, key, client_ca) if cert is not None and key is not None else None
    server = ExtenderServer(host, port, view, way, tls)
    pollers: list[Poller] = []
    try:
        if kubeconfig is not None:
            from smartharvest.fleet.kubernetes_cluster import ClusterPoller, KubernetesCluster

            pollers.append(ClusterPoller(view, KubernetesCluster(kubeconfig), every))
        if url is not None:
            pollers.append(CapacityPoller(view, url, every, group))
        for poller in pollers:
            poller.start()
        click.echo(f"nodes are ranked by {place} at {host}:{server.server_port}", err=True)
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()
        for poller in pollers:
            poller.close()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"--listen: {text!r} is no address and port; write 127.0.0.1:9445")
    return host.strip("[]"), int(port)


def _configuration(
    listen: str, kubeconfig: str | None, cert: str | None, asks_for_cert: bool
) -> str:
    """As kube-scheduler's --config wants it (JSON is YAML); ``ignorable``: it can do without."""
    extender: dict[str, Any] = {
        "urlPrefix": f"{'https' if cert else 'http'}://{listen}",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 5,
        "enableHTTPS": cert is not None,
        "httpTimeout": "200ms",
        "nodeCacheCapable": True,
        "ignorable": True,
    }
    document: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    if kubeconfig is not None and kubeconfig != "pod":
        # With --config the scheduler passes over its own --kubeconfig.
        document["clientConnection"] = {"kubeconfig": os.path.abspath(kubeconfig)}
    if cert is not None:
        # Without an authority the scheduler would believe any server.
        extender["tlsConfig"] = {"caFile": os.path.abspath(cert)}
        if asks_for_cert:
            extender["tlsConfig"] |= {"certFile": "CLIENT.crt", "keyFile": "CLIENT.key"}
    document["extenders"] = [extender]
    return json.dumps(document, indent=2)
