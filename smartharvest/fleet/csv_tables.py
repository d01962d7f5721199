"""Both tables as CSV, plain or gzipped; written whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
from collections.abc import Sequence

import numpy as np

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.csv_rows import Row, number, rows_of
from smartharvest.fleet.tables import (
    EVICTABLE,
    REGULAR,
    Allocations,
    Constraints,
    Labels,
    Nodes,
    check_allocations,
    check_nodes,
)
from smartharvest.telemetry.output_file import write_whole

_PRIORITIES = {
    **dict.fromkeys(("0", "regular", "high", "on-demand", ""), REGULAR),
    **dict.fromkeys(("1", "evictable", "low", "spot"), EVICTABLE),
}
_NODES = re.compile(r"(\d+)x(\d+(?:\.\d+)?)c(\d+(?:\.\d+)?)g")
_MOST_NODES = 1_000_000
_ASKS = ("labels", "selector", "affinity", "anti_affinity")
_COLUMNS = ("id", "cores", "memory", "start", "end", "priority")


def read_table(path: str) -> Allocations:
    """Allocations from a CSV with the columns ``id, cores, memory, start, end, priority``.

    An empty ``end`` is censored. ``priority`` may be missing (regular). The optional columns
    ``labels, selector, affinity, anti_affinity`` have ``key=value`` joined by ``;``. The trace ends
    with the last time in it, or with the ``until`` of any row if that is later. Raises TraceError
    if it is not sound (tables.check_allocations).
    """
    ids: list[str] = []
    priorities: list[int] = []
    asked: dict[int, Constraints] = {}
    numbers: list[tuple[float, float, float, float]] = []
    until_s = 0.0
    for line, row in rows_of(path):
        name = row.get("id")
        if not name:
            raise TraceError(f"{path}: line {line}: id is missing or empty; every row needs it")
        if "end" not in row:
            raise TraceError(f"{path}: has no column end; the header must name it")
        cores, memory, start = (
            number(path, line, row, column) for column in ("cores", "memory", "start")
        )
        end = number(path, line, row, "end") if row["end"] else math.inf
        priority = _PRIORITIES.get(row.get("priority", "").lower())
        if priority is None:
            raise TraceError(
                f"{path}: line {line}: priority is {row['priority']!r}; write 0 (regular) or 1 "
                "(evictable)"
            )
        if row.get("until"):
            until_s = max(until_s, number(path, line, row, "until"))
        asks = _constraints(path, line, row)
        if asks is not None:
            asked[len(ids)] = asks
        ids.append(name)
        priorities.append(priority)
        numbers.append((cores, memory, start, end))
    columns = np.array(numbers, dtype=np.float64).reshape(-1, 4).T.copy()
    cores_of, memory_of, start_s, end_s = columns
    table = Allocations(
        ids,
        cores_of,
        memory_of,
        start_s,
        end_s,
        np.array(priorities, dtype=np.int64),
        max(until_s, last_time(start_s, end_s)),
        asked,
    )
    return check_allocations(table, path)


def last_time(start_s: np.ndarray, end_s: np.ndarray) -> float:
    """The latest finite time of both columns; 0 without any."""
    times = np.concatenate([start_s, end_s])
    times = times[np.isfinite(times)]
    return float(times.max()) if len(times) else 0.0


def _constraints(path: str, line: int, row: Row) -> Constraints | None:
    found = {name: _labels(path, line, row[name]) for name in _ASKS if row.get(name)}
    return Constraints(**found) if found else None


def _labels(path: str, line: int, text: str) -> Labels:
    labels = {}
    for part in filter(None, text.split(";")):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise TraceError(f"{path}: line {line}: {part!r} is no label; write key=value")
        labels[key.strip()] = value.strip()
    return labels


def read_nodes(text: str) -> Nodes:
    """Nodes of ``32x64c256g`` (32 nodes, each of 64 cores and 256 GiB), or of a CSV file.

    The file has the columns ``id, cores, memory`` and may have ``labels``; openb's list of nodes
    (``sn, cpu_milli, memory_mib``) is read, too. Raises ConfigError for a shape that cannot
    be read, TraceError for a file that is not sound.
    """
    if shape := _NODES.fullmatch(text.strip().lower()):
        count, cores, memory = int(shape[1]), float(shape[2]), float(shape[3])
        if count > _MOST_NODES:
            raise ConfigError(f"--nodes: {text}: at most {_MOST_NODES} nodes are simulated")
        width = len(str(max(0, count - 1)))
        names = [f"node-{n:0{width}}" for n in range(count)]
        return check_nodes(
            Nodes(names, np.full(count, cores), np.full(count, memory)), f"--nodes {text}"
        )
    path = text.removeprefix("openb:").removeprefix("table:")
    ids, cores_of, memory_of, labels = [], [], [], []
    try:
        for line, row in rows_of(path):
            openb = "sn" in row
            name = row.get("sn" if openb else "id")
            if not name:
                raise TraceError(f"{path}: line {line}: id is missing or empty; every row needs it")
            ids.append(name)
            cores = number(path, line, row, "cpu_milli" if openb else "cores")
            memory = number(path, line, row, "memory_mib" if openb else "memory")
            cores_of.append(cores / 1000 if openb else cores)
            memory_of.append(memory / 1024 if openb else memory)
            text_of_labels = f"model={row.get('model', '')}" if openb else row.get("labels", "")
            labels.append(_labels(path, line, text_of_labels))
    except TraceError as error:
        if (
            "/" not in text
            and not text.endswith((".csv", ".gz"))
            and "cannot be read" in f"{error}"
        ):
            raise ConfigError(
                f"--nodes: {text!r} is neither a shape such as 32x64c256g nor a file"
            ) from None
        raise
    return check_nodes(Nodes(ids, np.array(cores_of), np.array(memory_of), labels), path)


def write_table(path: str, table: Allocations) -> None:
    """Writes ``table`` as read_table reads it; gzipped if ``path`` ends in ``.gz``.

    The file is whole or is not there. Raises TraceError if it cannot be written.
    """
    more = any(table.constraints.values())
    later = table.until_s > last_time(table.start_s, table.end_s)
    header = (*_COLUMNS, *(_ASKS if more else ()), *(("until",) if later else ()))
    lines: list[Sequence[object]] = [header]
    for row, name in enumerate(table.ids):
        end = table.end_s[row]
        cells: list[object] = [
            name,
            *(f"{column[row]:.10g}" for column in (table.cores, table.memory_gib, table.start_s)),
            "" if math.isinf(end) else f"{end:.10g}",
            int(table.priority[row]),
        ]
        if more:
            asks = table.constraints.get(row, Constraints())
            cells += [_text_of(getattr(asks, one)) for one in _ASKS]
        if later:
            cells.append("" if row else f"{table.until_s:.10g}")
        lines.append(cells)
    _write(path, lines)


def write_nodes(path: str, nodes: Nodes) -> None:
    """Writes ``nodes`` as read_nodes reads them. Raises TraceError if it cannot be written."""
    lines: list[Sequence[object]] = [("id", "cores", "memory", "labels")]
    for row, name in enumerate(nodes.ids):
        labels = _text_of(nodes.labels[row]) if nodes.labels else ""
        lines.append((name, f"{nodes.cores[row]:.10g}", f"{nodes.memory_gib[row]:.10g}", labels))
    _write(path, lines)


def _text_of(labels: Labels) -> str:
    return ";".join(f"{key}={value}" for key, value in labels.items())


def _write(path: str, lines: Sequence[Sequence[object]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    data = out.getvalue().encode()
    if path.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    write_whole(path, data, failure=TraceError)
