"""``smartharvest report``: a day of an agent on one page."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from typing import Any

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.progress import Progress
from smartharvest.cli.settings_options import settings_options
from smartharvest.cli.time_span import since_option, until_option
from smartharvest.config.loading import read_alone
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.printable import printable
from smartharvest.telemetry.audit import between, read_audit
from smartharvest.telemetry.day import read_day
from smartharvest.telemetry.day_page import in_words, page
from smartharvest.telemetry.output_file import write_whole

INSTALLED_CONFIGS = ("/etc/smartharvest.toml", "/etc/smartharvest/agent.toml")
"""On a host with the service, and in the image."""

EPILOG = examples(
    "smartharvest report --since 24h --html day.html",
    "smartharvest report /var/log/smartharvest/audit.jsonl --since 24h --json",
    "smartharvest report audit.jsonl --trace web.trace --policy prev-peak --regular-price 0.126",
)


@click.command(epilog=EPILOG)
@click.argument("file", metavar="[AUDIT.jsonl]", type=click.Path(), required=False)
@settings_options("audit_log")
@since_option
@until_option
@click.option("--html", metavar="FILE", help="Write a page that needs nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--trace", metavar="TRACE", help="Replay a recording of smartharvest record, too.")
@click.option("--policy", "policies", multiple=True, metavar="POLICY",
              help="What it is replayed to; may be repeated.")  # fmt: skip
@click.option("--regular-price", type=float, metavar="P", help="Of a regular core-hour.")
@click.option("--evictable-price", type=float, metavar="P", help="Of an evictable core-hour.")
@click.option("--alpha", type=float, metavar="SHARE",
              help="Price of a lent core-hour, as a share of an evictable one.")  # fmt: skip
def report(
    file: str | None,
    config_file: str | None,
    audit_log: str | None,
    since: float | None,
    until: float | None,
    html: str | None,
    as_json: bool,
    trace: str | None,
    policies: tuple[str, ...],
    **prices: float | None,
) -> None:
    """Sum up what was lent, to whom it did harm, and what went wrong.

    Reads the audit log that is named, or the one of --config, which is /etc/smartharvest.toml
    by default. Prices are those of `smartharvest fleet cost`; what is saved is printed
    if any is given.
    """
    path = file or audit_log or _configured(config_file)
    with Progress("MB", wanted=not as_json) as progress:
        day = read_day(between(read_audit(path, progress), since, until))
    more: dict[str, Any] = {}
    if any(value is not None for value in prices.values()):
        more["saved"] = _saved(day.lent_core_hours, prices)
    if trace is not None:
        more["policies"] = _replayed(trace, policies, wanted=not as_json)
    elif policies:
        raise ConfigError("--policy: needs --trace; smartharvest record makes one")
    if html is not None:
        write_whole(html, page(day, more).encode())
    if as_json:
        click.echo(json.dumps({**day.document(), **more}))
    elif html is None:
        click.echo(printable("\n".join(in_words(day, more))))


def _configured(config_file: str | None) -> str:
    found: dict[str, Any] = {}
    config_file = config_file or next(filter(os.path.exists, INSTALLED_CONFIGS), None)
    if config_file is not None:
        found, _ = read_alone(config_file, "audit_log")
    if "audit_log" not in found:
        raise ConfigError("report: name the audit log, or a --config that has one")
    return str(found["audit_log"])


def _saved(lent_core_hours: float, prices: dict[str, float | None]) -> dict[str, float]:
    """By the prices of ``fleet cost``, in their currency."""
    from smartharvest.fleet.cost import Terms

    given = {name: value for name, value in prices.items() if value is not None}
    if any(value < 0 for value in given.values()) or given.get("alpha", 0) > 1:
        raise ConfigError("--alpha, --regular-price, --evictable-price: 0 or more, alpha at most 1")
    terms = replace(Terms(), **given)
    paid = terms.alpha * terms.evictable_price
    return {
        "vs_regular": lent_core_hours * (terms.regular_price - paid),
        "vs_evictable": lent_core_hours * (terms.evictable_price - paid),
        "alpha": terms.alpha,
        "regular_price": terms.regular_price,
        "evictable_price": terms.evictable_price,
    }


def _replayed(trace: str, policies: tuple[str, ...], wanted: bool) -> list[dict[str, Any]]:
    from smartharvest.algorithm.policy import check_policy
    from smartharvest.lab.trace.reader import TraceReader
    from smartharvest.lab.trace.replay import replay

    for policy in policies:
        check_policy(policy)
    specs = policies or ("smartharvest", "prev-peak")
    with TraceReader(trace, partial=True) as reader, Progress("replayed seconds", wanted) as shown:
        played = replay(reader, specs, Settings(), progress=shown)
    return [asdict(one.outcome) for one in played]
