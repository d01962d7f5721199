"""``python -m bench.groups``: how several elastic groups share on this host, as JSON.

Three groups: one spins, one scales badly, one counts heartbeats. Their shares under each way of
sharing, against what is due to them; what two of them do by throughput, against equal shares; a
guarantee that a change of load violates; and a primary that bursts next to one group and next to
three. Makes control groups of its own and removes them (root). Pairs of programs in simulated time,
what dividing among 64 groups costs, and taking back from them on a made host, need no rights.
"""

from __future__ import annotations

import json
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
from bench.groups.figures import pair, ratio_of, shares, since
from bench.groups.host import LOADS, Agent, Groups, as_json
from bench.groups.many import measure_made, measure_real
from bench.groups.simulated import measure_division, simulate_pairs
from bench.machine import describe
from bench.statistics import rounded
from bench.subject import NotMeasurableError
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree, Group

EVERYTHING = ('policy = "everywhere"', 'long_term = "off"')
"""Lends every core, whatever runs: so the shares are of all that this host has."""
BUFFER = ('policy = "fixed-buffer:1"', 'long_term = "off"')
"""Lends all but one core that idles, whatever lending costs: each burst takes cores back."""
UNALLOCATED = ('policy = "fixed-buffer:1"', "max_harvest = 0", "unallocated = true")
"""Lends the CPUs of no primary, and no other."""
SETTLE_S = {"fair": 8.0, "weight": 8.0, "throughput": 40.0}
WEIGHTS = {"spinner": {"weight": "2"}}
LOOK_S = 0.5
LONGEST_S = 30.0
BURST_SECONDS = 8.0
PARTS = ("shares", "pair", "guarantee", "bursts", "primaries", "many", "simulated")
PAIR = ("beats", "locked")
PAIR_S = 20.0
PRIMARIES = 300
APPEARANCES = 10
GLANCE_S = 0.0002
"""Who looks all the time has a CPU for itself, of which the agent may have to wait for its turn."""
TAKEN_IN_S = 3.0
"""By then an agent goes on with a new primary."""


