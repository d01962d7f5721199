"""Workers from a record: what a fleet's machines, or an agent, really lent."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence

from smartharvest.errors import TraceError
from smartharvest.serverless.simulator.pool import (
    MOST_CORES,
    MOST_WORKERS,
    Pool,
    PoolBuilder,
    WorkerSize,
)

LARGEST_FILE_BYTES = 1 << 28
MOST_CHANGES = 5_000_000
EVICTED = "evicted"
_EVENTS = ("seconds", "worker", "cores")
_FLEET = ("id", "cores", "start", "end")
FORMATS = (
    "a CSV seconds,worker,cores; a fleet's table id,cores,memory,start,end,priority; "
    "or an agent's audit log"
)


def read_churn(path: str, size: WorkerSize, regular: int, until_s: float, notice_s: float) -> Pool:
    """Workers as the record has them; at most ``size.count``, of ``size.memory_gib`` each.

    ``regular`` of them are regular VMs of ``size.cores`` instead. Three formats: FORMATS. Raises
    TraceError, which names the file and the line.
    """
    lines = _lines(path)
    builder = PoolBuilder(size.memory_gib)
    for _ in range(regular):
        builder.worker(0.0, size.cores, size.cores, regular=True)
    harvest = size.count - regular
    if lines[0].lstrip().startswith("{"):
        _audit_log(path, lines, builder, harvest, until_s)
    else:
        rows = _rows(path, lines)
        if all(name in rows[0][1] for name in _EVENTS):
            _events(path, rows, builder, harvest, until_s, notice_s)
        elif all(name in rows[0][1] for name in _FLEET):
            _fleet(path, rows, builder, harvest, until_s, notice_s)
        else:
            raise TraceError(f"{path}: line 1: is no record of workers; use {FORMATS}")
    pool = builder.build()
    if not len(pool.changes) or (regular == 0 and pool.changes["at_ns"][0] > 0):
        raise TraceError(f"{path}: has no worker at its beginning")
    return pool


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read(LARGEST_FILE_BYTES + 1).splitlines()
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TraceError(f"{path}: is not UTF-8 text; use {FORMATS}") from None
    if sum(map(len, lines)) > LARGEST_FILE_BYTES:
        raise TraceError(f"{path}: has more than {LARGEST_FILE_BYTES >> 20} MiB")
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise TraceError(f"{path}: is empty")
    return lines


def _rows(path: str, lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    try:
        reader = csv.DictReader(lines, restval="")
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
        found = [
            (reader.line_num, {key: (value or "").strip() for key, value in row.items() if key})
            for row in reader
        ]
    except (csv.Error, AttributeError) as error:
        raise TraceError(f"{path}: is no CSV: {error}") from None
    if not found:
        raise TraceError(f"{path}: has no rows; use {FORMATS}")
    return found


def _number(path: str, line: int, row: Mapping[str, str], column: str, most: float) -> float:
    try:
        value = float(row[column])
    except (KeyError, ValueError):
        raise TraceError(
            f"{path}: line {line}: {column}: {row.get(column, '')!r} is no number"
        ) from None
    if not 0.0 <= value <= most:
        raise TraceError(f"{path}: line {line}: {column}: {value:g} must be 0 to {most:g}")
    return value


def _events(
    path: str, rows: Sequence[tuple[int, dict[str, str]]], builder: PoolBuilder, most: int,
    until_s: float, notice_s: float,
) -> None:  # fmt: skip
    """``seconds,worker,cores``: the first row of a worker is its arrival; ``evicted``: it goes."""
    least: dict[str, float] = {}
    for line, row in rows:
        if row["cores"] != EVICTED:
            cores = _number(path, line, row, "cores", MOST_CORES)
            least[row["worker"]] = min(least.get(row["worker"], math.inf), cores)
    chosen = set(list(dict.fromkeys(row["worker"] for _, row in rows))[:most])
    slots: dict[str, tuple[int, float]] = {}
    last_s = 0.0
    for line, row in rows:
        at_s = _number(path, line, row, "seconds", 1e9)
        if at_s < last_s:
            raise TraceError(f"{path}: line {line}: seconds: {at_s:g} is before the row above")
        last_s = at_s
        name = row["worker"]
        if name not in chosen or at_s > until_s:
            continue
        if row["cores"] == EVICTED:
            if name not in slots:
                raise TraceError(f"{path}: line {line}: worker {name!r} is not there to be evicted")
            slot, since_s = slots.pop(name)
            builder.evict(at_s, slot, notice_s, since_s)
        elif name in slots:
            builder.resize(at_s, slots[name][0], float(row["cores"]))
        else:
            cores = float(row["cores"])
            slots[name] = builder.worker(at_s, cores, least[name]), at_s


def _fleet(
    path: str, rows: Sequence[tuple[int, dict[str, str]]], builder: PoolBuilder, most: int,
    until_s: float, notice_s: float,
) -> None:  # fmt: skip
    """A fleet's allocations: each evictable VM is a worker while it lives; of them all, or of those
    with priority 1 if there are any. A VM that ends is replaced by the next that starts."""
    evictable = [one for one in rows if one[1].get("priority") in ("1", "evictable", "low", "spot")]
    vms = []
    for line, row in evictable or rows:
        start_s = _number(path, line, row, "start", 1e12)
        end_s = _number(path, line, row, "end", 1e12) if row["end"] else math.inf
        cores = _number(path, line, row, "cores", MOST_CORES)
        if end_s < start_s:
            raise TraceError(f"{path}: line {line}: ends before it starts")
        vms.append((start_s, end_s, cores))
    first_s = min(vm[0] for vm in vms)
    free_s = [0.0] * min(most, MOST_WORKERS)
    for start_s, end_s, cores in sorted(vms):
        at_s, gone_s = start_s - first_s, end_s - first_s
        place = min(range(len(free_s)), key=free_s.__getitem__, default=None)
        if place is None or free_s[place] > at_s or at_s > until_s:
            continue
        slot = builder.worker(at_s, cores, cores)
        if gone_s <= until_s:
            builder.evict(gone_s, slot, notice_s, at_s)
        free_s[place] = gone_s


def _audit_log(
    path: str, lines: Sequence[str], builder: PoolBuilder, most: int, until_s: float
) -> None:
    """What one agent lent over time, for each worker from another moment on, around and around."""
    changes: list[tuple[float, float]] = []
    first_s = last_s = None
    for i, line in enumerate(lines):
        try:
            record = json.loads(line)
            at_s, kind = float(record["t"]), record["kind"]
            lent = float(record["lent"]) if kind == "decision" else 0.0
        except (ValueError, KeyError, TypeError, RecursionError):
            if i == len(lines) - 1:
                break  # the agent is writing it
            raise TraceError(f"{path}: line {i + 1}: is no record of an audit log") from None
        if not (math.isfinite(at_s) and 0.0 <= lent <= MOST_CORES):
            raise TraceError(f"{path}: line {i + 1}: t or lent is out of range")
        if kind not in ("decision", "evicted", "paused", "ended"):
            continue
        first_s = at_s if first_s is None else first_s
        last_s = at_s if last_s is None else max(at_s, last_s)
        if not changes or changes[-1][1] != lent:
            changes.append((max(0.0, at_s - first_s), lent))
    if first_s is None or last_s is None or last_s <= first_s:
        raise TraceError(f"{path}: has no decisions, or they take no time")
    length_s = last_s - first_s
    if len(changes) * max(1.0, until_s / length_s) * most > MOST_CHANGES:
        raise TraceError(
            f"{path}: lasts {length_s:.3g} s, too short to be repeated for {until_s:g} s"
        )
    least = min(cores for _, cores in changes)
    for i in range(min(most, MOST_WORKERS)):
        shift_s = length_s * i / most
        before = [cores for at_s, cores in changes if at_s <= shift_s]
        slot = builder.worker(0.0, before[-1] if before else changes[-1][1], least)
        turn = 0
        while turn * length_s - shift_s < until_s:
            for at_s, cores in changes:
                moment_s = turn * length_s + at_s - shift_s
                if 0.0 < moment_s <= until_s:
                    builder.resize(moment_s, slot, cores)
            turn += 1
