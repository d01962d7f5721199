"""What a core costs, and how many cores one budget buys.

Prices are relative to a regular core's. A Harvest VM's minimum costs what an evictable VM's cores
cost, each harvested core ``harvested_price`` times that (Providing SLOs for Resource-Harvesting
VMs, OSDI'20); evictable VMs are 48 to 88 % cheaper than regular ones (SOSP'21).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from smartharvest.errors import ConfigError
from smartharvest.fleet.cost import useful_core_price, vm_price

SECONDS_AN_HOUR = 3600.0


@dataclass(frozen=True)
class Prices:
    """Raises ConfigError for what is out of range."""

    regular_per_hour: float = 0.05
    """Of one regular core, in any currency."""
    evictable_discount: float = 0.7
    """Share by which an evictable core is cheaper, 0 to below 1."""
    harvested_price: float = 0.5
    """A harvested core's price over an evictable one's, 0..1: alpha in the paper."""

    def __post_init__(self) -> None:
        if not 0.0 < self.regular_per_hour < math.inf:
            raise ConfigError(f"regular price: {self.regular_per_hour:g} must be above 0")
        if not 0.0 <= self.evictable_discount < 1.0:
            raise ConfigError(
                f"evictable discount: {self.evictable_discount:g} must be 0 to below 1"
            )
        if not 0.0 <= self.harvested_price <= 1.0:
            raise ConfigError(f"harvested price: {self.harvested_price:g} must be 0 to 1")

    @property
    def evictable_per_hour(self) -> float:
        return self.regular_per_hour * (1.0 - self.evictable_discount)

    def harvest_per_hour(self, min_cores: float, cores: float) -> float:
        """Of a Harvest VM that has ``cores`` on average and keeps ``min_cores``."""
        extra = max(0.0, cores - min_cores)
        return vm_price(self.evictable_per_hour, self.harvested_price, min_cores, extra)


@dataclass(frozen=True)
class Purchase:
    """What the budget of one regular core buys."""

    harvest_share: float
    """Of the cores, 0..1; the others are regular."""
    evictions_per_day: float
    """Of one Harvest VM."""
    cores: float
    """Useful cores for the price of one regular core."""


def buys(
    prices: Prices,
    harvest_share: float,
    evictions_per_day: float,
    *,
    min_cores: float = 1.0,
    cores: float = 8.2,
    recovery_s: float = 300.0,
) -> Purchase:
    """Useful cores for the price of one regular core, if ``harvest_share`` of them are harvested.

    After an eviction a Harvest VM's cores are useless for ``recovery_s``: another one starts, and
    its functions start cold. ``cores`` and ``min_cores`` are those of a Harvest VM (on average
    1 + 7.2, OSDI'20). Raises ConfigError for what is out of range, or if nothing useful is left.
    """
    if not 0.0 <= harvest_share <= 1.0:
        raise ConfigError(f"harvest share: {harvest_share:g} must be 0 to 1")
    if not evictions_per_day >= 0.0:
        raise ConfigError(f"evictions a day: {evictions_per_day:g} must be 0 or more")
    if not 0.0 < min_cores <= cores < math.inf:
        raise ConfigError(
            f"cores: {cores:g} must be at least the minimum of {min_cores:g}, above 0"
        )
    lost = evictions_per_day * recovery_s / (24 * SECONDS_AN_HOUR)
    harvested = 0.0
    if harvest_share > 0.0:
        if lost >= 1.0:
            raise ConfigError(
                f"evictions a day: with {evictions_per_day:g} and {recovery_s:g} s to recover "
                "nothing useful is left"
            )
        price = useful_core_price(
            prices.evictable_per_hour, prices.harvested_price, min_cores, cores - min_cores, lost
        )
        harvested = harvest_share * price / prices.regular_per_hour
    paid = (1.0 - harvest_share) + harvested
    if paid <= 0.0:
        raise ConfigError("prices: harvested cores are free, so a budget buys any number")
    return Purchase(harvest_share, evictions_per_day, 1.0 / paid)


def table(
    prices: Prices, shares: Iterable[float], evictions: Iterable[float], **vm: float
) -> list[Purchase]:
    """``buys`` for each share and, within it, each eviction rate."""
    rates = list(evictions)
    return [buys(prices, share, rate, **vm) for share in shares for rate in rates]
