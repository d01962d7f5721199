"""``make reproduce-fleet``: the papers' figures of clusters, on the traces there are.

``--traces`` is a folder with openb's list of pods (cluster-trace-gpu-v2023), tables
(``*-table.csv`` with ``*-nodes.csv``) or traces of spot instances (skypilot-org/spot-traces,
``16-node/*/*.json``); made traces are always among them. Writes a page and pictures, and says how
long it took.

The forecasts and intervals were chosen on the traces of CHOSEN_ON alone. All others confirm them.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bench.fleet import figures
from bench.fleet.made import NODES, WORDS, busier, made_trace
from bench.fleet.page import APART, page
from bench.fleet.spot import spot_cluster
from bench.machine import describe
from smartharvest.fleet.csv_tables import read_nodes
from smartharvest.fleet.pool import parse_harvest, parse_spot
from smartharvest.fleet.promises.clusters import divided
from smartharvest.fleet.promises.cohorts import Size
from smartharvest.fleet.promises.evaluation import RETRAIN_S, Result, evaluate, horizons_within
from smartharvest.fleet.promises.occupancy import Occupancy, occupancy
from smartharvest.fleet.promises.views import history
from smartharvest.fleet.simulation import Plan, simulate
from smartharvest.fleet.sources import read_trace
from smartharvest.fleet.summary import summarise
from smartharvest.fleet.tables import DAY_S, Allocations, Nodes

SPLIT, UNSEEN, SEED = 0.6, 3, 1
SEEDS_APART = range(21, 29)
MINIMUM = Size(4.0)
"""As in Figure 12."""
SPOT = Size(1.0)
"""Of a spot instance, which is a node of one core here."""
CHOSEN_ON = ("made", "made, busier", "spot us-west-2a")
OPENB = "openb_pod_list_default.csv"
OPENB_NODES = "32x32c128g"
OPENB_WORDS = (
    f"Alibaba's openb, cluster-trace-gpu-v2023 of github.com/alibaba/clusterdata (published for "
    f"research, without a licence file), `{OPENB}`, all pods, without GPUs, on {OPENB_NODES}"
)


@dataclass(frozen=True, slots=True)
class Checked:
    """Promises of a trace."""

    name: str
    unseen: list[Result]
    """Of clusters that none of the forests has seen, if the trace has several."""

    @property
    def chosen_on(self) -> bool:
        return self.name in CHOSEN_ON


@dataclass(frozen=True, slots=True)
class Subject(Checked):
    """A trace, and all that was found with it."""

    words: str
    nodes: str
    filled: dict[str, Any]
    seen: list[Result]
    step_s: float


def _promises(
    parts: list[tuple[Allocations, Nodes]], size: Size = MINIMUM
) -> tuple[list[Result], float]:
    seen: list[Occupancy] = [occupancy(*part) for part in parts]
    spans = horizons_within(seen[0].steps, seen[0].step_s, SPLIT, None)
    histories = [history(one, size, spans) for one in seen]
    return evaluate(histories, SPLIT, RETRAIN_S, SEED), seen[0].step_s


def _subject(name: str, words: str, table: Allocations, shape: str) -> Subject:
    nodes = read_nodes(shape)
    plan = Plan(harvest=parse_harvest("min=1,memory=16"), spot=parse_spot("cores=1,memory=16"))
    click.echo(f"{name}: filling what is left", err=True)
    filled = summarise(simulate(table, nodes, plan))
    click.echo(f"{name}: promises", err=True)
    seen, step_s = _promises([(table, nodes)])
    click.echo(f"{name}: promises for clusters never seen", err=True)
    unseen, _ = _promises(divided(table, nodes, UNSEEN, SEED))
    return Subject(name, unseen, words, shape, filled, seen, step_s)


def _subjects(traces: str | None) -> list[Subject]:
    found = []
    if traces:
        for path in sorted(Path(traces).rglob(f"{OPENB}*")):
            found.append(_subject("openb", OPENB_WORDS, read_trace(f"openb:{path}"), OPENB_NODES))
            break
        for path in sorted(Path(traces).rglob("*-table.csv*")):
            name = path.name.split("-table.csv")[0]
            shape = str(path.with_name(f"{name}-nodes.csv"))
            found.append(_subject(name, f"`{path.name}`", read_trace(f"table:{path}"), shape))
    return [*found, _subject("made", WORDS, made_trace(SEED), NODES)]


def _apart() -> Checked:
    """Promises of three days, from clusters that share nothing: each has its own seed, and a forest
    that has learned from the others."""
    nodes, spans = read_nodes(NODES), (3 * DAY_S,)
    click.echo(f"{APART}: promises from each other", err=True)
    seen = [occupancy(made_trace(seed), nodes) for seed in SEEDS_APART]
    histories = [history(one, MINIMUM, spans) for one in seen]
    return Checked(APART, evaluate(histories, SPLIT, RETRAIN_S, SEED, apart=True))


def _others(traces: str | None) -> list[Checked]:
    """Promises only, of traces that the pages' other figures would say nothing new of."""
    nodes = read_nodes(NODES)
    tables = {
        "made, busier": busier(made_trace(SEED), SEED),
        f"made, seed {SEED + 1}": made_trace(SEED + 1),
        f"made, busier, seed {SEED + 1}": busier(made_trace(SEED + 1), SEED + 1),
    }
    found = []
    for name, table in tables.items():
        click.echo(f"{name}: promises for clusters never seen", err=True)
        found.append(Checked(name, _promises(divided(table, nodes, UNSEEN, SEED))[0]))
    for path in sorted(Path(traces).rglob("16-node/*/*.json")) if traces else ():
        name = f"spot {path.name.split('_')[0]}"
        click.echo(f"{name}: promises", err=True)
        found.append(Checked(name, _promises([spot_cluster(str(path))], SPOT)[0]))
    return found


@click.command()
@click.option("--traces", metavar="DIR", help="A folder with traces.")
@click.option("--page", "page_file", required=True, metavar="FILE")
@click.option("--out", required=True, metavar="DIR", help="For the pictures.")
def main(traces: str | None, page_file: str, out: str) -> None:
    """Repeat the papers' figures of clusters."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    begun_s = time.monotonic()
    if traces and not os.path.isdir(traces):
        raise click.ClickException(f"--traces: {traces}: is no folder")
    subjects = _subjects(traces)
    others = [*_others(traces), _apart()]
    os.makedirs(out, exist_ok=True)
    figures.filling(plt, {one.name: one.filled for one in subjects}, out)
    extra = {one.name: float(one.filled["harvest"]["mean_extra_cores"]) for one in subjects}
    figures.prices(plt, extra, out)
    for one in subjects:
        figures.over_time(plt, one.seen, one.step_s, out, f"{one.name}-days.png")
        figures.by_horizon(plt, one.unseen, out, f"{one.name}-horizons.png")
    minutes = (time.monotonic() - begun_s) / 60
    text = page(
        subjects, others, describe(), minutes, os.path.relpath(out, os.path.dirname(page_file))
    )
    Path(page_file).write_text(text)
    click.echo(f"{page_file}: {minutes:.1f} min", err=True)


if __name__ == "__main__":
    main()
