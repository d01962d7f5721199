"""Workloads from TOML files: one ``[[primary]]`` table per VM."""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

from smartharvest.config.file import LARGEST_FILE_BYTES, loads
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.bursty import BURSTY, HELD_OUT
from smartharvest.lab.simulator.machine import MAX_SIMULATED_CORES
from smartharvest.lab.simulator.workloads import WORKLOADS, Primary, Service, Workload, steady

ARRIVALS = ("poisson", "mmpp", "deterministic")
DISTRIBUTIONS = ("deterministic", "exponential", "lognormal", "erlang")
PRIMARY_KEYS = (
    "cores", "rate_qps", "schedule", "arrivals", "mmpp", "batch_mean", "service", "fork"
)  # fmt: skip
MMPP_KEYS = ("multiplier", "on_ms", "off_ms")
SERVICE_KEYS = ("distribution", "mean_us", "sigma")

MAX_PRIMARIES = 64
MAX_FORK = 4096
MAX_SHAPE = 10_000
LONGEST_MS = 1e9
LARGEST_RATE_QPS = 1e8


def find_workload(name: str) -> Workload:
    """A built-in workload, or that of a TOML file. Raises ConfigError."""
    for known in (WORKLOADS, BURSTY, HELD_OUT):
        if name in known:
            return known[name]
    if name.endswith(".toml") or os.path.exists(name):
        return load_workload(name)
    raise ConfigError(
        f"workload: {name!r} is unknown; use one of {', '.join(WORKLOADS)} or a FILE.toml"
    )


