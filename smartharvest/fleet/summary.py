"""A simulated run as the JSON document of ``fleet simulate`` (docs/how-to/fleet.md). Pure."""

from __future__ import annotations

from typing import Any

from smartharvest.fleet.free_time import FreeTime
from smartharvest.fleet.pool import Lives
from smartharvest.fleet.simulation import Run
from smartharvest.fleet.tables import DAY_S

HORIZONS_S = {"1h": 3600.0, "1d": DAY_S, "7d": 7 * DAY_S, "30d": 30 * DAY_S}
FREE_FOR = ("1h", "1d", "7d")


def summarise(run: Run) -> dict[str, Any]:
    """What happened, as numbers; horizons that the window cannot show are left out."""
    free = FreeTime(run.timelines, run.from_s, run.to_s)
    unallocated: dict[str, Any] = {"mean_cores": free.mean_cores()}
    for name in FREE_FOR:
        cores = free.mean_cores(HORIZONS_S[name])
        if cores is not None:
            unallocated[name] = cores
    harvest = _lives(run.harvest, run.plan.harvest.minimum)
    spot = _lives(run.spot, run.plan.spot.minimum)
    in_all = float(run.nodes.cores.sum())
    return {
        "days": [run.from_s / DAY_S, run.to_s / DAY_S],
        "nodes": len(run.nodes),
        "cores": in_all,
        "regular": {
            "placed": run.placed,
            "rejected": run.rejected,
            "mean_cores": in_all - unallocated["mean_cores"],
        },
        "unallocated": unallocated,
        "harvest": harvest,
        "spot": spot,
        "ratio": _ratio(spot["vms"], harvest["vms"]),
        "evictions_ratio": _ratio(spot["evictions"], harvest["evictions"]),
    }


def _lives(lives: Lives, minimum_cores: float) -> dict[str, Any]:
    seconds = float(lives.until_s - lives.from_s)
    shown = {name: h for name, h in HORIZONS_S.items() if h < seconds}
    return {
        "vms": len(lives.born_s),
        "evictions": lives.evictions,
        "survival": {name: lives.survival(h) for name, h in shown.items()},
        "survival_from_birth": {name: lives.survival_from_birth(h) for name, h in shown.items()},
        "minimum_cores": minimum_cores,
        "mean_extra_cores": lives.mean_extra_cores,
        "mean_vms": lives.vm_s / seconds,
        "vm_hours": lives.vm_s / 3600,
    }


def _ratio(over: float, below: float) -> float | None:
    return over / below if below else None
