"""Which elastic groups lose even their minimum, and when. Pure: its clock is the caller's.

A Harvest VM is evicted only when its minimum is needed, and has a notice of 30 seconds (OSDI'20,
section 3). Here a minimum is needed while the primaries use every core beyond the minima and
nothing else is lent that they could have. A need that has stood for TURNS turns is answered: a
group has a notice and loses its minimum when that has passed. A need that none of the last TURNS
turns had is over. In an emergency there is neither patience nor notice.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Stage = Literal["kept", "noticed", "evicted"]

TURNS = 5
"""So many turns in a row make a need, and so many without make its end."""
_SLACK = 0.05
"""Cores: a mean of a turn that is nearer to a number than this is that number."""


def needed_cores(total: int, demand: float, lent: float) -> int:
    """How many cores of the minima the primaries need.

    ``total`` cores are theirs beyond the minima, ``demand`` is what they used and waited for, and
    ``lent`` what was lent beyond the minima, on average of one turn.
    """
    if lent > _SLACK or demand < total - _SLACK:
        return 0
    return max(1, math.ceil(demand - total - _SLACK))


@dataclass(frozen=True)
class Evictable:
    """A group that can lose its minimum."""

    name: str
    cores: int
    """Its minimum, at least 1."""
    notice_ns: int
    weight: float = 1.0
    """Those of little weight go first."""


@dataclass(frozen=True)
class Change:
    """What one group has come to."""

    name: str
    before: Stage
    now: Stage
    at_once: bool = False
    """Whether an emergency left no time for a notice, or cut it short."""


@dataclass
class Case:
    """One group, how far it has come, and what has happened to it."""

    group: Evictable
    stage: Stage = "kept"
    due_ns: int = 0
    """When its notice passes, or has passed."""
    notices: int = 0
    withdrawn: int = 0
    """Notices whose need was over before they had passed."""
    evictions: int = 0
    at_once: int = 0
    """Of those, in an emergency."""

    def left_ns(self, now_ns: int) -> int | None:
        """Of its notice; 0 once it is evicted, None while it is kept."""
        if self.stage == "kept":
            return None
        return max(0, self.due_ns - now_ns) if self.stage == "noticed" else 0


class Evictions:
    """All groups that can lose their minimum."""

    def __init__(self, groups: Iterable[Evictable]) -> None:
        self.cases: dict[str, Case] = {}
        self._recent: deque[int] = deque(maxlen=TURNS)
        self.take_up(groups)

    def take_up(self, groups: Iterable[Evictable]) -> list[Change]:
        """Goes on with other groups; how those end that are gone or others now."""
        before, self.cases = self.cases, {}
        for group in groups:
            had = before.get(group.name)
            same = had is not None and had.group == group
            self.cases[group.name] = had if had is not None and same else Case(group)
        return [
            Change(name, case.stage, "kept")
            for name, case in before.items()
            if self.cases.get(name) is not case and case.stage != "kept"
        ]

    def turn(self, now_ns: int, needed: int, emergency: bool = False) -> list[Change]:
        """Once a second, with the cores of the minima that are ``needed``."""
        self._recent.append(needed)
        stands = min(self._recent) if len(self._recent) == TURNS else 0
        enter = self._first(max(stands, needed) if emergency else stands)
        stay = self._first(max(self._recent))
        return [
            change
            for case in self.cases.values()
            if (change := self._turn(case, now_ns, enter, stay, emergency)) is not None
        ]

    def _turn(
        self, case: Case, now_ns: int, enter: set[str], stay: set[str], emergency: bool
    ) -> Change | None:
        name, before = case.group.name, case.stage
        at_once = emergency and name in enter
        if before != "kept" and name not in stay:
            case.withdrawn += before == "noticed"
            case.stage = "kept"
        elif before == "kept" and name in enter and not at_once:
            case.stage, case.due_ns = "noticed", now_ns + case.group.notice_ns
            case.notices += 1
        elif before != "evicted" and (at_once or (before == "noticed" and now_ns >= case.due_ns)):
            cut_short = before == "kept" or now_ns < case.due_ns
            case.stage = "evicted"
            case.due_ns = min(case.due_ns, now_ns) if before == "noticed" else now_ns
            case.evictions += 1
            case.at_once += cut_short
            return Change(name, before, "evicted", cut_short)
        return None if case.stage == before else Change(name, before, case.stage)

    def _first(self, needed: int) -> set[str]:
        """The groups that go first, as many as have ``needed`` cores together."""
        chosen: set[str] = set()
        for group in self._order():
            if needed <= 0:
                break
            chosen.add(group.name)
            needed -= group.cores
        return chosen

    def _order(self) -> Sequence[Evictable]:
        """The lightest first, of equals the last one."""
        groups = [case.group for case in self.cases.values()][::-1]
        return sorted(groups, key=lambda group: group.weight)

    @property
    def noticed_cores(self) -> int:
        """What the groups that are not kept were promised."""
        return sum(case.group.cores for case in self.cases.values() if case.stage != "kept")
