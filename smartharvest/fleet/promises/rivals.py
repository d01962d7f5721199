"""What the forest is measured against. Pure.

- persistence: what the newest cohort with an outcome did, the next one will do.
- koordinator: capacity less 1.1 times the 95th percentile of what was used, from histograms that
  halve in 12 h, nothing promised for 24 h (Koordinator's predictor). A bound from below, so its
  interval ends with all there is.
- survival-curve: Kaplan-Meier over all lives so far; for cores, what all cohorts had so far.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from smartharvest.fleet.promises.cohorts import Lives, Size
from smartharvest.fleet.promises.features import last_known
from smartharvest.fleet.promises.life_table import kaplan_meier
from smartharvest.fleet.promises.occupancy import MOST_CORES, Occupancy
from smartharvest.fleet.tables import DAY_S, Floats

PERCENTILE, MARGIN = 0.95, 1.1
HALF_LIFE_S, COLD_START_S = 12 * 3600.0, DAY_S
_BUCKETS = 100
Intervals = tuple[Floats, Floats, Floats]
"""(forecast, lower, upper), each (steps)."""


def persistence(outcome: Floats, steps: int, otherwise: Floats) -> Floats:
    """(steps) the newest outcome that is known at each step; ``otherwise`` until there is one."""
    before = np.full(len(outcome), np.nan)
    before[steps:] = outcome[:-steps]
    return last_known(before, otherwise)


def koordinator(seen: Occupancy, size: Size) -> Mapping[str, Intervals]:
    """Of both targets, for any horizon."""
    lasting = _lasting(1 - seen.free_cores / seen.node_cores, seen.step_s) * seen.node_cores
    memory = np.where(seen.node_memory_gib > 0, seen.node_memory_gib, 1.0)
    lasting_memory = _lasting(1 - seen.free_memory_gib / memory, seen.step_s) * memory
    fits = (seen.free_cores >= size.cores) & (seen.free_memory_gib >= size.memory_gib)
    stays = fits & (lasting >= size.cores) & (lasting_memory >= size.memory_gib)
    count = fits.sum(axis=1)
    with np.errstate(invalid="ignore"):
        survival = np.where(count > 0, stays.sum(axis=1) / count, np.nan)
        cores = (np.minimum(lasting, MOST_CORES) * fits).sum(axis=1) / count
    cold = np.arange(seen.steps) * seen.step_s < COLD_START_S
    survival, cores = np.where(cold, 0.0, survival), np.where(cold, 0.0, cores)
    most = float(min(MOST_CORES, seen.node_cores.max()))
    return {
        "survival": (survival, survival, np.ones(seen.steps)),
        "cores": (cores, cores, np.full(seen.steps, most)),
    }


def _lasting(used: Floats, step_s: float) -> Floats:
    """(steps, nodes) the share of each node that is left beyond the margin, at each step."""
    steps, nodes = used.shape
    bucket = np.clip((used * _BUCKETS).astype(np.int64), 0, _BUCKETS - 1)
    weights = np.zeros((nodes, _BUCKETS))
    found = np.empty((steps, nodes))
    fade = 0.5 ** (step_s / HALF_LIFE_S)
    each = np.arange(nodes)
    for step in range(steps):
        weights *= fade
        weights[each, bucket[step]] += 1.0
        share = np.cumsum(weights, axis=1)
        at = (share >= PERCENTILE * share[:, -1:]).argmax(axis=1)
        found[step] = 1 - MARGIN * (at + 1) / _BUCKETS
    return np.clip(found, 0.0, 1.0)


def survival_curve(
    lives: Lives, cores: Floats, steps: int, edges: list[int], most: float
) -> Mapping[str, Intervals]:
    """Of both targets, renewed at each of ``edges`` from what is known there."""
    parts: dict[str, list[tuple[float, float, float]]] = {"survival": [], "cores": []}
    for edge in edges[:-1]:
        parts["survival"].append(kaplan_meier(*lives.known_at(edge), steps))
        known = cores[: max(0, edge - steps)]
        known = known[np.isfinite(known)]
        ends = map(float, np.quantile(known, (0.025, 0.975))) if len(known) else (0.0, most)
        parts["cores"].append((float(known.mean()) if len(known) else most / 2, *ends))
    at = np.clip(np.searchsorted(edges, np.arange(len(cores)), "right") - 1, 0, len(edges) - 2)
    return {name: tuple(np.array(part)[at].T) for name, part in parts.items()}
