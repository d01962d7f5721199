"""Policies on the simulated server: the same seed, the same everything; bounds bound."""

from __future__ import annotations

import dataclasses
import json

import pytest

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy.adaptive import Adaptive
from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.machine import LoopSettings, Machine, Model
from smartharvest.lab.simulator.mechanisms import MECHANISM_NAMES, make_mechanism
from smartharvest.lab.simulator.report import (
    document,
    format_harm,
    format_outcomes,
    harm_of,
)
from smartharvest.lab.simulator.run import (
    BOUNDS,
    Experiment,
    Outcome,
    run_baseline,
    run_policy,
    simulate,
)
from smartharvest.lab.simulator.workload_file import find_workload
from smartharvest.lab.simulator.workloads import WORKLOADS, Primary, Service, Workload, steady

POLICIES = ("smartharvest", "prev-peak", "prev-peak:10", "fixed-buffer:4", "no-harvest")

KEYS = {
    "harvested_cores", "latency_us", "baseline_latency_us", "p99_change", "busy_cores", "mean_peak",
    "reassignments_per_s", "safeguards", "under_predictions", "clairvoyant_cores", "seed",
}  # fmt: skip


def experiment(name: str = "indexserve", seconds: float = 5.0, **more: object) -> Experiment:
    return dataclasses.replace(Experiment(WORKLOADS[name], seconds=seconds), **more)  # type: ignore[arg-type]


def windows_of(
    every_poll: bool, exact: bool, mechanism: str, name: str = "indexserve"
) -> tuple[list[Window], dict[str, int], dict[str, int]]:
    """Two seconds of a made-up control plane."""
    machine = Machine(
        WORKLOADS[name], make_mechanism(mechanism), cores=10, seed=5,
        loop=LoopSettings(exact=exact), every_poll=every_poll,
    )  # fmt: skip
    seen = []
    while (window := machine.advance(2 * 10**9)) is not None:
        seen.append(window)
        buffer = 2 + window.seq % 3 if window.seq % 5 < 2 else 0
        quiet_ns = 100_000 * window.seq if window.seq % 5 == 1 else None
        machine.simulation.post(
            machine.simulation.now_ns + 77_777,
            Plan(window.seq, 2 + window.seq % 8, 9, buffer, quiet_ns),
        )
    return seen, machine.simulation.counters(), machine.simulation.totals()


def test_a_primary_with_next_to_nothing_to_do_keeps_a_core() -> None:
    primary = dataclasses.replace(WORKLOADS["memcached"].primaries[0], schedule=steady(1_000.0))
    machines: list[Machine] = []
    run_policy(
        Experiment(
            Workload("calm", (primary,)),
            mechanism=make_mechanism("linux"),
            seconds=5.0,
            long_term="off",
        ),
        "adaptive-quiet",
        started=machines.append,
    )
    assert machines[0].simulation.primary(0)["completed"] > 4_500


@pytest.mark.parametrize("mechanism", MECHANISM_NAMES)
@pytest.mark.parametrize("exact", [False, True])
def test_skipped_polls_change_nothing(mechanism: str, exact: bool) -> None:
    assert windows_of(False, exact, mechanism) == windows_of(True, exact, mechanism)


@pytest.mark.parametrize("policy", [*POLICIES, *BOUNDS])
def test_the_same_seed_gives_the_same_bytes(policy: str) -> None:
    def run() -> str:
        run_baseline.__globals__["_baseline"].cache_clear()
        return json.dumps(document([simulate(experiment(), policy)]))

    assert run() == run()


def test_another_seed_gives_other_figures() -> None:
    first, second = (simulate(experiment(seed=seed), "prev-peak") for seed in (1, 2))
    assert first.harvested_cores != second.harvested_cores


def test_every_policy_meets_the_same_traffic() -> None:
    outcomes = [simulate(experiment(), policy) for policy in POLICIES]
    assert len({outcome.busy_cores for outcome in outcomes}) == 1
    assert len({tuple(outcome.baseline_latency_us.values()) for outcome in outcomes}) == 1


def test_without_harvest_nothing_changes() -> None:
    outcome = simulate(experiment(), "no-harvest")
    assert outcome.harvested_cores == 0
    assert outcome.latency_us == outcome.baseline_latency_us
    assert outcome.p99_change == 0
    assert outcome.reassignments_per_s == 0
    assert outcome.under_predictions == 0


@pytest.mark.parametrize("name", ["indexserve", "moses"])
def test_bounds_are_above_every_policy(name: str) -> None:
    bound = simulate(experiment(name), "instant")
    assert bound.harvested_cores == 10 - bound.busy_cores
    assert bound.p99_change == 0
    clairvoyant = simulate(experiment(name, mechanism=make_mechanism("instant")), "clairvoyant")
    assert clairvoyant.harvested_cores == pytest.approx(clairvoyant.clairvoyant_cores, rel=0.01)
    assert clairvoyant.latency_us == clairvoyant.baseline_latency_us
    for policy in ("smartharvest", "prev-peak"):
        outcome = simulate(experiment(name, mechanism=make_mechanism("instant")), policy)
        assert outcome.harvested_cores < clairvoyant.harvested_cores < bound.harvested_cores


