"""``smartharvest doctor``: is this host fit for harvesting, and what would mend it?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import click

from smartharvest.doctor import Finding, Host, examine
from smartharvest.errors import UnfitHost


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--strict", is_flag=True, help="Let warnings fail too.")
@click.option("--verbose", "-v", is_flag=True, help="Tell of what is well why it matters, too.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    default="/",
    help="Look at the files below DIR instead of /.",
)
def doctor(as_json: bool, strict: bool, verbose: bool, root: str) -> None:
    """Look at the host and tell what helps and what hinders harvesting on it.

    Changes nothing. Run it as the agent will run: some checks are about rights. Exits with 10 if
    something fails (with --strict: or warns), otherwise with 0.
    """
    findings = examine(Host(root))
    if as_json:
        click.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        click.echo(format_findings(findings, verbose))
    count = Counter(finding.status for finding in findings)
    if count["failure"] or (strict and count["warning"]):
        raise UnfitHost(
            f"doctor: {count['failure']} failed and {count['warning']} warn; "
            "the lines above say how to mend them"
        )


def format_findings(findings: Sequence[Finding], verbose: bool = False) -> str:
    """A line per finding; below those that are not well, why it matters and what mends it."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.status:8} {finding.check}: {_one_line(finding.found)}")
        if finding.status != "ok" or verbose:
            lines.append(f"{'':8}   why:  {finding.why}")
        if finding.mend is not None:
            lines.append(f"{'':8}   mend: {finding.mend}")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)
