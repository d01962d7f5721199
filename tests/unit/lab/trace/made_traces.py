"""Traces from memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartharvest.core._trace import Changes
from smartharvest.lab.trace import CHANGE, UNSEEN, Header

START_NS = 1_000_000_000


def changes_of(*rows: tuple[int, int] | tuple[int, int, int]) -> Changes:
    """(time after the start in ns, busy, demand or as many); busy -1 is unseen."""
    made = np.zeros(len(rows), CHANGE)
    for i, (time_ns, busy, *demand) in enumerate(rows):
        made[i] = (
            START_NS + time_ns,
            UNSEEN if busy < 0 else busy,
            UNSEEN if busy < 0 else max([busy, *demand]),
        )
    return made


def header_of(cores: int = 4, poll_ns: int = 50_000) -> Header:
    return Header(cores=cores, poll_ns=poll_ns, start_ns=START_NS, host="made", primaries=("web",))


def as_rows(changes: Changes) -> Sequence[tuple[int, int, int]]:
    return [(int(at), int(busy), int(demand)) for at, busy, demand in changes.tolist()]
