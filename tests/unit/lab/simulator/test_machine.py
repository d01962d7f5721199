"""The simulated machine against what queueing theory and bookkeeping say of it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from smartharvest.core.plan import Plan
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.bursty import BURSTY, HELD_OUT
from smartharvest.lab.simulator.machine import Machine, Model
from smartharvest.lab.simulator.mechanisms import MECHANISM_NAMES, Sharing, make_mechanism
from smartharvest.lab.simulator.workloads import WORKLOADS, Primary, Service, Workload, steady


def queue(cores: int, rate_qps: float, service: Service) -> Workload:
    return Workload("queue", (Primary(cores, service, steady(rate_qps)),))


def run_alone(workload: Workload, seconds: float) -> Machine:
    machine = Machine(workload, make_mechanism("instant"), cores=workload.cores, seed=1)
    while machine.advance(round(seconds * 1e9)) is not None:
        pass
    return machine


def erlang_c(servers: int, load: float) -> float:
    """The probability that an M/M/c arrival waits; ``load`` in Erlang."""
    series = sum(load**k / math.factorial(k) for k in range(servers))
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (series + last)


def test_ten_servers_at_load_0_92_wait_as_long_as_the_closed_form_says() -> None:
    mean_us, servers, rho = 100.0, 10, 0.92
    rate_per_us = rho * servers / mean_us
    workload = queue(servers, rate_per_us * 1e6, Service("exponential", mean_us * 1e3))
    machine = run_alone(workload, 40)
    seen = machine.simulation.primary(0)
    mean_latency_us = seen["latency_sum_ns"] / seen["completed"] / 1e3
    expected_wait_us = erlang_c(servers, rho * servers) / (servers / mean_us - rate_per_us)
    assert mean_latency_us - mean_us == pytest.approx(expected_wait_us, rel=0.05)


def test_one_server_with_equal_services_waits_half_as_long_as_one_with_exponential_ones() -> None:
    waits = {}
    for distribution in ("deterministic", "exponential"):
        machine = run_alone(queue(1, 7000, Service(distribution, 100e3)), 60)
        seen = machine.simulation.primary(0)
        waits[distribution] = seen["latency_sum_ns"] / seen["completed"] - 100e3
    assert waits["deterministic"] / waits["exponential"] == pytest.approx(0.5, rel=0.05)


def test_mean_requests_in_the_system_are_rate_times_latency() -> None:
    machine = run_alone(WORKLOADS["indexserve"], 60)
    seen, totals = machine.simulation.primary(0), machine.simulation.totals()
    mean_in_system = totals["requests_ns"] / 60e9
    rate_per_ns = seen["completed"] / 60e9
    mean_latency_ns = seen["latency_sum_ns"] / seen["completed"]
    assert mean_in_system == pytest.approx(rate_per_ns * mean_latency_ns, rel=0.005)


@pytest.mark.parametrize("mechanism", MECHANISM_NAMES)
def test_cores_and_requests_are_neither_lost_nor_made(mechanism: str) -> None:
    workload = Workload("two", (WORKLOADS["indexserve"].primaries[0],) * 2)
    machine = Machine(workload, make_mechanism(mechanism), cores=14, seed=3)
    simulation = machine.simulation
    for _ in range(400):
        window = machine.advance(10**12)
        assert window is not None
        state = simulation.state()
        held = sum(state[name] for name in ("primary", "lending", "lent", "returning"))
        assert held == 14
        if mechanism.startswith(("cpu-idle", "strict")):
            assert state["elastic"] + state["idle"] == 14 - state["busy"]
        else:
            assert state["elastic"] == state["lent"] + state["returning"]
            assert state["idle"] == state["primary"] - state["busy"]
        assert state["lending"] + state["lent"] == 14 - simulation.primary_cores
        each = [simulation.primary(i) for i in range(2)]
        assert sum(one["arrived"] - one["completed"] for one in each) == state["in_system"]
        assert sum(one["active"] for one in each) == state["demand"]
        cores = (3 + 5 * window.seq) % 14
        simulation.post(simulation.now_ns + 1, Plan(window.seq, cores, 14))


def test_all_work_is_done_and_nothing_but_it() -> None:
    machine = run_alone(queue(4, 1000, Service("exponential", 1e6)), 200)
    work_ns = machine.simulation.primary(0)["work_ns"]
    assert machine.simulation.totals()["busy_core_ns"] == pytest.approx(work_ns, rel=1e-3)


def test_a_primary_never_runs_on_more_than_its_own_cores() -> None:
    crowded = Primary(2, Service("deterministic", 1e6), steady(1900), fork=(4, 4))
    modest = Primary(3, Service("deterministic", 1e6), steady(100))
    machine = run_alone(Workload("crowded", (crowded, modest)), 1)
    assert machine.simulation.totals()["busy_core_ns"] / 1e9 == pytest.approx(2.1, abs=0.1)
    # Its own crowd waits inside it: the other one's threads find a core at once.
    assert machine.simulation.wait_us(1.0) == 0
    assert machine.simulation.latency_us([0.99], 1)[0] == pytest.approx(1000, rel=1e-3)


def test_a_load_beyond_all_cores_is_refused() -> None:
    with pytest.raises(ConfigError, match="workload: queue: the queue only grows, 1 cores"):
        run_alone(queue(1, 1e7, Service("deterministic", 1e6)), 10)


def test_mmpp_and_batches_keep_the_long_run_mean() -> None:
    bursty = Primary(
        64, Service("deterministic", 1e3), steady(2000), arrivals="mmpp", multiplier=8.0,
        on_ns=5e6, off_ns=20e6, batch_mean=2.5,
    )  # fmt: skip
    machine = run_alone(Workload("bursty", (bursty,)), 200)
    assert machine.simulation.primary(0)["arrived"] / 200 == pytest.approx(2000, rel=0.03)


def test_a_schedule_is_followed_and_starts_again() -> None:
    square = Primary(
        4, Service("deterministic", 1e3), ((10**9, 100.0), (10**9, 0.0)), arrivals="deterministic"
    )
    machine = Machine(Workload("wave", (square,)), make_mechanism("instant"), cores=4, seed=1)
    seen = []
    for second in range(1, 7):
        while machine.advance(second * 10**9) is not None:
            pass
        seen.append(machine.simulation.primary(0)["arrived"])
    per_second = [after - before for before, after in zip([0, *seen], seen, strict=False)]
    assert [round(count / 100) for count in per_second] == [1, 0, 1, 0, 1, 0]


def test_a_trace_arrives_as_it_was_written() -> None:
    trace = Primary(
        4, Service("deterministic", 1e3), arrivals="trace",
        trace_ns=(5, 1_000_000, 1_000_000, 40_000_000), trace_period_ns=100_000_000,
    )  # fmt: skip
    machine = run_alone(Workload("trace", (trace,)), 0.22)
    assert machine.simulation.primary(0)["arrived"] == 4 + 4 + 3


def run_shared(
    sharing: Sharing, lent: int, workload: str = "memcached", seconds: float = 4.0
) -> Machine:
    mechanism = replace(make_mechanism("cpu-idle"), sharing=sharing)
    windows = round(seconds * 40)
    machine = Machine(
        {**WORKLOADS, **BURSTY}[workload], mechanism, cores=10, seed=1, given=[lent] * windows
    )
    machine.advance(round(seconds * 1e9))
    return machine


def test_a_batch_that_always_yields_is_not_felt_and_gets_all_that_is_idle() -> None:
    alone = run_alone(WORKLOADS["memcached"], 4)
    shared = run_shared(Sharing(0.0, 0.0), lent=10)
    quantiles = [0.5, 0.99, 0.999]
    assert shared.simulation.latency_us(quantiles) == alone.simulation.latency_us(quantiles)
    totals = shared.simulation.totals()
    assert totals["elastic_core_ns"] + totals["busy_core_ns"] == 10 * 4_000_000_000


@pytest.mark.parametrize("sharing", [Sharing(0.05, 0.0), Sharing(0.0, 1.0)])
def test_a_batch_that_does_not_yield_is_felt_the_less_the_less_it_may_use(
    sharing: Sharing,
) -> None:
    machines = [run_shared(sharing, lent, "fork-150us") for lent in (0, 5, 10)]
    waits_ns = [machine.simulation.totals()["wait_ns"] for machine in machines]
    assert waits_ns[0] < waits_ns[1] < waits_ns[2]


@pytest.mark.parametrize("mechanism", ["cpu-idle-7.3", "strict"])
@pytest.mark.parametrize("workload", ["two", "memcached", "fork-150us", "sender"])
def test_with_a_queue_for_each_core_nothing_is_lost_while_cores_come_and_go(
    workload: str, mechanism: str
) -> None:
    primaries = {**WORKLOADS, **BURSTY, "sender": SENDER}[workload]
    machine = Machine(
        primaries,
        make_mechanism(mechanism),
        cores=10,
        seed=3,
        given=[0, 9, 4, 8, 1, 9, 0] * 20,
        elastic_min=1,
        model=Model(late_ns=10_000, agent_ns=2_000_000, agent_every_ns=30_000_000),
    )
    simulation = machine.simulation
    for at_ns in range(25_000_000, 3_500_000_000, 10_000_000):
        machine.advance(at_ns)
        state = simulation.state()
        assert 9 <= state["elastic"] + state["idle"] + state["busy"] <= 10
        each = [simulation.primary(i) for i in range(len(primaries.primaries))]
        assert sum(one["arrived"] - one["completed"] for one in each) == state["in_system"]
        assert sum(one["active"] for one in each) == state["demand"]
        assert state["busy"] + state["ready"] == state["demand"]
    assert sum(one["completed"] for one in each) > 1000


SENDER = Workload(
    "sender",
    (
        Primary(
            20,
            Service("lognormal", 250e3, sigma=0.3),
            steady(9000.0),
            send_ns=80_000,
            wake_ns=40_000,
        ),
    ),
)


def run_queues(
    lent: int, name: str = "cpu-idle-7.3", workload: Workload = SENDER, spare: int = 2
) -> Machine:
    """Two seconds with so many cores lent all the time."""
    machine = Machine(workload, make_mechanism(name), cores=10, seed=1, given=[lent] * 80)
    machine.simulation.keep_spare(spare)
    machine.advance(2_000_000_000)
    return machine


def test_cpu_idle_on_7_3_costs_ticks_and_a_class_below_costs_little() -> None:
    alone, idle, strict = run_queues(0), run_queues(10), run_queues(10, "strict")
    p99_us = [one.simulation.latency_us([0.99])[0] for one in (alone, strict, idle)]
    assert p99_us[1] < 2 * p99_us[0] < 4_000 < p99_us[2]
    elastic_ns = [one.simulation.totals()["elastic_core_ns"] for one in (alone, strict, idle)]
    assert elastic_ns == sorted(elastic_ns)


def test_with_idle_cores_enough_threads_of_one_request_start_together() -> None:
    workload = WORKLOADS["indexserve"]
    one, each = run_alone(workload, 2), run_queues(0, workload=workload)
    p50_us = [machine.simulation.latency_us([0.5])[0] for machine in (one, each)]
    assert p50_us[1] == pytest.approx(p50_us[0], rel=0.01)


def test_cores_are_kept_idle_below_only_while_tasks_have_others() -> None:
    nobody = Workload("nobody", (Primary(10, Service("deterministic", 1e3), steady(0.001)),))
    assert run_queues(10, "strict", nobody).simulation.state()["elastic"] == 10
    state = run_queues(10, "strict").simulation.state()
    assert state["idle"] <= 4 or state["elastic"] == 0


@pytest.mark.parametrize("workload", [SENDER, WORKLOADS["memcached"]])
def test_the_more_cores_are_kept_idle_the_less_is_waited_and_the_less_the_batch_has(
    workload: Workload,
) -> None:
    kept = (0, 1, 2, 5)
    totals = [run_queues(10, "strict", workload, spare).simulation.totals() for spare in kept]
    waits_ns = [one["wait_ns"] for one in totals]
    batch_ns = [one["elastic_core_ns"] for one in totals]
    assert waits_ns == sorted(waits_ns, reverse=True)
    assert batch_ns == sorted(batch_ns, reverse=True)
    assert waits_ns[0] > 2 * waits_ns[2] > 0
    for spare, one in zip(kept, totals, strict=True):
        slack = 2 if spare else 0
        idle_ns = 10 * 2_000_000_000 - one["elastic_core_ns"] - one["busy_core_ns"]
        assert idle_ns <= (spare + slack + 0.5) * 2_000_000_000


def steadily(each_ms: int) -> Workload:
    """Four cores' worth of work."""
    service = Service("deterministic", each_ms * 1e6)
    return Workload("steadily", (Primary(10, service, steady(4_000 / each_ms)),))


