"""Windows made by hand from their samples, as the polling loop would hand them over."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from hypothesis import strategies as st

from smartharvest.core.window import Window

WINDOW_NS = 25_000_000
POLL_NS = 50_000


def window(
    busy: Sequence[int],
    *,
    primary_cores: int = 10,
    exhausted: bool = False,
    stale: bool = False,
    end_ns: int = WINDOW_NS,
    start_ns: int | None = None,
) -> Window:
    return Window(
        seq=1,
        start_ns=end_ns - len(busy) * POLL_NS if start_ns is None else start_ns,
        end_ns=end_ns,
        polls=len(busy),
        busy_min=min(busy),
        busy_max=max(busy),
        busy_mean=statistics.fmean(busy),
        busy_std=statistics.pstdev(busy),
        busy_median=float(statistics.median(busy)),
        busy_last=busy[-1],
        demand_max=max(busy),
        primary_cores=primary_cores,
        exhausted=exhausted,
        stale=stale,
    )


@st.composite
def windows(draw: st.DrawFn, total: int) -> Window:
    """Any window a pool of ``total`` can give; busy may exceed it where placement is shared."""
    busy = draw(st.lists(st.integers(0, total + 3), min_size=1, max_size=12))
    primary_cores = draw(st.integers(0, total))
    return window(
        busy,
        primary_cores=primary_cores,
        exhausted=primary_cores < total and max(busy) >= primary_cores,
        stale=draw(st.booleans()),
    )
