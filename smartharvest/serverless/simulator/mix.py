"""Functions that are described: a built-in mix, or a TOML file with ``[[function]]`` tables."""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smartharvest.errors import ConfigError
from smartharvest.serverless.simulator.workload import LEVELS, SHORTEST_S, Workload

MIX = "mix"
"""The name of the built-in one."""
MIX_RPS = 50.0
COPIES = 5
KEYS = ("name", "rps", "median_ms", "p99_ms", "longest_ms", "memory_mib", "cold_start_ms",
        "idempotent", "copies")  # fmt: skip
LARGEST_FILE_BYTES = 1 << 20
MOST_FUNCTIONS = 10_000
_BUILT_IN: Sequence[tuple[str, float, float, float, float]] = (
    # name, share of invocations, median ms, P99 ms, MiB: kinds as in FunctionBench, figures ours
    ("json", 20, 25, 80, 128),
    ("authorize", 18, 8, 40, 128),
    ("float", 10, 40, 120, 128),
    ("thumbnail", 10, 180, 700, 256),
    ("template", 10, 60, 200, 128),
    ("encrypt", 8, 120, 400, 128),
    ("matrix", 6, 300, 1000, 512),
    ("compress", 5, 600, 2500, 256),
    ("predict", 5, 350, 900, 512),
    ("recognize", 3, 1500, 4000, 1024),
    ("video", 1.5, 8000, 35_000, 1024),
    ("train", 0.5, 20_000, 90_000, 1536),
)
_NORMAL_99 = 2.3263478740408408
_NORMAL_75 = 0.6744897501960817
_NORMAL = np.array([-3.5, -_NORMAL_99, -_NORMAL_75, 0.0, _NORMAL_75, _NORMAL_99, 3.5])
"""Quantiles of the normal distribution at LEVELS; its ends, which are infinite, at 3.5."""


def built_in_mix(cold_s: float) -> Workload:
    """``COPIES`` of each kind, the first the most popular: MIX_RPS invocations a second."""
    tables = [
        {"name": name, "rps": share, "median_ms": median, "p99_ms": p99, "memory_mib": memory,
         "copies": COPIES}
        for name, share, median, p99, memory in _BUILT_IN
    ]  # fmt: skip
    workload = _workload(tables, cold_s, MIX)
    workload.per_minute[:] *= MIX_RPS * 60.0 / workload.per_minute.sum()
    return workload


def read_mix(path: str, cold_s: float) -> Workload:
    """The functions of a TOML file. Raises ConfigError, which names file and key."""
    try:
        with open(path, "rb") as file:
            document = tomllib.loads(file.read(LARGEST_FILE_BYTES).decode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from None
    tables = document.get("function")
    if not isinstance(tables, list) or not tables or set(document) != {"function"}:
        raise ConfigError(f"{path}: write a [[function]] table for each function, nothing else")
    try:
        return _workload(tables, cold_s, os.path.basename(path))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _workload(tables: Sequence[Any], cold_s: float, source: str) -> Workload:
    names: list[str] = []
    rate: list[float] = []
    quantiles: list[Any] = []
    memory: list[float] = []
    cold: list[float] = []
    idempotent: list[bool] = []
    for i, table in enumerate(tables):
        where = f"function[{i}]."
        if not isinstance(table, dict):
            raise ConfigError(f"{where.removesuffix('.')}: {table!r} is no table")
        _check_keys(table, where)
        copies = _number(table, "copies", where, 1, MOST_FUNCTIONS, 1)
        if copies != int(copies) or len(names) + copies > MOST_FUNCTIONS:
            raise ConfigError(f"{where}copies: at most {MOST_FUNCTIONS} functions, a whole number")
        name = table.get("name", f"function-{i}")
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{where}name: {name!r} is no name")
        # A copy's share falls as the inverse of its rank, as popularity does.
        shares = 1.0 / np.arange(1, int(copies) + 1)
        shares /= shares.sum()
        for number, share in enumerate(shares):
            names.append(f"{name}-{number}" if copies > 1 else name)
            rate.append(float(share) * _number(table, "rps", where, 0, 1e6))
            quantiles.append(_quantiles_s(table, where))
            memory.append(math.ceil(_number(table, "memory_mib", where, 1, 1e6, 128)))
            cold.append(_number(table, "cold_start_ms", where, 0, 1e7, cold_s * 1e3) / 1e3)
            idempotent.append(_flag(table, "idempotent", where))
    if len(set(names)) < len(names):
        raise ConfigError(f"function: {next(n for n in names if names.count(n) > 1)!r} twice")
    return Workload(
        names=names,
        per_minute=np.array(rate)[:, None] * 60.0,
        duration_s=np.array(quantiles),
        memory_mib=np.array(memory, float),
        cold_s=np.array(cold),
        idempotent=np.array(idempotent, bool),
        source=source,
    )


def _quantiles_s(table: Mapping[str, Any], where: str) -> Any:
    """Lognormal, cut off at ``longest_ms``."""
    median = _number(table, "median_ms", where, 1e-3, 1e9)
    p99 = _number(table, "p99_ms", where, median, 1e9, 3 * median)
    values = np.exp(np.log(median) + _NORMAL * np.log(p99 / median) / _NORMAL_99)
    longest = _number(table, "longest_ms", where, p99, 1e9, max(p99, float(values[-1])))
    values[-1] = longest
    assert len(values) == len(LEVELS)
    return np.maximum(values / 1e3, SHORTEST_S)


def _check_keys(table: Mapping[str, Any], where: str) -> None:
    for key in table:
        if key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(KEYS)}"
            raise ConfigError(f"{where}{key}: unknown key; {hint}")


def _number(
    table: Mapping[str, Any], key: str, where: str, least: float, most: float,
    default: float | None = None,
) -> float:  # fmt: skip
    value = table.get(key, default)
    if value is None:
        raise ConfigError(f"{where}{key}: is missing")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{where}{key}: {value!r} is not a number")
    if not least <= value <= most:
        raise ConfigError(f"{where}{key}: {value:g} must be {least:g} to {most:g}")
    return float(value)


def _flag(table: Mapping[str, Any], key: str, where: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(f"{where}{key}: {value!r} must be true or false")
    return value
