"""What ``top`` remembers of an agent: one entry an update."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.telemetry import groups
from smartharvest.telemetry.verdict import policy_words

KEPT = 400
"""Updates; a wide terminal has fewer columns."""
_KEPT_EVENTS = 200


def _kept() -> deque[Any]:
    return deque(maxlen=KEPT)


@dataclass
class History:
    """Of one agent, the oldest first."""

    lent: deque[float] = field(default_factory=_kept)
    busy: deque[float] = field(default_factory=_kept)
    at_s: deque[float] = field(default_factory=_kept)
    """When each update came, monotonic."""
    runs: deque[dict[int, str]] = field(default_factory=_kept)
    """CPU -> what ran on it (``primary``, ``elastic``, ``other``, ``idle``); empty: not seen."""
    events: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=_KEPT_EVENTS))
    """(Unix time, what happened between two updates)."""
    _before: Mapping[str, Any] | None = None

    def add(self, seen: Mapping[str, Any], at_s: float | None = None) -> None:
        """Takes in one answer of ``status``, which came at ``at_s``."""
        self.at_s.append(time.monotonic() if at_s is None else at_s)
        self.lent.append(seen["harvested"]["now"])
        self.busy.append(seen["busy"]["peak"])
        runs = seen["cores"]["runs"] or {}
        self.runs.append({cpu: runner for runner, cpus in runs.items() for cpu in _cpus(cpus)})
        if self._before is not None:
            now_s = time.time()
            self.events.extend((now_s, text) for text in changes(self._before, seen))
        self._before = seen


def _cpus(text: str) -> frozenset[int]:
    return parse_cpulist(text)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What happened between two answers of ``status``, in words."""
    found = []
    old = {warning["text"] for warning in before["warnings"]}
    warned = [warning["text"] for warning in now["warnings"] if warning["text"] not in old]
    was, lends = before["harvested"]["now"], now["harvested"]["now"]
    if was != lends:
        why = (now["decision"] or {}).get("reason", "no window yet")
        if policy_words(now):
            why = now["policy"]["name"]
        found.append(f"lent {was} → {lends} ({why})")
    for key, name in (("short_term", "short-term"), ("long_term", "long-term")):
        more = now["safeguards"][key] - before["safeguards"][key]
        if more > 0 and not any(text.startswith(f"{name} safeguard") for text in warned):
            found.append(f"{name} safeguard, {more} times" if more > 1 else f"{name} safeguard")
    held, holds = (seen["safeguards"]["lends_nothing_because"] for seen in (before, now))
    if held != holds:
        found.append(f"lends nothing: {holds}" if holds else "lends again")
    if before["policy"]["name"] != now["policy"]["name"]:
        found.append(f"policy {now['policy']['name']}")
    if before["sensor"]["name"] != now["sensor"]["name"]:
        found.append(f"sensor {now['sensor']['name']}")
    return found + groups.changes(before, now) + warned
