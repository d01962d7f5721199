"""Azure's packing trace of 2020 (Protean, OSDI'20), a SQLite file, as allocations.

Its table ``vm`` has one row per request: ``starttime`` and ``endtime`` in days, priority 0 (high)
or 1 (low); ``vmType`` says which share of a machine a type takes on each ``machineId``. A trace is
read as of one machine, whose cores and memory the caller gives. Arrivals are known for 14 days and
ends beyond; so the trace ends with the last arrival. What was there before it began (a negative
time) starts at 0; what ended before is left out.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np

from smartharvest.errors import TraceError
from smartharvest.fleet.tables import DAY_S, Allocations, check_allocations

CORES, MEMORY_GIB = 64.0, 512.0
"""Of a machine, if the caller does not say: the trace has shares only."""

_MOST_USED = """
    SELECT t.machineId FROM vmType t JOIN (SELECT vmTypeId, count(*) n FROM vm GROUP BY vmTypeId) v
    ON v.vmTypeId = t.vmTypeId GROUP BY t.machineId ORDER BY sum(v.n) DESC, t.machineId LIMIT 1
"""
_ROWS = """
    SELECT v.vmId, t.core, t.memory, v.starttime, v.endtime, v.priority FROM vm v
    JOIN (SELECT vmTypeId, max(core) core, max(memory) memory FROM vmType WHERE machineId = ?
          GROUP BY vmTypeId) t ON t.vmTypeId = v.vmTypeId
    ORDER BY v.starttime, v.vmId
"""


def read_azure(
    path: str, machine: int | None = None, cores: float = CORES, memory_gib: float = MEMORY_GIB
) -> Allocations:
    """The requests that ``machine`` can take (None: the machine that can take most of them).

    Raises TraceError if the file is no such trace or is not sound (tables.check_allocations).
    """
    with _database(path) as database:
        if machine is None:
            found = database.execute(_MOST_USED).fetchone()
            if found is None:
                raise TraceError(f"{path}: has no allocations; give a trace with at least one")
            machine = found[0]
        rows = database.execute(_ROWS, (machine,)).fetchall()
        last_days = database.execute("SELECT max(starttime) FROM vm").fetchone()[0]
    if not rows:
        raise TraceError(f"{path}: has no request for machine {machine}; choose another machine=")
    try:
        columns = np.array(
            [(c, m, start, math.inf if end is None else end, p) for _, c, m, start, end, p in rows],
            dtype=np.float64,
        )
    except (TypeError, ValueError) as error:
        raise TraceError(f"{path}: table vm: a value is missing or no number: {error}") from None
    share, memory, start_days, end_days, priority = columns.T.copy()
    kept = end_days > 0
    table = Allocations(
        [f"vm-{row[0]}" for row in rows],
        share * cores,
        memory * memory_gib,
        np.maximum(start_days, 0.0) * DAY_S,
        end_days * DAY_S,
        priority.astype(np.int64),
        last_days * DAY_S,
        foreign=True,
    )
    return check_allocations(table.only(kept), path)


@contextlib.contextmanager
def _database(path: str) -> Iterator[sqlite3.Connection]:
    """``path``, opened read-only."""
    if not os.path.isfile(path):
        raise TraceError(f"{path}: cannot be read: no such file")
    try:
        database = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)
        try:
            yield database
        finally:
            database.close()
    except sqlite3.Error as error:
        raise TraceError(f"{path}: is no packing trace of Azure: {error}") from None