@pytest.mark.parametrize(
    ("each_ms", "cores", "least", "most"),
    [(1, 10, 1.5, 3.2), (1000, 10, 0.9, 1.1), (1, 7, 1.1, 2.2)],
)
def test_more_than_are_kept_are_idle_below_only_where_cores_keep_changing_sides(
    each_ms: int, cores: int, least: float, most: float
) -> None:
    mechanism = make_mechanism("strict")
    machine = Machine(steadily(each_ms), mechanism, cores=cores, seed=1, given=[cores] * 400)
    machine.simulation.keep_spare(1)
    machine.advance(10_000_000_000)
    totals = machine.simulation.totals()
    idle = cores - (totals["elastic_core_ns"] + totals["busy_core_ns"]) / 10e9
    assert least < idle < most


def test_below_and_with_none_kept_idle_even_a_full_queue_is_taken_from() -> None:
    few = Primary(20, Service("deterministic", 100e3), steady(20_000.0))
    machine = run_queues(10, "strict", Workload("few", (few,)), spare=0)
    assert machine.simulation.wait_us(1.0) < 1e6
    assert machine.simulation.state()["in_system"] < 20


def test_a_thread_that_sends_is_what_requests_wait_for_as_it_gets_slower() -> None:
    def p50_us(send_ns: int) -> float:
        (primary,) = SENDER.primaries
        slower = Workload("slower", (replace(primary, send_ns=send_ns),))
        return float(run_queues(0, workload=slower).simulation.latency_us([0.5])[0])

    assert p50_us(0) < p50_us(80_000) < p50_us(160_000)


