"""What a useful core costs on Harvest VMs (OSDI'20, section 7.5). Pure.

A Harvest VM's minimum costs what an evictable core costs, each additional core α times that. Cores
are useful but for the time that evictions cost. So a useful core-hour costs

    p (m + α e) / ((m + e) (1 - o))

with p the price of an evictable core-hour, m the minimum, e the additional cores, o the share of
time lost to recovering from evictions; an evictable one costs p / (1 - o').

The paper states e = 7.2 and o = 0.13 %, which for α = ½ gives 44 % below evictable VMs, where it
says 42 %: it takes the mean of the clusters' prices, and where few cores are harvested a useful one
costs more. Its 84 % at α = 0 and 42 % at α = ½ both follow from a mean of 1 / (1 + e) of 0.16. So
``cost`` takes one e for each cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError

REGULAR_PRICE = 0.126
"""Dollars a core-hour: two hyperthreads of Azure's Ev3, of which the paper's Harvest VMs were."""
EVICTABLE_PRICE = 0.0193
"""Dollars a core-hour, 85 % below: the price at which the paper's $0.011, $0.003, 91 % and 85 % all
come out."""
EXTRA_CORES = 7.2
RECOVERY_OVERHEAD = 0.0013
Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Terms:
    """What is paid and lost; prices in any currency per core-hour."""

    alpha: float = 0.5
    """Price of an additional core as a share of an evictable one, 0 to 1."""
    regular_price: float = REGULAR_PRICE
    evictable_price: float = EVICTABLE_PRICE
    minimum: float = 1.0
    """Cores a Harvest VM always has."""
    recovery_overhead: float = RECOVERY_OVERHEAD
    """Share of a Harvest VM's time lost to evictions, below 1."""
    evictable_overhead: float = 0.0
    """The same of an evictable VM."""


def vm_price(evictable_price: float, alpha: float, minimum: float, extra: Number) -> Number:
    """p (m + α e): of a Harvest VM in the time that ``evictable_price`` is of, say an hour."""
    return evictable_price * (minimum + alpha * extra)


def useful_core_price(
    evictable_price: float, alpha: float, minimum: float, extra: Number, overhead: float
) -> Number:
    """p (m + α e) / ((m + e) (1 - o)); ``overhead``, below 1, is the share of time lost."""
    cores = minimum + extra
    return vm_price(evictable_price, alpha, minimum, extra) / (cores * (1 - overhead))


def cost(terms: Terms, extra_cores: Sequence[float]) -> dict[str, Any]:
    """The document of ``fleet cost``: of one cluster, or the mean of several.

    ``extra_cores`` has for each cluster how many cores a Harvest VM has beyond its minimum.
    Savings are shares, 0.42 for 42 %. Raises ConfigError for impossible terms.
    """
    _check(terms, extra_cores)
    extra = np.asarray(extra_cores, dtype=np.float64)
    prices = useful_core_price(
        terms.evictable_price, terms.alpha, terms.minimum, extra, terms.recovery_overhead
    )
    evictable = terms.evictable_price / (1 - terms.evictable_overhead)
    savings = 1 - prices / evictable
    price = float(prices.mean())
    return {
        "alpha": terms.alpha,
        "extra_cores": float(extra.mean()),
        "clusters": len(extra),
        "recovery_overhead": terms.recovery_overhead,
        "evictable_price_per_useful_core": evictable,
        "regular_price": terms.regular_price,
        "price_per_useful_core": price,
        "saving_vs_evictable": float(savings.mean()),
        "saving_vs_evictable_range": [float(savings.min()), float(savings.max())],
        "saving_vs_regular": 1 - price / terms.regular_price,
    }


def _check(terms: Terms, extra_cores: Sequence[float]) -> None:
    wrong = (
        (not 0 <= terms.alpha <= 1, "alpha", "must be within 0 and 1"),
        (not 0 < terms.evictable_price < 1e9, "evictable-price", "must be above 0"),
        (not 0 < terms.regular_price < 1e9, "regular-price", "must be above 0"),
        (not 0 < terms.minimum < 1e6, "minimum", "must be above 0"),
        (not 0 <= terms.recovery_overhead < 1, "recovery-overhead", "must be 0 or more, below 1"),
        (not 0 <= terms.evictable_overhead < 1, "evictable-overhead", "must be 0 or more, below 1"),
        (not extra_cores, "extra-cores", "needs at least one number"),
        (not all(0 <= e < 1e6 for e in extra_cores), "extra-cores", "must be 0 or more"),
    )
    for bad, name, why in wrong:
        if bad:
            raise ConfigError(f"--{name}: {why}")


def overhead(evictions: float, vm_hours: float, recovery_s: float) -> float:
    """Share of all time that recovering takes, ``recovery_s`` an eviction; at most 0.999."""
    return min(0.999, evictions * recovery_s / 3600 / vm_hours) if vm_hours > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """What ``fleet simulate --json`` says of one cluster."""

    minimum: float
    extra_cores: float
    recovery_overhead: float
    evictable_overhead: float


def of_simulation(document: Any, recovery_s: float, where: str) -> Simulated:
    """What ``document`` says, with ``recovery_s`` seconds lost to each eviction.

    Raises ConfigError if it is no document of ``fleet simulate``.
    """
    try:
        harvest, spot = document["harvest"], document["spot"]
        return Simulated(
            float(harvest["minimum_cores"]),
            float(harvest["mean_extra_cores"]),
            _lost(harvest, recovery_s),
            _lost(spot, recovery_s),
        )
    except (KeyError, TypeError, ValueError):
        raise ConfigError(
            f"{where}: is no result of fleet simulate --json; give the file it was written to"
        ) from None


def _lost(lives: Mapping[str, Any], recovery_s: float) -> float:
    return overhead(float(lives["evictions"]), float(lives["vm_hours"]), recovery_s)
