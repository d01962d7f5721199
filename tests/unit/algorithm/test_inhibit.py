from __future__ import annotations

from smartharvest.algorithm.inhibit import InhibitReasons


def test_each_cause_has_its_reason_and_is_counted_when_it_comes_up() -> None:
    reasons = InhibitReasons()
    assert reasons.reason is None
    assert reasons.set("host", "CPU 3 is offline")
    assert not reasons.set("host", "CPUs 3 and 4 are offline")
    assert not reasons.set("guardian", "no guardian")
    assert reasons.reason == "CPUs 3 and 4 are offline; no guardian"
    reasons.set("host", None)
    assert reasons.reason == "no guardian"
    reasons.set("guardian", None)
    assert reasons.reason is None
    assert reasons.set("host", "again")
    assert reasons.counts == {"host": 2, "guardian": 1}


def test_what_never_came_up_can_go() -> None:
    reasons = InhibitReasons()
    assert not reasons.set("host", None)
    assert reasons.counts == {}