def test_an_unhurried_primary_lends_all_but_what_it_needs() -> None:
    steady_one = Primary(8, Service("deterministic", 1e6), steady(1000), arrivals="deterministic")
    quiet = Experiment(
        Workload("quiet", (steady_one,)), make_mechanism("instant"), seconds=5, cores=8
    )
    assert simulate(quiet, "fixed-buffer:2").harvested_cores == pytest.approx(5, abs=0.1)


def test_a_core_in_transit_is_nobodys_and_one_coming_back_is_the_elastic_groups() -> None:
    slow = make_mechanism("cpugroups")
    outcome = simulate(experiment(mechanism=slow), "smartharvest")
    free = simulate(experiment(mechanism=dataclasses.replace(slow, lend=(), give_back=())))
    assert outcome.harvested_cores != free.harvested_cores
    assert outcome.latency_us["p99"] >= free.latency_us["p99"]


def test_threads_stranded_on_cores_in_transit_hurt_the_tail() -> None:
    stranding, conserving = (
        simulate(experiment(seconds=20, model=Model(queue_in_transit=it)), "prev-peak")
        for it in (True, False)
    )
    assert stranding.latency_us["p999"] > conserving.latency_us["p999"]


def test_the_long_term_safeguard_acts_on_simulated_waits() -> None:
    """Without zero-wait dispatches one long wait in a hundred is soon reached."""
    hard = experiment(
        seconds=20, model=Model(dispatch_every_ns=0), loop=LoopSettings(window_ns=5_000_000)
    )
    assert simulate(hard, "prev-peak").safeguards["long"] > 0
    off = dataclasses.replace(hard, long_term="off")
    assert simulate(off, "prev-peak").safeguards["long"] == 0


def test_observers_see_every_window_and_its_decision() -> None:
    seen: list[tuple[Window, Decision]] = []
    simulate(experiment(), "prev-peak", observe=lambda *pair: seen.append(pair))
    assert [window.seq for window, _ in seen] == list(range(1, len(seen) + 1))
    assert all(window.seq == decision.seq for window, decision in seen)
    assert len(seen) >= 5 * 40 - 1


def test_several_primaries_are_told_apart() -> None:
    both = Workload("both", WORKLOADS["memcached"].primaries + WORKLOADS["indexserve"].primaries)
    outcome = simulate(Experiment(both, seconds=2, cores=20), "smartharvest")
    first, second = outcome.primaries
    assert first["baseline_p99"] < second["baseline_p99"]
    assert outcome.p99_change == max(first["p99_change"], second["p99_change"])


def test_documents_have_the_promised_keys() -> None:
    outcome = simulate(experiment(), "prev-peak")
    values = document([outcome])
    assert values.keys() >= KEYS
    assert values["latency_us"].keys() == {"p50", "p99", "p999"}
    assert values["safeguards"].keys() == {"short", "long"}


def test_several_seeds_give_mean_and_spread() -> None:
    outcomes = [simulate(experiment(seed=seed), "prev-peak") for seed in (1, 2, 3)]
    values = document(outcomes)
    assert values["seed"] == [1, 2, 3]
    mean = sum(outcome.harvested_cores for outcome in outcomes) / 3
    assert values["harvested_cores"] == pytest.approx(mean)
    assert values["spread"]["harvested_cores"] > 0
    assert values["spread"]["latency_us"]["p99"] > 0
    assert "±" in format_outcomes(outcomes)
    assert "±" not in format_outcomes(outcomes[:1])


def test_a_window_shorter_than_the_agents_sleep_works() -> None:
    outcome: Outcome = simulate(experiment(loop=LoopSettings(window_ns=5_000_000)), "smartharvest")
    assert outcome.harvested_cores > 0


def test_an_event_driven_loop_looks_only_when_something_happens() -> None:
    seen: dict[bool, int] = {}
    outcomes = {}
    for events in (False, True):
        machine, _ = run_policy(
            experiment("moses", seconds=20, loop=LoopSettings(event_driven=events)), "prev-peak"
        )
        seen[events] = machine.simulation.counters()["polls"]
        outcomes[events] = machine.simulation.totals()["elastic_core_ns"] / 20e9
    assert seen[False] > 10 * 20_000
    assert seen[True] < seen[False] / 50
    assert 0.5 < outcomes[True] / outcomes[False] < 2