def told(workload: Workload, mechanism: str, lent: int) -> tuple[dict[str, dict[int, int]], int]:
    """Half a second with so many cores lent all the time. It returns the first primary's durations,
    as the simulated sensor tells them, and how many of its threads another one woke."""
    machine = Machine(workload, make_mechanism(mechanism), cores=10, seed=1, given=[lent] * 20)
    machine.advance(500_000_000)
    return machine.simulation.spans(0), machine.simulation.woken_by_own(0)


@pytest.mark.parametrize("mechanism", ["cpu-idle-kernel", "strict"])
@pytest.mark.parametrize("name", ["handed-over", "fanned-out"])
def test_threads_that_another_of_the_primarys_woke_are_told(name: str, mechanism: str) -> None:
    spans, woken_by_own = told(HELD_OUT[name], mechanism, lent=10)
    threads = sum(spans["lent"].values()) + sum(spans["not_lent"].values())
    assert 0.3 * threads < woken_by_own < 0.9 * threads
    assert told(WORKLOADS["moses"], mechanism, lent=10)[1] == 0


def test_waits_are_told_with_and_without_what_lending_added() -> None:
    spans, _ = told(WORKLOADS["indexserve"], "cpu-idle-kernel", lent=10)
    assert spans["harmed_waits"] == spans["waits"]
    assert sum(spans["unharmed_waits"].values()) == sum(spans["waits"].values())
    assert max(spans["unharmed_waits"]) < max(spans["waits"])
    assert not spans["waits_not_lent"]


