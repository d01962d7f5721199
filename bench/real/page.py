"""The page's parts about real services: tables, a picture each, and what they say. Pure text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench import pictures
from bench.real.conditions import ALONE, OURS, RIVAL
from bench.real.experiment import FEWEST_LEFT, MOST_FOREIGN
from bench.real.figures import ALLOWED, NOT_PROTECTED, PROTECTED, verdict

Node = Mapping[str, Any]
"""Read from JSON that bench.real has written."""
Show = Callable[[str, str, Callable[[Path], bool]], Iterator[str]]

ABOUT = f"""
Requests arrive open-loop, drawn from a Poisson process, and their latency counts from the moment
they were meant to be sent; but for the steady ones, traffic pauses for 0.1 to 0.4 s after 0.15 to
0.4 s of it. *Load* is the share of this machine's CPUs that server and load generator use when
alone, between the pauses. All rows of a table ran in interleaved rounds, in an order drawn anew
for each round, with the same requests.

Ratios are to *alone*, which runs {ALONE.slices} times a round: *P50*, *P99* and *P99.9* are the
median round's ratio, since rows of one round share its luck; *pooled P99* is that of all requests
together. In brackets the 95 % interval of a bootstrap over rounds and, within them, blocks of
100 ms. A block in which programs that belong to no row, or the hypervisor, had more than
{MOST_FOREIGN:.0%} of a CPU is *left out*, of every row alike (latencies only, and where at least
{FEWEST_LEFT:.0%} of every row's requests remain); the kernel's own threads are not such programs.
So is, always, a block in which the whole machine stood still (threads of the highest priority on
all CPUs were late at once, by 4 ms and more): a hypervisor's doing.
A primary is **protected** if the whole interval of its P99 is at most {ALLOWED - 1:.0%} above
alone, **not protected** if the whole interval is above that, and otherwise this run cannot tell.
*alone again* is no condition but the noise: what it shows, every row may show for nothing.

*Lent* is what the agent says; *consumed* is the CPU time the batch really had, in cores; *work* is
what it got done, in units of what it does with a core of its own and the machine to itself: ways
are compared by these two. *Agent* is what the agent used, in cores, and *withheld* what the
hypervisor kept for itself. *Load ns* is what a load took that missed the second level of caches,
in the mean of the CPUs and the median of the moments before its slices: the third level is shared
with others, whom nothing else shows.
"""


def experiments_part(document: Node, show: Show) -> Iterator[str]:
    """All experiments of bench.real."""
    yield ABOUT
    yield from _legend(document)
    done = _done(document)
    yield from _overview(done)
    for name, experiment in document["experiments"].items():
        yield f"\n### {_title(experiment) if name in done else name}\n"
        yield from _experiment(name, experiment, show)


ABLATIONS = """
One part of the paper's agent changed a row, and ratios to the agent as it is: an interval that
includes 1 shows no difference beyond this run's noise, of which *default again* is a sample.
"""


def ablations_part(document: Node, show: Show) -> Iterator[str]:
    """One part of the agent changed a row."""
    yield ABLATIONS
    yield from _legend(document)
    for name, experiment in document["experiments"].items():
        if "skipped" in experiment:
            yield f"*Skipped: {experiment['skipped']}.*"
            continue
        rows = _rows(experiment)
        yield _setting(experiment)
        yield from _standstills(rows)
        heads = ["P50 µs", "P99 µs", "P50", "P99", "pooled P99"]
        heads += ["lent", "consumed", "work", "agent", "withheld", "safeguards short, long"]
        yield "| | " + " | ".join(heads) + " |\n" + "|---" * (1 + len(heads)) + "|"
        for row_name, row in rows.items():
            latency, acted = row["latency_us"], row["safeguards"]
            cells = [f"{latency['p50']:g}", f"{latency['p99']:g}"]
            cells += _ratios(row, "to_default", ("p50", "p99", "pooled_p99"))
            cells += [*_cores(row), f"{acted['short']}, {acted['long']}"]
            yield f"| {row_name} | " + " | ".join(cells) + " |"
        yield ""
        yield from _failed(experiment)
        yield _told_apart(rows)
        yield from show(
            f"real-{name}",
            "what each part of the agent does for the P99",
            partial(
                pictures.draw_intervals,
                _intervals(rows, "to_default"),
                x="P99, ratio to the agent as it is",
            ),
        )


def _told_apart(rows: Mapping[str, Node]) -> str:
    """Which changes made the P99 worse or better beyond the noise of the run."""
    p99 = {name: row["to_default"]["p99"] for name, row in rows.items() if "to_default" in row}
    found = {
        "worse": [name for name, one in p99.items() if one["interval"][0] > 1],
        "better": [name for name, one in p99.items() if one["interval"][1] < 1],
    }
    said = [f"*{how}*: {', '.join(names)}" for how, names in found.items() if names]
    rest = "the other rows cannot be told from the agent as it is"
    chance = f"of {len(p99)} rows, one in twenty does by chance"
    return f"The P99 beyond this run's noise ({chance}): {'; '.join([*said, rest])}.\n"


def _failed(experiment: Node) -> Iterator[str]:
    for name, why in experiment.get("failed", {}).items():
        yield f"*{name}* could not be measured: {why}.\n"


def _standstills(rows: Mapping[str, Node]) -> Iterator[str]:
    """How often the whole machine stood still, in all rows of a table."""
    lengths_ms = [length for row in rows.values() for length in row.get("standstills_ms", [])]
    if lengths_ms:
        yield (
            f"The whole machine stood still {len(lengths_ms)} times, for {min(lengths_ms):.0f} to "
            f"{max(lengths_ms):.0f} ms.\n"
        )


def _intervals(
    rows: Mapping[str, Node], yardstick: str
) -> dict[str, tuple[float, tuple[float, float]]]:
    changed = {name: row[yardstick]["p99"] for name, row in rows.items() if yardstick in row}
    return {name: (one["ratio"], tuple(one["interval"])) for name, one in changed.items()}


def _legend(document: Node) -> Iterator[str]:
    yield "\n| row | |\n|---|---|"
    for name, about in document["conditions"].items():
        yield f"| {name} | {about} |"
    yield ""


def _done(document: Node) -> dict[str, Node]:
    experiments = document["experiments"]
    return {name: one for name, one in experiments.items() if "conditions" in one}


def _title(experiment: Node) -> str:
    shape = experiment["shape"]
    load = experiment["load"]
    loads = ", then ".join(f"{load * float(step):.0%}" for step in shape)
    steady = "" if experiment["gaps"] else ", steady"
    return f"{experiment['primary']} at {loads}{steady}, {experiment['batch']}"


def _overview(done: Mapping[str, Node]) -> Iterator[str]:
    """P99 and work of every row over all experiments."""
    names = list(dict.fromkeys(name for one in done.values() for name in _rows(one)))
    if len(done) < 2:
        return
    yield "\n### Overview\n\nThe P99's ratio to alone with its verdict, and the batch's work.\n"
    titles = [_title(one) for one in done.values()]
    yield "| | " + " | ".join(titles) + " |\n" + "|---" * (1 + len(titles)) + "|"
    for name in names:
        cells = []
        for one in done.values():
            row = _rows(one).get(name)
            cells.append("" if row is None else _cell(row))
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""


def _cell(row: Node) -> str:
    work = row.get("batch_work_cores")
    done = f"; {work:.2f}" if isinstance(work, float) and work > 0 else ""
    if "to_alone" not in row:
        return f"{row['latency_us']['p99']:g} µs"
    p99 = row["to_alone"]["p99"]
    return f"{p99['ratio']:.2f} {_mark(verdict(p99))}{done}"


def _mark(judged: str) -> str:
    return {PROTECTED: "✓", NOT_PROTECTED: "✗"}.get(judged, "?")


def _experiment(name: str, experiment: Node, show: Show) -> Iterator[str]:
    if "skipped" in experiment:
        yield f"*Skipped: {experiment['skipped']}.*"
        return
    rows = _rows(experiment)
    yield _setting(experiment)
    if not experiment.get("disturbed_blocks_left_out", True):
        yield "**Careful:** others had the machine so often that nothing is left out.\n"
    elif not experiment.get("others_seen", True):
        yield "Other processes cannot be seen here; only the hypervisor's part is left out.\n"
    yield from _standstills(rows)
    steps = any(row["p99_steps_us"] for row in rows.values())
    heads = ["P50 µs", "P99 µs", "median round's P99 µs", "P99.9 µs"]
    heads += ["P50", "P99", "pooled P99", "P99.9"]
    heads += ["lent", "consumed", "work", "agent", "withheld", "load ns", "left out", "verdict"]
    heads += ["P99 of each step µs"] if steps else []
    yield "| | " + " | ".join(heads) + " |\n" + "|---" * (1 + len(heads)) + "|"
    for row_name, row in rows.items():
        yield f"| {row_name} | " + " | ".join(_cells(row, steps)) + " |"
    yield ""
    yield from _failed(experiment)
    points = _points(rows)
    yield from show(
        f"real-{name}",
        f"{name}: the P99 each way costs for the work it gets done",
        lambda file: pictures.draw_trade(
            points, file, x="batch work, cores of its own", y="P99, ratio to alone"
        ),
    )
    yield from conclusions(rows)


def _cells(row: Node, steps: bool) -> list[str]:
    latency = row["latency_us"]
    cells = [f"{latency[name]:g}" for name in ("p50", "p99", "p999")]
    cells.insert(2, f"{median(row['p99_rounds_us']):g}")
    cells += _ratios(row, "to_alone", ("p50", "p99", "pooled_p99", "p999"))
    cells += [*_cores(row), f"{row['load_ns']:.0f}" if "load_ns" in row else "", _left_out(row)]
    cells.append(verdict(row["to_alone"]["p99"]) if "to_alone" in row else "")
    if row["unanswered"]:
        cells[-1] += f"; {row['unanswered']} of {row['requests']} unanswered"
    if steps:
        p99_steps = row["p99_steps_us"]
        cells.append(", ".join(f"{value:g}" for value in p99_steps))
    return cells


def _left_out(row: Node) -> str:
    standstills = row.get("standstills_ms", [])
    share = f"{row.get('left_out', 0.0):.0%}"
    return f"{share} ({len(standstills)} standstills)" if standstills else share


def _setting(experiment: Node) -> str:
    return (
        f"{experiment['about']} {experiment['rate_qps']:g} requests a second between the pauses, "
        f"{experiment['core_us_per_request']:g} µs of CPU each; {experiment['rounds']} rounds, "
        f"{experiment['seconds_a_condition']:.0f} s for each row.\n"
    )


def _ratios(row: Node, yardstick: str, names: Sequence[str]) -> list[str]:
    if yardstick not in row:
        return ["1"] * len(names)  # it is the yardstick itself
    found = [row[yardstick].get(name) for name in names]
    return [
        f"{one['ratio']:.2f} ({one['interval'][0]:.2f}..{one['interval'][1]:.2f})" if one else ""
        for one in found
    ]


def _cores(row: Node) -> list[str]:
    keys = ("harvested_cores", "batch_cores", "batch_work_cores", "agent_cores", "steal_cores")
    values = [row.get(key) for key in keys]
    return [f"{value:.2f}" if isinstance(value, float) else "" for value in values]


def _points(rows: Mapping[str, Node]) -> dict[str, tuple[float, tuple[float, float], float]]:
    points = {}
    for name, row in rows.items():
        if "to_alone" in row:
            p99 = row["to_alone"]["p99"]
            work = row.get("batch_work_cores")
            at = work if isinstance(work, float) else 0.0
            points[name] = (at, (p99["interval"][0], p99["interval"][1]), p99["ratio"])
    return points


def conclusions(rows: Mapping[str, Node]) -> Iterator[str]:
    """What a table says about cpu.idle alone, and the agent's own tax."""
    if RIVAL in rows:
        yield from _rival(rows)
    tax = rows.get("sensing only")
    if tax is not None:
        p99 = tax["to_alone"]["p99"]
        low, high = p99["interval"]
        noise = "which includes no change" if low <= 1 <= high else "beyond this run's noise"
        yield (
            f"\nOur own tax: sensing alone makes the P99 {p99['ratio']:.2f} of what it was "
            f"({low:.2f}..{high:.2f}, {noise}) and takes {tax['agent_cores']:.3f} cores."
        )


def _rival(rows: Mapping[str, Node]) -> Iterator[str]:
    for name in OURS:
        if name in rows:
            yield "\n" + _beside_rival(name, rows[name], rows[RIVAL])


def _beside_rival(name: str, own: Node, rival: Node) -> str:
    judged, own_judged = (verdict(row["to_alone"]["p99"]) for row in (rival, own))
    to_rival = own["to_rival"]["p99"]
    low, high = to_rival["interval"]
    work, rival_work = own["batch_work_cores"] or 0.0, rival["batch_work_cores"] or 0.0
    figures = (
        f"the P99 under {name} is {to_rival['ratio']:.2f} of that under cpu.idle "
        f"({low:.2f}..{high:.2f}), and the batch gets {work:.2f} cores' work done instead of "
        f"{rival_work:.2f}."
    )
    if judged == PROTECTED and rival_work >= work:
        return (
            f"**cpu.idle alone is better here**: it protects, and {figures} A primary task that "
            "wakes up preempts the idle group at once wherever it lands; as long as that is all it "
            "needs, keeping the batch away from a CPU only takes work from it."
        )
    if judged == PROTECTED:
        return f"**cpu.idle alone suffices here** for the primary: {figures}"
    if judged == NOT_PROTECTED and own_judged == PROTECTED:
        return f"**cpu.idle is not enough here**: {figures}"
    if low > 1.0:
        return f"**{name} is worse than cpu.idle here**: {figures}"
    if high < 1.0:
        return f"**{name} is better than cpu.idle here**, and no proof of protection: {figures}"
    return f"This run cannot tell {name} and cpu.idle apart: {figures}"


def _rows(experiment: Node) -> dict[str, Node]:
    return dict(experiment["conditions"])
