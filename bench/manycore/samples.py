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

from bench.real.bootstrap import BINS, BLOCK_NS, bins, middle_ns
from bench.real.figures import Slice

_NO_ANSWER = BINS


GUARDIAN_IN_C = "2026-11-24 05:30"
"""Until then an agent's guardian looked in Python."""


def delayed_by_guardian(sample: Mapping[str, Any]) -> bool:
    """Whether a guardian in Python, whose turns an emulator makes long, was there."""
    return bool(sample["agent_core_s"]) and sample.get("at", GUARDIAN_IN_C) < GUARDIAN_IN_C


def packed(arrival_ns: NDArray[np.int64], latency_ns: NDArray[np.int64]) -> str:
    """How many requests of each block had each latency, as text of some KiB.

    A latency of -1 (no answer) stays; all others keep 1 % (bench.real.bootstrap).
    """
    latency_bin = np.where(latency_ns < 0, _NO_ANSWER, bins(latency_ns))
    codes, counts = np.unique(
        arrival_ns // BLOCK_NS * (_NO_ANSWER + 1) + latency_bin, return_counts=True
    )
    columns = np.diff(codes, prepend=0).astype("<u4"), counts.astype("<u4")
    return base64.b64encode(zlib.compress(np.concatenate(columns).tobytes(), 9)).decode()


def unpacked(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(arrivals, latencies) in ns that ``packed`` makes the same text of; sorted in a block."""
    steps, counts = np.split(
        np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4").astype(np.int64), 2
    )
    block, latency_bin = np.divmod(np.repeat(np.cumsum(steps), counts), _NO_ANSWER + 1)
    latency_ns = middle_ns(latency_bin).astype(np.int64)
    return block * BLOCK_NS, np.where(latency_bin == _NO_ANSWER, -1, latency_ns)


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


def measured_part(sample: Mapping[str, Any]) -> float:
    """Of the time that the requests and the agent's CPU time are of: a warm-up is in both."""
    return float(sample["seconds"] / (sample["seconds"] + sample["warm_up_s"]))


def agent_cores(sample: Mapping[str, Any]) -> float:
    """CPUs that the agent took in the mean."""
    return float(sample["agent_core_s"] / (sample["seconds"] + sample["warm_up_s"]))


def cpu_us(sample: Mapping[str, Any]) -> float:
    """CPU time of the primary's that a request took."""
    requests = unpacked(sample["requests"])[0].size * measured_part(sample)
    return float(1e6 * sample["primary_core_s"] / requests)


def as_slice(sample: Mapping[str, Any], requests: str = "requests") -> Slice:
    """For bench.real.figures. ``second_requests`` are the second primary's.

    The requests of the warm-up are left out: an agent does not lend everything yet.
    """
    arrival_ns, latency_ns = unpacked(sample[requests])
    arrival_ns -= round(sample["warm_up_s"] * 1e9)
    latency_ns = latency_ns[arrival_ns >= 0]
    arrival_ns = arrival_ns[arrival_ns >= 0]
    return Slice(
        arrival_ns=arrival_ns,
        latency_ns=latency_ns,
        seconds=sample["seconds"],
        batch_units=sample["units"],
        batch_core_s=sample["batch_core_s"],
        harvested_cores=sample["harvested_cores"],
        short=sample["short"],
        long=sample["long"],
        agent_core_s=sample["agent_core_s"] * measured_part(sample),
        load_ns=sample.get("load_ns", 0.0),
    )
