"""What happens to the elastic groups, for the audit log: who got cores and why, what is not kept.

Pure but for ``note``: a look a second in, events out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from smartharvest.algorithm.division import Division, Share
from smartharvest.algorithm.division_change import moved
from smartharvest.algorithm.guarantee import Keeper

_NEAR = 0.05
"""Cores: a share of time that is nearer to a minimum than this reaches it."""


class Watched(Protocol):
    """What a look at one group says."""

    share: Share
    keeper: Keeper | None

    @property
    def bounded(self) -> Share:
        """What the cores are divided by."""


class GroupRecord:
    """Compares each look with the last; ``note`` gets an event's kind and details."""

    def __init__(self, note: Callable[..., None]) -> None:
        self._note = note
        self._shares: list[Share] = []
        self._owned: dict[str, int] | None = None
        self._violated_ns: dict[str, int] = {}
        """Since when the guarantee of a group is violated."""
        self._short_ns: dict[str, int] = {}
        """Since when a group has less than its minimum."""

    def turn(
        self,
        now_ns: int,
        groups: Sequence[Watched],
        cores: Sequence[float],
        division: Division | None,
    ) -> None:
        """``cores`` each of ``groups`` has now; ``division``: None where nothing is divided."""
        if division is None:
            return
        for group, has in zip(groups, cores, strict=True):
            self._look_at_minimum(now_ns, group.share, has)
        self._look_at_division([group.bounded for group in groups], division)

    def look_at_guarantee(self, now_ns: int, group: Watched, throughput: float | None) -> None:
        """After each look of its keeper, which has met so much ``throughput`` a second."""
        keeper, name = group.keeper, group.share.name
        met = None if keeper is None else keeper.met
        if keeper is None or met is None:
            since_ns = self._violated_ns.pop(name, None)
            if keeper is not None and since_ns is not None:
                self._note(
                    "guarantee rests",
                    group=name,
                    guarantee=str(keeper.guarantee),
                    after_s=_seconds(now_ns - since_ns),
                )
            return
        if not met and name not in self._violated_ns:
            self._violated_ns[name] = now_ns
            self._note(
                "guarantee violated",
                group=name,
                guarantee=str(keeper.guarantee),
                throughput=_rounded(throughput),
                cores=keeper.floor,
            )
        elif met and name in self._violated_ns:
            self._note(
                "guarantee met",
                group=name,
                guarantee=str(keeper.guarantee),
                throughput=_rounded(throughput),
                after_s=_seconds(now_ns - self._violated_ns.pop(name)),
            )

    def _look_at_minimum(self, now_ns: int, share: Share, has: float) -> None:
        if has < share.min - _NEAR and share.name not in self._short_ns:
            self._short_ns[share.name] = now_ns
            self._note("minimum not reached", group=share.name, cores=has, min=share.min)
        elif has >= share.min - _NEAR and share.name in self._short_ns:
            after_s = _seconds(now_ns - self._short_ns.pop(share.name))
            self._note("minimum reached", group=share.name, cores=has, after_s=after_s)

    def _look_at_division(self, shares: list[Share], division: Division) -> None:
        owned = {name: division.owned(name) for name in _names(self._shares, shares)}
        before, self._owned = self._owned, owned
        shares_before, self._shares = self._shares, shares
        if before is None or before == owned:
            return
        changes: Mapping[str, Any] = {
            one.group: {"from": one.before, "to": one.now, "why": one.why}
            for one in moved(before, owned, shares_before, shares)
        }
        if changes:
            self._note("division", groups=changes)


def _names(*many: Sequence[Share]) -> list[str]:
    return list(dict.fromkeys(share.name for shares in many for share in shares))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _seconds(ns: int) -> float:
    return round(ns / 1e9, 3)
