"""Functions and how often they are invoked; invocations drawn from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError
from smartharvest.serverless.strategies.profile import NOTICE_S, Profile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = np.array([0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0])
"""Of the quantiles of a duration: those that the public Azure samples have."""
SHORTEST_S = 1e-3
"""The samples are in whole milliseconds; 0 of them count as one."""
MOST_INVOCATIONS = 20_000_000
_FINE = (np.arange(20_000) + 0.5) / 20_000


@dataclass(frozen=True)
class Workload:
    """F functions. Arrays have one entry, or row, a function."""

    names: Sequence[str]
    per_minute: Floats
    """(F, M): invocations in each minute; M = 1: the same in every minute."""
    duration_s: Floats
    """(F, len(LEVELS)): quantiles, ascending, above 0."""
    memory_mib: Floats
    """Of one instance, whole numbers."""
    cold_s: Floats
    """What a cold start takes of a core, on top."""
    idempotent: NDArray[np.bool_]
    source: str
    """Where it is from: a prefix, a file, or the name of the built-in mix."""

    def within(self, minutes: float) -> Workload:
        """Only the first ``minutes``."""
        return replace(self, per_minute=self.per_minute[:, : max(1, math.ceil(minutes))])

    def profiles(self, notice_s: float = NOTICE_S) -> list[Profile]:
        """As the strategies see them, from quantiles and mean rates."""
        count = len(self.names)
        rate = self.per_minute.mean(axis=1) / 60.0
        found = []
        for i in range(count):
            drawn_s = durations(self.duration_s, np.full(len(_FINE), i), _FINE)
            over_s = np.maximum(drawn_s - notice_s, 0.0)
            found.append(
                Profile(
                    self.names[i],
                    float(self.duration_s[i, -1]),
                    float(rate[i]),
                    float((over_s > 0.0).mean()),
                    float(over_s.mean()),
                )
            )
        return found

    def demand_cores(self) -> Floats:
        """(F,): mean cores that each function keeps busy, cold starts apart."""
        mean_s = np.array(
            [
                durations(self.duration_s, np.full(len(_FINE), i), _FINE).mean()
                for i in range(len(self.names))
            ]
        )
        demand: Floats = mean_s * self.per_minute.mean(axis=1) / 60.0
        return demand


@dataclass(frozen=True)
class Invocations:
    """N of them in the order of their arrival."""

    arrival_ns: Ints
    function: NDArray[np.uint32]
    work_ns: Ints
    """What each takes of one core, warm."""


def durations(quantiles_s: Floats, function: NDArray[np.integer], level: Floats) -> Floats:
    """(N,): the quantile ``level`` (N, 0..1) of each ``function`` (N).

    Straight lines between the known quantiles; above the 99th percentile they are straight in the
    logarithm, because a line to the maximum would make the mean far too long.
    """
    at = np.clip(np.searchsorted(LEVELS, level, side="right") - 1, 0, len(LEVELS) - 2)
    part = (level - LEVELS[at]) / (LEVELS[at + 1] - LEVELS[at])
    low, high = quantiles_s[function, at], quantiles_s[function, at + 1]
    straight = low + part * (high - low)
    curved = low * (high / low) ** part
    found: Floats = np.where(at == len(LEVELS) - 2, curved, straight)
    return found


def draw(workload: Workload, minutes: float, rps: float | None, seed: int) -> Invocations:
    """Invocations of the first ``minutes``.

    With ``rps`` exactly rps x 60 x minutes, shared out by function and minute in proportion to the
    workload's; without, as many as the workload says. Within a minute they are spread uniformly.
    Raises ConfigError if there is none, there are too many, or the workload is shorter.
    """
    random = np.random.default_rng([seed, 1])
    weights = _window(workload, minutes)
    total = float(weights.sum())
    wanted = total if rps is None else rps * 60.0 * minutes
    if total <= 0.0 or round(wanted) < 1:
        raise ConfigError(
            f"functions: {workload.source}: no invocation in {minutes:g} minutes; "
            "use a higher --rps or more --minutes"
        )
    if wanted > MOST_INVOCATIONS:
        raise ConfigError(
            f"rps: {wanted:.3g} invocations are too many; use at most {MOST_INVOCATIONS:,}"
        )
    cells = weights.ravel() / total
    counts = random.multinomial(round(wanted), cells)
    cell = np.repeat(np.arange(len(counts)), counts)
    function, minute = np.divmod(cell, weights.shape[1])
    # The last minute may be a part of one.
    length_s = np.minimum(60.0, minutes * 60.0 - minute * 60.0)
    arrival_ns = ((minute * 60.0 + random.random(len(cell)) * length_s) * 1e9).astype(np.int64)
    order = np.argsort(arrival_ns, kind="stable")
    function = function[order]
    work_s = durations(workload.duration_s, function, random.random(len(cell)))
    return Invocations(
        arrival_ns[order],
        function.astype(np.uint32),
        np.maximum(work_s * 1e9, SHORTEST_S * 1e9).astype(np.int64),
    )


def _window(workload: Workload, minutes: float) -> Floats:
    """(F, ceil(minutes)): invocations in each minute; the last one may be a part of one."""
    whole = int(np.ceil(minutes))
    known = workload.per_minute.shape[1]
    if known == 1:
        weights = np.repeat(workload.per_minute, whole, axis=1)
    elif whole <= known:
        weights = workload.per_minute[:, :whole].copy()
    else:
        raise ConfigError(
            f"minutes: {workload.source} has {known} minutes; {minutes:g} are too many"
        )
    weights[:, -1] *= minutes - (whole - 1)
    found: Floats = weights
    return found
