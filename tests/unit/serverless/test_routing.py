from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.routing import Nodes, Replica
from smartharvest.serverless.view import Caution

CAUTION = Caution(fresh_s=3, lost_s=15)
SEQ = itertools.count()


def report(cores: float, **more: Any) -> dict[str, Any]:
    made = {"seq": next(SEQ), "evict_in_s": None, "cores": cores, "guaranteed": 1, "age_s": 0.0}
    return {"smartharvest": made | more}


def replica(name: str, stats: dict[str, Any], *models: str, slots: int = 8) -> Replica:
    """Named by its node: ``a1`` is on node a. Its handle is its name."""
    return Replica(name, name, name[0], stats, models, slots)


def shortest() -> Nodes:
    return Nodes(ShortestQueue(lambda _: 0, CAUTION), CAUTION)


def min_worker_set() -> Nodes:
    return Nodes(MinWorkerSet(caution=CAUTION), CAUTION)


def send(nodes: Nodes, now_s: float, model: str = "") -> str:
    """The replica that a request goes to."""
    ranks = nodes.choose(model, now_s)
    assert ranks is not None
    nodes.sent(ranks[0][0])
    return str(ranks[0][0])


def test_requests_are_spread_by_cores() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(6), slots=20), replica("b1", report(2))], {}, 0)
    sent = [send(nodes, 0.1) for _ in range(16)]
    assert sent.count("a1") == 12


def test_replicas_of_a_node_share_its_cores() -> None:
    nodes = shortest()
    reports = report(2), report(2), report(4)
    nodes.update([*map(replica, ("a1", "a2", "b1"), reports)], {}, 0)
    ranks = nodes.choose("", 0)
    assert ranks == [["b1"], ["a1", "a2"]]


def test_a_function_stays_on_few_nodes_until_they_are_full() -> None:
    nodes = min_worker_set()
    nodes.update([replica(f"{node}1", report(3)) for node in "abcd"], {}, 0)
    for _ in range(20):
        home = send(nodes, 0.1)
        nodes.ended(home)
    assert {send(nodes, 0.2) for _ in range(3)} == {home}
    assert send(nodes, 0.3) != home


def test_a_notice_drains_a_node_and_its_end_brings_it_back() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(9, evict_in_s=30.0)), replica("b1", report(1))], {}, 0)
    assert nodes.choose("", 0) == [["b1"]]
    nodes.update([replica("a1", report(9)), replica("b1", report(1))], {}, 1)
    assert nodes.choose("", 1) == [["a1"], ["b1"]]


def test_with_a_notice_everywhere_nobody_is_chosen() -> None:
    nodes = min_worker_set()
    nodes.update([replica("a1", report(9, evict_in_s=30.0))], {}, 0)
    assert nodes.choose("", 0) is None


def test_replicas_with_the_model_come_first_on_their_node_and_their_node_too() -> None:
    nodes = min_worker_set()
    nodes.update(
        [
            replica("a1", report(2), "other"),
            replica("b1", report(2)),
            replica("b2", report(2), "cats"),
        ],
        {},
        0,
    )
    assert nodes.choose("cats", 0) == [["b2"], ["b1"], ["a1"]]


def test_a_node_without_a_free_slot_is_full_whatever_its_cores() -> None:
    nodes = min_worker_set()
    nodes.update([replica("a1", report(8), slots=1), replica("b1", report(2), slots=1)], {}, 0)
    assert {send(nodes, 0.1), send(nodes, 0.1)} == {"a1", "b1"}


def test_old_reports_count_less_and_lost_ones_as_the_minimum() -> None:
    nodes = shortest()
    old, new = replica("a1", report(8)), replica("b1", report(2))
    nodes.update([old, new], {}, 0)
    assert nodes.choose("", 2) == [["a1"], ["b1"]]
    nodes.update([old, replica("b1", report(2))], {}, 13.9)  # a1 repeats what it said
    assert nodes.choose("", 14) == [["b1"], ["a1"]]
    assert nodes.blind(14) is None
    assert nodes.blind(29) == "the last report is 15 s old"


def test_a_report_that_was_old_when_it_came_is_taken_as_old() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(8, age_s=14.0)), replica("b1", report(2))], {}, 0)
    assert nodes.choose("", 0.1) == [["b1"], ["a1"]]


