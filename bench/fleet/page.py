"""The page docs/research/fleet.md, from what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from smartharvest.fleet.cost import Terms, cost
from smartharvest.fleet.promises.evaluation import NOMINAL, Result
from smartharvest.fleet.promises.evidence import FEWEST
from smartharvest.fleet.promises.intervals import Score
from smartharvest.fleet.tables import DAY_S

SHORT_S = DAY_S
APART = "made, eight clusters"
_CLOSE = 0.03
"""From the nominal coverage."""


def page(
    subjects: Sequence[Any],
    others: Sequence[Any],
    machine: dict[str, Any],
    minutes: float,
    pictures: str,
) -> str:
    """``subjects`` are Subjects, ``others`` Checked only."""
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
        "- *busier*: of the VMs that live for hours four in ten until the 25th day, then all.",
        "- *spot*: how many of 16 instances could be had (skypilot-org/spot-traces, AWS, 11 and 16 "
        "days of 2023), as a cluster of nodes of one core.",
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
        *_claims(subjects, [*subjects, *others]),
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
    lines += [
        "",
        "## Promises",
        "",
        "Coverage of what was promised, and how wide that is; a dash where nothing was. Where "
        "fewer than 19 of the promises have independent outcomes their number stands behind: "
        "95 % intervals miss one or more of five in 23 % of all cases. *Chosen "
        "on*: the forecast's blend and the rule for declining were chosen with this trace in view. "
        "The others were run once, after that. openb is less of a test than the rest: intervals of "
        "an earlier form were tried on it, and it was known where they missed.",
        "",
        *_coverage([*subjects, *others]),
        "",
        "A promise is declined while fewer than 19 independent outcomes are known of a time as "
        "busy as the present: the next is worse than all n with probability 1 / (n + 1), which has "
        "to be at most 5 %. One cluster takes 19 times the horizon for that, after the first "
        "forecasts, whatever the forecast. Several clusters "
        "know more together, less what happens to all of them at once and as far as they are "
        f"alike: *{APART}* have nothing in common but how they were made. How their outcomes are "
        f"counted was chosen on eight others (seeds 11 to 18).",
        "",
    ]
    for one in subjects:
        lines += [
            f"### {one.name}",
            "",
            "![Survival and cores over a day, and what was promised]"
            f"({pictures}/{one.name}-days.png)",
            "",
            f"![Coverage, width and error by horizon]({pictures}/{one.name}-horizons.png)",
            "",
            "Clusters never seen (the second picture); *declined* is the share for which nothing "
            "is promised: the interval is all there is, and counts as covered here. *Error* is the "
            "paper's distance to the interval, *above* and *below* are the shares of outcomes "
            "outside.",
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
        "- Where the load of a trace changes its kind (openb after its 113th day, busier after its "
        "25th), no forecast that was made before covers what came. What was seen of a quieter time "
        "counts by how much quieter it was, so that promises stop until enough of the new is "
        "known. A month is promised after nineteen, or from some twenty clusters like it; no trace "
        "here has that.",
        "- The forest counts by what its forecasts and those of persistence were off before, and "
        "only as far as independent errors say so: for horizons of which few are known ours is "
        "persistence. The survival curve is nearer for horizons that nobody survives: it says 0 "
        "always.",
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
        "| target | horizon | n | declined | coverage | width | error | above | below | forecast | "
        "persistence: coverage, width, forecast | Koordinator | survival curve |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for one in results:
        score = one.score
        rivals = " | ".join(
            _short(one.rivals.get(name))
            for name in ("persistence", "koordinator", "survival-curve")
        )
        yield (
            f"| {one.target} | {_span(one.horizon_s)} | {score.n} | {score.declined:.0%} | "
            f"{score.coverage:.1%} | "
            f"{score.width:.2f} | {score.mean_error:.3f} | {score.above:.1%} | {score.below:.1%} | "
            f"{score.midpoint_error:.3f} | {rivals} |"
        )


def _short(score: Score | None) -> str:
    if score is None:
        return "-"
    return f"{score.coverage:.0%}, {score.width:.2f}, {score.midpoint_error:.3f}"


def _span(seconds: float) -> str:
    return f"{seconds / 3600:.0f} h" if seconds < DAY_S else f"{seconds / DAY_S:.0f} d"


def _coverage(every: Sequence[Any]) -> Iterable[str]:
    spans = sorted({r.horizon_s for one in every for r in one.unseen})
    yield f"| trace | target | {' | '.join(map(_span, spans))} |"
    yield f"|---|---|{'---|' * len(spans)}"
    for one in sorted(every, key=lambda one: not one.chosen_on):
        name = f"{one.name} (chosen on)" if one.chosen_on else one.name
        for target in ("survival", "cores"):
            scores = {r.horizon_s: r.score for r in one.unseen if r.target == target}
            yield f"| {name} | {target} | {' | '.join(_cell(scores.get(s)) for s in spans)} |"


def _cell(score: Score | None) -> str:
    if score is None or score.promised_coverage is None:
        return "-"
    part = f", {1 - score.declined:.0%} of the time" if score.declined > 0 else ""
    few = "" if _enough(score) else f", {score.promised_outcomes:.0f} outcomes"
    return f"{score.promised_coverage:.1%} ({score.promised_width:.2f}{part}{few})"


def _enough(score: Score) -> bool:
    """Whether a coverage below the nominal one can be told from chance."""
    return score.promised_outcomes >= FEWEST


def _promised(score: Score, mean: float) -> float:
    """``mean`` of what is 0 wherever nothing is promised, over the rest."""
    return mean / (1 - score.declined)


def _near(ours: float, theirs: float) -> bool:
    return ours <= 1.05 * theirs + 1e-3


def _claims(subjects: Sequence[Any], every: Sequence[Any]) -> Iterable[str]:
    def row(claim: str, found: list[str], held: list[bool]) -> str:
        verdict = (
            "-"
            if not held
            else "holds"
            if all(held)
            else "does not hold"
            if not any(held)
            else "holds in part"
        )
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
        ("survival of up to a day: off by < 2 points, where promised", True, 0.02),
        ("survival of longer: off by < 6 points, where promised", False, 0.06),
    ):
        errors = {
            one.name: [
                _promised(r.score, r.score.mean_error)
                for r in one.unseen
                if r.target == "survival" and (r.horizon_s <= SHORT_S) == short
                and r.score.declined < 1
            ]
            for one in subjects
        }  # fmt: skip
        there = {name: max(values) for name, values in errors.items() if values}
        yield row(claim, [f"{name} {100 * error:.1f} at worst" for name, error in there.items()],
                  [error < bound for error in there.values()])  # fmt: skip
    promised = {one.name: [r for r in one.unseen if r.score.declined < 1] for one in subjects}
    off = {
        name: _mean(_promised(r.score, r.score.mean_error) for r in some if r.target == "cores")
        for name, some in promised.items()
    }
    yield row("cores: 0.2 off on average, where promised",
              [f"{name} {error:.2f}" for name, error in off.items()],
              [error <= 0.2 for error in off.values()])  # fmt: skip
    sides = [
        (
            name,
            _mean(_promised(r.score, r.score.above) for r in some),
            _mean(_promised(r.score, r.score.below) for r in some),
        )
        for name, some in promised.items()
    ]
    yield row("as many over- as underpredictions",
              [f"{name} {above:.1%} above, {below:.1%} below" for name, above, below in sides],
              [abs(above - below) <= _CLOSE for _, above, below in sides])  # fmt: skip
    confirming = [one for one in every if not one.chosen_on]
    for claim, short in (("ours: 95 % intervals cover 95 %, up to a day", True),
                         ("ours: the same, longer", False)):  # fmt: skip
        found, held = [], []
        for one in confirming:
            promises = [
                r.score for r in one.unseen
                if (r.horizon_s <= SHORT_S) == short and r.score.promised_coverage is not None
            ]  # fmt: skip
            covered = [s.promised_coverage or 0.0 for s in promises if _enough(s)]
            held += [value >= NOMINAL - _CLOSE for value in covered]
            words = "nothing promised" if not promises else "too few outcomes to tell"
            if covered:
                words = f"{min(covered):.0%} to {max(covered):.0%}"
            found.append(f"{one.name} {words}")
        yield row(claim, found, held)
    for rival in ("persistence", "koordinator", "survival-curve"):
        better = [
            (one.name, sum(_near(r.score.midpoint_error, r.rivals[rival].midpoint_error)
                           for r in one.unseen if rival in r.rivals), len(one.unseen))
            for one in confirming
        ]  # fmt: skip
        yield row(f"ours: the forecast is at most a twentieth farther off than that of {rival}",
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
