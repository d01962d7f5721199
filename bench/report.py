"""docs/performance.md from a document: tables, and a picture for each group of cases."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench.cases import Case, find_cases, find_numbers
from bench.statistics import QUANTILES

SHOWN = [share for share in QUANTILES if share <= 0.99]
"""A picture of the rest would be one of the longest sample; it stands in the table."""

HEAD = """# Performance

What `make bench` measured on one machine; `make bench` rewrites this page with yours. Cases of one
table ran interleaved, in an order drawn anew for each round. *Ratio* is to the floor or the rival
named beside it, of the same run. *Spread* is the smallest and largest median of a round: what
differs by less is noise.
"""


def write_report(document: Mapping[str, object], page: Path) -> None:
    """Writes ``page`` and its pictures into a folder beside it, named as it without the ending."""
    pictures = page.with_suffix("")
    pictures.mkdir(parents=True, exist_ok=True)
    for stale in pictures.glob("*.png"):
        stale.unlink()
    page.write_text("\n".join(_lines(document, pictures)) + "\n")


def _lines(document: Mapping[str, object], pictures: Path) -> Iterable[str]:
    yield HEAD
    yield from _machine(document)
    yield from _goals(document)
    cases = find_cases(document)
    numbers = find_numbers(document)
    subjects = document["subjects"]
    assert isinstance(subjects, Mapping)
    for subject in subjects:
        yield f"\n## {_words(subject)}\n"
        yield from _plain(numbers, (subject,))
        own = [case for case in cases if case.group[0] == subject]
        for group, of_group in itertools.groupby(own, key=lambda case: case.group):
            members = list(of_group)
            if len(group) > 1:
                yield f"\n### {_words(' / '.join(group[1:]))}\n"
                yield from _plain(numbers, group)
            yield from _table(members)
            picture = pictures / f"{'-'.join(group)}.png"
            if len(members) > 1 and _draw(members, picture):
                yield f"\n![{_words(' / '.join(group))}]({pictures.name}/{picture.name})"
        shown = {case.group for case in own}
        for group in numbers:
            if group[:1] == (subject,) and len(group) > 1 and group not in shown:
                yield f"\n### {_words(' / '.join(group[1:]))}\n"
                yield from _plain(numbers, group)


def _machine(document: Mapping[str, object]) -> Iterable[str]:
    machine = document["machine"]
    assert isinstance(machine, Mapping)
    yield (
        f"{machine['cpu_model']}, {machine['cpus']} CPUs, Linux {machine['kernel']}, Python "
        f"{machine['python']}; seed {document['seed']}, {document['rounds']} rounds, "
        f"{document['seconds']:.0f} s. The hypervisor withheld {machine['steal_share']:.2%} of the "
        f"CPU time; load average before {machine['load_average_before'][0]:g}, after "
        f"{machine['load_average_after'][0]:g}."
    )


def _goals(document: Mapping[str, object]) -> Iterable[str]:
    goals = document["goals"]
    assert isinstance(goals, Mapping)
    if not goals:
        return
    yield "\n## Goals\n\n| | at most | measured | |\n|---|---|---|---|"
    for name, goal in goals.items():
        verdict = "met" if goal["met"] else "**missed**"
        yield f"| {_words(name)} | {goal['goal']:g} | {goal['value']:g} | {verdict} |"


def _plain(
    numbers: Mapping[tuple[str, ...], Mapping[str, object]], group: tuple[str, ...]
) -> Iterable[str]:
    values = numbers.get(group, {})
    if values:
        yield "; ".join(f"{_words(name)}: {value}" for name, value in values.items()) + ".\n"


def _table(cases: Sequence[Case]) -> Iterable[str]:
    yield "| | median µs | p99 µs | max µs | spread µs | ratio | to |"
    yield "|---|---|---|---|---|---|---|"
    for case in cases:
        ratio = "" if case.median_ratio is None else f"{case.median_ratio:.3g}"
        if case.p99_ratio is not None:
            ratio += f" (p99 {case.p99_ratio:.3g})"
        low, high = case.spread_us
        yield (
            f"| {_words(case.name)} | {case.median_us:g} | {case.p99_us:g} | {case.max_us:g} "
            f"| {low:g}..{high:g} | {ratio} | {_words(case.floor or '')} |"
        )


def _draw(cases: Sequence[Case], picture: Path) -> bool:
    """The distributions as curves; False where matplotlib or the distributions are missing."""
    drawn = [case for case in cases if case.quantiles_us and case.quantiles_us[-1] > 0]
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt
    except ImportError:
        return False
    if len(drawn) < 2:
        return False
    figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    for number, case in enumerate(drawn):
        style = ("-", "--", ":")[number // 10 % 3]
        times_us = case.quantiles_us[: len(SHOWN)]
        axes.plot(times_us, SHOWN, style, label=_words(case.name), linewidth=1.4)
    axes.set_xscale("log")
    axes.set_xlabel("µs")
    axes.set_ylabel("share of samples at most so long")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.25)
    axes.legend(fontsize="x-small", ncols=1, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.savefig(picture, dpi=110)
    plt.close(figure)
    return True


def _words(name: str) -> str:
    return name.replace("_", " ")