def test_with_nothing_lent_no_wait_is_held_against_lending() -> None:
    spans, _ = told(WORKLOADS["indexserve"], "cpu-idle-kernel", lent=0)
    assert spans["waits_not_lent"]
    assert not any(spans[name] for name in ("waits", "harmed_waits", "unharmed_waits", "lent"))


def test_the_elastic_minimum_is_never_the_primaries_alone() -> None:
    mechanism = make_mechanism("cpu-idle")
    machine = Machine(WORKLOADS["moses"], mechanism, cores=10, seed=1, elastic_min=2)
    machine.advance(10_000_000)
    assert machine.simulation.state()["lent"] == 2
    with pytest.raises(ValueError, match="out of range"):
        Machine(WORKLOADS["moses"], make_mechanism("linux"), cores=10, seed=1, elastic_min=2)


def test_cores_that_are_shared_and_kept_again_leave_nothing_behind() -> None:
    mechanism = make_mechanism("cpu-idle-kernel")
    machine = Machine(
        WORKLOADS["indexserve"], mechanism, cores=10, seed=3, given=[0, 10, 4, 9, 1, 10, 0] * 20
    )
    for at_ns in range(25_000_000, 3_500_000_000, 10_000_000):
        machine.advance(at_ns)
        state = machine.simulation.state()
        assert state["lent"] + state["primary"] == 10
        assert state["elastic"] <= state["lent"]
        assert state["busy"] + state["idle"] + state["elastic"] == 10
    assert machine.simulation.totals()["stranded"] > 0
