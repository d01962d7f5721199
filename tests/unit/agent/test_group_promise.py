"""What each of several elastic groups is promised."""

from __future__ import annotations

from smartharvest.agent.group_promise import KEYS, GroupCores, GroupPromises, of_one_group
from smartharvest.agent.promise import LEAST_JUDGED, STEP_NS, HarvestMonitor, explain_capacity

TWO = [GroupCores("one", "cgroup:b/one", 2, 1, 4), GroupCores("two", "cgroup:b/two", 3, 0, 8)]
SECONDS = LEAST_JUDGED + 5


def stepped() -> GroupPromises:
    promises = GroupPromises(2, 0.5)
    for second in range(SECONDS):
        promises.step(second * STEP_NS, [("one", 1, 2.0), ("two", 0, 3.0)])
    return promises


def test_each_group_is_promised_what_it_had() -> None:
    one, two = stepped().describe(SECONDS * STEP_NS, TWO, None)
    assert (one["name"], one["target"]) == ("one", "cgroup:b/one")
    assert one["cores"] == {"now": 2, "guaranteed": 1, "promised": 2, "most": 4}
    assert two["cores"] == {"now": 3, "guaranteed": 0, "promised": 3, "most": 8}
    assert one.keys() == {"name", "target", *KEYS}


def test_what_is_withdrawn_is_withdrawn_from_each() -> None:
    promises = stepped()
    one, two = promises.describe(SECONDS * STEP_NS, TWO, "paused by the operator")
    assert (one["cores"]["promised"], two["cores"]["promised"]) == (1, 0)
    assert (one["shrink_notice"]["from"], one["shrink_notice"]["to"]) == (2, 1)


def test_a_group_that_the_operator_holds_is_promised_no_more_and_the_others_go_on() -> None:
    promises = stepped()
    one, two = promises.describe(SECONDS * STEP_NS, TWO, None, held={"two": "paused"})
    assert two["cores"]["promised"] == 0
    assert (one["withdrawn"], two["withdrawn"]) == (None, "paused by the operator")
    one, two = promises.describe(SECONDS * STEP_NS, TWO, None, held={"one": "evicted"})
    assert one["cores"] == {"now": 1, "guaranteed": 0, "promised": 0, "most": 4}
    assert two["cores"]["promised"] == 3
    node = HarvestMonitor(1, 10, 0.9).describe(0, 4, 8)
    lines = explain_capacity(node | {"groups": [one, two]})
    assert lines[1].endswith("4 at most); evicted by the operator")
    one, _ = promises.describe(SECONDS * STEP_NS, TWO, None)
    assert one["cores"]["promised"] == 2


def test_a_new_group_is_promised_its_minimum_and_the_others_go_on() -> None:
    promises = stepped()
    new = GroupCores("new", "cgroup:b/new", 0, 1, 4)
    promises.step(SECONDS * STEP_NS, [("one", 1, 2.0), ("new", 1, 0.0)])
    one, made = promises.describe(SECONDS * STEP_NS, [TWO[0], new], None)
    assert one["cores"]["promised"] == 2
    assert made["cores"] == {"now": 0, "guaranteed": 1, "promised": 1, "most": 4}


def test_a_single_group_has_what_the_node_has() -> None:
    node = HarvestMonitor(1, 10, 0.9).describe(0, 2, 4)
    (one,) = of_one_group(node, "cgroup:batch", "cgroup:batch")
    assert one["cores"] == node["cores"]


def test_the_explanation_has_a_line_for_each_of_several_groups() -> None:
    node = HarvestMonitor(1, 10, 0.9).describe(0, 4, 8)
    groups = stepped().describe(SECONDS * STEP_NS, TWO, None)
    lines = explain_capacity(node | {"groups": groups})
    assert lines[1] == "for one: 2 cores (1 guaranteed; 2 there now, 4 at most)"
    assert lines[2].startswith("for two: 3 cores")
    one = of_one_group(node, "cgroup:batch", "cgroup:batch")
    assert not any(line.startswith("for ") for line in explain_capacity(node | {"groups": one}))
