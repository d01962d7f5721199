"""The samples file: a line of JSON for each slice, added to and never rewritten."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.real.figures import Slice

STEP_NS = 100
"""What latencies and arrivals are rounded to."""


def packed(values_ns: NDArray[np.int64]) -> str:
    """Times in ns as text; -1 (no answer) stays."""
    steps = np.where(values_ns < 0, -1, values_ns // STEP_NS).astype(np.int32)
    return base64.b64encode(zlib.compress(steps.tobytes(), 6)).decode()


def unpacked(text: str) -> NDArray[np.int64]:
    """The reverse of ``packed``, to STEP_NS."""
    raw = zlib.decompress(base64.b64decode(text))
    steps = np.frombuffer(raw, dtype=np.int32).astype(np.int64)
    return np.where(steps < 0, -1, steps * STEP_NS)


def read(path: Path) -> list[dict[str, Any]]:
    """All whole lines; the last one may have been cut off."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def append(path: Path, samples: Sequence[Mapping[str, Any]]) -> None:
    """A whole round at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("".join(json.dumps(one) + "\n" for one in samples))


def as_slice(sample: Mapping[str, Any]) -> Slice:
    """For bench.real.figures."""
    return Slice(
        arrival_ns=unpacked(sample["arrivals"]),
        latency_ns=unpacked(sample["latencies"]),
        seconds=sample["seconds"],
        batch_units=sample["units"],
        batch_core_s=sample["batch_core_s"],
        harvested_cores=sample["harvested_cores"],
        short=sample["short"],
        long=sample["long"],
        agent_core_s=sample["agent_core_s"],
    )
