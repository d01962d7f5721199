"""What one run of the demonstration can tell: quantiles of latency, and how far chance moves them.

Each invocation goes to every router at the same moment. So the same pieces of the run are drawn for
all, with replacement, and what differs between routers is not what differs between moments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import EngineError

BLOCK_S = 5.0
"""Longer than most queues last: neighbours are slow together."""
DRAWS = 1000
BASE = "Ray's default"


@dataclass(frozen=True)
class Answer:
    at_s: float
    function: str
    node: str | None
    """None: it failed."""
    took_s: float
    cold: bool


@dataclass(frozen=True)
class Row:
    """Of one router; an interval in brackets."""

    p50: str
    p95: str
    p99: float
    ratio: str
    """P95 over that of ``BASE``."""


def intervals(answers: Mapping[str, Sequence[Answer]], seconds: float) -> dict[str, Row]:
    """Router -> its row, of what was answered. Raises EngineError if a router answered nothing."""
    blocks = max(1, round(seconds / BLOCK_S))
    pieces = {
        router: [
            np.array([one.took_s for one in found if _block(one, seconds, blocks) == block])
            for block in range(blocks)
        ]
        for router, found in ((r, [a for a in f if a.node is not None]) for r, f in answers.items())
    }
    for router, found in pieces.items():
        if not sum(map(len, found)):
            raise EngineError(f"{router}: no invocation was answered")
    draws = np.random.default_rng(1).integers(0, blocks, (DRAWS, blocks))
    whole = {router: _quantiles(found, np.arange(blocks)) for router, found in pieces.items()}
    drawn = {
        router: np.array([_quantiles(found, draw) for draw in draws])
        for router, found in pieces.items()
    }
    return {
        router: Row(
            _said(whole[router][0], drawn[router][:, 0]),
            _said(whole[router][1], drawn[router][:, 1]),
            float(whole[router][2]),
            ""
            if router == BASE
            else _said(whole[router][1] / whole[BASE][1], drawn[router][:, 1] / drawn[BASE][:, 1]),
        )
        for router in answers
    }


def _block(answer: Answer, seconds: float, blocks: int) -> int:
    return min(blocks - 1, int(answer.at_s / seconds * blocks))


def _quantiles(
    pieces: Sequence[NDArray[np.float64]], draw: NDArray[np.int64]
) -> NDArray[np.float64]:
    drawn = np.concatenate([pieces[block] for block in draw])
    if not len(drawn):
        return np.full(3, np.nan)
    found: NDArray[np.float64] = np.quantile(drawn, [0.5, 0.95, 0.99])
    return found


def _said(value: float, drawn: NDArray[np.float64]) -> str:
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return f"{value:.2f} ({low:.2f}-{high:.2f})"
