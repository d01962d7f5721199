"""``smartharvest doctor``: whether this host is fit, and what to fix."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import click

from smartharvest.cli.command_group import examples
from smartharvest.doctor import Finding, Host, examine
from smartharvest.errors import UnfitHost
from smartharvest.printable import counted


@click.command(epilog=examples("smartharvest doctor", "smartharvest doctor --json"))
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--strict", is_flag=True, help="Let warnings fail too.")
@click.option("--verbose", "-v", is_flag=True, help="Explain also what is well.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    default="/",
    help="Read the files below DIR instead of /.",
)
def doctor(as_json: bool, strict: bool, verbose: bool, root: str) -> None:
    """Check this host, and say what to fix before cores are lent on it.

    Changes nothing. Run it as the user the agent will have: some checks are about rights. Exits
    with 10 if a check fails (with --strict: or warns), otherwise with 0.
    """
    findings = examine(Host(root))
    if as_json:
        click.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        click.echo(format_findings(findings, verbose))
    count = Counter(finding.status for finding in findings)
    if count["failure"] or (strict and count["warning"]):
        raise UnfitHost(
            f"doctor: {counted(count['failure'], 'failure')} and "
            f"{counted(count['warning'], 'warning')}; the lines above say what to fix"
        )


def format_findings(findings: Sequence[Finding], verbose: bool = False) -> str:
    """A line per finding; below a warning or failure, why it matters and what fixes it."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.status:8} {finding.check}: {_one_line(finding.found)}")
        if finding.status != "ok" or verbose:
            lines.append(f"{'':8}   why:  {finding.why}")
        if finding.fix is not None:
            lines.append(f"{'':8}   fix:  {finding.fix}")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)
