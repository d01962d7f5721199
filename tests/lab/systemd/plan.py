"""Which scenarios there are, in the order they run, and which are still to be run."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from tests.lab.systemd.image import INSIDE

T = TypeVar("T")


def names_in(source: str) -> tuple[str, ...]:
    """The keys of ``ALL`` in the source of the guest's scenarios, which only a guest imports."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "ALL":
            assert isinstance(node.value, ast.Dict)
            return tuple(ast.literal_eval(key) for key in node.value.keys if key is not None)
    raise ValueError("there is no ALL")


DISKS = {"install": "bare", "upgrade": "old"}
"""Where a scenario begins; all others with the new package."""
SCENARIOS = names_in((INSIDE / "scenarios.py").read_text())


def left_of(wanted: Sequence[str], done: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What has not been told of yet."""
    return [name for name in wanted if name not in done]


def in_order(done: Mapping[str, T]) -> dict[str, T]:
    """Results as the scenarios are listed, without those of scenarios that are no more."""
    return {name: done[name] for name in SCENARIOS if name in done}


def split(names: Sequence[str], most: int) -> list[list[str]]:
    """Shares of ``names``, of which a guest runs one: each in order, and on one disk.

    Those of the common disk are split among at most ``most`` guests.
    """
    common = [name for name in names if name not in DISKS]
    shares = [common[first::most] for first in range(min(most, len(common)))]
    return [[name] for name in names if name in DISKS] + shares
