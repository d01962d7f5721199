"""What each of several elastic groups is promised: a Harvest Monitor (promise.py) for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smartharvest.agent.promise import HarvestMonitor

KEYS = ("cores", "forecast", "margin", "learning", "withdrawn", "shrink_notice", "calibration")
"""What differs from group to group of a document as ``HarvestMonitor.describe`` makes it."""


@dataclass(frozen=True)
class GroupCores:
    """One group now; all counts are cores."""

    name: str
    target: str
    cores: int
    min: int
    most: int
    """At least ``min``."""


class GroupPromises:
    """``hold_s`` and ``probability`` as for a HarvestMonitor."""

    def __init__(self, hold_s: int, probability: float) -> None:
        self._hold_s, self._probability = hold_s, probability
        self._monitors: dict[str, HarvestMonitor] = {}
        self._withdrawn: Mapping[str, str | None] = {}

    def step(self, now_ns: int, had: Sequence[tuple[str, int, float]]) -> None:
        """Once a second: (name, minimum, cores on average since the last time) of each group.

        A group that was there before goes on, unless its minimum is another.
        """
        self._monitors = {
            name: known
            if (known := self._monitors.get(name)) is not None and known.elastic_min == least
            else HarvestMonitor(least, self._hold_s, self._probability)
            for name, least, _ in had
        }
        for name, _, cores in had:
            self._monitors[name].observe_mean(now_ns, cores, self._withdrawn.get(name))

    def promised(self, name: str) -> int | None:
        """Cores that the group is promised; None before its first second."""
        monitor = self._monitors.get(name)
        return None if monitor is None else monitor.promised

    def describe(
        self,
        now_ns: int,
        groups: Sequence[GroupCores],
        withdrawn: str | None,
        noticed: Mapping[str, int] | None = None,
        held: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """A document for each of ``groups``; ``withdrawn`` is why nothing is lent, if so.

        ``noticed`` are the cores of those whose minimum is about to be evicted, or is; ``held`` are
        the groups that the operator has ``paused`` or ``evicted``.
        The promises are each for itself: that all are kept at once is less probable.
        """
        held = held or {}
        self._withdrawn = {one.name: withdrawn or why_held(held.get(one.name)) for one in groups}
        found = []
        for group in groups:
            monitor = self._monitors.get(group.name) or HarvestMonitor(
                group.min, self._hold_s, self._probability
            )
            evicted = held.get(group.name) == "evicted"
            gone = group.min if evicted else (noticed or {}).get(group.name, 0)
            monitor.notice(now_ns, gone)
            monitor.observe_mean(now_ns, None, self._withdrawn[group.name])
            seen = monitor.describe(now_ns, group.cores - group.min, group.most - group.min)
            seen["cores"]["now"] = max(0, group.cores - gone)
            found.append(
                {"name": group.name, "target": group.target, **{key: seen[key] for key in KEYS}}
            )
        return found


def why_held(how: str | None) -> str | None:
    """Why a group is promised no more than its minimum: as the operator holds it, if at all."""
    return None if how is None else f"{how} by the operator"


def of_one_group(seen: dict[str, Any], name: str, target: str) -> list[dict[str, Any]]:
    """The same list where one group has everything: what the node is promised, ``seen``."""
    return [{"name": name, "target": target, **{key: seen[key] for key in KEYS}}]
