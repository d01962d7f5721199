"""``smartharvest lab simulate``: what a policy would lend, and at what cost."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import Any

import click

from smartharvest.algorithm.learning.options import Label
from smartharvest.algorithm.policy import POLICY_NAMES, check_policy
from smartharvest.cli.lab.leaderboard import show_leaderboard
from smartharvest.cli.progress import Progress
from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.cli.time_span import seconds_between
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.conditions import (
    PAPERS_CONDITIONS,
    Conditions,
    check_conditions,
    made_for,
)


@click.command()
@click.option("--workload", default="indexserve", show_default=True, metavar="NAME|FILE",
              help="indexserve, memcached, moses, img-dnn or a TOML file.")  # fmt: skip
@click.option("--policy", default="smartharvest", show_default=True, metavar="POLICY",
              help=f"{', '.join(POLICY_NAMES)}, or a bound: clairvoyant, instant.")  # fmt: skip
@click.option("--mechanism", metavar="NAME",
              help="How cores move: cpugroups, ipi, linux, cpu-idle, cpu-idle-kernel, "
              "cpu-idle-7.3, strict, instant. "
              "Default: as the policy was made for; cpugroups for the paper's.")  # fmt: skip
@click.option("--seconds", callback=seconds_between(0.1, 1e6), default="60", show_default=True,
              metavar="S", help="Simulated time.")  # fmt: skip
@click.option("--seed", "seeds", type=click.IntRange(min=0), default=(1,), multiple=True,
              show_default=True, metavar="N",
              help="May be repeated: then mean and spread.")  # fmt: skip
@click.option("--primary-cores", type=click.IntRange(min=1, max=1024), metavar="N",
              help="Cores of the primaries. Default: the sum of the workload's.")  # fmt: skip
@settings_options(
    "window", "poll", "cost", "safeguard", "learner", "keep_idle", "max_harvest",
    "protect", "features_after_exhaustion", "exhausted_windows", "long_term_share",
    "long_term_threshold", "long_term_periods", "long_term_period", "long_term_rest",
    "long_term_min_dispatches",
)  # fmt: skip
@click.option("--long-term", type=click.Choice(["paper", "auto", "attributed", "off"]),
              help="Which waits stop the lending. Default: paper for the paper's policies, else "
              "auto.")  # fmt: skip
@click.option("--label", type=click.Choice(["busy", "demand"]),
              help="Which peak is learned: of busy cores (default for the paper's policies) or "
              "of demand.")  # fmt: skip
@click.option("--events/--sampled", default=None, help="Weigh windows by time and act on events, "
              "as the agent does where the sensor sees each, or poll and sample (default for the "
              "paper's policies).")  # fmt: skip
@click.option("--policies", metavar="P,P...", help="Compare these policies, bounds.")  # fmt: skip
@click.option("--workloads", metavar="W,W...", help="Workloads to compare them on: names, files, "
              "or the sets calibrated, bursty, held-out. Default: calibrated,bursty.")  # fmt: skip
@click.option("--mechanisms", default="cpugroups,ipi,linux", show_default=True, metavar="M,M...",
              help="Mechanisms to compare them with.")  # fmt: skip
@click.option("--csv", "as_csv", is_flag=True, help="Print the leaderboard's rows as CSV.")
@click.option("--groups", "groups_file", type=click.Path(exists=True, dir_okay=False),
              metavar="FILE", help="A configuration with [[elastic]] tables: what each group has "
              "of what is lent, by the agent's division.")  # fmt: skip
@click.option("--harm", is_flag=True, help="Print what lending costs each primary, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def simulate(
    policies: str | None,
    workloads: str | None,
    mechanisms: str,
    as_csv: bool,
    workload: str,
    policy: str,
    mechanism: str | None,
    seconds: float,
    seeds: tuple[int, ...],
    primary_cores: int | None,
    long_term: str | None,
    label: Label | None,
    events: bool | None,
    harm: bool,
    groups_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run a policy on a simulated server, in virtual time and from a seed.

    The loop, the policies and the safeguards are those of the agent; only the host is simulated.
    The same seed gives the same traffic under every policy, and the same output. A policy
    brings the conditions that it was made for. Those of the paper's policies are the paper's:
    sampled windows, the peak of busy cores as label, every wait counted.
    """
    from smartharvest.agent.deciders import make_long_term
    from smartharvest.lab.simulator.report import (
        document,
        format_groups,
        format_harm,
        format_outcomes,
        groups_of,
        harm_of,
    )
    from smartharvest.lab.simulator.run import BOUNDS
    from smartharvest.lab.simulator.run import simulate as run

    if policy not in BOUNDS:
        check_policy(policy)
    settings = settings_from(options)
    if policies is not None:
        board = show_leaderboard(
            policies, workloads, mechanisms, seeds, seconds, settings.learner, as_csv, as_json
        )
        click.echo(board)
        return
    conditions = _conditions(policy, events, label, long_term, mechanism)
    experiment = _experiment(workload, seconds, primary_cores, conditions, settings)
    shared = _shared_cores(groups_file, policy, experiment.cores, len(seeds))

    def window_ended(number: int, window: Any) -> None:
        progress(number * seconds + window.end_ns / 1e9, len(seeds) * seconds)
        if shared:
            shared[number].window_ended(window)

    with Progress("simulated seconds", wanted=not as_json) as progress:
        outcomes = [
            run(
                dataclasses.replace(experiment, seed=seed),
                policy,
                cost=settings.cost,
                safeguard=settings.safeguard,
                learner=settings.learner,
                make_long_term=lambda: make_long_term(settings),
                options=_learning_options(settings, conditions.label),
                protect=settings.protect,
                window_ended=partial(window_ended, number),
                started=shared[number].started if shared else None,
            )
            for number, seed in enumerate(seeds)
        ]
    if as_json:
        more = {"harm": harm_of(outcomes)} if harm else {}
        told = {"elastic": groups_of(shared)} if shared else {}
        click.echo(json.dumps({**document(outcomes), **more, **told}))
        return
    click.echo(format_outcomes(outcomes))
    if harm:
        click.echo(format_harm(outcomes))
    if shared:
        click.echo(format_groups(shared))


