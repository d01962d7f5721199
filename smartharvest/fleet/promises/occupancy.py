"""What is left on each node of a cluster, step by step, while its regular VMs come and go. Pure.

A Harvest VM takes what nobody has allocated and changes nothing for the others, so one run of the
regular VMs answers for every Harvest VM that could have been there (OSDI'20, section 7.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from smartharvest.errors import TraceError
from smartharvest.fleet.simulation import Plan, Timeline, simulate
from smartharvest.fleet.tables import DAY_S, Allocations, Floats, Nodes

FINE_STEP_S, COARSE_STEP_S = 600.0, 3600.0
"""The paper predicts every 10 minutes; traces of more than FINE_DAYS are looked at every hour."""
FINE_DAYS = 21
MOST_CORES = 40.0
"""The largest Harvest VM (section 4)."""
_FEWEST_STEPS = 48


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Arrays of (steps,) or (steps, nodes); a step lasts ``step_s``."""

    step_s: float
    node_cores: Floats
    node_memory_gib: Floats
    free_cores: Floats
    """At the beginning of each step, as the next two."""
    free_memory_gib: Floats
    vms: Floats
    least_cores: Floats
    """The least at any moment of the step, as the next."""
    least_memory_gib: Floats
    harvested: Floats
    """Mean of the free cores over the step, no more than MOST_CORES at any moment."""
    arrivals: Floats
    """VMs that came in each step."""
    rejected: int
    """Regular VMs for which there was no room."""

    @property
    def steps(self) -> int:
        return len(self.vms)

    @property
    def seconds(self) -> float:
        return self.steps * self.step_s


def common_step_s(tables: Sequence[Allocations]) -> float:
    """The step for clusters that are learned from together."""
    short = all(table.until_s <= FINE_DAYS * DAY_S for table in tables)
    return FINE_STEP_S if short else COARSE_STEP_S


def occupancy(
    table: Allocations,
    nodes: Nodes,
    step_s: float | None = None,
    place: str = "best-fit",
    progress: Callable[[int, int], None] | None = None,
) -> Occupancy:
    """Runs the allocations of ``table`` on ``nodes``, with ``progress`` as simulate has it.

    Raises ConfigError for an unknown way to place, TraceError for allocations larger than any node
    and for a trace of a few steps.
    """
    if step_s is None:
        step_s = common_step_s([table])
    steps = int(table.until_s // step_s)
    if steps < _FEWEST_STEPS:
        raise TraceError(
            f"the trace lasts {table.until_s / 3600:.1f} h; promises are learned from "
            f"{_FEWEST_STEPS * step_s / 3600:.0f} h or more"
        )
    run = simulate(table, nodes, Plan(place), progress)
    grid: Floats = np.arange(steps + 1, dtype=np.float64) * step_s
    columns = [_on_grid(one, grid) for one in run.timelines]
    free_cores, free_memory, least_cores, least_memory, harvested, vms = (
        np.stack(parts, axis=1) for parts in zip(*columns, strict=True)
    )
    return Occupancy(
        step_s, nodes.cores, nodes.memory_gib, free_cores, free_memory, vms.sum(axis=1),
        least_cores, least_memory, harvested,
        np.histogram(table.start_s, grid)[0].astype(np.float64), run.rejected,
    )  # fmt: skip


def _on_grid(one: Timeline, grid: Floats) -> tuple[Floats, ...]:
    """Of each step: free cores and GiB at first, the least of both, mean cores, VMs at first."""
    times = one.times_s
    at = np.searchsorted(times, grid, "right") - 1
    step = np.searchsorted(grid, times, "right") - 1
    inside = (step >= 0) & (step < len(grid) - 1)
    least = []
    for values in (one.cores, one.memory_gib):
        lowest = values[at[:-1]].copy()
        np.minimum.at(lowest, step[inside], values[inside])
        least.append(lowest)
    capped = np.minimum(one.cores, MOST_CORES)
    area = np.concatenate([[0.0], np.cumsum(capped[:-1] * np.diff(times))])
    until = area[at] + capped[at] * (grid - times[at])
    started = at[:-1]
    return (
        one.cores[started], one.memory_gib[started], *least, np.diff(until) / np.diff(grid),
        one.vms[started].astype(np.float64),
    )  # fmt: skip
