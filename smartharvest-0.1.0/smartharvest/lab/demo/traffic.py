"""The traffic of one slice: on-periods of Poisson arrivals and bursts, between quiet gaps."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from random import Random

LOAD = 0.28
"""Mean load of the Poisson arrivals within an on-period, as a share of all CPUs."""
SERVICE_MEDIAN_NS = 250_000
SERVICE_SIGMA = 0.3
"""Lognormal service: P1 to P99 span 125 to 500 us."""
ON_NS = (150_000_000, 400_000_000)
QUIET_NS = (100_000_000, 400_000_000)
"""Shortest and longest period. Quiet lasts at least four default learning windows, so that
something can be lent on two CPUs, where busy + 1 leaves nothing while one of them is busy."""
BURSTS_PER_S = 8.0
BURST_REQUESTS_PER_CPU = (2, 4)
TAIL_NS = 50_000_000
"""The slice's end stays quiet, so that the last requests finish within it."""

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Traffic:
    """Requests in the order of their intended arrivals; both arrays of type ``q``, one length."""

    arrival_ns: array[int]
    """After the slice's start, ascending."""
    service_ns: array[int]
    """CPU time the request needs."""


def draw_traffic(seconds: float, cpus: int, seed: int) -> Traffic:
    """The traffic of a slice of ``seconds`` on ``cpus`` CPUs; equal arguments draw equal traffic.

    It starts quiet for the shortest quiet gap. Almost half of the time is quiet.
    """
    random = Random(seed)
    service_mean_ns = SERVICE_MEDIAN_NS * math.exp(SERVICE_SIGMA**2 / 2)
    arrivals_per_ns = LOAD * cpus / service_mean_ns
    end_ns = seconds * _NS_PER_S - TAIL_NS
    arrivals: list[int] = []
    period_ns: float = QUIET_NS[0]
    while period_ns < end_ns:
        on_end_ns = min(period_ns + random.uniform(*ON_NS), end_ns)
        arrivals += _poisson(random, period_ns, on_end_ns, arrivals_per_ns)
        for burst_ns in _poisson(random, period_ns, on_end_ns, BURSTS_PER_S / _NS_PER_S):
            low, high = BURST_REQUESTS_PER_CPU
            arrivals += [burst_ns] * random.randint(low * cpus, high * cpus)
        period_ns = on_end_ns + random.uniform(*QUIET_NS)
    arrivals.sort()
    service_mu = math.log(SERVICE_MEDIAN_NS)
    return Traffic(
        array("q", arrivals),
        array("q", [round(random.lognormvariate(service_mu, SERVICE_SIGMA)) for _ in arrivals]),
    )


def _poisson(random: Random, start_ns: float, end_ns: float, rate_per_ns: float) -> list[int]:
    times: list[int] = []
    time_ns = start_ns + random.expovariate(rate_per_ns)
    while time_ns < end_ns:
        times.append(int(time_ns))
        time_ns += random.expovariate(rate_per_ns)
    return times