def _shared_cores(file: str | None, policy: str, cores: int, seeds: int) -> list[Any]:
    """Of each seed; empty without a file. Raises ConfigError for one that names no groups."""
    from smartharvest.config.loading import load_settings
    from smartharvest.lab.simulator.groups import SharedCores
    from smartharvest.lab.simulator.run import BOUNDS

    if file is None:
        return []
    settings = load_settings({}, file)
    if not settings.elastic_groups:
        raise ConfigError(f"groups: {file} has no [[elastic]] table; write one for each group")
    if policy in BOUNDS:
        raise ConfigError(f"groups: {policy} is a bound, which lends nothing; use a policy")
    return [SharedCores(settings.elastic_groups, settings.share, cores) for _ in range(seeds)]


def _conditions(
    policy: str,
    events: bool | None,
    label: Label | None,
    long_term: str | None,
    mechanism: str | None,
) -> Conditions:
    """What the policy was made for, but for what was asked; says so where that is not the paper's.
    Raises ConfigError where the policy cannot do its work."""
    own = made_for(policy)
    conditions = Conditions(
        own.events if events is None else events,
        label or own.label,
        long_term or own.long_term,
        mechanism or own.mechanism,
    )
    check_conditions(policy, conditions)
    if own != PAPERS_CONDITIONS:
        click.echo(f"{policy} runs under {conditions.as_options()}", err=True)
    return conditions


def _experiment(
    workload: str,
    seconds: float,
    primary_cores: int | None,
    conditions: Conditions,
    settings: Settings,
) -> Any:
    from smartharvest.lab.simulator.machine import LoopSettings
    from smartharvest.lab.simulator.mechanisms import MECHANISM_NAMES, make_mechanism
    from smartharvest.lab.simulator.run import Experiment
    from smartharvest.lab.simulator.workload_file import find_workload
    from smartharvest.lab.simulator.workloads import WORKLOADS

    mechanism = conditions.mechanism
    if mechanism not in MECHANISM_NAMES:
        raise ConfigError(
            f"mechanism: {mechanism!r} is unknown; use one of {', '.join(MECHANISM_NAMES)}"
        )
    found = find_workload(workload)
    cores = primary_cores or found.cores
    if workload in WORKLOADS:
        found = found.on_cores(cores)
    if cores > 1024:
        raise ConfigError(f"workload: {found.name}: {cores} cores are too many; use at most 1024")
    return Experiment(
        workload=found,
        mechanism=make_mechanism(mechanism),
        seconds=seconds,
        cores=cores,
        loop=LoopSettings(
            window_ns=settings.window_ns,
            poll_ns=settings.poll_ns,
            max_harvest=settings.max_harvest,
            keep_idle=settings.keep_idle,
            event_driven=conditions.events,
        ),
        long_term=conditions.long_term,
    )


def _learning_options(settings: Settings, label: Label) -> Any:
    from smartharvest.algorithm.learning.options import LearningOptions

    return LearningOptions(
        features_after_exhaustion=settings.features_after_exhaustion,
        exhausted_windows=settings.exhausted_windows,
        label=label,
    )
