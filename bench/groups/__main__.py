"""``python -m bench.groups``: how several elastic groups share on this host, as JSON.

Three groups: one spins, one scales badly, one counts heartbeats. Their shares under each way of
sharing, against what is due to them; a guarantee that a change of load violates; and a primary that
bursts next to one group and next to three. Makes control groups of its own and removes them (root).
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench import machine
from bench.groups.figures import ratio_of, shares, since
from bench.groups.host import LOADS, Agent, Groups, as_json
from bench.machine import describe
from bench.statistics import rounded
from bench.subject import NotMeasurableError

EVERYTHING = ('policy = "idle-first"',)
"""Lends every core, whatever runs: so the shares are of all that this host has."""
BUFFER = ('policy = "fixed-buffer:1"', 'long_term = "off"')
"""Lends all but one core that idles, whatever lending costs: each burst takes cores back."""
SETTLE_S = {"fair": 8.0, "weight": 8.0, "throughput": 40.0}
WEIGHTS = {"spinner": {"weight": "2"}}
LOOK_S = 0.5
LONGEST_S = 30.0
BURST_SECONDS = 8.0


@click.command()
@click.option("--seconds", default=10.0, show_default=True, help="Of each share that is measured.")
@click.option("--rounds", default=3, show_default=True, help="Of bursts, one group and three.")
@click.option("--only", type=click.Choice(["shares", "guarantee", "bursts"]), help="One of them.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
def main(seconds: float, rounds: int, only: str | None, out: Path | None) -> None:
    """Measures and prints one JSON document."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if os.geteuid() != 0:
        raise SystemExit("bench.groups: needs root, to make control groups")
    document: dict[str, Any] = {"machine": describe(), "warnings": machine.shortcomings()}
    with (
        tempfile.TemporaryDirectory(prefix="smartharvest-") as directory,
        Groups(Path(directory)) as groups,
    ):
        if only in (None, "shares"):
            document["shares"] = {
                way: if_measurable(partial(measure_shares, groups, way, seconds))
                for way in SETTLE_S
            }
        if only in (None, "guarantee"):
            document["guarantee"] = if_measurable(partial(measure_guarantee, groups))
        if only in (None, "bursts"):
            document["bursts"] = if_measurable(partial(measure_bursts, groups, rounds))
    text = as_json(document)
    print(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")


def if_measurable(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``measure`` returns, or why it could not."""
    try:
        return measure()
    except NotMeasurableError as error:
        return {"not_measurable": str(error)}


def measure_shares(groups: Groups, way: str, seconds: float) -> dict[str, Any]:
    """Shares over ``seconds``, once what the groups can do has been learned."""
    say(f"shares by {way} ...")
    tables = groups.tables(WEIGHTS if way == "weight" else None)
    with Agent(groups, f"share-{way}", tables, [*EVERYTHING, f'share = "{way}"']) as agent:
        time.sleep(SETTLE_S[way])
        looks: list[dict[str, dict[str, Any]]] = []
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s or len(looks) < 2:
            if rows := agent.rows():
                looks.append(rows)
            time.sleep(LOOK_S)
    return shares(looks)


def measure_guarantee(groups: Groups) -> dict[str, Any]:
    """Heartbeats are guaranteed, and a unit of work becomes twice as much."""
    say("a guarantee that is violated ...")
    with Agent(groups, "guarantee", groups.tables(), EVERYTHING) as agent:
        time.sleep(SETTLE_S["fair"])
        rate = _rate(agent)
        wanted = 0.6 * rate
        more = {"beats": {"guarantee": f'"{wanted:.3f}/s"'}}
        agent.configure(groups.tables(more))
        agent.reload()
        met_s = agent.wait_until(lambda: _met(agent) is True, LONGEST_S)
        groups.programs["beats"].send_signal(signal.SIGUSR1)
        violated_s = agent.wait_until(lambda: _met(agent) is False, LONGEST_S)
        again_s = agent.wait_until(lambda: _met(agent) is True, LONGEST_S)
        after = _rate(agent)
        cores = agent.rows()["beats"]["cores"]
    return {
        "rate_before": rounded(rate),
        "guaranteed": rounded(wanted),
        "met_at_first": met_s is not None,
        "violated_after_s": violated_s,
        "met_again_after_s": again_s,
        "rate_after": rounded(after),
        "cores_after": cores,
        "note": "times from the change to the agent's verdict, and from that to the next; null: "
        f"not within {LONGEST_S:g} s",
    }


def _rate(agent: Agent) -> float:
    return float((agent.rows().get("beats") or {}).get("throughput") or 0.0)


def _met(agent: Agent) -> bool | None:
    met: bool | None = (agent.rows().get("beats") or {}).get("guarantee_met")
    return met


def measure_bursts(groups: Groups, rounds: int) -> dict[str, Any]:
    """One group and three by turns, with the same programs in them."""
    taken: dict[str, list[dict[str, Any]]] = {"one": [], "three": []}
    for number in range(rounds):
        for case in ("one", "three") if number % 2 == 0 else ("three", "one"):
            say(f"bursts next to {case}, round {number + 1} of {rounds} ...")
            taken[case].append(_burst(groups, case, number))
    groups.gather(together=False)

    def of(case: str, kind: str, key: str) -> list[float]:
        return [one[kind][key] for one in taken[case] if key in one[kind]]

    ratios = {
        f"{kind}_{key}": ratio_of(of("one", kind, key), of("three", kind, key))
        for kind in ("bursts", "moves")
        for key in ("median_us", "p99_us", "mean_us")
    }
    return {**taken, "ratios_three_to_one": ratios}


def _burst(groups: Groups, case: str, number: int) -> dict[str, Any]:
    groups.gather(together=case == "one")
    one = f'elastic = "cgroup:{groups.name}/batch/all"'
    elastic = one if case == "one" else groups.tables()
    with (
        groups.bursting() as log,
        Agent(groups, f"bursts-{case}-{number}", elastic, BUFFER) as agent,
    ):
        time.sleep(3.0)
        before, at = agent.status(), log.stat().st_size
        time.sleep(BURST_SECONDS)
        now = agent.status()
        if before is None or now is None:
            raise NotMeasurableError("the agent did not answer")
        data = log.read_bytes()[at:]
    log.unlink()
    took_us = np.array(struct.unpack(f"={len(data) // 8}q", data[: len(data) // 8 * 8])) / 1e3
    moves = since(before["histograms"]["moves"] or {}, now["histograms"]["moves"])
    return {
        "bursts": {
            "count": len(took_us),
            "median_us": rounded(float(np.median(took_us))),
            "p99_us": rounded(float(np.percentile(took_us, 99))),
            "mean_us": rounded(float(np.mean(took_us))),
        },
        "moves": moves,
        "lent_mean": rounded(now["harvested"]["mean"]),
        "taken_back": now["safeguards"]["short_term"] - before["safeguards"]["short_term"],
        "groups": list(LOADS) if case == "three" else ["all"],
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
