"""``python -m bench.real``: the experiment of the paper's section 5 at this machine's size.

Prints one JSON document; progress goes to standard error.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from bench import result_file
from bench.__main__ import interrupt
from bench.machine import Disturbance, describe, shortcomings
from bench.progress import Terminal
from bench.real import ablations
from bench.real.batch import BATCHES
from bench.real.conditions import BASELINE, CONDITIONS, EXPERIMENTS, Condition, Experiment
from bench.real.experiment import Plan, run
from bench.real.primaries import PRIMARIES
from bench.statistics import rounded
from bench.subject import Figures, NotMeasurableError
from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.lab.demo.groups import why_not_here

MINUTES, ABLATION_MINUTES = 21.0, 7.0


@click.command()
@click.option("--ablations", "ablate", is_flag=True, help="One part of the agent changed a row.")
@click.option(
    "--minutes", type=float, help=f"For all.  [default: {MINUTES:g}, {ABLATION_MINUTES:g}]"
)
@click.option("--experiment", multiple=True, type=click.Choice([e.name for e in EXPERIMENTS]))
@click.option("--condition", multiple=True, help="Only this row; may be repeated.")
@click.option("--primary", type=click.Choice(list(PRIMARIES)), help="Instead of an experiment's.")
@click.option("--batch", type=click.Choice(list(BATCHES)), help="Instead of an experiment's.")
@click.option("--load", type=float, help="Instead of an experiment's: a share of the CPUs.")
@click.option("--rounds", type=int, help="Instead of as many as the time allows.")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
def main(
    ablate: bool,
    minutes: float | None,
    experiment: tuple[str, ...],
    condition: tuple[str, ...],
    primary: str | None,
    batch: str | None,
    load: float | None,
    rounds: int | None,
    seed: int,
    out: Path | None,
) -> None:
    """Run real primaries and real batches side by side under every condition.

    Ctrl-C ends it early: whole rounds are kept and marked as partial.
    """
    signal.signal(signal.SIGTERM, interrupt)
    experiments: Sequence[Experiment] = EXPERIMENTS
    conditions: Sequence[Condition] = CONDITIONS
    if ablate:
        experiments, conditions = (ablations.EXPERIMENT,), ablations.CONDITIONS
    elif experiment:
        experiments = [one for one in EXPERIMENTS if one.name in experiment]
    changes = {"primary": primary, "batch": batch, "load": load}
    given = {key: value for key, value in changes.items() if value is not None}
    experiments = [dataclasses.replace(one, **given) for one in experiments]  # type: ignore[arg-type]
    if condition:
        unknown = set(condition) - {one.name for one in conditions}
        if unknown:
            raise click.UsageError(f"no condition is called {', '.join(sorted(unknown))}")
        conditions = [one for one in conditions if one.name in (BASELINE, *condition)]
    missing = why_not_here()
    if missing is not None:
        click.echo(f"bench: {missing}; nothing can be measured", err=True)
        sys.exit(RightsError.exit_code)
    result_file.check(out)
    warnings = shortcomings()
    for line in warnings:
        click.echo(f"careful: this machine is {line}", err=True)
    budget_s = 60 * (minutes or (ABLATION_MINUTES if ablate else MINUTES))
    document = _measure(experiments, conditions, rounds, budget_s, seed)
    document["warnings"] = warnings
    _keep(document, out)
    if document["interrupted"]:
        click.echo(
            "bench: interrupted; whole rounds are kept as partial (make performance)", err=True
        )
        sys.exit(128 + signal.SIGINT)


def _keep(document: Figures, out: Path | None) -> None:
    """Unless nothing was measured: what ``out`` holds from earlier is worth more."""
    experiments = document["experiments"]
    assert isinstance(experiments, dict)
    if any("skipped" not in one for one in experiments.values()):
        result_file.keep(document, out)
        return
    left = f"; {out} is left as it was" if out is not None and out.exists() else ""
    click.echo(f"bench: nothing was measured{left}", err=True)
    sys.exit(128 + signal.SIGINT if document["interrupted"] else RightsError.exit_code)


def _measure(
    experiments: Sequence[Experiment],
    conditions: Sequence[Condition],
    rounds: int | None,
    budget_s: float,
    seed: int,
) -> Figures:
    """All experiments, which share the time; who cannot run leaves it to the others."""
    figures: dict[str, Figures] = {}
    progress = Terminal(len(experiments))
    interrupted: str | None = None
    began_s = time.monotonic()
    with Disturbance() as disturbance:
        for number, experiment in enumerate(experiments):
            left_s = max(0.0, began_s + budget_s - time.monotonic())
            own_s = left_s * experiment.weight / sum(one.weight for one in experiments[number:])
            own_began_s = time.monotonic()
            progress.begin(experiment.name, own_s, left_s)
            rows = [one for one in conditions if one.name in (experiment.rows or (one.name,))]
            plan = Plan(experiment, rows, rounds, own_s, seed)
            try:
                figures[experiment.name] = run(plan, progress)
                outcome = f"{time.monotonic() - own_began_s:.0f} s"
            except (NotMeasurableError, SmartHarvestError) as reason:
                figures[experiment.name] = {"skipped": str(reason)}
                outcome = f"skipped: {reason}"
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                figures[experiment.name] = {"skipped": what}
                outcome = f"failed: {what}"
            except KeyboardInterrupt:
                progress.interrupted = True
                outcome = "interrupted"
            progress.end(experiment.name, outcome)
            if progress.interrupted:
                interrupted = experiment.name
                break
    return {
        "machine": {**describe(), **disturbance.figures},
        "seed": seed,
        "seconds": rounded(time.monotonic() - began_s),
        "interrupted": interrupted,
        "conditions": {one.name: one.about for one in conditions},
        "experiments": figures,
    }


if __name__ == "__main__":
    main()
