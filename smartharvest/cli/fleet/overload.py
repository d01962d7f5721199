"""``smartharvest fleet overload``: who is overloaded, and what would cure it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from typing import Any

import click

from smartharvest.cli.agent_request import NotThere, agent_options, ask_agents
from smartharvest.cli.command_group import examples
from smartharvest.cli.fleet.options import json_option, shown_option
from smartharvest.config.durations import parse_duration_ns
from smartharvest.errors import AlreadyManaged, ConfigError, TraceError
from smartharvest.fleet.machines import Machines, vms
from smartharvest.fleet.overload import Cure, Limits, Overload, Rate, apply, find, known_lately
from smartharvest.fleet.placement import WAYS
from smartharvest.fleet.reports import as_line, read_reports, report_here, running_ticks
from smartharvest.telemetry.output_file import write_whole
from smartharvest.trusted import open_own

EPILOG = examples(
    "smartharvest fleet overload --reports reports.jsonl",
    "smartharvest fleet overload --reports reports.jsonl --here --apply --rate 2/10min",
    "smartharvest fleet overload --reports reports.jsonl --here --libvirt qemu:///system --apply "
    "--move-to qemu+tls://{node}/system",
)
MOST_LINES = 5000
"""Kept of the file that --here appends to."""
LOOK_S = 1.0
"""How long --here watches what is used."""
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


def _seconds(_context: click.Context, parameter: click.Parameter, text: str) -> float:
    return parse_duration_ns(text, parameter.opts[0]) / 1e9


def _destination(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> str | None:
    if text is not None and "{node}" not in text:
        raise ConfigError(
            f"--move-to: {text!r} lacks {{node}}, the node's name; write qemu+tls://{{node}}/system"
        )
    return text


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
    help="Do the best cure of this host: its agents take back, or freeze the elastic group.",
)
@click.option(
    "--libvirt", metavar="URI", help="This host's libvirt: --here reports its virtual machines."
)
@click.option(
    "--move-to",
    metavar="URI",
    callback=_destination,
    help="With --apply and --libvirt: also move a machine, live, to the libvirt of {node}.",
)
@click.option(
    "--move-over",
    metavar="URI",
    help="Where QEMU sends a machine's memory, such as tcp://{node}.storage, if libvirt does not "
    "find it by itself.",
)
@shown_option(
    "--move-within", "10min", "TIME", "A move that lasts longer is called off.", callback=_seconds
)
@shown_option(
    "--fresh",
    "5min",
    "TIME",
    "With --apply: a node whose last report is older is left alone.",
    callback=_seconds,
)
@shown_option(
    "--rate", "2/10min", "N/TIME", "With --apply: at most so many actions.", callback=_rate
)
@click.option(
    "--actions",
    metavar="FILE",
    help="With --apply: where the times of the last actions are kept.  "
    "[default: that of --reports, with .actions]",
)
@json_option
@agent_options
def overload(
    reports: str, here: bool, node: str, place: str, sustained: tuple[int, int], applies: bool,
    libvirt: str | None, move_to: str | None, move_over: str | None, move_within: float,
    fresh: float, rate: tuple[int, float], actions: str | None, as_json: bool, pid: int | None,
    **options: Any,
) -> None:  # fmt: skip
    """List overloaded nodes, for how long they are, and what would cure them, the best first."""
    if (way := WAYS.get(place)) is None:
        raise ConfigError(f"--place: {place!r} is unknown; there are {', '.join(WAYS)}")
    if move_to is not None and not (applies and libvirt):
        raise ConfigError("--move-to, --apply, --libvirt: they go together; give all three")
    machines = Machines(libvirt) if libvirt else None
    if here:
        _append(reports, node, options, pid, machines)
    known, limits = read_reports(reports), Limits(*sustained)
    found = find(known, limits, way)
    done: list[Cure] = []
    put_off: list[Cure] = []
    stale = False
    if applies:
        now_s = time.time()
        lately = find(known_lately(known, now_s, fresh), limits, way)
        stale = node in {one.node for one in found} - {one.node for one in lately}
        path = f"{reports}.actions" if actions is None else actions
        with _alone(path):
            kept = Rate(*rate, _times(path))

            def act(cure: Cure) -> None:
                # Counted before it is done: a crash in between must not allow one more.
                write_whole(path, json.dumps(list(kept.times_s)).encode(), failure=TraceError)
                if cure.kind in COMMANDS:
                    for _ in ask_agents(options, pid, COMMANDS[cure.kind]):
                        pass
                elif machines and move_to:
                    to = move_to.replace("{node}", cure.to)
                    over = move_over.replace("{node}", cure.to) if move_over else None
                    machines.move(cure.vm, to, move_within, over)

            kinds = (*COMMANDS, "move") if move_to else tuple(COMMANDS)
            done, put_off = apply(lately, node, kept, now_s, act, kinds)
    if as_json:
        document = {
            "overloaded": [one.document() for one in found],
            "done": [cure.kind for cure in done],
            "put_off": [cure.kind for cure in put_off],
            "stale": stale,
        }
        click.echo(json.dumps(document))
        return
    click.echo("\n".join(map(_in_words, found)) or "no node is overloaded")
    for cure in done:
        until = "" if cure.kind == "move" else ", until smartharvest resume"
        click.echo(f"done: {_what(cure)} on {cure.node}{until}")
    for cure in put_off:
        click.echo(f"put off: {_what(cure)} on {cure.node}: {rate[0]} actions are done already")
    if stale:
        click.echo(f"left alone: {node}: its last report is older than {fresh:g} s")


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """Nobody else acts meanwhile: two at once would be more than the rate."""
    try:
        fd = open_own(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise TraceError(f"{path}.lock: cannot be written: {error.strerror}") from None
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyManaged(f"{path}: another --apply is at work; try again") from None
        yield
    finally:
        os.close(fd)


def _append(
    path: str, node: str, options: dict[str, Any], pid: int | None, machines: Machines | None
) -> None:
    cores = os.cpu_count() or 1
    began_s, ticks = time.monotonic(), _ticks()
    before = machines.look() if machines else {}
    time.sleep(LOOK_S)
    after = machines.look() if machines else {}
    there = vms(before, after, time.monotonic() - began_s)
    ran, passed = (new - old for new, old in zip(_ticks(), ticks, strict=True))
    running = cores * ran / max(passed, 1)
    agents: list[Any] = []
    with contextlib.suppress(NotThere):  # a host without an agent has PSI
        agents = [answer for _, answer in ask_agents(options, pid, "status")]
    pressure = {}
    for name in ("cpu", "memory", "io"):
        with contextlib.suppress(OSError), open(f"/proc/pressure/{name}") as file:
            pressure[name] = file.read()
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    report = report_here(time.time(), node, cores, memory_gib, agents, pressure, running, there)
    lines: list[str] = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        lines = file.readlines()
    kept = "".join([*lines[1 - MOST_LINES :], as_line(report)])
    write_whole(path, kept.encode(), failure=TraceError)


def _ticks() -> tuple[int, int]:
    with open("/proc/stat") as file:
        return running_ticks(file.read())


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
        enough = "enough" if cure.enough else "not enough alone"
        lines.append(f"  {_what(cure)}: frees {cure.gain_cores:g} cores, {enough}; {cure.why}")
    if not one.cures:
        lines.append("  nothing here cures it: give the cluster more nodes, or reject work")
    return "\n".join(lines)


def _what(cure: Cure) -> str:
    return f"{cure.kind} {cure.vm} to {cure.to}" if cure.kind == "move" else cure.kind
