"""Workers from a record: what a fleet's machines, or an agent, really lent."""

from __future__ import annotations

import math
import os

import numpy as np

from smartharvest.errors import TraceError
from smartharvest.fleet.csv_rows import number, opened, rows_of
from smartharvest.fleet.csv_tables import read_table
from smartharvest.fleet.held import read_lent
from smartharvest.fleet.tables import EVICTABLE
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
_LATEST_S = 1e12
FORMATS = (
    "a CSV seconds,worker,cores; a fleet's table id,cores,memory,start,end,priority; "
    "or an agent's audit log"
)


def read_churn(path: str, size: WorkerSize, regular: int, until_s: float, notice_s: float) -> Pool:
    """Workers as the record has them; at most ``size.count``, of ``size.memory_gib`` each.

    ``regular`` of them are regular VMs of ``size.cores`` instead. Three formats: FORMATS. Raises
    TraceError, which names the file and what is wrong in it.
    """
    builder = PoolBuilder(size.memory_gib)
    for _ in range(regular):
        builder.worker(0.0, size.cores, size.cores, regular=True)
    harvest = size.count - regular
    if _is_audit_log(path):
        _audit_log(path, builder, harvest, until_s)
    else:
        columns = next(rows_of(path))[1].keys()
        if columns >= set(_EVENTS):
            _events(path, builder, harvest, until_s, notice_s)
        elif columns >= set(_FLEET):
            _fleet(path, builder, harvest, until_s, notice_s)
        else:
            raise TraceError(f"{path}: line 1: is no record of workers; use {FORMATS}")
    pool = builder.build()
    if not len(pool.changes) or (regular == 0 and pool.changes["at_ns"][0] > 0):
        raise TraceError(f"{path}: has no worker at its beginning")
    return pool


def _is_audit_log(path: str) -> bool:
    """Whether it is JSON. Raises TraceError if it is too large, or empty."""
    with opened(path) as text:
        if os.fstat(text.fileno()).st_size > LARGEST_FILE_BYTES:
            raise TraceError(f"{path}: has more than {LARGEST_FILE_BYTES >> 20} MiB")
        first = text.read(1)
    if not first:
        raise TraceError(f"{path}: is empty; use {FORMATS}")
    return first == "{"


def _events(path: str, builder: PoolBuilder, most: int, until_s: float, notice_s: float) -> None:
    """``seconds,worker,cores``: the first row of a worker is its arrival; ``evicted``: it goes."""
    rows = list(rows_of(path))
    least: dict[str, float] = {}
    for line, row in rows:
        if row["cores"] != EVICTED:
            cores = number(path, line, row, "cores", 0, MOST_CORES)
            least[row["worker"]] = min(least.get(row["worker"], math.inf), cores)
    chosen = set(list(dict.fromkeys(row["worker"] for _, row in rows))[:most])
    slots: dict[str, tuple[int, float]] = {}
    last_s = 0.0
    for line, row in rows:
        at_s = number(path, line, row, "seconds", 0, 1e9)
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


def _fleet(path: str, builder: PoolBuilder, most: int, until_s: float, notice_s: float) -> None:
    """A fleet's allocations: each evictable VM is a worker while it lives; of them all, or of those
    that are evictable if there are any. A VM that ends is replaced by the next that starts."""
    table = read_table(path)
    if table.cores.max() > MOST_CORES or table.until_s > _LATEST_S:
        raise TraceError(
            f"{path}: has more than {MOST_CORES} cores in a row, or times above {_LATEST_S:g} s"
        )
    evictable = table.priority == EVICTABLE
    if evictable.any():
        table = table.only(evictable)
    vms = list(zip(table.start_s.tolist(), table.end_s.tolist(), table.cores.tolist(), strict=True))
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


def _audit_log(path: str, builder: PoolBuilder, most: int, until_s: float) -> None:
    """What one agent lent over time, for each worker from another moment on, in a cycle."""
    held = read_lent(path)
    if held.counts.max() > MOST_CORES:
        raise TraceError(f"{path}: lends {held.counts.max():g} cores; at most {MOST_CORES}")
    steps = np.flatnonzero(np.diff(held.counts, prepend=-1.0))
    changes = list(zip(held.times_s[steps].tolist(), held.counts[steps].tolist(), strict=True))
    length_s = held.until_s
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
