"""``smartharvest fleet convert``: a trace as a table of allocations."""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import trace_option

EPILOG = examples("smartharvest fleet convert --trace openb:pods.csv.gz --out pods-table.csv.gz")


@click.command(epilog=EPILOG)
@trace_option
@click.option("--out", required=True, metavar="FILE", help="The table; gzipped if named .gz.")
def convert(trace: str, out: str) -> None:
    """Check a trace, and write it as a table (id, cores, memory, start, end, priority)."""
    from smartharvest.fleet.csv_tables import write_table
    from smartharvest.fleet.sources import read_trace

    table = read_trace(trace)
    write_table(out, table)
    click.echo(
        f"{out}: {len(table)} allocations over {table.until_s / 86400:.1f} days, "
        f"{int(table.censored.sum())} of them still there at the end"
    )
