"""What one look is to tell of an agent: what it earns, whom it harms, its health, why not more.

Pure: a status (agent/reporting.py) in, words out. The page, the metrics and the report share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from smartharvest.printable import counted

Level = Literal["good", "careful", "bad", "unknown"]
Status = Mapping[str, Any]

USUAL_BUDGET = 0.01
"""The share of dispatches that may wait too long, where the status does not say."""
QUANTILES = {"p50": "0.5", "p95": "0.95", "p99": "0.99"}
"""Of what a policy judges, as a status and as metrics name them."""
FRESH_S = 900.0
"""A warning older than this no longer makes the agent look ill."""


@dataclass(frozen=True)
class Verdict:
    """One of four answers."""

    key: str
    """A word of a few, for machines."""
    level: Level
    text: str
    """A sentence."""


def earning(seen: Status) -> Verdict:
    """Whether anything is lent."""
    lent, total = seen["harvested"], seen["cores"]["total"]
    text = f"{lent['now']} of {counted(total, 'core')} lent now, {lent['mean']:.2f} on average."
    if lent["mean"] >= 0.05 or lent["now"]:
        return Verdict("lending", "good", text)
    return Verdict("idle", "careful", text)


def harm_share(seen: Status) -> float | None:
    """Of the primary's dispatches the share that waited too long by lending; None: not known."""
    period = seen["waits"].get("period")
    if not period or seen["waits"].get("unreadable") or not period["dispatches"]:
        return None
    return float(period["blamed"] / period["dispatches"])


def harm_budget(seen: Status) -> float:
    """The share at which the long-term safeguard acts."""
    budget = seen["waits"].get("budget")
    return USUAL_BUDGET if budget is None else float(budget)


def kept_budget(seen: Status) -> Mapping[str, Mapping[str, Any]] | None:
    """The budgets that the policy itself keeps, by primary, in place of the long-term safeguard's;
    None: it keeps none, or cannot tell now."""
    kept = seen.get("budget")
    if not isinstance(kept, Mapping) or not any(_tells(one) for one in kept.values()):
        return None
    return kept


def budget_used(seen: Status) -> float | None:
    """Which part of its budget harm has used lately, 1: all of it; None: not known."""
    kept = kept_budget(seen)
    if kept is not None:
        return max(map(_used, kept.values()))
    share = harm_share(seen)
    return None if share is None else share / harm_budget(seen)


def spent_in_words(one: Mapping[str, Any]) -> str:
    """By how much one primary takes longer, as a phrase."""
    if not _tells(one):
        return "too few tasks to tell"
    known = [f"{q.upper()} +{one[q]:.1%}" for q in QUANTILES if one.get(q) is not None]
    rests, by_rests = one.get("rests"), one.get("by_rests")
    if rests and by_rests is not None:
        known.append(f"median {by_rests:+.1%} by {counted(rests, 'rest')}")
    return ", ".join(known)