@click.command()
@click.option("--seconds", default=10.0, show_default=True, help="Of each share that is measured.")
@click.option("--rounds", default=3, show_default=True, help="Of bursts, one group and three.")
@click.option("--only", type=click.Choice(PARTS), help="One of them.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
def main(seconds: float, rounds: int, only: str | None, out: Path | None) -> None:
    """Measures and prints one JSON document."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    document: dict[str, Any] = {"machine": describe(), "warnings": machine.shortcomings()}
    if only in (None, "simulated"):
        say("simulated pairs, and 64 groups ...")
        document["simulated"] = {"pairs": simulate_pairs(), "division": measure_division()}
    if only in (None, "many"):
        document["many"] = measure_many()
    if only not in ("simulated", "many"):
        if os.geteuid() != 0:
            raise SystemExit("bench.groups: needs root, to make control groups")
        document |= _on_this_host(seconds, rounds, only)
    text = as_json(document)
    print(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")


def measure_many() -> dict[str, Any]:
    """One core taken back from 64 groups: on a made host, and as root by this kernel."""
    say("taking back from 64 groups ...")
    with tempfile.TemporaryDirectory(prefix="smartharvest-") as directory:
        found: dict[str, Any] = {"made": measure_made(Path(directory))}
    if os.geteuid() == 0:
        found["real"] = if_measurable(lambda: measure_real(CgroupTree.discover()))
    return found


def _on_this_host(seconds: float, rounds: int, only: str | None) -> dict[str, Any]:
    document: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(prefix="smartharvest-") as directory,
        Groups(Path(directory)) as groups,
    ):
        if only in (None, "shares"):
            document["shares"] = {
                way: if_measurable(partial(measure_shares, groups, way, seconds))
                for way in SETTLE_S
            }
        if only in (None, "pair"):
            document["pair"] = if_measurable(partial(measure_pair, groups, rounds))
        if only in (None, "guarantee"):
            document["guarantee"] = if_measurable(partial(measure_guarantee, groups))
        if only in (None, "bursts"):
            document["bursts"] = if_measurable(partial(measure_bursts, groups, rounds))
        if only in (None, "primaries"):
            document["primaries"] = if_measurable(partial(measure_primaries, groups))
    return document


def if_measurable(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``measure`` returns, or why it could not: the other parts are not lost then."""
    try:
        return measure()
    except (NotMeasurableError, SmartHarvestError, OSError) as error:
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


def measure_pair(groups: Groups, rounds: int) -> dict[str, Any]:
    """One that scales and one that hardly does, with equal shares and by throughput in turns.

    The third has nothing to do. Work of each counts by what it did with equal shares.
    """
    groups.stop("spinner")
    did: dict[str, list[dict[str, float]]] = {"fair": [], "throughput": []}
    by: dict[str, str | None] = {}
    try:
        for number in range(rounds):
            for way in ("fair", "throughput") if number % 2 == 0 else ("throughput", "fair"):
                say(f"a pair by {way}, round {number + 1} of {rounds} ...")
                settings = [*EVERYTHING, f'share = "{way}"']
                with Agent(groups, f"pair-{way}-{number}", groups.tables(), settings) as agent:
                    time.sleep(SETTLE_S[way])
                    first, beats = agent.rows(), groups.counted(PAIR)
                    time.sleep(PAIR_S)
                    last, now = agent.rows(), groups.counted(PAIR)
                if any(not one.get(name) for one in (first, last) for name in PAIR):
                    raise NotMeasurableError("the agent did not answer")
                by = {name: last[name]["throughput_by"] for name in PAIR}
                used = [
                    (last[n]["cpu_seconds"] or 0) - (first[n]["cpu_seconds"] or 0) for n in PAIR
                ]
                did[way].append({n: float(now[n] - beats[n]) for n in PAIR} | {"used": sum(used)})
    finally:
        groups.stop("spinner", go_on=True)
    return pair(did, PAIR) | {"throughput_by": by}


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


def measure_primaries(groups: Groups) -> dict[str, Any]:
    """How long making a primary takes, without an agent and with one, and until it has its CPU.

    The agent lends the CPUs of no primary: the new one gets one of them. From its noticing to its
    last write by the agent's own clock readings; who looks from outside needs a CPU for that.
    """
    say("primaries that appear ...")
    online = sorted(groups.tree.online_cpus())
    if len(online) < 2:
        raise NotMeasurableError("needs two CPUs")
    own, lent = str(online[-1]), str(online[0])  # a batch without cores is parked on the last
    groups.tree.files.write(groups.group("/web").cpus_file, own)
    batch = groups.group("/batch")
    alone = [_made_us(groups, own) for _ in range(PRIMARIES)]
    with Agent(groups, "primaries", groups.tables(), UNALLOCATED) as agent:
        time.sleep(3.0)
        with_agent = [_made_us(groups, own) for _ in range(PRIMARIES)]
        time.sleep(TAKEN_IN_S)
        looked_s: list[float] = []
        seen_s: list[float] = []
        free_s: list[float] = []
        for number in range(APPEARANCES):
            if agent.wait_until(lambda: _lends(agent, batch, lent), LONGEST_S) is None:
                raise NotMeasurableError("CPUs of nobody were not lent")
            before = len(_primaries(agent))
            began_s = time.time()
            groups.add_primary(f"web-{number}", lent)
            while int(lent) in batch.cpus():
                if time.time() > began_s + LONGEST_S:
                    raise NotMeasurableError("a new primary did not get its CPU")
                time.sleep(GLANCE_S)
            gone_s = time.time()
            looked_s.append(gone_s - began_s)
            if not agent.wait_until(lambda n=before: len(_primaries(agent)) > n, LONGEST_S):
                raise NotMeasurableError("a new primary was not noticed")
            noticed = _primaries(agent)[before]
            seen_s.append(max(0.0, gone_s - noticed["noticed"]))
            if "free" in noticed:
                free_s.append(noticed["free"] - noticed["noticed"])
            time.sleep(TAKEN_IN_S)
            groups.remove_primary(f"web-{number}")
            agent.wait_until(lambda n=before: len(_primaries(agent)) > n + 1, LONGEST_S)
    return {
        "made_us_alone": _quantiles(alone),
        "made_us_with_agent": _quantiles(with_agent),
        "its_cpu_after_s": _quantiles(looked_s),
        "its_cpu_after_it_was_noticed_ms": _quantiles([1e3 * one for one in free_s]),
        "seen_from_outside_ms": _quantiles([1e3 * one for one in seen_s]),
    }


def _lends(agent: Agent, batch: Group, cpu: str) -> bool:
    """Whether it runs, and is not amid an arrangement, with that CPU in the batch's mask."""
    return bool(agent.status()) and int(cpu) in batch.cpus()


def _primaries(agent: Agent) -> list[dict[str, float]]:
    """How they changed, oldest first: ``noticed``, and ``free`` if lent CPUs were theirs then."""
    records = map(json.loads, agent.audit.read_text().splitlines())
    return [one for one in records if one["kind"] == "primaries"]


def _made_us(groups: Groups, cpus: str) -> float:
    began_ns = time.perf_counter_ns()
    groups.add_primary("web-made", cpus)
    took_us = (time.perf_counter_ns() - began_ns) / 1e3
    groups.remove_primary("web-made")
    return took_us


def _quantiles(values: list[float]) -> dict[str, float]:
    return {
        "median": rounded(float(np.median(values))),
        "p99": rounded(float(np.percentile(values, 99))),
        "count": len(values),
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