def load_workload(path: str) -> Workload:
    """The workload of a TOML file. Raises ConfigError, which names the file and the key."""
    try:
        with open(path, "rb") as file:
            document = loads(file.read(LARGEST_FILE_BYTES).decode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from None
    try:
        return Workload(os.path.basename(path).removesuffix(".toml"), _primaries(document))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _primaries(document: Mapping[str, Any]) -> tuple[Primary, ...]:
    _known(document, ("primary",), "")
    tables = document.get("primary")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError("primary: no primary given; write a [[primary]] table for each VM")
    if not 1 <= len(tables) <= MAX_PRIMARIES:
        raise ConfigError(f"primary: {len(tables)} of them; use 1 to {MAX_PRIMARIES}")
    return tuple(_primary(table, f"primary[{i}].") for i, table in enumerate(tables))


def _primary(table: Mapping[str, Any], where: str) -> Primary:
    _known(table, PRIMARY_KEYS, where)
    if ("rate_qps" in table) == ("schedule" in table):
        raise ConfigError(f"{where}rate_qps: give either rate_qps or schedule")
    arrivals = _one_of(table, "arrivals", where, ARRIVALS, "poisson")
    if (arrivals == "mmpp") != ("mmpp" in table):
        raise ConfigError(
            f'{where}mmpp: arrivals = "mmpp" and mmpp = {{multiplier, on_ms, off_ms}} go together'
        )
    bursts = _table(table, "mmpp", where, MMPP_KEYS) if "mmpp" in table else {}
    in_mmpp = f"{where}mmpp."
    return Primary(
        cores=_whole(_given(table, "cores", where), f"{where}cores", 1, MAX_SIMULATED_CORES),
        service=_service(_table(table, "service", where, SERVICE_KEYS), f"{where}service."),
        schedule=_schedule(table, where),
        arrivals=arrivals,
        multiplier=_number(bursts, "multiplier", in_mmpp, 0, 1e6) if bursts else 1.0,
        on_ns=_number(bursts, "on_ms", in_mmpp, 0, LONGEST_MS) * 1e6 if bursts else 0.0,
        off_ns=_number(bursts, "off_ms", in_mmpp, 0, LONGEST_MS) * 1e6 if bursts else 0.0,
        batch_mean=_batch_mean(table, where),
        fork=_fork(table, where),
    )


def _schedule(table: Mapping[str, Any], where: str) -> tuple[tuple[int, float], ...]:
    if "rate_qps" in table:
        return steady(_number(table, "rate_qps", where, 0, LARGEST_RATE_QPS))
    entries = table["schedule"]
    key = f"{where}schedule"
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{key}: {entries!r} is no schedule; write [[seconds, qps], ...]")
    schedule = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2:
            raise ConfigError(f"{key}: {entry!r} is no entry; write [seconds, qps]")
        seconds = _bounded(entry[0], key, 0, 1e9)
        rate_qps = _bounded(entry[1], key, 0, LARGEST_RATE_QPS, low_allowed=True)
        schedule.append((max(1, round(seconds * 1e9)), rate_qps))
    return tuple(schedule)


def _service(table: Mapping[str, Any], where: str) -> Service:
    distribution = _one_of(table, "distribution", where, DISTRIBUTIONS, None)
    mean_us = _number(table, "mean_us", where, 0, 1e9)
    if distribution in ("deterministic", "exponential"):
        if "sigma" in table:
            raise ConfigError(f"{where}sigma: {distribution} services have none; leave it out")
        return Service(distribution, mean_us * 1e3)
    sigma = _number(table, "sigma", where, 0, 10)
    if distribution == "lognormal":
        return Service(distribution, mean_us * 1e3, sigma)
    shape = round(1 / sigma**2)
    if not 1 <= shape <= MAX_SHAPE:
        raise ConfigError(
            f"{where}sigma: {sigma} is no erlang's; it is the standard deviation in means, "
            "1 / sqrt(stages): at most 1 and at least 0.01"
        )
    return Service(distribution, mean_us * 1e3, shape=shape)


def _batch_mean(table: Mapping[str, Any], where: str) -> float:
    mean = _bounded(table.get("batch_mean", 1), f"{where}batch_mean", 0, 1e5)
    if mean < 1:
        raise ConfigError(f"{where}batch_mean: {mean:g} is less than one request; use 1 or more")
    return mean


def _fork(table: Mapping[str, Any], where: str) -> tuple[int, int]:
    key, value = f"{where}fork", table.get("fork", [1, 1])
    if not isinstance(value, list) or len(value) != 2:
        raise ConfigError(f"{key}: {value!r} is no range of threads; write [min, max]")
    low, high = (_whole(bound, key, 1, MAX_FORK) for bound in value)
    if low > high:
        raise ConfigError(f"{key}: {value!r} runs backwards; write [min, max]")
    return low, high


# --- values -----------------------------------------------------------------------------------


def _known(table: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    for key in table:
        if key not in keys:
            close = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(keys)}"
            raise ConfigError(f"{where}{key}: unknown key; {hint}")


def _given(table: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in table:
        raise ConfigError(f"{where}{key}: is missing")
    return table[key]


def _table(
    table: Mapping[str, Any], key: str, where: str, keys: Collection[str]
) -> Mapping[str, Any]:
    value = _given(table, key, where)
    if not isinstance(value, dict):
        raise ConfigError(f"{where}{key}: {value!r} is no table; write {{{', '.join(keys)}}}")
    _known(value, keys, f"{where}{key}.")
    return value


def _one_of(
    table: Mapping[str, Any], key: str, where: str, known: Collection[str], default: str | None
) -> str:
    value = table.get(key, default) if default is not None else _given(table, key, where)
    if value not in known:
        raise ConfigError(f"{where}{key}: {value!r} is unknown; use one of {', '.join(known)}")
    return str(value)


def _number(table: Mapping[str, Any], key: str, where: str, above: float, most: float) -> float:
    return _bounded(_given(table, key, where), f"{where}{key}", above, most)


def _bounded(
    value: Any, key: str, above: float, most: float, *, low_allowed: bool = False
) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{key}: {value!r} is not a number")
    too_low = value < above if low_allowed else value <= above
    if too_low or value > most:
        least = "at least" if low_allowed else "above"
        raise ConfigError(f"{key}: {value!r} must be {least} {above:g} and at most {most:g}")
    return float(value)


def _whole(value: Any, key: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{key}: {value!r} is not a whole number from {least} to {most}")
    return value
