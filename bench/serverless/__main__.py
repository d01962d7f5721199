"""``python -m bench.serverless``: runs the comparisons and writes the page of them.

``--functions`` are prefixes of the public Azure samples; without one the built-in mix is used, and
the page says so. Everything is written at the end, or nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from bench import machine, result_file
from bench.serverless import experiments
from bench.serverless.page import page
from bench.serverless.pictures import draw
from bench.serverless.routers import routers
from smartharvest.errors import SmartHarvestError
from smartharvest.serverless.simulator.mix import MIX
from smartharvest.serverless.simulator.sources import read_workload
from smartharvest.serverless.simulator.workload import Workload

COLD_S = 0.5
PARTS: dict[str, Callable[[Workload], Any]] = {
    "strategies": lambda workload: experiments.strategies(workload, log),
    "budgets": lambda workload: experiments.budgets(workload, log),
    "resources": lambda _: experiments.resources(),
    "routers": lambda _: routers(log),
    "few": lambda _: experiments.few_functions(log),
    "hot": lambda _: experiments.hot_function(log),
    "old": lambda workload: experiments.old_reports(workload, log),
    "half": lambda workload: experiments.half_evicted(workload, log),
    "memory": lambda workload: experiments.memory(workload, log),
}
"""What there is one of, whatever the samples are."""


def log(text: str) -> None:
    click.echo(text, err=True)


@click.command()
@click.option("--functions", "prefixes", multiple=True, help="Prefix; may be repeated.")
@click.option("--out", default="bench/results/serverless.json", help="The figures.")
@click.option("--page", "page_path", default="docs/research/serverless.md")
@click.option("--pictures", default="docs/research/serverless", help="A folder.")
@click.option("--again", is_flag=True, help="Only the page and the pictures, from --out.")
@click.option(
    "--only",
    "parts",
    type=click.Choice(list(PARTS)),
    multiple=True,
    help="Measure only this part, the others stay as in --out; may be repeated.",
)
def main(
    prefixes: tuple[str, ...],
    out: str,
    page_path: str,
    pictures: str,
    again: bool,
    parts: tuple[str, ...],
) -> None:
    if again or parts:
        with open(out, encoding="utf-8") as file:
            document = json.load(file)
    if not again:
        workloads = [read_workload(name, COLD_S) for name in dict.fromkeys((*prefixes, MIX))]
        found = _rounded(measure_parts(workloads[0], parts) if parts else measure(workloads))
        if parts:
            found["commits"] = {**document.get("commits", {}), **found["commits"]}
            found = {**document, **found}
        document = found
        os.makedirs(os.path.dirname(out), exist_ok=True)
        result_file.replace(Path(out), json.dumps(document, separators=(",", ":")) + "\n")
    os.makedirs(pictures, exist_ok=True)
    draw(document, pictures)
    result_file.replace(Path(page_path), page(document, os.path.basename(pictures)))


def measure(workloads: Sequence[Workload]) -> experiments.Row:
    """All comparisons; those that need one workload use the first."""
    started_s = time.process_time()
    samples = []
    for workload in workloads:
        found = experiments.balancers(workload, log)
        samples.append(
            {
                "source": workload.source,
                "functions": len(workload.names),
                "balancers": found,
                "clusters": experiments.clusters(workload, found, log),
                "cold_costs": experiments.cold_costs(workload, log),
            }
        )
    document = {
        "machine": machine.describe(),
        "samples": samples,
        **measure_parts(workloads[0], tuple(PARTS)),
    }
    return {**document, "cpu_minutes": round((time.process_time() - started_s) / 60, 1)}


def measure_parts(workload: Workload, names: Sequence[str]) -> experiments.Row:
    """Each part, and of which commit it is."""
    commit = machine.describe()["commit"]
    found = {name: PARTS[name](workload) for name in names}
    return {**found, "commits": dict.fromkeys(names, commit)}


def _rounded(value: Any) -> Any:
    """Four digits: what three seeds are good for."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    try:
        main()
    except SmartHarvestError as error:
        click.echo(f"reproduce-serverless: {error}", err=True)
        sys.exit(error.exit_code)