def test_an_event_driven_loop_reacts_to_an_exhausted_buffer_at_once() -> None:
    """Between polls a burst that is short finds the buffer empty and nobody looks."""
    exhausted = {}
    for events in (False, True):
        loop = LoopSettings(event_driven=events, poll_ns=5_000_000)
        machine, _ = run_policy(
            experiment(mechanism=make_mechanism("instant"), loop=loop), "prev-peak"
        )
        exhausted[events] = machine.simulation.totals()["wait_ns"]
    assert exhausted[True] == 0
    assert exhausted[False] > 0


def test_exact_windows_weigh_by_time() -> None:
    machine = Machine(
        WORKLOADS["memcached"], make_mechanism("instant"), cores=10, seed=1,
        loop=LoopSettings(exact=True),
    )  # fmt: skip
    mean = 0.0
    while (window := machine.advance(10**9)) is not None:
        mean += window.busy_mean * (window.end_ns - window.start_ns)
        end_ns = window.end_ns
    exact_ns = machine.simulation.counters()["busy_core_ns"]
    assert mean == pytest.approx(exact_ns, rel=1e-6)
    assert machine.simulation.totals()["busy_core_ns"] == pytest.approx(
        exact_ns + (10**9 - end_ns) * 2.3, rel=0.02
    )


def test_the_native_learner_decides_as_vw_does() -> None:
    ways = [simulate(experiment(), "smartharvest", learner=learner) for learner in ("vw", "native")]
    assert ways[0] == ways[1]


def test_adaptive_shares_at_once_what_an_earlier_run_has_found_harmless() -> None:
    sharing = experiment(
        seconds=10.0, mechanism=make_mechanism("cpu-idle"), loop=LoopSettings(exact=True)
    )
    known: list[Adaptive] = []

    def make(total: int) -> Adaptive:
        made = Adaptive(PolicySettings(total, learner="native", preempts=True))
        if known:
            made.load(known[0].dump())
        known.append(made)
        return made

    simulate(sharing, "adaptive", make=make)
    later = dataclasses.replace(sharing, seconds=1.5, seed=2)
    knowing = simulate(later, "adaptive", make=make)
    known.clear()
    beginning = simulate(later, "adaptive", make=make)
    assert knowing.harvested_cores > 1.5 * beginning.harvested_cores


STRICT = Experiment(
    WORKLOADS["memcached"],
    make_mechanism("strict"),
    seconds=8.0,
    loop=LoopSettings(exact=True, event_driven=True),
    long_term="auto",
)


def test_under_strict_adaptive_finds_how_many_cores_protect() -> None:
    harmful = simulate(dataclasses.replace(STRICT, long_term="off"), "spare:0")
    outcome = simulate(STRICT, "adaptive", learner="native")
    idle = STRICT.cores - outcome.busy_cores
    assert harmful.p99_change > 1
    assert outcome.p99_change < 0.1
    assert outcome.harvested_cores > 0.6 * idle


def test_under_strict_adaptive_is_bold_within_two_seconds() -> None:
    two = dataclasses.replace(STRICT, seconds=2.0)
    outcome = simulate(two, "adaptive", learner="native")
    assert outcome.harvested_cores > 0.4 * (STRICT.cores - outcome.busy_cores)


def test_only_strict_keeps_cores_idle() -> None:
    shared = dataclasses.replace(STRICT, mechanism=make_mechanism("cpu-idle"))
    with pytest.raises(ConfigError, match="use --mechanism strict"):
        simulate(shared, "spare:2")


@pytest.mark.parametrize("policy", [*BOUNDS, "adaptive-quiet", "smartharvest"])
def test_primaries_that_want_more_than_there_is_can_be_lent_from(policy: str) -> None:
    crowded = find_workload("crowded")
    outcome = simulate(
        Experiment(crowded, make_mechanism("ipi"), seconds=1.0, cores=crowded.cores), policy
    )
    assert 0 <= outcome.harvested_cores <= crowded.cores
    assert outcome.clairvoyant_cores >= 0


def test_with_nothing_lent_no_dispatch_is_lending_s() -> None:
    (harm,) = simulate(experiment(seconds=1.0), "no-harvest").harm
    assert harm.lent.dispatches == harm.lent.wakes == harm.not_lent.behind_elastic == 0
    assert harm.not_lent.dispatches >= harm.not_lent.wakes > 1000
    assert harm.longer is None


def test_harm_is_no_part_of_the_figures_and_adds_up_over_seeds() -> None:
    outcomes = [simulate(experiment(seconds=1.0, seed=seed), "prev-peak") for seed in (1, 2)]
    assert "harm" not in document(outcomes)
    assert "harm" not in document(outcomes[:1])
    (both,) = harm_of(outcomes)
    dispatches = [outcome.harm[0].lent.dispatches for outcome in outcomes]
    assert both["lent"]["dispatches"] == sum(dispatches) > max(dispatches)
    assert format_harm(outcomes).startswith("harm to primary 0: ")
