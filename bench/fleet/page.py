"""The page docs/research/fleet.md, from what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from smartharvest.fleet.cost import Terms, cost
from smartharvest.fleet.promises.evaluation import Result
from smartharvest.fleet.promises.intervals import Score
from smartharvest.fleet.tables import DAY_S

SHORT_S = DAY_S
_CLOSE = 0.03
"""From the nominal coverage."""


def page(subjects: Sequence[Any], machine: dict[str, Any], minutes: float, pictures: str) -> str:
    lines = [
        "# A fleet: the papers' figures, and ours",
        "",
        "Written by `make reproduce-fleet`"
        f" on {machine['date']}, commit {machine['commit']}, on {machine['cpu_model']}, "
        f"{machine['cpus']} CPUs, Python {machine['python']}; {minutes:.0f} minutes. The claims "
        "are those of [Harvest VMs (OSDI'20)]"
        "(https://www.usenix.org/conference/osdi20/presentation/ambati). How to use it: "
        "[plan a fleet](../how-to/fleet.md).",
        "",
        "## Data",
        "",
        *(f"- *{one.name}*: {one.words}." for one in subjects),
        "",
        "The paper has 25 clusters of hundreds to thousands of servers, and 90 days. Promises are "
        "of Harvest VMs with at least 4 cores; the first 60 % of a trace are learned from, and "
        "later every 14 days what is known by then. *Never seen*: the trace is divided into three "
        "clusters, and a forest promises for one after learning from the other two.",
        "",
        "## Claims",
        "",
        "| the paper | here | verdict |",
        "|---|---|---|",
        *_claims(subjects),
        "",
        "## Filling what is left",
        "",
        f"![VMs and evictions of Harvest VMs and evictable VMs]({pictures}/filling.png)",
        "",
        "| trace | Harvest VMs | evictable VMs | ratio | evictions | evictions | ratio "
        "| cores more |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in subjects:
        harvest, spot = one.filled["harvest"], one.filled["spot"]
        lines.append(
            f"| {one.name} | {harvest['vms']} | {spot['vms']} | {_times(one.filled['ratio'])} | "
            f"{harvest['evictions']} | {spot['evictions']} | "
            f"{_times(one.filled['evictions_ratio'])} | {harvest['mean_extra_cores']:.1f} |"
        )
    lines += ["", "## Promises", ""]
    for one in subjects:
        lines += [
            f"### {one.name}",
            "",
            "![Survival and cores over a day, and what was promised]"
            f"({pictures}/{one.name}-days.png)",
            "",
            f"![Coverage, width and error by horizon]({pictures}/{one.name}-horizons.png)",
            "",
            "Clusters never seen (the second picture); *error* is the paper's distance to the "
            "interval, *above* and *below* are the shares of outcomes outside.",
            "",
            *_table(one.unseen),
            "",
            "The whole trace as one cluster (the first picture):",
            "",
            *_table(one.seen),
            "",
        ]
    lines += [
        "## Prices",
        "",
        f"![A useful core-hour by the price of additional cores]({pictures}/prices.png)",
        "",
        "| cores more | α = 0 | α = ½ | α = 1 | α = ½, against evictable | against regular |",
        "|---|---|---|---|---|---|",
        _prices("7.2 (the paper)", 7.2),
        *(
            _prices(f"{extra:.1f} ({one.name})", extra)
            for one in subjects
            for extra in [float(one.filled["harvest"]["mean_extra_cores"])]
        ),
        "",
        "## What differs",
        "",
        "- The traces are of one or two dozen nodes' worth of work each; a single node that fills "
        "is a thirtieth of the survival rate. The paper's clusters average that out.",
        "- Where the load of a trace changes its kind (openb after its 113th day), no forecast "
        "that was made before covers what came. Intervals of long horizons rest on few independent "
        "outcomes; those are widened, up to all that is possible, so they cover and say little.",
        "- The paper's error is 0 wherever an interval is wide enough, and the paper states no "
        "widths. Here they stand next to it: where a survival rate is promised to 0.4 or more, the "
        "promise is of little use.",
        "- Prices are the paper's model with its own parameters; nothing here was bought.",
        "",
    ]
    return "\n".join(lines)


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.1f}×"


def _prices(name: str, extra: float) -> str:
    found = [cost(Terms(alpha), [extra]) for alpha in (0.0, 0.5, 1.0)]
    cells = " | ".join(f"${one['price_per_useful_core']:.4f}" for one in found)
    half = found[1]
    return (
        f"| {name} | {cells} | {half['saving_vs_evictable']:.0%} below | "
        f"{half['saving_vs_regular']:.0%} below |"
    )


def _table(results: Sequence[Result]) -> Iterable[str]:
    yield (
        "| target | horizon | n | coverage | width | error | above | below | forecast | "
        "persistence: coverage, width, forecast | Koordinator | survival curve |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for one in results:
        score = one.score
        rivals = " | ".join(
            _short(one.rivals.get(name))
            for name in ("persistence", "koordinator", "survival-curve")
        )
        yield (
            f"| {one.target} | {_span(one.horizon_s)} | {score.n} | {score.coverage:.1%} | "
            f"{score.width:.2f} | {score.mean_error:.3f} | {score.above:.1%} | {score.below:.1%} | "
            f"{score.midpoint_error:.3f} | {rivals} |"
        )


def _short(score: Score | None) -> str:
    if score is None:
        return "-"
    return f"{score.coverage:.0%}, {score.width:.2f}, {score.midpoint_error:.3f}"


def _span(seconds: float) -> str:
    return f"{seconds / 3600:.0f} h" if seconds < DAY_S else f"{seconds / DAY_S:.0f} d"


def _claims(subjects: Sequence[Any]) -> Iterable[str]:
    def row(claim: str, found: list[str], held: list[bool]) -> str:
        verdict = "holds" if all(held) else "does not hold" if not any(held) else "holds in part"
        return f"| {claim} | {'; '.join(found)} | {verdict} |"

    ratios = [(one.name, one.filled["ratio"] or 0.0) for one in subjects]
    yield row("filling takes 3.7× as many evictable VMs (1.08× to 10.7×)",
              [f"{name} {ratio:.1f}×" for name, ratio in ratios],
              [1.08 <= ratio <= 10.7 for _, ratio in ratios])  # fmt: skip
    ratios = [(one.name, one.filled["evictions_ratio"] or 0.0) for one in subjects]
    yield row("with 3.6× the evictions", [f"{name} {ratio:.1f}×" for name, ratio in ratios],
              [ratio > 1 for _, ratio in ratios])  # fmt: skip
    extra = [(one.name, float(one.filled["harvest"]["mean_extra_cores"])) for one in subjects]
    yield row("7.2 cores beyond the minimum", [f"{name} {cores:.1f}" for name, cores in extra],
              [3.6 <= cores <= 14.4 for _, cores in extra])  # fmt: skip
    for claim, short, bound in (
        ("survival of up to a day: off by < 2 points", True, 0.02),
        ("survival of longer: off by < 6 points", False, 0.06),
    ):
        errors = [
            (one.name, max((r.score.mean_error for r in one.unseen if r.target == "survival"
                            and (r.horizon_s <= SHORT_S) == short), default=0.0))
            for one in subjects
        ]  # fmt: skip
        yield row(claim, [f"{name} {100 * error:.1f} at worst" for name, error in errors],
                  [error < bound for _, error in errors])  # fmt: skip
    errors = [(one.name, _mean(r.score.mean_error for r in one.unseen if r.target == "cores"))
              for one in subjects]  # fmt: skip
    yield row("cores: 0.2 off on average", [f"{name} {error:.2f}" for name, error in errors],
              [error <= 0.2 for _, error in errors])  # fmt: skip
    sides = [
        (
            one.name,
            _mean(r.score.above for r in one.unseen),
            _mean(r.score.below for r in one.unseen),
        )
        for one in subjects
    ]
    yield row("as many over- as underpredictions",
              [f"{name} {above:.1%} above, {below:.1%} below" for name, above, below in sides],
              [abs(above - below) <= _CLOSE for _, above, below in sides])  # fmt: skip
    for claim, short in (("ours: 95 % intervals cover 95 %, up to a day", True),
                         ("ours: the same, longer", False)):  # fmt: skip
        covered = [
            (one.name, r.score.coverage) for one in subjects for r in one.unseen
            if (r.horizon_s <= SHORT_S) == short
        ]  # fmt: skip
        ranges = {
            name: [value for other, value in covered if other == name]
            for name in dict.fromkeys(name for name, _ in covered)
        }
        yield row(claim,
                  [f"{name} {min(v):.0%} to {max(v):.0%}" for name, v in ranges.items()],
                  [value >= 0.95 - _CLOSE for _, value in covered])  # fmt: skip
    for rival in ("persistence", "koordinator", "survival-curve"):
        better = [
            (one.name, sum(r.score.midpoint_error <= r.rivals[rival].midpoint_error
                           for r in one.unseen if rival in r.rivals), len(one.unseen))
            for one in subjects
        ]  # fmt: skip
        yield row(f"ours: the forest's forecast is nearer than that of {rival}",
                  [f"{name} {wins} of {count}" for name, wins, count in better],
                  [wins == count for _, wins, count in better])  # fmt: skip
    half = cost(Terms(0.5), [7.2])
    yield row("α = ½: 42 % below evictable VMs, 91 % below regular, $0.011",
              [f"from 7.2 cores {half['saving_vs_evictable']:.0%}, "
               f"{half['saving_vs_regular']:.0%}, ${half['price_per_useful_core']:.3f}"],
              [abs(half["saving_vs_evictable"] - 0.42) < 0.03])  # fmt: skip


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