@pytest.mark.parametrize(
    "stats",
    [
        {},
        {"smartharvest": None},
        {"smartharvest": {"seq": 1, "why": "No agent is running"}},
        {"smartharvest": {"seq": 1, "cores": float("nan"), "guaranteed": 1}},
        {"smartharvest": {"seq": 1, "cores": "4", "guaranteed": 1}},
        {"smartharvest": {"seq": 1, "cores": -4, "guaranteed": 1}},
        {"smartharvest": {"seq": "1", "cores": 4, "guaranteed": 1}},
    ],
)
def test_without_a_usable_report_the_router_is_blind_and_knows_why(stats: dict[str, Any]) -> None:
    nodes = shortest()
    nodes.update([replica("a1", stats)], {}, 0)
    assert nodes.blind(0)
    nodes.update([replica("a1", stats), replica("b1", report(2))], {}, 1)
    assert nodes.blind(1) is None
    assert nodes.choose("", 1) == [["b1"], ["a1"]]


def test_an_agent_that_dies_takes_its_cores_along_at_once() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(8))], {}, 0)
    nodes.update([replica("a1", {"smartharvest": {"seq": next(SEQ), "why": "dead"}})], {}, 1)
    assert nodes.blind(1) == "dead"


def test_load_that_others_make_counts() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(4, load=4.0)), replica("b1", report(4, load=0.0))], {}, 0)
    assert [send(nodes, 0.1) for _ in range(4)] == ["b1"] * 4
    assert send(nodes, 0.1) == "a1"


def test_choices_count_before_they_are_sent_and_no_longer_if_they_never_are() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(2)), replica("b1", report(2))], {}, 0)
    chosen = [(nodes.choose("", 0.1) or [[]])[0][0] for _ in range(4)]
    assert sorted(chosen) == ["a1", "a1", "b1", "b1"]
    nodes.choose("", 1)
    assert sum(worker.load for worker in nodes.workers.values()) == 1


def test_counts_end_where_they_began() -> None:
    nodes = shortest()
    nodes.update([replica("a1", report(2)), replica("b1", report(2))], {}, 0)
    sent = [send(nodes, 0.1) for _ in range(9)]
    for one in sent:
        nodes.ended(one)
    nodes.ended("a1")
    nodes.ended("gone")
    nodes.sent("gone")
    assert [worker.load for worker in nodes.workers.values()] == [0, 0]
    nodes.counted("a1", 5)
    assert [worker.load for worker in nodes.workers.values()] == [5, 0]


def test_a_replica_that_goes_takes_its_requests_along() -> None:
    nodes = shortest()
    both = [replica("a1", report(2)), replica("a2", report(2))]
    nodes.update(both, {"a1": 3, "a2": 1}, 0)
    assert nodes.workers["a"].load == 4
    nodes.update(both[1:], {}, 1)
    assert nodes.workers["a"].load == 1
    nodes.update([], {}, 2)
    assert nodes.choose("", 2) is None
    assert nodes.blind(2) == "there is no replica"


def test_a_model_is_taken_to_be_where_it_was_sent_until_a_report_has_it() -> None:
    nodes = Nodes(MinWorkerSet(caution=CAUTION, cold_cost=4.0), CAUTION)
    pool = [replica("a1", report(4)), replica("b1", report(4))]
    nodes.update(pool, {}, 0)
    home = send(nodes, 0.0, "cats")[0]
    assert "cats" in nodes.workers[home].warm
    assert [send(nodes, 0.1, "cats")[0] for _ in range(6)] == [home] * 6
    nodes.update(pool, {}, 1.0)
    assert "cats" in nodes.workers[home].warm
    nodes.update(pool, {}, 3.0)
    assert "cats" not in nodes.workers[home].warm


@pytest.mark.parametrize(
    ("said", "most_warm"),
    [((3, 3), 7), ((3, None), math.inf), ((3, "3"), math.inf), ((-1, 3), math.inf)],
)
def test_replicas_say_how_many_models_they_keep(said: tuple[Any, Any], most_warm: float) -> None:
    nodes = min_worker_set()
    reports = [report(4) if most is None else report(4, models_most=most) for most in said]
    nodes.update([*map(replica, ("a1", "a2"), reports)], {}, 0)
    assert nodes.workers["a"].most_warm == most_warm  # those of both, and the deployment itself
