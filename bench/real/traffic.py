"""What the open-loop generator sends, and when: arrivals, and each primary's requests."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LENGTH = struct.Struct("=I")

ON_S, QUIET_S = (0.15, 0.4), (0.1, 0.4)
"""Shortest and longest period; quiet lasts for four learning windows or more."""

Load = Sequence[tuple[float, float]]
"""(seconds, requests a second) one after another."""


def poisson_arrivals(load: Load, rng: np.random.Generator) -> NDArray[np.int64]:
    """Arrival times in ns after the start, ascending; each step's rate for its seconds."""
    pieces = []
    began_s = 0.0
    for seconds, rate in load:
        count = rng.poisson(seconds * rate)
        pieces.append(began_s + np.sort(rng.uniform(0.0, seconds, count)))
        began_s += seconds
    return (np.concatenate(pieces) * 1e9).astype(np.int64)


def with_quiet_gaps(load: Load, rng: np.random.Generator) -> list[tuple[float, float]]:
    """The same steps, each cut into periods at its rate and quiet ones, as the demo's traffic.

    Each starts at its rate and keeps to it for a little more than half of the time.
    """
    pieces = []
    for seconds, rate in load:
        left_s = seconds
        for bounds, own_rate in itertools.cycle(((ON_S, rate), (QUIET_S, 0.0))):
            length_s = min(left_s, float(rng.uniform(*bounds)))
            pieces.append((length_s, own_rate))
            left_s -= length_s
            if left_s <= 0:
                break
    return pieces


def encode_requests(requests: Sequence[bytes]) -> bytes:
    """As openloop.c reads them."""
    return b"".join(_LENGTH.pack(len(request)) + request for request in requests)


def etc_key_sizes(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Bytes of the keys of Facebook's ETC pool: a generalised extreme value distribution.

    Parameters of Atikoglu et al., "Workload analysis of a large-scale key-value store", SIGMETRICS
    2012, section 5, as mutilate uses them; within memcached's 250 bytes.
    """
    mu, sigma, k = 30.7984, 8.20449, 0.078688
    drawn = mu + sigma * ((-np.log(rng.uniform(1e-12, 1.0, count))) ** -k - 1.0) / k
    return np.clip(np.round(drawn), 8, 250).astype(np.int64)


def etc_value_sizes(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Bytes of the values of the ETC pool: generalised Pareto, from the same source."""
    sigma, k = 214.476, 0.348238
    drawn = sigma * (rng.uniform(1e-12, 1.0, count) ** -k - 1.0) / k
    return np.clip(np.round(drawn), 1, 100_000).astype(np.int64)


def zipf_ranks(
    count: int, ranks: int, exponent: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Ranks in ``0..ranks-1``, the first the most popular."""
    weights = 1.0 / np.arange(1, ranks + 1) ** exponent
    return rng.choice(ranks, size=count, p=weights / weights.sum())
