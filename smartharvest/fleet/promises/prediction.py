"""A promise for N machines: how many survive and with how many cores, each in an interval. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from smartharvest.errors import ConfigError
from smartharvest.fleet.promises.evidence import FEWEST
from smartharvest.fleet.promises.intervals import MISSES, unexcluded, widening
from smartharvest.fleet.promises.model import Learned, Model
from smartharvest.fleet.promises.occupancy import MOST_CORES
from smartharvest.fleet.promises.views import TARGETS, History
from smartharvest.fleet.tables import Floats

_NORMAL = 1.959964
_EXACT = 5000
"""Machines beyond which chance among them no longer counts."""


@dataclass(frozen=True, slots=True)
class Promise:
    mean: float
    low: float
    high: float


def predict(
    model: Model, now: History, machines: int, horizons_s: Sequence[float]
) -> dict[str, object]:
    """What to promise for ``machines`` Harvest VMs that start at the last step of ``now``.

    ``horizon_s``, ``survival`` and ``cores`` with mean, low and high (95 %), ``independent``: how
    many outcomes that rests on, ``declined``: they are too few, so the interval is all there is;
    and ``beyond``: what of this the model has not seen. Raises ConfigError for a horizon outside
    those it learned.
    """
    known = model.horizons_s
    for span in horizons_s:
        if not known[0] <= span <= known[-1]:
            raise ConfigError(
                f"--horizon: {span / 3600:g} h: the model has learned {known[0] / 3600:g} h to "
                f"{known[-1] / 3600:g} h; train it on a longer trace"
            )
    step = now.seen.steps - 1
    room = int(now.started.fits[step].sum())
    beyond = model.beyond(next(iter(now.views.values())).rows[step])
    if (now.size.cores, now.size.memory_gib) not in model.sizes:
        beyond.append(
            f"minimum: {now.size.cores:g} cores and {now.size.memory_gib:g} GiB, learned "
            + ", ".join(f"{cores:g} and {memory:g}" for cores, memory in model.sizes)
        )
    if machines > room:
        beyond.append(f"machines: {machines}, and {room} nodes have room for one now")
    results: list[dict[str, object]] = []
    for span in horizons_s:
        promised = {target: _between(model, now, target, span, machines) for target in TARGETS}
        rests_on = min(
            model.learned[target, one].independent
            for target in TARGETS
            for one in _neighbours(model, target, span)
        )
        results.append(
            {
                "horizon_s": span,
                **{k: asdict(v) for k, v in promised.items()},
                "independent": rests_on,
                "declined": rests_on < FEWEST,
            }
        )
    return {"machines": machines, "room": room, "results": results, "beyond": beyond}


def _between(model: Model, now: History, target: str, span: float, machines: int) -> Promise:
    """Straight between the neighbouring horizons, on a logarithmic scale; the interval is all there
    is if either has too few independent outcomes."""
    below, above = _neighbours(model, target, span)
    ends = [
        _promise(model.learned[target, one], now, target, one, machines) for one in (below, above)
    ]
    share = 0.0 if above == below else math.log(span / below) / math.log(above / below)
    if any(model.learned[target, one].independent < FEWEST for one in (below, above)):
        mean = (1 - share) * ends[0].mean + share * ends[1].mean
        return Promise(mean, 0.0, now.most[target])
    values = ((1 - share) * np.array(list(asdict(ends[0]).values()))
              + share * np.array(list(asdict(ends[1]).values())))  # fmt: skip
    return Promise(*map(float, values))


def _neighbours(model: Model, target: str, span: float) -> tuple[float, float]:
    known = [one for name, one in model.learned if name == target]
    return max(one for one in known if one <= span), min(one for one in known if one >= span)


def _promise(learned: Learned, now: History, target: str, span: float, machines: int) -> Promise:
    step, view, most = now.seen.steps - 1, now.views[span], now.most[target]
    said = float(learned.say(view, target, step, step + 1)[0])
    wide, doubt = widening(learned.independent), unexcluded(learned.independent)
    values = np.clip(said + wide * learned.errors, 0.0, most)
    if target == "survival":
        low, high = survivors(values, machines)
    else:
        low, high = (float(np.quantile(values, q)) for q in (MISSES / 2, 1 - MISSES / 2))
        spread = _NORMAL * _between_machines(now, step) / math.sqrt(machines)
        middle = float(np.clip(said, low, high))
        low = max(0.0, middle - math.hypot(middle - low, spread))
        high = min(most, middle + math.hypot(high - middle, spread))
    reach = now.reach(target)
    floor, ceiling = (0.0, most) if reach is None else (float(each[step]) for each in reach)
    low, high = low + doubt * min(0.0, floor - low), high + doubt * max(0.0, ceiling - high)
    return Promise(float(np.clip(said, low, high)), low, high)


def survivors(rates: Floats, machines: int) -> tuple[float, float]:
    """The 95 % interval of the share of ``machines`` that survive.

    Each of ``rates`` is as likely to be that of the cluster, and each machine is one of its many:
    so the count is a mixture of binomials.
    """
    if machines > _EXACT:
        return tuple(float(np.quantile(rates, q)) for q in (MISSES / 2, 1 - MISSES / 2))  # type: ignore[return-value]
    counts = np.arange(machines + 1)
    chosen = np.array([math.lgamma(n + 1) for n in range(machines + 1)])
    ways = chosen[-1] - chosen - chosen[::-1]
    total = np.zeros(machines + 1)
    for rate in np.quantile(rates, np.linspace(0.0025, 0.9975, 200)):
        inside = min(1 - 1e-12, max(1e-12, float(rate)))
        total += np.exp(
            ways + counts * math.log(inside) + (machines - counts) * math.log1p(-inside)
        )
    chance = np.cumsum(total / total.sum())
    low = int(np.searchsorted(chance, MISSES / 2))
    high = int(np.searchsorted(chance, 1 - MISSES / 2 - 1e-12))
    return low / machines, min(high, machines) / machines


def _between_machines(now: History, step: int) -> float:
    """How much the cores of the nodes with room differ at present (standard deviation)."""
    cores = np.minimum(now.seen.free_cores[step], MOST_CORES)[now.started.fits[step]]
    return float(cores.std()) if len(cores) > 1 else 0.0
