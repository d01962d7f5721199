"""docs/research/manycore.md, from the samples file and the last check of the machine. Pure text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from bench.manycore import held
from bench.manycore.check import LARGEST_DRIFT, LARGEST_SPREAD, LATEST_US
from bench.manycore.plan import ALONE, CONDITIONS, EXPERIMENTS, LEARNS_S, QUEUE, whole_rounds
from bench.manycore.samples import as_slice, cpu_us, delayed_by_guardian
from bench.real.conditions import RIVAL
from bench.real.figures import (
    ALLOWED,
    NOT_PROTECTED,
    PROTECTED,
    UNCLEAR,
    against,
    summarize,
    verdict,
)

FEWEST_ROUNDS, FEWEST_S = 5, 20.0
"""Below this a table is a first look."""
PICTURES = "manycore"
"""The directory of the pictures, next to the page."""
FEWEST_DRAWN = 3
"""Conditions with a batch that a picture is worth."""
STEPS = "in steps"
ABOUT = f"""
In what was measured before 396e4cf1 primary and batch stand in
[one group](moving-cores.md#a-batch-in-one-group-with-its-primary).

The guest is emulated: QEMU translates its instructions, a host thread for each virtual CPU. Its
clock runs many times slower than the host's (*dilation*), so that it sees that many times the
speed and the host's disturbances that many times shorter. Each virtual CPU gets the same share of
a host CPU, in slots, whether it uses them or not. The kernel, its scheduler, cgroup v2, the BPF
sensor, loop, guardian and policies are the real ones.

Requests arrive open-loop (Poisson) at the demo's server, a pool of twice as many threads as CPUs
behind one queue; each takes some 250 µs of CPU (lognormal), measured while it works, since an
emulated CPU is up to a third slower at one minute than at another. In tables *{STEPS}* it was a
number of steps instead: with nothing lent such a request took 250 to 415 µs on 6.12, and P99 was
616 to 1,601 with that (their logarithms correlate at 0.89 in seven slices of 6.12, and at 0.97 in
21 of 7.3), so those rows are off by a third. Requests of memcached and of the search server come
over loopback, from an open-loop generator in the primary's group; what one takes of CPU, generator
included, is measured first, and their speed is the host's. Latency counts from the intended
arrival. *Load* is the share of all CPUs that the requests' work needs. Rows of a table ran in
interleaved rounds with the same requests; those of an agent's warm-up do not count. Before c67a7781
an agent ended [before its traffic](adaptive-boots.md#where-the-queue-stands-still). `adaptive` has
learned for {LEARNS_S:.0f} s before the first round, but in steps. Ratios are to *alone*: the median
round's, with the 95 % interval of a bootstrap over rounds and blocks of 100 ms. A row is
**protected** if its P99's whole interval is at most {ALLOWED - 1:.0%} above alone, **not
protected** if the whole interval is above that. *Work* is in cores: what the batch does with one
CPU and the machine to itself is 1. *Load ns*, where slices have it, is what a load that misses the
second level of caches took on the host after each: the third is shared with others.

At light load a request's own CPU time may grow by a third as soon as another virtual CPU is busy
([figures](adaptive-boots.md#a-requests-own-time-grows-at-light-load)): there rows with a batch are
to be held against a static split, too.
"""
LIMITS = """
## Limits

- No caches, no memory bandwidth, no SMT: what is shared there is not in these figures. What an
  emulator loses when it changes from one task to another is not, either, since a request takes the
  CPU time that was drawn.
- An interrupt, a system call and a page fault cost what an emulator makes of them, and the guest's
  kernel runs with `mitigations=off`.
- A virtual CPU has its share in slots: nothing shorter than a round of slots can be seen.
- The agent's control plane is Python, which an emulator slows more than a server's loop, which is
  calibrated{python}.
  So rows with an agent are worse than on a real machine, at D = 20 more than at D = 100.
- In rows with a † its guardian was Python, too: a turn, in real time, took 17 ms of a guest's time
  at D = 20, and who woke on its CPU meanwhile waited. Since then it looks at a healthy agent in C.
- With several threads emulation and a kernel that patches itself do not always agree: a guest that
  crashes is started again, and its round is lost.
- The disturbances of the host that are left are those of *alone again*.
"""

Row = dict[str, Any]


class Measured(NamedTuple):
    """What a table is of."""

    experiment: str
    kernel: str
    dilation: float
    in_steps: bool = False
    """Whether the queue's requests were a number of steps, however long those took."""

    @property
    def pair(self) -> str:
        """The experiment, and what its requests were."""
        return f"{self.experiment}, {STEPS}" if self.in_steps else self.experiment


def _key(sample: Mapping[str, Any]) -> Measured:
    known = {one.name: one.primary for one in EXPERIMENTS}
    in_steps = known.get(sample["experiment"]) == QUEUE and not sample.get("timed")
    return Measured(sample["experiment"], sample["kernel"], sample["dilation"], in_steps)


def _unit_of_work(samples: Sequence[Mapping[str, Any]]) -> float:
    """The batch's work a second with a core of its own: as each boot has measured it, since hosts
    and batches differ, and weighted by what it did."""
    cores_s = sum(one["units"] / one["unit"] for one in samples)
    done = sum(one["units"] for one in samples)
    return float(done / cores_s if cores_s else samples[0]["unit"])


def tables(samples: Sequence[Mapping[str, Any]], seed: int = 1) -> dict[Measured, Row]:
    """Rows by condition, of the rounds that have all of its conditions."""
    found: dict[Measured, Row] = {}
    known = {one.name: one for one in EXPERIMENTS}
    for key in dict.fromkeys(map(_key, samples)):
        experiment, kernel = key[:2]
        own = [one for one in samples if _key(one) == key]
        names = [one.name for one in CONDITIONS if any(s["condition"] == one.name for s in own)]
        if ALONE not in names or experiment not in known:
            continue
        rows: Row = {}
        for name in names:
            rounds = whole_rounds(own, experiment, kernel, [ALONE, name])
            if not rounds:
                continue
            shape = known[experiment].shape
            slices, alone = (_slices(own, which, rounds) for which in (name, ALONE))
            unit = _unit_of_work(
                [one for one in own if one["condition"] == name and one["round"] in rounds]
            )
            rows[name] = summarize(slices, shape=shape, batch_unit=unit)
            rows[name] |= {"rounds": len(rounds), "guest_s": sum(one.seconds for one in slices)}
            rows[name]["delayed"] = any(
                delayed_by_guardian(one) for one in own if one["condition"] == name
            )
            if name != ALONE:
                rows[name]["to_alone"] = against(slices, alone, seed)
            if known[experiment].second:
                slices, alone = (
                    _slices(own, which, rounds, "second_requests") for which in (name, ALONE)
                )
                rows[name]["second"] = summarize(slices, shape=shape, batch_unit=unit)
                if name != ALONE:
                    rows[name]["second"]["to_alone"] = against(slices, alone, seed)
        if len(rows) > 1:
            taken_us = [cpu_us(one) for one in own if one["condition"] == ALONE]
            rows[ALONE]["beyond_us"] = fmean(taken_us) - known[experiment].mean_us
            found[key] = rows
    return found


def _slices(
    own: Sequence[Mapping[str, Any]],
    condition: str,
    rounds: Sequence[int],
    requests: str = "requests",
) -> list[Any]:
    by_round = {one["round"]: one for one in own if one["condition"] == condition}
    return [as_slice(by_round[number], requests) for number in rounds]


def page(samples: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]]) -> str:
    """The whole page."""
    found = tables(samples)
    lines = ["# Many CPUs on a small machine\n", *_answer(found), ABOUT, *_machine(checks)]
    for key, rows in found.items():
        lines += _table(key, rows)
    lines += held.section(
        {
            key[:3]: held.compared(
                [one for one in samples if _key(one) == key],
                {
                    name: row["to_alone"]["p99"]["interval"]
                    for name, row in rows.items()
                    if name != ALONE
                },
            )
            for key, rows in found.items()
            if key.in_steps
        }
    )
    lines.append(LIMITS.format(python=_python_times(samples)))
    hosts = sorted({one["host"] for one in samples})
    lines.append(
        f"{'All was measured on ' if hosts else 'Nothing was measured'}"
        f"{', '.join(hosts)}. `make manycore` adds to bench/results/manycore.jsonl, "
        "`make manycore-page` writes this page."
    )
    return "\n".join(lines) + "\n"


def _python_times(samples: Sequence[Mapping[str, Any]]) -> str:
    """How long the same piece of Python took in each boot that has measured it."""
    times = dict.fromkeys(
        (one["dilation"], one["python_ms"], one["host_python_ms"])
        for one in samples
        if "python_ms" in one
    )
    if not times:
        return ""
    each = (
        f"{guest:.1f} and {host:.1f} ms at D = {dilation:g}"
        for dilation, guest, host in sorted(times)
    )
    return (
        "\n  (what a fixed piece took of a guest's CPU time and of its host's, by boot: "
        f"{', '.join(each)})"
    )


def _answer(found: Mapping[Measured, Row]) -> Iterator[str]:
    """The first lines: where cpu.idle is enough, where not, and who is on the front."""
    if not found:
        yield "Nothing has been measured yet: this page has no answer.\n"
        return
    of_rival = [verdict(rows[RIVAL]["to_alone"]["p99"]) for rows in found.values() if RIVAL in rows]
    yield (
        f"Next to a batch under `cpu.idle` the primary's P99 is **{NOT_PROTECTED}** in "
        f"{of_rival.count(NOT_PROTECTED)} of {len(of_rival)} pairs measured here, "
        f"**{PROTECTED}** in {of_rival.count(PROTECTED)}, and in {of_rival.count(UNCLEAR)} nobody "
        "can tell. *On the front* are those that no other beats in both P99 and work.\n"
    )
    yield "| pair | Linux | D | `cpu.idle`: P99 to alone; work | | on the front: P99; work |"
    yield "|---|---|---|---|---|---|"
    for key, rows in found.items():
        rival = rows.get(RIVAL)
        cells = [key.pair, _short(key.kernel), f"{key.dilation:g}"]
        cells += ["", ""] if rival is None else [_trade(rival), verdict(rival["to_alone"]["p99"])]
        best = ", ".join(
            f"{name}{' †' if rows[name]['delayed'] else ''} "
            f"{rows[name]['to_alone']['p99']['ratio']:.2f}; {_work(rows[name]):.1f}"
            for name in front(rows)
        )
        yield "| " + " | ".join([*cells, best]) + " |"
    thin = [
        f"{key.pair} at D = {key.dilation:g}"
        for key, rows in found.items()
        if min(row["guest_s"] for row in rows.values()) < FEWEST_S
        or min(row["rounds"] for row in rows.values()) < FEWEST_ROUNDS
    ]
    if thin:
        yield (
            f"\n**A first look** (some row has less than {FEWEST_S:.0f} guest seconds or "
            f"{FEWEST_ROUNDS} rounds): {', '.join(thin)}."
        )


def _short(kernel: str) -> str:
    """Without the packager's part."""
    return kernel.partition("+")[0]


def _work(row: Mapping[str, Any]) -> float:
    return float(row["batch_work_cores"] or 0.0)


def _trade(row: Mapping[str, Any]) -> str:
    return f"{_ratio(row['to_alone']['p99'])}; {_work(row):.1f}"


def picture_of(key: Measured) -> str:
    """The name of a table's picture."""
    steps = "-steps" if key.in_steps else ""
    return f"{key.experiment}{steps}-{_short(key.kernel)}-{key.dilation:g}.png"


def trades(rows: Mapping[str, Row]) -> dict[str, tuple[float, tuple[float, float], float]]:
    """Conditions with a batch, even if nothing was lent to it, for a picture: (work, interval of
    the P99's ratio, ratio)."""
    return {
        name: (
            _work(row),
            tuple(row["to_alone"]["p99"]["interval"]),
            row["to_alone"]["p99"]["ratio"],
        )
        for name, row in rows.items()
        if "to_alone" in row and (row["batch_work"] > 0 or row["harvested_cores"] is not None)
    }


def front(rows: Mapping[str, Row]) -> list[str]:
    """Conditions with a batch that no other beats in both P99's ratio and work."""
    points = {
        name: (row["to_alone"]["p99"]["ratio"], _work(row))
        for name, row in rows.items()
        if "to_alone" in row and row["batch_work"] > 0
    }
    return [
        name
        for name, (late, work) in points.items()
        if not any(
            other_late <= late and other_work >= work and (other_late, other_work) != (late, work)
            for other_late, other_work in points.values()
        )
    ]


def _ratio(one: Mapping[str, Any]) -> str:
    low, high = one["interval"]
    return f"{one['ratio']:.2f} ({low:.2f}–{high:.2f})"


def _table(key: Measured, rows: Mapping[str, Row]) -> Iterator[str]:
    about = next(one for one in EXPERIMENTS if one.name == key.experiment)
    words = f"{about.about[0].upper()}{about.about[1:]}"
    yield f"\n## {key.pair}, Linux {key.kernel}, D = {key.dilation:g}\n\n{words}."
    if about.primary == QUEUE:
        yield (
            f"Alone, a request takes {rows[ALONE]['beyond_us']:.0f} µs of CPU beyond its work: "
            "threads that wake, sleep and hand over, in an emulated kernel."
        )
    yield ""
    heads = ["P50 µs", "P99 µs", "P50", "P99", "P99.9", "", "lent", "consumed", "work"]
    heads += ["safeguards short, long", "agent", "rounds", "guest s"]
    timed = any(row["load_ns"] for row in rows.values())
    heads += ["load ns"] if timed else []
    yield "| | " + " | ".join(heads) + " |\n" + "|---" * (1 + len(heads)) + "|"
    for name, row in rows.items():
        cells = _latency(row)
        lent, work, acted = row["harvested_cores"], row["batch_work_cores"], row["safeguards"]
        cells += ["" if lent is None else f"{lent:.2f}", f"{row['batch_cores']:.2f}"]
        cells += ["" if work is None else f"{work:.2f}", f"{acted['short']}, {acted['long']}"]
        cells += [f"{row['agent_cores']:.3f}", f"{row['rounds']}", f"{row['guest_s']:.1f}"]
        cells += [f"{row['load_ns']:.0f}" if row["load_ns"] else ""] if timed else []
        yield f"| {name}{' †' if row['delayed'] else ''} | " + " | ".join(cells) + " |"
    if len(trades(rows)) >= FEWEST_DRAWN:
        yield f"\n![P99 to alone against batch work]({PICTURES}/{picture_of(key)})"
    if about.second:
        yield f"\nThe second primary, {about.second} at {about.second_load:.0%}:\n"
        yield "| | " + " | ".join(heads[:6]) + " |\n" + "|---" * 7 + "|"
        for name, row in rows.items():
            yield f"| {name} | " + " | ".join(_latency(row["second"])) + " |"


def _latency(row: Mapping[str, Any]) -> list[str]:
    """The cells of a primary's latency."""
    to_alone, latency = row.get("to_alone"), row["latency_us"]
    cells = [f"{latency['p50']:.0f}", f"{latency['p99']:.0f}"]
    if to_alone is None:
        return [*cells, "", "", "", ""]
    ratios = [_ratio(to_alone[key]) for key in ("p50", "p99", "p999")]
    return [*cells, *ratios, verdict(to_alone["p99"])]


def _machine(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n## The machine, checked\n"
    if not checks:
        yield "It has not been checked: `make manycore-check`.\n"
        return
    yield (
        f"Goals: speeds within {LARGEST_SPREAD:.0%} of their mean with one, half and all CPUs "
        f"busy, wake-ups on a full machine at most {LATEST_US:.0f} µs late at P99, a clock "
        f"that drifts by less than {LARGEST_DRIFT:.1%}.\n"
    )
    heads = ["kernel", "CPUs", "D", "preemption", "HZ", "speeds: 1", "half", "all"]
    heads += ["late P50, P99 µs", "alone P99", "ping P50, P99 µs", "drift", "steal s", "missed"]
    yield "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|"
    for one in checks:
        spread, late, ping = one["speed_spread"], one["wake_us"], one.get("ping_us", {})
        cells = [one["kernel"], str(one["cpus"]), f"{one['dilation']:g}", one.get("preempt", "")]
        cells += [str(one.get("hz", "")), *(f"{spread[key]:.1%}" for key in ("1", "half", "all"))]
        cells += [f"{late['p50']:.0f}, {late['p99']:.0f}", f"{one['wake_idle_us']['p99']:.0f}"]
        cells += [", ".join(f"{ping[key]:.0f}" for key in ("p50", "p99") if key in ping)]
        cells += [f"{one['clock_drift']:.4%}", f"{one['steal_s']:g}"]
        cells.append("; ".join(one["missed"]) or "nothing")
        yield "| " + " | ".join(cells) + " |"
    yield ""
