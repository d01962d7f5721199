from __future__ import annotations

from smartharvest.algorithm.inhibit import Rest


def test_each_cause_has_its_reason_and_is_counted_when_it_comes_up() -> None:
    rest = Rest()
    assert rest.reason is None
    assert rest.because("host", "CPU 3 is offline")
    assert not rest.because("host", "CPUs 3 and 4 are offline")
    assert not rest.because("guardian", "no guardian")
    assert rest.reason == "CPUs 3 and 4 are offline; no guardian"
    rest.because("host", None)
    assert rest.reason == "no guardian"
    rest.because("guardian", None)
    assert rest.reason is None
    assert rest.because("host", "again")
    assert rest.counts == {"host": 2, "guardian": 1}


def test_what_never_came_up_can_go() -> None:
    rest = Rest()
    assert not rest.because("host", None)
    assert rest.counts == {}
