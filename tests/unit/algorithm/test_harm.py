"""What lending costs a primary: two sides of dispatches, compared."""

from __future__ import annotations

import json

from smartharvest.algorithm.harm import LEAST, Harm, HarmSide, in_words, quantile


def side(count: int, *, factor: int = 1, **more: int) -> HarmSide:
    """``count`` wake-ups of 1 to 100 us, ``factor`` times as long."""
    spans = tuple((1000 * factor * (i + 1), count // 100) for i in range(100))
    return HarmSide(waits=((500, count),), wakes_to_sleeps=spans, **more)


def test_a_quantile_is_the_middle_of_the_bucket_that_holds_it() -> None:
    assert quantile((), 0.5) == 0
    assert quantile(((10, 1), (20, 98), (30, 1)), 0.0) == 10
    assert quantile(((10, 1), (20, 98), (30, 1)), 0.5) == 20
    assert quantile(((10, 1), (20, 98), (30, 1)), 1.0) == 30


def test_what_is_lent_is_compared_with_what_is_not() -> None:
    harm = Harm(lent=side(1000, factor=2), not_lent=side(1000))
    assert harm.longer == {"p50": 2.0, "p95": 2.0, "p99": 2.0}


def test_too_few_are_not_compared() -> None:
    assert Harm(lent=side(1000), not_lent=side(LEAST - 100)).longer is None
    assert Harm().longer is None


def test_two_times_add_up() -> None:
    one = Harm(lent=side(100, long_waits=3, behind_elastic=2, here=1, agent_ns=5, wait_ns=50))
    both = one.plus(one.plus(Harm(not_lent=side(100), lost=4)))
    assert both.lent.dispatches == both.lent.wakes == 200
    assert (both.lent.long_waits, both.lent.behind_elastic, both.lent.here) == (6, 4, 2)
    assert (both.lent.wait_ns, both.lent.agent_ns, both.lost) == (100, 10, 4)
    assert both.lent.wakes_to_sleeps[0] == (1000, 2)
    assert both.not_lent.dispatches == 100


def test_its_description_is_json_with_shares_of_the_dispatches() -> None:
    harm = Harm(lent=side(1000, behind_elastic=5, here=1, wait_ns=100, agent_ns=25))
    seen = json.loads(json.dumps(harm.describe()))
    assert seen["lent"]["behind_elastic_share"] == 0.005
    assert seen["lent"]["behind_elastic_here_share"] == 0.001
    assert seen["lent"]["agent_share"] == 0.25
    assert seen["lent"]["wake_to_sleep_us"] == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert seen["not_lent"]["dispatches"] == 0
    assert seen["longer"] is None


def test_it_is_told_in_words() -> None:
    lent = side(1000, factor=2, behind_elastic=5, here=1)
    assert in_words(Harm(lent, side(1000)).describe()) == (
        "p95 x2.00, p99 x2.00 of not lent; behind elastic tasks 0.50% of 1000 dispatches, 0.10% "
        "on their own CPU"
    )
    assert in_words(Harm(lent).describe()).endswith("; too few to compare")
    assert in_words(Harm(not_lent=lent).describe()) == "no dispatch while something was lent"
