"""A target as a user writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True)
class TargetSpec:
    """A target as the user wrote it, such as ``cgroup:PATH`` or ``pid:N``.

    The kinds are those of targets.py; some names are patterns.
    """

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def is_process_id(value: str) -> bool:
    """Whether it is the number of a process."""
    return _NUMBER.fullmatch(value) is not None


def is_zero(value: str) -> bool:
    """Whether it is the number of no process."""
    return is_process_id(value) and int(value) == 0
