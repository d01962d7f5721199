"""How long capacity was held, from other sources than allocations: spot instances, audit logs.

A spot trace says every ``gap_seconds`` how many instances could be had (skypilot's availability
and preemption traces). An agent's audit log says how many cores are lent. Both are steps over time;
the k-th instance or core lives while there are at least k.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.free_time import FreeTime
from smartharvest.fleet.pool import Lives
from smartharvest.fleet.simulation import Timeline
from smartharvest.fleet.tables import Floats
from smartharvest.telemetry.audit import read_audit
from smartharvest.telemetry.digest import with_spans
from smartharvest.telemetry.spans import Span

FORMATS = "spot:FILE.json, audit:FILE"
_LONGEST = 64 << 20
_MOST_LEVELS = 4096
_SAYING_THAT_NOTHING_IS_LENT = ("evicted", "paused", "ended")


@dataclass(frozen=True, slots=True)
class Held:
    """Instances or cores over time; arrays of one length, at least 1."""

    times_s: Floats
    """Ascending from 0."""
    counts: Floats
    """From each time on."""
    until_s: float

    def lives(self) -> Lives:
        """Each time that the k-th was there, from its beginning to its end; censored at the end."""
        levels = range(1, int(min(self.counts.max(), _MOST_LEVELS)) + 1)
        level_of, born, died = [], [], []
        for level in levels:
            there = np.concatenate([[False], self.counts >= level, [False]])
            edges = np.flatnonzero(there[1:] != there[:-1])
            times = np.append(self.times_s, math.inf)[edges]
            level_of += [level - 1] * (len(times) // 2)
            born += times[0::2].tolist()
            died += times[1::2].tolist()
        births, deaths = np.array(born, dtype=np.float64), np.array(died, dtype=np.float64)
        seen = np.minimum(deaths, self.until_s) - births
        nodes = np.array(level_of, dtype=np.int64)
        return Lives(nodes, births, deaths, 0.0, self.until_s, 0.0, float(seen.sum()))

    def free_time(self) -> FreeTime:
        """How many stay for how long."""
        nobody = np.zeros(len(self.counts), dtype=np.int64)
        timeline = Timeline(self.times_s, self.counts, self.counts, nobody)
        return FreeTime([timeline], 0.0, self.until_s)


def read_held(spec: str) -> Held:
    """What ``spot:FILE`` or ``audit:FILE`` says. Raises ConfigError, TraceError."""
    kind, colon, path = spec.partition(":")
    reader = {"spot": read_spot, "audit": read_lent}.get(kind)
    if not colon or not path or reader is None:
        raise ConfigError(f"--trace: {spec!r} is no trace; write one of {FORMATS}")
    return reader(path)


def read_spot(path: str) -> Held:
    """A JSON file with ``metadata.gap_seconds`` and ``data``, one number a step.

    Raises TraceError for anything else, and for holes and negative numbers.
    """
    try:
        with open(path, encoding="utf-8") as file:
            document = json.loads(file.read(_LONGEST))
        gap_s, counts = float(document["metadata"]["gap_seconds"]), document["data"]
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError, KeyError, TypeError):
        raise TraceError(
            f"{path}: is no spot trace: metadata.gap_seconds and data must be there"
        ) from None
    if not isinstance(counts, list) or not counts or not 0 < gap_s < math.inf:
        raise TraceError(f"{path}: is no spot trace: it has no steps, or they last no time")
    for step, count in enumerate(counts):
        if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count < 1e9:
            raise TraceError(f"{path}: data[{step}] is {count!r}; every step needs a number")
    values = np.array(counts, dtype=np.float64)
    times = np.arange(len(values), dtype=np.float64) * np.float64(gap_s)
    return Held(np.asarray(times, dtype=np.float64), values, len(values) * gap_s)


def read_lent(path: str) -> Held:
    """Cores that an agent lent, from its audit log and the files it was rotated into.

    They are lent until the next record; none while it is paused and after it ended; nothing is
    known after the last. Raises TraceError if there are fewer than two such records.
    """
    try:
        steps = [
            _step(one)
            for one in with_spans(read_audit(path))
            if isinstance(one, Span) or one["kind"] in _SAYING_THAT_NOTHING_IS_LENT
        ]
    except ConfigError as error:
        raise TraceError(str(error)) from None
    steps.sort(key=lambda step: step[0])
    if len(steps) < 2 or not steps[-1][0] > steps[0][0]:
        raise TraceError(f"{path}: has too few decisions to say how long cores are lent")
    times, lent = np.array(steps[:-1], dtype=np.float64).T.copy()
    return Held(times - times[0], lent, float(steps[-1][0] - times[0]))


def _step(one: Span | Mapping[str, Any]) -> tuple[float, float]:
    """(time, cores lent from then on); a span of several windows says it of the time before."""
    if not isinstance(one, Span):
        return float(one["t"]), 0.0
    return one.at_s - (one.seconds if one.windows > 1 else 0.0), float(one.lent)
