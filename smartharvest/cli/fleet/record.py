"""``smartharvest fleet record``: what runs in a live Kubernetes cluster, as a table."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import shown_option
from smartharvest.cli.time_span import seconds_between
from smartharvest.errors import ConfigError, EngineError, TraceError
from smartharvest.printable import counted

EPILOG = examples(
    "smartharvest fleet record --kubeconfig ~/.kube/config --out pods.csv.gz --nodes-out nodes.csv "
    "--seconds 14d",
    "smartharvest fleet evaluate --trace table:pods.csv.gz --nodes nodes.csv",
)
_log = logging.getLogger(__name__)


@click.command(epilog=EPILOG)
@click.option(
    "--kubeconfig",
    required=True,
    metavar="FILE",
    help="Of the official client (needs the extra fleet); 'pod': as a pod does.",
)
@click.option("--out", required=True, metavar="FILE", help="The pods; gzipped if named .gz.")
@click.option("--nodes-out", required=True, metavar="FILE", help="The nodes.")
@shown_option("--every", "30s", "TIME", "Time between two looks.", callback=seconds_between(0.1))
@shown_option(
    "--save", "10min", "TIME", "Time between two writes of both files.",
    callback=seconds_between(0.1),
)  # fmt: skip
@click.option("--seconds", callback=seconds_between(0.1), metavar="TIME",
              help="How long to record, such as 90 or 14d.  [default: until ctrl-C]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace the files if they exist.")
def record(
    kubeconfig: str, out: str, nodes_out: str, every: float, save: float, seconds: float | None,
    overwrite: bool,
) -> None:  # fmt: skip
    """Record the pods of a Kubernetes cluster as a table of allocations. Changes nothing there.

    Lists nodes and pods (both rights are needed in all namespaces). A pod that comes and goes
    between two looks may be missed. Ends after --seconds, or on SIGINT or SIGTERM.
    """
    from smartharvest.fleet.csv_tables import write_nodes, write_table
    from smartharvest.fleet.kubernetes_cluster import KubernetesCluster
    from smartharvest.fleet.recording import Recording

    for option, path in (("--out", out), ("--nodes-out", nodes_out)):
        if os.path.lexists(path) and not overwrite:
            raise ConfigError(f"{option}: {path} exists; give another name, or --overwrite")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stopped.set())
    cluster = KubernetesCluster(kubeconfig)
    began_s, started_s = time.time(), time.monotonic()
    recording = Recording(began_s)
    last_s = began_s

    def gone_s() -> float:
        return time.monotonic() - started_s  # the clock may be set meanwhile

    def look() -> None:
        nonlocal last_s
        found = cluster.documents()
        last_s = began_s + gone_s()
        recording.look(last_s, *found)

    def write() -> int:
        table = recording.allocations(last_s)
        write_nodes(nodes_out, recording.nodes())
        write_table(out, table)
        return len(table)

    look()
    saved_s, said = 0.0, ""
    ended = False
    while not ended:
        left_s = every - gone_s() % every
        if seconds is not None:
            left_s = min(left_s, max(0.0, seconds - gone_s()))
        ended = stopped.wait(left_s) or (seconds is not None and gone_s() >= seconds)
        why = ""
        try:
            look()
            if not ended and gone_s() - saved_s >= save:
                saved_s = gone_s()
                write()
        except (EngineError, TraceError) as error:
            why = str(error)
        if why and why != said:
            _log.warning("%s; recording goes on", why)
        said = why
    pods = write()
    click.echo(
        f"{out}: {counted(pods, 'pod')} over {(last_s - began_s) / 3600:.1f} h; {nodes_out}: "
        f"{counted(len(recording.nodes()), 'node')}; without a request of cores and left out: "
        f"{counted(recording.best_effort, 'pod')}"
    )
