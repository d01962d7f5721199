"""Sizes with units, as flags and the configuration file spell them."""

from __future__ import annotations

import re

from smartharvest.errors import ConfigError

_UNIT_BYTES = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_SIZE = re.compile(r"([0-9]{1,12})\s*([A-Za-z]*)")
_MAXIMUM_BYTES = 2**50


def parse_size_bytes(text: object, key: str) -> int:
    """Bytes of ``text``, such as ``64MiB``.

    Raises ConfigError, naming ``key``, if the unit is missing or unknown, or the value is not
    positive or above a pebibyte.
    """
    match = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ConfigError(f'{key}: {text!r} is not a size; write it as a string such as "64MiB"')
    number, unit = match.groups()
    if unit not in _UNIT_BYTES:
        problem = f"unknown unit {unit!r} in {text!r}" if unit else f"{text!r} has no unit"
        raise ConfigError(f"{key}: {problem}; use {', '.join(_UNIT_BYTES)}")
    size = int(number) * _UNIT_BYTES[unit]
    if not 0 < size <= _MAXIMUM_BYTES:
        raise ConfigError(f"{key}: {text!r} must be above zero and at most 1 PiB")
    return size


def format_size(size_bytes: int) -> str:
    """The shortest exact spelling of ``size_bytes``: 67108864 -> ``64MiB``."""
    for unit in ("GiB", "MiB", "KiB", "GB", "MB", "kB"):
        if size_bytes and size_bytes % _UNIT_BYTES[unit] == 0:
            return f"{size_bytes // _UNIT_BYTES[unit]}{unit}"
    return f"{size_bytes}B"
