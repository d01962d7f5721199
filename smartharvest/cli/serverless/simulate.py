"""``smartharvest serverless simulate``: functions on workers whose cores come and go."""

from __future__ import annotations

import json
import os

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.progress import Progress
from smartharvest.errors import ConfigError


@click.command(epilog=examples(
    "smartharvest serverless simulate --balancer mws --churn active",
    "smartharvest serverless simulate --functions azure/200 --workers 20x8 --rps 60 --json",
))  # fmt: skip
@click.option("--functions", default="mix", show_default=True, metavar="mix|PREFIX|FILE.toml",
              help="The built-in mix; PREFIX of PREFIX_inv.csv, PREFIX_run.csv and PREFIX_mem.csv "
              "(.gz too) as the public Azure samples have; or a described mix.")  # fmt: skip
@click.option("--workers", default="20x8", show_default=True, metavar="NxCORES[xGIB]",
              help="So many workers of so many cores on average.")  # fmt: skip
@click.option("--churn", default="normal", show_default=True, metavar="NAME|FILE",
              help="How cores come and go: dedicated, normal, active; or a record: "
              "CSV seconds,worker,cores, a fleet's table, an agent's audit log.")  # fmt: skip
@click.option("--balancer", type=click.Choice(["mws", "jsq", "vanilla", "p2c"]), default="mws",
              show_default=True, help="Who chooses the worker.")  # fmt: skip
@click.option("--strategy",
              type=click.Choice(["no-failures", "bounded-failures", "live-and-let-die"]),
              default="live-and-let-die", show_default=True,
              help="Which functions stay on regular workers.")  # fmt: skip
@click.option("--rps", type=float, metavar="N",
              help="Invocations a second on average. Default: as the functions say.")  # fmt: skip
@click.option("--minutes", type=float, default=10.0, show_default=True, metavar="N",
              help="Simulated time.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0, max=2**63 - 1), default=1, show_default=True,
              metavar="N", help="The same seed, the same output.")  # fmt: skip
@click.option("--budget", type=float, default=1e-4, show_default=True, metavar="SHARE",
              help="Of the invocations that may fail: of bounded-failures.")  # fmt: skip
@click.option("--regular-workers", type=int, metavar="N",
              help="Regular VMs among the workers. Default: as the strategy needs.")  # fmt: skip
@click.option("--retries", type=int, default=0, show_default=True, metavar="N",
              help="Further attempts of idempotent functions.")  # fmt: skip
@click.option("--idempotent-share", type=float, default=0.0, show_default=True, metavar="SHARE",
              help="Functions that are declared idempotent, by chance.")  # fmt: skip
@click.option("--cold-start", "cold_s", type=float, default=0.5, show_default=True, metavar="S",
              help="What a cold start takes of a core.")  # fmt: skip
@click.option("--cold-cost", type=float, default=0.0, show_default=True, metavar="N",
              help="What mws and jsq count a cold start as, in invocations. "
              "Ray Serve's routers: 4.")  # fmt: skip
@click.option("--keep-alive", "keep_alive_s", type=float, default=600.0, show_default=True,
              metavar="S", help="How long an idle instance is kept.")  # fmt: skip
@click.option("--report-every", "report_s", type=float, default=1.0, show_default=True,
              metavar="S", help="How often workers report cores, load and notices.")  # fmt: skip
@click.option("--notice", "notice_s", type=float, default=30.0, show_default=True, metavar="S",
              help="Between notice and eviction.")  # fmt: skip
@click.option("--controllers", type=int, default=1, show_default=True, metavar="N",
              help="Balancers side by side, each with its own part of the load.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def simulate(
    functions: str,
    workers: str,
    churn: str,
    balancer: str,
    strategy: str,
    rps: float | None,
    minutes: float,
    seed: int,
    budget: float,
    regular_workers: int | None,
    retries: int,
    idempotent_share: float,
    cold_s: float,
    cold_cost: float,
    keep_alive_s: float,
    report_s: float,
    notice_s: float,
    controllers: int,
    as_json: bool,
) -> None:
    """Run short functions on workers whose cores come and go, in virtual time and from a seed."""
    from smartharvest.serverless.simulator.churn import CHURN_NAMES
    from smartharvest.serverless.simulator.pool import parse_workers
    from smartharvest.serverless.simulator.report import as_text, document
    from smartharvest.serverless.simulator.run import Experiment
    from smartharvest.serverless.simulator.run import simulate as run
    from smartharvest.serverless.simulator.sources import read_workload

    if churn not in CHURN_NAMES and not os.path.exists(churn):
        raise ConfigError(f"churn: {churn!r} is no file, and none of {', '.join(CHURN_NAMES)}")
    if not 0.0 <= cold_s <= 1e4:
        raise ConfigError(f"cold start: {cold_s:g} s must be 0 to 10000")
    if not 0.0 <= notice_s <= 1e6:
        raise ConfigError(f"notice: {notice_s:g} s must be 0 or more")
    experiment = Experiment(
        workload=read_workload(functions, cold_s),
        size=parse_workers(workers),
        churn=churn,
        balancer=balancer,
        strategy=strategy,
        minutes=minutes,
        rps=rps,
        seed=seed,
        regular=regular_workers,
        budget=budget,
        retries=retries,
        idempotent_share=idempotent_share,
        report_s=report_s,
        cold_cost=cold_cost,
        keep_alive_s=keep_alive_s,
        notice_s=notice_s,
        controllers=controllers,
    )
    with Progress("simulated minutes", wanted=not as_json) as progress:
        figures = document(run(experiment, progress))
    click.echo(json.dumps(figures) if as_json else as_text(figures))
