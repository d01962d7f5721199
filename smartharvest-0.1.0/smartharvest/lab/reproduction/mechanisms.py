"""How fast cores move, and what that is worth: figures 14 and 15 (sections 5.7 and 5.8)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from smartharvest.lab.reproduction.drawing import BLUE, GREEN, GREY, ORANGE, RED
from smartharvest.lab.reproduction.runner import Results, Summary
from smartharvest.lab.reproduction.section import Finding, Paper, Part, Verdict, percent
from smartharvest.lab.reproduction.setups import Setup
from smartharvest.lab.reproduction.single import INDEXSERVE, columns
from smartharvest.lab.simulator.mechanisms import Mechanism, make_mechanism
from smartharvest.lab.simulator.workloads import Workload, steady

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# --- figure 14 ------------------------------------------------------------------------------------

_SHOWN = {"cpugroups": "Hyper-V's cpugroups", "ipi": "the paper's IPIs", "linux": "Linux cpuset"}


def quantile_us(mechanism: Mechanism, share: float, *, give_back: bool) -> float:
    """The delay that ``share`` of the moves stay below, in us."""
    points = mechanism.give_back if give_back else mechanism.lend
    for (low, low_ns), (high, high_ns) in itertools.pairwise(points):
        if share <= high:
            return (low_ns + (share - low) / (high - low) * (high_ns - low_ns)) / 1e3
    return points[-1][1] / 1e3 if points else 0.0


def _figure_14(_results: Results, paper: Paper) -> Finding:
    stated = paper["figure-14"]
    made = {name: make_mechanism(name) for name in _SHOWN}

    def p99(name: str) -> tuple[float, float]:
        mechanism = made[name]
        grow = quantile_us(mechanism, 0.99, give_back=False)
        return grow, quantile_us(mechanism, 0.99, give_back=True)

    linux_grow, linux_shrink = p99("linux")
    verdicts = [
        Verdict(
            f"cpugroups take up to {stated['cpugroups_grow_ms']} ms to grow and "
            f"{stated['cpugroups_shrink_ms']} ms to shrink",
            None,
            f"{made['cpugroups'].lend[-1][1] / 1e6:.0f} and "
            f"{made['cpugroups'].give_back[-1][1] / 1e6:.0f} ms",
            "there is no Hyper-V here: the simulator assumes it, evenly spread",
        ),
        Verdict(
            f"IPIs take effect within {stated['ipi_p99_us']} us at the 99th percentile",
            None,
            f"60 to {p99('ipi')[1]:.0f} us",
            "assumed by the simulator, too",
        ),
    ]

    def draw(figure: Figure) -> None:
        colors = {"cpugroups": ORANGE, "ipi": GREEN, "linux": BLUE}
        panels = zip(figure.subplots(1, 2, sharey=True), ("grow", "shrink"), strict=True)
        for axes, direction in panels:
            for name, mechanism in made.items():
                shares = [number / 400 for number in range(401)]
                delays_us = [
                    quantile_us(mechanism, share, give_back=direction == "shrink")
                    for share in shares
                ]
                axes.plot(delays_us, shares, color=colors[name], label=_SHOWN[name])
            axes.set_xscale("log")
            axes.set_xlim(10, 2e4)
            axes.set_title(f"time to {direction} by a core", fontsize="medium")
            axes.set_xlabel("us")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.axes[0].set_ylabel("share of the moves")

    rows = [
        {"mechanism": name, "direction": direction, "share": share, "us": ns / 1e3}
        for name, mechanism in made.items()
        for direction, points in (("grow", mechanism.lend), ("shrink", mechanism.give_back))
        for share, ns in points
    ]
    notes = (
        f"On Linux 99 % of the moves take effect within {linux_grow:.0f} us to grow and "
        f"{linux_shrink:.0f} us to shrink: one cpuset write and a nudge, as measured by this "
        "project (smartharvest/lab/simulator/linux.json)."
    )
    return Finding(rows, verdicts, draw=draw, notes=notes)


# --- figure 15 ------------------------------------------------------------------------------------

LOADS_QPS = (250, 500, 750, 1000)
BUFFERS = (1, 2, 3, 4, 5, 6, 7)
MECHANISMS = ("cpugroups", "ipi")
POLICIES = ("smartharvest", *(f"fixed-buffer:{buffer}" for buffer in BUFFERS))


def _at(load_qps: int, policy: str, mechanism: str) -> Setup:
    primary = replace(INDEXSERVE.primaries[0], schedule=steady(load_qps))
    return Setup(Workload(f"indexserve-{load_qps}", (primary,)), policy, mechanism)


def _figure_15_setups() -> list[Setup]:
    return [
        _at(load, policy, mechanism)
        for load in LOADS_QPS
        for mechanism in MECHANISMS
        for policy in POLICIES
    ]


def _figure_15(results: Results, paper: Paper) -> Finding:
    limit = paper["limit"]["p99_change"]
    buffers = [f"fixed-buffer:{buffer}" for buffer in BUFFERS]
    pairs = [
        (results[_at(load, policy, "cpugroups")], results[_at(load, policy, "ipi")])
        for load in LOADS_QPS
        for policy in buffers
    ]
    calmer = sum(fast.change.value < slow.change.value for slow, fast in pairs)
    richer = sum(fast.harvested.value > slow.harvested.value for slow, fast in pairs)
    ratios = [fast.harvested.value / slow.harvested.value for slow, fast in pairs]
    slow = {load: results[_at(load, "smartharvest", "cpugroups")] for load in LOADS_QPS}
    fast = {load: results[_at(load, "smartharvest", "ipi")] for load in LOADS_QPS}
    safe = [
        policy
        for policy in buffers
        if all(results[_at(load, policy, "ipi")].change.value <= limit for load in LOADS_QPS)
    ]
    beaten = [
        load
        for load in LOADS_QPS
        if any(
            results[_at(load, policy, "ipi")].harvested.value > fast[load].harvested.value
            and results[_at(load, policy, "ipi")].change.value <= max(fast[load].change.value, 0)
            for policy in buffers
        )
    ]

    def described(found: dict[int, Summary]) -> str:
        return ", ".join(
            f"{load} QPS {percent(s.change.value)} at {s.harvested:.2f} cores"
            for load, s in found.items()
        )

    verdicts = [
        Verdict(
            "with IPIs every fixed buffer disturbs the primary less, at every load",
            calmer == len(pairs),
            f"{calmer} of {len(pairs)} buffers and loads",
        ),
        Verdict(
            "and harvests more",
            richer == len(pairs),
            f"{richer} of {len(pairs)}; {min(ratios):.2f} to {max(ratios):.2f} times as many cores",
            "how much a buffer leaves to harvest is set by its size, whichever way cores move",
        ),
        Verdict(
            "SmartHarvest with cpugroups does not affect the P99 of IndexServe substantially",
            all(s.change.value <= limit for s in slow.values()),
            described(slow),
        ),
        Verdict(
            "SmartHarvest with IPIs harvests more than with cpugroups, with less impact",
            all(
                fast[load].harvests_more(slow[load]) and not fast[load].hurts_more(slow[load])
                for load in LOADS_QPS
            ),
            described(fast),
            "the sleep of 10 ms after each change hides peaks from the agent with cpugroups: it "
            "believes the primary to need less, lends more, and pays with the P99",
        ),
        Verdict(
            "SmartHarvest with IPIs harvests more than fixed buffers at the same or lower P99",
            not beaten,
            f"a buffer does better at {', '.join(f'{load} QPS' for load in beaten) or 'no load'}",
            "a buffer that slides at every look is hard to beat where moves are nearly free, and "
            "thousands of them a second cost a simulated host nothing",
        ),
        Verdict(
            "no single fixed buffer works across all loads, even with IPIs",
            not safe,
            f"within the limit at every load: {', '.join(safe) or 'none'}",
            "the same: a fast slide costs nothing here",
        ),
        Verdict(
            "SmartHarvest with IPIs meets the limit at every load",
            all(s.change.value <= limit for s in fast.values()),
            ", ".join(f"{load} QPS {percent(s.change.value)}" for load, s in fast.items()),
        ),
    ]

    def draw(figure: Figure) -> None:
        for axes, load in zip(figure.subplots(2, 2).flat, LOADS_QPS, strict=True):
            _draw_load(axes, results, load, limit)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)

    rows = [
        {"load_qps": load, **columns(setup, results[setup])}
        for load in LOADS_QPS
        for mechanism in MECHANISMS
        for policy in POLICIES
        for setup in [_at(load, policy, mechanism)]
    ]
    notes = (
        "The paper does not state the loads it ran. At these the simulated IndexServe is busy on "
        "0.65 to 2.6 of ten cores on average; at the highest it wants all ten in most windows."
    )
    return Finding(rows, verdicts, draw=draw, notes=notes)


def _draw_load(axes: Axes, results: Results, load: int, limit: float) -> None:
    looks = {"cpugroups": (ORANGE, "cpugroups"), "ipi": (GREEN, "IPIs")}
    for mechanism, (color, name) in looks.items():
        runs = [results[_at(load, f"fixed-buffer:{buffer}", mechanism)] for buffer in BUFFERS]
        cores, p99_us = [s.harvested.value for s in runs], [s.p99_us().value for s in runs]
        axes.plot(cores, p99_us, "s-", color=color, markersize=3, label=f"{name} fixed buffer")
        smart = results[_at(load, "smartharvest", mechanism)]
        axes.plot(
            smart.harvested.value, smart.p99_us().value, "*", color=color, markersize=13,
            markeredgecolor="black", markeredgewidth=0.6, label=f"{name} SmartHarvest",
        )  # fmt: skip
    baseline = smart.baseline_us().value
    axes.axhline(baseline, color=GREY, linewidth=1, label="no harvest")
    axes.axhline(baseline * (1 + limit), color=RED, linestyle="--", linewidth=1, label="+10 %")
    axes.set_ylim(0.97 * baseline, 1.6 * baseline)
    axes.set_xlim(left=0)
    axes.set_title(f"IndexServe at {load} QPS", fontsize="medium")
    axes.set_xlabel("harvested cores")
    axes.set_ylabel("P99 (us)")


PARTS = (
    Part("figure-14", "Time to grow or shrink by a core", list, _figure_14),
    Part(
        "figure-15", "Responsiveness against accuracy (IndexServe)", _figure_15_setups, _figure_15
    ),
)
