"""The Harvest Monitor: what this node can promise to a scheduler of work.

Cores come and go within milliseconds; a scheduler wants a number that holds for seconds. The
monitor takes the mean capacity of each second and promises a number of cores for the next
``hold_s`` seconds that is to hold with a given probability. It forecasts the mean of the last
``hold_s`` and takes off as much as forecasts of the past fell short (split conformal prediction).
Only the forecasts most alike count, as in Mondrian prediction (Vovk): much falls deeper than
little, and few are promises where little was. The level rises above the one asked for while too few
promises are kept (adaptive conformal inference; Gibbs and Candès, NeurIPS 2021), and never goes
below it. Pure: its clock is the caller's.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from smartharvest.printable import counted

STEP_NS = 1_000_000_000
HISTORY_STEPS = 3600
"""Shortfalls remembered: an hour."""
LEAST_JUDGED = 20
"""Forecasts to have seen the end of before anything beyond the minimum is promised."""
ADAPTATION = 0.02
"""How far one kept or broken promise moves the level (gamma of the source)."""
LEAST_RISK = 0.1
"""Share of the risk asked for that is always taken: no promise at all is no use."""
ALIKE = 6
"""One of so many forecasts remembered counts as alike."""


@dataclass(frozen=True, slots=True)
class _Forecast:
    step: int
    """The last step it knew."""
    cores: float
    promised: int
    persistent: int
    """What was there just then, as a whole number: the promise of somebody who does not think."""


@dataclass(slots=True)
class _Kept:
    """How many promises beyond the minimum have ended, and how many of them were kept."""

    judged: int = 0
    kept: int = 0

    def count(self, kept: bool) -> None:
        self.judged += 1
        self.kept += kept

    @property
    def share(self) -> float | None:
        return self.kept / self.judged if self.judged else None


class HarvestMonitor:
    """Watches one agent's capacity: the elastic minimum and what is lent beyond it, in cores.

    ``hold_s`` whole seconds of at least 1; ``probability`` within (0, 1).
    """

    def __init__(self, elastic_min: int, hold_s: int, probability: float) -> None:
        if hold_s < 1 or not 0 < probability < 1:
            raise ValueError(f"hold_s {hold_s}, probability {probability}")
        self.elastic_min = elastic_min
        self.noticed = 0
        """Cores of the minimum that are about to be evicted, or are."""
        self.hold_s = hold_s
        self.probability = probability
        self._risk = 1 - probability
        self._forecasts = np.zeros(HISTORY_STEPS)
        self._shortfalls = np.zeros(HISTORY_STEPS)  # of each of them
        self._remembered = 0
        self._recent: deque[float] = deque(maxlen=hold_s)
        self._lowest: deque[tuple[int, float]] = deque()  # of the last hold_s steps, ascending
        self._unjudged: deque[_Forecast] = deque()
        self._step = 0
        self._last: tuple[int, int] | None = None
        self._promises = _Kept()
        self._persistence = _Kept()
        self._promised = elastic_min
        self._forecast = float(elastic_min)
        self._margin = 0.0
        self._shrunk: tuple[int, int, int] | None = None  # when_ns, from, to
        self._withdrawn: str | None = None

    @property
    def promised(self) -> int:
        """Cores that are to be there for the next ``hold_s`` seconds."""
        promised = self.elastic_min if self._withdrawn else self._promised
        return max(0, promised - self.noticed)

    def notice(self, now_ns: int, cores: int) -> None:
        """From now on so many cores of the minimum are about to be evicted, or are."""
        before, self.noticed = self.promised, cores
        if self.promised < before:
            self._shrunk = now_ns, before, self.promised

    def observe(self, now_ns: int, lent_core_ns: int, withdrawn: str | None = None) -> None:
        """Takes the core-nanoseconds lent so far; ``withdrawn`` is why nothing is lent, if so.

        A step ends when a second has passed since the last one. A late call makes a longer
        step; a count that starts again starts a step.
        """
        before = self._withdraw(withdrawn)
        if self._last is None or lent_core_ns < self._last[1]:
            self._last = now_ns, lent_core_ns
        elif now_ns - self._last[0] >= STEP_NS:
            then_ns, then_core_ns = self._last
            self._last = now_ns, lent_core_ns
            self.take_step(self.elastic_min + (lent_core_ns - then_core_ns) / (now_ns - then_ns))
        self._note_shrinking(now_ns, before)

    def observe_mean(self, now_ns: int, cores: float | None, withdrawn: str | None) -> None:
        """Takes the mean capacity of one more second, if it is known; as ``observe`` otherwise."""
        before = self._withdraw(withdrawn)
        if cores is not None:
            self.take_step(cores)
        self._note_shrinking(now_ns, before)

    def _withdraw(self, withdrawn: str | None) -> int:
        """``withdrawn`` is why nothing is lent, if so. Returns what was promised before."""
        before, self._withdrawn = self.promised, withdrawn
        return before

    def _note_shrinking(self, now_ns: int, before: int) -> None:
        if self.promised < before:
            self._shrunk = now_ns, before, self.promised

    def take_step(self, cores: float) -> None:
        """Takes the mean capacity of one more second."""
        self._step += 1
        self._recent.append(cores)
        while self._lowest and self._lowest[-1][1] >= cores:
            self._lowest.pop()
        self._lowest.append((self._step, cores))
        while self._lowest[0][0] <= self._step - self.hold_s:
            self._lowest.popleft()
        self._judge()
        self._forecast = sum(self._recent) / len(self._recent)
        self._promise(cores)

    def _judge(self) -> None:
        """Looks at the forecast whose ``hold_s`` seconds have just ended."""
        if not self._unjudged or self._unjudged[0].step > self._step - self.hold_s:
            return
        forecast, lowest = self._unjudged.popleft(), self._lowest[0][1]
        kept = lowest >= forecast.promised
        if forecast.promised > self.elastic_min:
            self._promises.count(kept)
        if forecast.persistent > self.elastic_min:
            self._persistence.count(lowest >= forecast.persistent)
            self._adapt(kept)
        self._remember(forecast.cores, forecast.cores - lowest)

    def _adapt(self, kept: bool) -> None:
        asked = 1 - self.probability
        risk = self._risk + ADAPTATION * (asked - (not kept))
        self._risk = min(max(risk, LEAST_RISK * asked), asked)

    def _remember(self, forecast: float, shortfall: float) -> None:
        at = self._remembered % HISTORY_STEPS
        self._forecasts[at], self._shortfalls[at] = forecast, shortfall
        self._remembered += 1

    def _shortfall(self, forecast: float) -> float:
        """What forecasts like this one fell short of by at most, at the level of the moment."""
        count = min(self._remembered, HISTORY_STEPS)
        alike = max(LEAST_JUDGED, count // ALIKE)
        distances = np.abs(self._forecasts[:count] - forecast)
        shortfalls = self._shortfalls[np.argpartition(distances, alike - 1)[:alike]]
        # The finite-sample level of split conformal prediction.
        rank = min(alike - 1, int((1 - self._risk) * (alike + 1)))
        return float(np.partition(shortfalls, rank)[rank])

    def _promise(self, now_cores: float) -> None:
        if self._remembered < LEAST_JUDGED:
            self._promised = self.elastic_min
        else:
            self._margin = self._shortfall(self._forecast)
            bound = min(self._forecast - self._margin, now_cores)
            self._promised = max(self.elastic_min, int(bound + 1e-9))
        self._unjudged.append(
            _Forecast(self._step, self._forecast, self._promised, int(now_cores + 1e-9))
        )

    def describe(self, now_ns: int, lent: int, most: int) -> dict[str, Any]:
        """As a JSON document; ``lent`` cores beyond the minimum just now, of at most ``most``."""
        notice = None
        if self._shrunk is not None and now_ns - self._shrunk[0] < self.hold_s * STEP_NS:
            when_ns, before, to = self._shrunk
            notice = {"from": before, "to": to, "age_s": (now_ns - when_ns) / 1e9}
        return {
            "cores": {
                "now": max(0, self.elastic_min + lent - self.noticed),
                "guaranteed": max(0, self.elastic_min - self.noticed),
                "promised": self.promised,
                "most": self.elastic_min + most,
            },
            "hold_s": self.hold_s,
            "probability": self.probability,
            "forecast": self._forecast,
            "margin": self._margin,
            "learning": self._remembered < LEAST_JUDGED,
            "withdrawn": self._withdrawn,
            "shrink_notice": notice,
            "calibration": {
                "promises": self._promises.judged,
                "kept": self._promises.share,
                "persistence_kept": self._persistence.share,
                "level": 1 - self._risk,
            },
        }


def explain_capacity(seen: dict[str, Any]) -> list[str]:
    """Why the number is what it is, in words; of a document as ``describe`` makes it."""
    calibration = seen["calibration"]
    lines = [f"promised for {seen['hold_s']} s: {_cores_in_words(seen)}"]
    groups = seen.get("groups") or ()
    if len(groups) > 1:
        lines += [
            f"for {one['name']}: {_cores_in_words(one)}"
            + (f"; {why}" if (why := one.get("withdrawn")) and not seen["withdrawn"] else "")
            for one in groups
        ]
    lines += [
        f"memory of {one['name']}: {_mib(memory['now_bytes'])} now "
        f"({_mib(memory['guaranteed_bytes'])} guaranteed, {_mib(memory['most_bytes'])} at most)"
        for one in groups
        if (memory := one.get("memory"))
    ]
    if seen["withdrawn"]:
        lines.append(f"nothing beyond the guaranteed is promised: {seen['withdrawn']}")
    elif seen["learning"]:
        lines.append(
            "nothing beyond the guaranteed is promised yet: too few forecasts have been seen to end"
        )
    else:
        lines.append(
            f"the last {seen['hold_s']} s had {seen['forecast']:.2f} on average; the lowest second "
            f"after such a forecast fell short of it by no more than {seen['margin']:.2f} "
            f"in {calibration['level']:.1%} of the cases most alike"
        )
    if calibration["kept"] is not None:
        lines.append(
            f"of {calibration['promises']} promises beyond the guaranteed "
            f"{calibration['kept']:.1%} were kept (asked for: {seen['probability']:.1%})"
        )
    if calibration["persistence_kept"] is not None:
        lines.append(
            "to promise what is there at the moment would have been kept in "
            f"{calibration['persistence_kept']:.1%} of the cases"
        )
    if (notice := seen["shrink_notice"]) is not None:
        lines.append(
            f"shrink notice: from {notice['from']} to {notice['to']} cores "
            f"{notice['age_s']:.1f} s ago"
        )
    return lines


def _mib(size: int | None) -> str:
    return "?" if size is None else f"{size >> 20} MiB"


def _cores_in_words(seen: dict[str, Any]) -> str:
    cores = seen["cores"]
    return (
        f"{counted(cores['promised'], 'core')} "
        f"({cores['guaranteed']} guaranteed; {cores['now']} there now, {cores['most']} at most)"
    )
