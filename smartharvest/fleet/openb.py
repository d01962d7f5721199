"""The list of pods of Alibaba's openb trace (cluster-trace-gpu-v2023), as allocations.

A pod holds its cores from ``scheduled_time`` to ``deletion_time``. One that was never scheduled
held none and is left out. One that goes with the trace's last moment, or has no deletion, is
censored. BE pods are evictable, all others regular. GPUs are left out.
"""

from __future__ import annotations

import math

import numpy as np

from smartharvest.errors import TraceError
from smartharvest.fleet.csv_rows import number, rows_of
from smartharvest.fleet.tables import EVICTABLE, REGULAR, Allocations, check_allocations


def read_openb(path: str) -> Allocations:
    """The allocations of ``path``, a CSV, plain or gzipped.

    Raises TraceError if it is no list of pods or is not sound (tables.check_allocations).
    """
    ids: list[str] = []
    numbers: list[tuple[float, float, float, float, float]] = []
    last = 0.0
    for line, row in rows_of(path):
        if "name" not in row or "scheduled_time" not in row:
            raise TraceError(
                f"{path}: is no list of openb's pods: the header must name name, cpu_milli, "
                "memory_mib, scheduled_time and deletion_time"
            )
        if not row["name"]:
            raise TraceError(f"{path}: line {line}: name is empty; every row needs it")
        cores = number(path, line, row, "cpu_milli") / 1000
        memory = number(path, line, row, "memory_mib") / 1024
        end = math.inf
        if row.get("deletion_time") != "":
            end = number(path, line, row, "deletion_time")
            last = max(last, end)
        if not row["scheduled_time"]:
            continue
        start = number(path, line, row, "scheduled_time")
        last = max(last, start)
        ids.append(row["name"])
        evictable = EVICTABLE if row.get("qos") == "BE" else REGULAR
        numbers.append((cores, memory, start, end, evictable))
    columns = np.array(numbers, dtype=np.float64).reshape(-1, 5).T.copy()
    cores_of, memory_of, start_s, end_s, priority = columns
    end_s[end_s >= last] = math.inf
    table = Allocations(
        ids, cores_of, memory_of, start_s, end_s, priority.astype(np.int64), last, foreign=True
    )
    return check_allocations(table, path)