def hit_most(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """The primary that lending costs most, of budgets that are kept."""
    return max(kept, key=lambda name: _used(kept[name]))


def _tells(one: Mapping[str, Any]) -> bool:
    return any(one.get(q) is not None for q in QUANTILES)


def percent(part: float) -> str:
    """A budget, as it was written."""
    return f"{part * 100:.3g}%"


def _used(one: Mapping[str, Any]) -> float:
    most = max((float(one[q]) for q in QUANTILES if one.get(q) is not None), default=0.0)
    return most / float(one["protect"])


def harming(seen: Status) -> Verdict:
    """Whether lending harms the primary, held against its budget."""
    used, kept = budget_used(seen), kept_budget(seen)
    if kept is None:
        return _waiting(seen)
    assert used is not None
    level: Level = "bad" if used >= 1 else "careful" if used >= 0.5 else "good"
    name = hit_most(kept)
    one = kept[name]
    text = (
        f"By lending {name} took longer in the last minute: {spent_in_words(one)}. "
        f"The budget is {percent(one['protect'])}."
    )
    return Verdict(_KEYS[level], level, text)


_KEYS: Mapping[Level, str] = {"good": "none", "careful": "near", "bad": "over"}


def _waiting(seen: Status) -> Verdict:
    """Where only waits tell."""
    slowed = _slowed(seen.get("harm"))
    share, budget = harm_share(seen), harm_budget(seen)
    if share is None and slowed is None:
        why = seen["waits"].get("unreadable") or "no period has been judged yet"
        return Verdict("unknown", "unknown", f"Not known: {why}.")
    words: list[str] = []
    level: Level = "good"
    if share is not None:
        level = "bad" if share >= budget else "careful" if share >= budget / 2 else "good"
        words.append(
            f"{share:.2%} of the primary's waits were too long by lending; the budget is "
            f"{budget:.2%}."
        )
    if slowed is not None:
        name, longer = slowed
        words.append(f"While cores are lent {name} takes {longer:.2f} times as long (p95).")
        if longer >= 1.25 and level == "good":
            level = "careful"
    return Verdict(_KEYS[level], level, " ".join(words))


def _slowed(harm: Any) -> tuple[str, float] | None:
    """(primary, factor) of whom lending slows most, where the sensor tells."""
    primaries = harm.get("primaries") if isinstance(harm, Mapping) else None
    found = [
        (str(name), float(longer["p95"]))
        for name, one in (primaries or {}).items()
        if isinstance(longer := (one.get("period") or one).get("longer"), Mapping)
        and isinstance(longer.get("p95"), int | float)
    ]
    return max(found, key=lambda one: one[1], default=None)


def complaints(seen: Status) -> list[str]:
    """What is not as it is to be, worst first; empty if all is well."""
    found = []
    guardian = seen.get("guardian")
    if isinstance(guardian, Mapping):
        if guardian.get("lost"):
            found.append(f"{counted(guardian['lost'], 'guardian')} died and was replaced.")
        if guardian.get("frozen_with"):
            found.append(f"Freezing {guardian['frozen_with']} would freeze agent and guardian.")
    if seen["sensor"].get("failed"):
        found.append(f"These sensors failed: {', '.join(seen['sensor']['failed'])}.")
    if seen["sensor"].get("blind"):
        found.append("The sensor misses some of what the kernel counts.")
    found += [f"A policy failed: {one}." for one in seen["policy"]["fallbacks"]]
    if seen["agent"].get("restart_refused"):
        found.append(f"A restart was refused: {seen['agent']['restart_refused']}.")
    if str(seen["loop"]["scheduling"]) not in ("fifo", "spin", "None"):
        found.append(f"The loop runs as {seen['loop']['scheduling']}, not as fifo.")
    fresh = [one["text"] for one in seen["warnings"] if one["age_s"] < FRESH_S]
    return found + [f"{text[:1].upper()}{text[1:]}." for text in dict.fromkeys(reversed(fresh))]


def health(seen: Status) -> Verdict:
    """Whether the agent itself is well."""
    found = complaints(seen)
    if not found:
        return Verdict("well", "good", "Well.")
    more = f" And {len(found) - 1} more." if len(found) > 1 else ""
    return Verdict("ill", "careful", found[0] + more)


LIMITS = (
    *("held", "resting", "no window", "limit", "short-term", "stale"),
    *("policy", "demand", "nothing"),
)
"""Keys of ``why_not_more``."""


def policy_words(seen: Status) -> str:
    """Why the policy lends what it does; empty: it does not say, or a safeguard has decided."""
    decided = seen["decision"] is not None and seen["decision"]["reason"] == "predicted"
    return str(seen["policy"].get("explanation") or "") if decided else ""


def why_not_more(seen: Status) -> Verdict:
    """What keeps the agent from lending more than it does."""
    guards, cores, decision = seen["safeguards"], seen["cores"], seen["decision"]
    lent, total = seen["harvested"]["now"], cores["total"]
    if guards["lends_nothing_because"]:
        return Verdict("held", "bad", f"Nothing may be lent: {guards['lends_nothing_because']}.")
    if guards.get("resting_s"):
        return Verdict(
            "resting", "bad",
            f"The long-term safeguard rests for another {guards['resting_s']:.0f} s.",
        )  # fmt: skip
    if decision is None:
        return Verdict("no window", "unknown", "No window has ended yet.")
    if lent and lent >= cores.get("max_harvest", total):
        return Verdict("limit", "good", f"The limit of {counted(lent, 'core')} is reached.")
    if decision["reason"] == "short-term safeguard":
        return Verdict("short-term", "careful", "The idle buffer has just run out.")
    if decision["reason"] == "stale window":
        return Verdict("stale", "careful", "The loop came too late to be trusted.")
    if lent >= total:
        return Verdict("nothing", "good", "Every core is lent.")
    if why := policy_words(seen):
        return Verdict("policy", "good", f"{why[0].upper()}{why[1:]}.")
    granted = decision["primary_cores"]
    return Verdict(
        "demand", "good",
        f"The primary is to have {granted} of {counted(total, 'core')}: it last wanted "
        f"{seen['demand']['peak']}, and at least one more stays idle.",
    )  # fmt: skip
