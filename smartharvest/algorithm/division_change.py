"""Why a group owns more or fewer cores than before, of two divisions. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smartharvest.algorithm.division import Share


@dataclass(frozen=True)
class Moved:
    """One group that owns another number of cores; ``before`` differs from ``now``."""

    group: str
    before: int
    now: int
    why: str


def moved(
    owned_before: Mapping[str, int],
    owned_now: Mapping[str, int],
    shares_before: Sequence[Share],
    shares_now: Sequence[Share],
) -> list[Moved]:
    """The groups whose number of owned cores changed, in the order of ``shares_now``.

    A share's ``min`` is what was divided by, so that it has what its guarantee asks for.
    """
    was = {share.name: share for share in shares_before}
    now = {share.name: share for share in shares_now}
    counts = [
        (name, owned_before.get(name, 0), owned_now.get(name, 0))
        for name in dict.fromkeys([*now, *was])
    ]
    changed = [one for one in counts if one[1] != one[2]]
    own = {
        name: why
        for name, before, after in changed
        if (why := _own_reason(was.get(name), now.get(name), after - before)) is not None
    }
    causes = [name for name, *_ in changed if name in own]
    return [
        Moved(name, before, after, own.get(name) or _because_of(causes, after - before))
        for name, before, after in changed
    ]


def _own_reason(was: Share | None, now: Share | None, more: int) -> str | None:
    """What of the group itself made it own so many ``more`` cores; None: nothing did."""
    if was is None:
        return "it was added"
    if now is None:
        return "it was removed"
    if was.max != now.max and (now.most > was.most) == (more > 0):
        return f"its maximum is {now.max or 'all there are'} now"
    if was.min != now.min and (now.min > was.min) == (more > 0):
        if more > 0:
            return f"its guarantee or minimum asks for {_cores(now.min)}"
        return f"its guarantee or minimum asks for {_cores(now.min)} only"
    if was.demand != now.demand and (now.cap > was.cap) == (more > 0):
        if now.demand is None or more > 0:
            return "it can use more"
        return "it had no work" if now.demand == 0 else "it used less than it had"
    if was.weight != now.weight and (now.weight > was.weight) == (more > 0):
        return f"its weight went from {was.weight:g} to {now.weight:g}"
    return None


def _because_of(causes: Sequence[str], more: int) -> str:
    if not causes:
        return "the cores to divide, or the groups that exist, changed"
    names = " and ".join(causes[:3]) + (" and others" if len(causes) > 3 else "")
    return f"{names} left cores" if more > 0 else f"{names} took cores"


def _cores(number: float) -> str:
    return f"{number:g} core{'' if number == 1 else 's'}"
