"""Functions from three files of the Azure samples: PREFIX_inv, PREFIX_run, PREFIX_mem.

The format is that of the Azure Functions Trace 2019: invocations of each minute, percentiles of
durations in milliseconds, percentiles of an application's memory in MiB.
"""

from __future__ import annotations

import math
import os

import numpy as np

from smartharvest.errors import TraceError
from smartharvest.fleet.csv_rows import Row, number, rows_of
from smartharvest.serverless.simulator.workload import LEVELS, SHORTEST_S, Floats, Workload

PARTS = ("inv", "run", "mem")
DEFAULT_MEMORY_MIB = 128.0
"""Of a function whose application is not in the memory file."""
_PERCENTILES = tuple(f"percentile_Average_{round(level * 100)}" for level in LEVELS)
_MOST = 1e11
"""Invocations a minute, milliseconds, MiB."""


def looks_like_azure(prefix: str) -> bool:
    """Whether one of the three files is there, plain or compressed."""
    return any(_path(prefix, part) is not None for part in PARTS)


def read_azure(prefix: str, cold_s: float) -> Workload:
    """The functions of the three files; ``.csv`` or ``.csv.gz``.

    A function without a row of durations cannot be simulated and is refused. Raises TraceError,
    which names the file, the line and the column.
    """
    inv, run, mem = (_existing(prefix, part) for part in PARTS)
    minutes, names, rows = _invocations(inv)
    durations = rows_of(run, ("HashFunction", *_PERCENTILES))
    run_by_name = {row["hashfunction"]: (line, row) for line, row in durations}
    memory = {
        (row["hashowner"], row["hashapp"]): number(mem, line, row, "AverageAllocatedMb", 0, _MOST)
        for line, row in rows_of(mem, ("HashOwner", "HashApp", "AverageAllocatedMb"))
    }
    quantiles = np.zeros((len(names), len(LEVELS)))
    memory_mib = np.zeros(len(names))
    for i, (name, (_, row)) in enumerate(zip(names, rows, strict=True)):
        if name not in run_by_name:
            raise TraceError(f"{run}: function {name[:16]} of {inv} has no durations")
        quantiles[i] = _quantiles_s(run, *run_by_name[name])
        found = memory.get((row["hashowner"], row["hashapp"]), DEFAULT_MEMORY_MIB)
        memory_mib[i] = max(1.0, math.ceil(found))
    return Workload(
        names=names,
        per_minute=minutes,
        duration_s=quantiles,
        memory_mib=memory_mib,
        cold_s=np.full(len(names), cold_s),
        idempotent=np.zeros(len(names), bool),
        source=os.path.basename(prefix),
    )


def _path(prefix: str, part: str) -> str | None:
    stems = (
        (f"{prefix}_{part}", f"{prefix}{part}") if prefix.endswith("_") else (f"{prefix}_{part}",)
    )
    for stem in stems:
        for name in (f"{stem}.csv", f"{stem}.csv.gz"):
            if os.path.isfile(name):
                return name
    return None


def _existing(prefix: str, part: str) -> str:
    path = _path(prefix, part)
    if path is None:
        raise TraceError(f"{prefix}_{part}.csv: is missing, also as .csv.gz; all of "
                         "PREFIX_inv, PREFIX_run and PREFIX_mem are needed")  # fmt: skip
    return path


def _invocations(path: str) -> tuple[Floats, list[str], list[tuple[int, Row]]]:
    rows = list(rows_of(path, ("HashOwner", "HashApp", "HashFunction")))
    columns = [name for name in rows[0][1] if _minute(name) is not None]
    columns.sort(key=lambda name: _minute(name) or 0)
    if not columns or [_minute(name) for name in columns] != list(range(1, len(columns) + 1)):
        raise TraceError(f"{path}: line 1: no columns 1_minute, 2_minute ..., or a gap in them")
    names = [row["hashfunction"] for _, row in rows]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise TraceError(f"{path}: function {twice[:16]} is there twice")
    counts = np.array(
        [[number(path, line, row, name, 0, _MOST) for name in columns] for line, row in rows]
    )
    return counts, names, rows


def _minute(column: str) -> int | None:
    """1 for ``1_minute`` and for ``1``."""
    number = column.removesuffix("_minute")
    return int(number) if number.isascii() and number.isdigit() else None


def _quantiles_s(path: str, line: int, row: Row) -> Floats:
    values = np.array([number(path, line, row, one, 0, _MOST) for one in _PERCENTILES]) / 1e3
    if np.any(np.diff(values) < 0.0):
        raise TraceError(f"{path}: line {line}: the percentiles of durations do not ascend")
    found: Floats = np.maximum(values, SHORTEST_S)
    return found
