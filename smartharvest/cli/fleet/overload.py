"""``smartharvest fleet overload``: who is overloaded, and what would cure it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import time
from typing import Any

import click

from smartharvest.cli.agent_request import NotThere, agent_options, ask_agents
from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option, shown_option
from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.overload import Cure, Limits, Overload, Rate, apply, find
from smartharvest.fleet.placement import WAYS
from smartharvest.fleet.reports import as_line, read_reports, report_here
from smartharvest.telemetry.output_file import write_whole

EPILOG = examples(
    "smartharvest fleet overload --reports reports.jsonl",
    "smartharvest fleet overload --reports reports.jsonl --here --apply --rate 2/10min",
)
MOST_LINES = 5000
"""Kept of the file that --here appends to."""
COMMANDS = {"take-back": "pause", "evict": "evict"}


def _rate(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, float]:
    count, slash, span = text.partition("/")
    if not slash or not re.fullmatch("[0-9]{1,6}", count):
        raise ConfigError(f"--rate: {text!r} is no rate; write 2/10min")
    return int(count), parse_duration_ns(span, "--rate") / 1e9


def _of(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise ConfigError(f"--sustained: {text!r} is no k/n; write 3/5")
    return int(found[1]), int(found[2])


@click.command(epilog=EPILOG)
@click.option("--reports", required=True, metavar="FILE", help="Reports, one JSON object a line.")
@click.option("--here", is_flag=True, help="Append a report of this host first.")
@click.option(
    "--node",
    default=socket.gethostname,
    show_default="this host's",
    help="This host's name in the reports.",
)
@shown_option(
    "--place", "best-fit", "WAY", "How the scheduler places: a move that it would undo is left out."
)
@shown_option(
    "--sustained",
    "3/5",
    "K/N",
    "A signal counts that is above its limit in k of the last n reports.",
    callback=_of,
)
@click.option(
    "--apply",
    "applies",
    is_flag=True,
    help="Have this host's agents take back, or freeze the elastic group.",
)
@shown_option(
    "--rate", "2/10min", "N/TIME", "With --apply: at most so many actions.", callback=_rate
)
@shown_option(
    "--actions",
    "overload-actions.json",
    "FILE",
    "With --apply: where the times of the last actions are kept.",
)
@json_option
@agent_options
def overload(
    reports: str, here: bool, node: str, place: str, sustained: tuple[int, int], applies: bool,
    rate: tuple[int, float], actions: str, as_json: bool, pid: int | None, **options: Any,
) -> None:  # fmt: skip
    """List overloaded nodes, for how long they are, and what would cure them, the best first."""
    if (way := WAYS.get(place)) is None:
        raise ConfigError(f"--place: {place!r} is unknown; there are {', '.join(WAYS)}")
    if here:
        _append(reports, node, options, pid)
    found = find(read_reports(reports), Limits(*sustained), way)
    done: list[Cure] = []
    put_off: list[Cure] = []
    if applies:
        now_s = time.time()
        kept = Rate(*rate, _times(actions))

        def act(cure: Cure) -> None:
            # Counted before it is done: a crash in between must not allow one more.
            write_whole(actions, json.dumps(list(kept.times_s)).encode(), failure=TraceError)
            for _ in ask_agents(options, pid, COMMANDS[cure.kind]):
                pass

        done, put_off = apply(found, node, kept, now_s, act)
    if as_json:
        document = {
            "overloaded": [one.document() for one in found],
            "done": [cure.kind for cure in done],
            "put_off": [cure.kind for cure in put_off],
        }
        click.echo(json.dumps(document))
        return
    click.echo("\n".join(map(_in_words, found)) or "no node is overloaded")
    for cure in done:
        click.echo(f"done: {cure.kind} on {cure.node}, until smartharvest resume")
    for cure in put_off:
        click.echo(f"put off: {cure.kind} on {cure.node}: {rate[0]} actions are done already")


def _append(path: str, node: str, options: dict[str, Any], pid: int | None) -> None:
    agents: list[Any] = []
    with contextlib.suppress(NotThere):  # a host without an agent has PSI
        agents = [answer for _, answer in ask_agents(options, pid, "status")]
    pressure = {}
    for name in ("cpu", "memory", "io"):
        with contextlib.suppress(OSError), open(f"/proc/pressure/{name}") as file:
            pressure[name] = file.read()
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    report = report_here(time.time(), node, os.cpu_count() or 1, memory_gib, agents, pressure)
    lines: list[str] = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        lines = file.readlines()
    kept = "".join([*lines[1 - MOST_LINES :], as_line(report)])
    write_whole(path, kept.encode(), failure=TraceError)


def _times(path: str) -> list[float]:
    try:
        with open(path, encoding="utf-8") as file:
            times = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError):
        times = None
    if not isinstance(times, list) or not all(isinstance(t, int | float) for t in times):
        raise TraceError(f"{path}: is no list of times; remove it, or name another --actions")
    return times


def _in_words(one: Overload) -> str:
    lines = [f"{one.node}: overloaded for {one.for_s:.0f} s"]
    for signal in one.signals:
        who = f" of {signal.who}" if signal.who else ""
        lines.append(
            f"  {signal.box} box: {signal.name}{who} is {signal.value:.2f}, above {signal.limit:g}"
        )
    for cure in one.cures:
        what = f"{cure.kind} {cure.vm} to {cure.to}" if cure.kind == "move" else cure.kind
        enough = "enough" if cure.enough else "not enough alone"
        lines.append(f"  {what}: frees {cure.gain_cores:g} cores, {enough}; {cure.why}")
    if not one.cures:
        lines.append("  nothing here cures it: give the cluster more nodes, or reject work")
    return "\n".join(lines)
