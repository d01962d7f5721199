"""Durations with units, as flags and the configuration file spell them."""

from __future__ import annotations

import re

from smartharvest.errors import ConfigError

_UNIT_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 24 * 3600 * 10**9,
}
UNITS = "ns, us, ms, s, min, h or d"
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-zµ]*)")
_MAXIMUM_NS = 366 * _UNIT_NS["d"]  # some of them are added up in 64 bits


def parse_duration_ns(text: object, key: str) -> int:
    """Nanoseconds of ``text``, such as ``25ms`` or ``1.5s``.

    Raises ConfigError, naming ``key``, if the unit is missing or unknown or the value is not
    positive or above a year: a bare number is how a 25 ms window becomes one of 25 s.
    """
    if not isinstance(text, str):
        raise ConfigError(f'{key}: {text!r} has no unit; write it as a string such as "25ms"')
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ConfigError(
            f"{key}: {text!r} is not a duration; write a number and one of {UNITS}, such as 25ms"
        )
    number, unit = match.groups()
    if not unit:
        raise ConfigError(f"{key}: {text!r} has no unit; write {number}s, or another of {UNITS}")
    if unit not in _UNIT_NS:
        raise ConfigError(f"{key}: unknown unit {unit!r} in {text!r}; use {UNITS}")
    exact_ns = float(number) * _UNIT_NS[unit]
    if exact_ns > _MAXIMUM_NS:
        raise ConfigError(f"{key}: {text!r} is longer than a year")
    duration_ns = round(exact_ns)
    if duration_ns <= 0:
        raise ConfigError(f"{key}: {text!r} must be longer than zero")
    return duration_ns


def format_duration(duration_ns: int) -> str:
    """The shortest exact spelling of ``duration_ns``: 25000000 -> ``25ms``."""
    for unit in ("d", "h", "min", "s", "ms", "us"):
        if duration_ns and duration_ns % _UNIT_NS[unit] == 0:
            return f"{duration_ns // _UNIT_NS[unit]}{unit}"
    return f"{duration_ns}ns"
