"""Balancers: who runs an invocation, given what is known of the workers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from smartharvest.serverless.balancers import BALANCER_NAMES, Balancer, make_balancer
from smartharvest.serverless.balancers.home_invoker import coprimes
from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.view import (
    Caution,
    Function,
    Worker,
    crowding,
    home_hash,
    trusted_cores,
)

RESIZE = Function("resize", memory_mib=128)
AWARE = ("mws", "jsq", "p2c")
"""Those that see cores and notices; vanilla OpenWhisk is blind to both."""


def pool(*cores: float, **more: float) -> dict[str, Worker]:
    return {
        f"w{i}": Worker(f"w{i}", cores=one, min_cores=1, reported_s=0, **more)  # type: ignore[arg-type]
        for i, one in enumerate(cores)
    }


def make(name: str, seed: int = 1) -> Balancer:
    return make_balancer(name, random.Random(seed).randrange)


def send(balancer: Balancer, workers: dict[str, Worker], count: int) -> list[str]:
    """Invocations that begin and do not end."""
    chosen = []
    for _ in range(count):
        name = balancer.choose(RESIZE, workers, 0.0)
        assert name is not None
        workers[name].load += 1
        workers[name].busy_memory_mib += RESIZE.memory_mib
        chosen.append(name)
    return chosen


@pytest.mark.parametrize("name", BALANCER_NAMES)
def test_nobody_is_chosen_without_workers(name: str) -> None:
    assert make(name).choose(RESIZE, {}, 0.0) is None


@pytest.mark.parametrize("name", BALANCER_NAMES)
def test_an_only_worker_is_chosen_however_full(name: str) -> None:
    workers = pool(2, load=50, memory_mib=64)
    assert make(name).choose(RESIZE, workers, 0.0) == "w0"


@pytest.mark.parametrize("name", AWARE)
def test_a_worker_with_a_notice_gets_nothing_more(name: str) -> None:
    workers = pool(2, 2, 2)
    workers["w1"].eviction_s = 30.0
    assert "w1" not in send(make(name), workers, 40)


@pytest.mark.parametrize("name", AWARE)
def test_nobody_is_chosen_when_each_has_a_notice(name: str) -> None:
    workers = pool(2, 2)
    for worker in workers.values():
        worker.eviction_s = 30.0
    assert make(name).choose(RESIZE, workers, 0.0) is None


@pytest.mark.parametrize("name", ["mws", "jsq"])
def test_load_follows_the_cores(name: str) -> None:
    workers = pool(2, 6)
    send(make(name), workers, 16)
    assert (workers["w0"].load, workers["w1"].load) == (4, 12)


@pytest.mark.parametrize("name", AWARE)
def test_a_worker_whose_reports_are_missing_gets_what_it_is_promised_and_no_more(name: str) -> None:
    workers = pool(8, 8, 8)
    workers["w2"].reported_s = -60.0
    chosen = send(make(name), workers, 34)
    assert 1 <= chosen.count("w2") <= 4


@pytest.mark.parametrize("name", BALANCER_NAMES)
def test_with_no_report_at_all_work_goes_on(name: str) -> None:
    workers = {n: Worker(n, cores=0) for n in ("a", "b", "c")}
    assert len(send(make(name), workers, 9)) == 9


@pytest.mark.parametrize("name", AWARE)
def test_a_worker_without_cores_is_the_last_resort(name: str) -> None:
    workers = pool(0, 4)
    assert set(send(make(name), workers, 20)) == {"w1"}


@pytest.mark.parametrize("name", AWARE)
def test_a_worker_with_memory_is_preferred_to_an_emptier_one_without(name: str) -> None:
    workers = pool(8, 8)
    workers["w0"].memory_mib = 100
    workers["w1"].load = 6
    assert make(name).choose(RESIZE, workers, 0.0) == "w1"


@pytest.mark.parametrize("name", BALANCER_NAMES)
def test_the_same_seed_makes_the_same_choices(name: str) -> None:
    first, second = (send(make(name, 7), pool(4, 4, 4, 4), 100) for _ in range(2))
    assert first == second


def test_a_report_is_trusted_less_as_it_ages() -> None:
    worker = Worker("w", cores=10, min_cores=2, reported_s=0)
    caution = Caution(fresh_s=2, lost_s=10)
    seen = [trusted_cores(worker, now_s, caution) for now_s in (-1, 0, 2, 6, 10, 99)]
    assert seen == [10, 10, 10, 6, 2, 2]


def test_an_aged_report_never_promises_more_than_it_said() -> None:
    worker = Worker("w", cores=1, min_cores=4, reported_s=0)
    assert trusted_cores(worker, 1e9) == 1


def test_crowding_without_cores_is_infinite() -> None:
    assert crowding(Worker("w", cores=0), 0.0) == float("inf")


# --- Min-Worker-Set ---------------------------------------------------------------------------


def test_a_function_stays_on_one_worker_while_that_has_room() -> None:
    workers = pool(4, 4, 4)
    balancer = MinWorkerSet()
    for _ in range(20):
        assert len(set(send(balancer, workers, 4))) == 1
        for worker in workers.values():
            worker.load = worker.busy_memory_mib = 0
    assert len(balancer.members("resize")) == 1


def test_the_set_grows_by_one_when_it_is_full() -> None:
    balancer = MinWorkerSet()
    chosen = send(balancer, pool(4, 4, 4), 5)
    assert len(set(chosen[:4])) == 1
    assert chosen[4] != chosen[0]
    assert len(balancer.members("resize")) == 2


def test_the_set_grows_where_the_function_is_warm_first() -> None:
    workers = pool(1, 1, 1, 1)
    balancer = MinWorkerSet()
    (first,) = send(balancer, workers, 1)
    warm = next(name for name in workers if name != first)
    workers[warm].load, workers[warm].cores, workers[warm].warm = 3, 5, {"resize"}
    assert send(balancer, workers, 1) == [warm]


def test_a_member_that_is_warm_goes_before_one_that_is_not() -> None:
    workers = pool(2, 2)
    balancer = MinWorkerSet()
    first, _, second = send(balancer, workers, 3)
    for worker in workers.values():
        worker.load = worker.busy_memory_mib = 0
    workers[second].warm = {"resize"}
    assert first != second
    assert send(balancer, workers, 1) == [second]


def test_a_member_that_is_not_needed_leaves_the_set() -> None:
    workers = pool(2, 2)
    balancer = MinWorkerSet(forget_s=10)
    first = send(balancer, workers, 3)[0]
    for worker in workers.values():
        worker.load = worker.busy_memory_mib = 0
    for now_s in (5.0, 10.0, 15.0):
        assert balancer.choose(RESIZE, workers, now_s) == first
    assert list(balancer.members("resize")) == [first]


def test_a_member_that_went_or_has_a_notice_leaves_the_set() -> None:
    workers = pool(1, 1, 1)
    balancer = MinWorkerSet()
    a, b, c = send(balancer, workers, 3)
    del workers[a]
    workers[b].eviction_s = 30.0
    assert balancer.choose(RESIZE, workers, 0.0) == c
    assert list(balancer.members("resize")) == [c]


def test_with_every_worker_equally_full_the_set_does_not_grow() -> None:
    workers = pool(4, 4, load=8)
    balancer = MinWorkerSet()
    send(balancer, workers, 4)
    assert len(balancer.members("resize")) == 1


def test_with_every_worker_full_the_set_grows_to_one_that_is_much_emptier() -> None:
    workers = pool(1, 1, load=1)
    balancer = MinWorkerSet()
    (first,) = send(balancer, workers, 1)
    (second,) = send(balancer, workers, 1)
    assert first != second


def test_a_hot_function_uses_all_cores_before_any_is_shared() -> None:
    workers = pool(4, 4, 4, 4)
    send(MinWorkerSet(), workers, 16)
    assert {worker.load for worker in workers.values()} == {4}


def test_functions_begin_at_different_homes() -> None:
    workers = pool(*[4.0] * 16)
    balancer = MinWorkerSet()
    chosen = {balancer.choose(Function(f"f{i}"), workers, 0.0) for i in range(32)}
    assert len(chosen) > 8


# --- vanilla OpenWhisk ------------------------------------------------------------------------


def test_the_home_invoker_is_the_same_for_every_invocation() -> None:
    workers = pool(4, 4, 4, 4, 4)
    home = f"w{home_hash('resize') % 5}"
    assert set(send(make("vanilla"), workers, 10)) == {home}


def test_from_the_home_on_the_next_invoker_with_a_slot_takes_it() -> None:
    workers = pool(4, 4, 4, 4, 4, memory_mib=256)
    chosen = send(make("vanilla"), workers, 10)
    assert sorted(chosen) == sorted([*workers] * 2)


def test_with_all_slots_taken_the_choice_is_by_chance() -> None:
    workers = pool(4, 4, 4, 4, 4, memory_mib=128)
    assert len(set(send(make("vanilla"), workers, 60)[5:])) == 5


def test_vanilla_is_blind_to_cores() -> None:
    workers = pool(4, 4, 4)
    workers[f"w{home_hash('resize') % 3}"].cores = 0
    assert set(send(make("vanilla"), workers, 10)) == {f"w{home_hash('resize') % 3}"}


def test_an_invoker_that_no_longer_pings_is_passed_over() -> None:
    workers = pool(4, 4, 4)
    home = f"w{home_hash('resize') % 3}"
    workers[home].reported_s = -11.0
    assert home not in send(make("vanilla"), workers, 10)


def test_steps_are_coprime_to_the_invokers_and_to_one_another() -> None:
    assert coprimes(1) == [1]
    assert coprimes(10) == [1, 3, 7]


def test_an_unknown_balancer_is_refused() -> None:
    with pytest.raises(ValueError, match="no balancer"):
        make("round-robin")


def warm_and_cold(load: float) -> dict[str, Worker]:
    """``resize`` is warm on w0, which has ``load`` on its two cores; w1 and w2 are idle."""
    workers = pool(2, 2, 2)
    workers["w0"].load = load
    workers["w0"].warm = {"resize"}
    workers["w1"].warm = workers["w2"].warm = {"other"}
    return workers


@pytest.mark.parametrize(("load", "leaves"), [(1, False), (2, False), (8, False), (11, True)])
def test_a_warm_worker_is_left_only_for_more_than_a_cold_start_costs(
    load: float, leaves: bool
) -> None:
    aware = MinWorkerSet(cold_cost=4.0)
    shortest = ShortestQueue(lambda _: 0, cold_cost=4.0)
    assert (aware.choose(RESIZE, warm_and_cold(load), 0.0) != "w0") is leaves
    blind = MinWorkerSet()
    assert (blind.choose(RESIZE, warm_and_cold(load), 0.0) != "w0") is (load > 1)
    # A queue of eleven invocations on two cores is longer than one that counts five times.
    assert (shortest.choose(RESIZE, warm_and_cold(load), 0.0) != "w0") is (load > 4)


def test_a_cold_start_goes_where_the_fewest_functions_are_warm() -> None:
    workers = pool(2, 2, 2)
    for worker, warm in zip(workers.values(), ("ab", "a", "abc"), strict=True):
        worker.warm = set(warm)
    for name in ("one", "two", "three", "four"):
        function = Function(name, memory_mib=1)
        assert MinWorkerSet(cold_cost=4.0).choose(function, workers, 0.0) == "w1"


@pytest.mark.parametrize(
    ("make_with", "few", "many"),
    [(MinWorkerSet, 11, 20), (lambda **k: ShortestQueue(lambda _: 0, **k), 5, 9)],
)
@pytest.mark.parametrize(
    ("most_warm", "are_many", "leaves"),
    [(2, False, True), (1, False, False), (1, True, True), (0, True, False)],
)
def test_a_cold_start_costs_those_too_that_it_displaces_or_waits_for(
    make_with: Callable[..., Balancer],
    few: float,
    many: float,
    most_warm: float,
    are_many: bool,
    leaves: bool,
) -> None:
    workers = warm_and_cold(many if are_many else few)
    for worker in workers.values():
        worker.most_warm = most_warm
    assert (make_with(cold_cost=4.0).choose(RESIZE, workers, 0.0) != "w0") is leaves


def test_with_a_cost_of_cold_starts_notices_memory_and_missing_cores_still_count() -> None:
    balancer = MinWorkerSet(cold_cost=4.0)
    workers = pool(2, 2, 0)
    workers["w0"].eviction_s = 30.0
    assert balancer.choose(RESIZE, workers, 0.0) == "w1"
    workers["w1"].memory_mib = 0.0
    assert balancer.choose(RESIZE, workers, 0.0) == "w2"
    assert balancer.choose(RESIZE, {}, 0.0) is None
    for worker in workers.values():
        worker.eviction_s = 30.0
    assert balancer.choose(RESIZE, workers, 0.0) is None


@pytest.mark.parametrize("make_with", [MinWorkerSet, lambda **k: ShortestQueue(abs, **k)])
def test_a_cold_start_costs_nothing_or_more(make_with: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="cold_cost"):
        make_with(cold_cost=-1.0)
