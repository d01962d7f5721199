"""What is known of a way of sharing: lately, of all ways, and held against nothing lent."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Spans, Spent
from smartharvest.algorithm.policy.meter import LATELY_PERIODS, RECENT_LOOKS, Meter
from smartharvest.algorithm.policy.spans import Pairs
from tests.unit.algorithm.policy.test_spans import AWFUL, LONGER, USUAL

TOTAL = 10


def metered(*periods: Durations) -> Meter:
    meter = Meter(TOTAL, few=True)
    for taken in periods:
        meter.add(Spans(taken, (), USUAL), counts=True)
    return meter


def test_a_meter_tells_of_the_last_periods_of_the_way_in_force() -> None:
    meter = metered(AWFUL, *[USUAL] * (RECENT_LOOKS - 1))
    assert "P99" in meter.recently().too_long(0.1)
    meter.add(Spans(USUAL, (), USUAL), counts=True)
    assert not meter.recently().too_long(0.1)
    assert meter.recently().tells
    meter.begin()
    assert not meter.recently().tells


def test_a_period_of_another_way_counts_for_all_of_them_alone() -> None:
    meter = metered(USUAL)
    meter.add(Spans(AWFUL, (), USUAL), counts=False)
    assert not meter.recently().too_long(0.1)
    assert not meter.last().is_disaster(0.1)
    assert meter.lately().too_long(0.1)


@pytest.mark.parametrize(("cores", "said"), [(2, "of its wake-ups"), (7, "")])
def test_of_two_cores_the_median_is_one_by_number_whoever_wakes_whom(cores: int, said: str) -> None:
    usual: Durations = ((20_000, 4_500), (80_000, 1_000), (300_000, 4_500))
    taken: Durations = ((30_000, 4_500), (120_000, 1_000), (305_000, 4_500))
    meter = Meter(cores, few=True)
    meter.add(Spans(taken, (), usual, woken_by_own=9_000), counts=True)
    assert said in meter.recently().too_long(0.1)
    assert bool(meter.lately().too_long(0.1)) is bool(said)


@pytest.mark.parametrize("meet", [True, False])
def test_where_the_two_meet_nowhere_what_is_usual_is_no_disaster(meet: bool) -> None:
    meter = Meter(TOTAL, few=True, meet=meet)
    for _ in range(RECENT_LOOKS):
        meter.add(Spans((), AWFUL), counts=True)
    meter.begin()
    meter.add(Spans(AWFUL, (), USUAL), counts=True)
    assert meter.last().is_disaster(0.1) is meet


def test_what_was_long_ago_counts_little() -> None:
    meter = metered(LONGER)
    meter.fade(5_000)
    meter.add(Spans((), USUAL), counts=False)
    assert not meter.lately().too_long(0.1)


TAIL: Durations = ((100_000, 900), (260_000, 95), (520_000, 5))


def lent_after(idle: Durations, taken: Durations, periods: int = 0, *, meet: bool = True) -> Pairs:
    """Of three seconds of a way, so long after three with nothing lent."""
    meter = Meter(TOTAL, few=True, meet=meet)
    for _ in range(RECENT_LOOKS):
        meter.add(Spans((), idle), counts=True)
    meter.fade(periods)
    meter.begin()
    for _ in range(RECENT_LOOKS):
        meter.add(Spans(taken, (), USUAL), counts=True)
    return meter.recently()


def test_what_is_as_long_with_nothing_lent_is_nobodys_doing() -> None:
    assert lent_after(USUAL, TAIL).too_long(0.1)
    assert not lent_after(TAIL, TAIL).too_long(0.1)


def test_only_where_the_two_meet_nowhere_is_that_said_of_the_median() -> None:
    assert "P50" in lent_after(LONGER, LONGER).too_long(0.1)
    assert not lent_after(LONGER, LONGER, meet=False).too_long(0.1)
    assert lent_after(USUAL, LONGER, meet=False).too_long(0.1)


SERVED: Durations = ((10_000, 600), (500_000, 400))
"""Tasks that send, and others that work,"""
SENT_LATE: Durations = ((10_000, 570), (310_000, 30), (500_000, 400))
"""... and the same of which some that send have waited."""
WAITS: Durations = ((1_000, 970), (300_000, 30))
AT_ONCE: Durations = ((1_000, 1_000),)


OWN_WAKES = 480
"""So many of them a task of the same primary wakes."""


def requests(
    taken: Durations,
    without: Durations,
    waits: Durations,
    *,
    before: bool = True,
    own: int = OWN_WAKES,
) -> str:
    """What is too long of three seconds of a way that meets the primary nowhere; after three with
    nothing lent, or not."""
    meter = Meter(TOTAL, few=True, meet=False)
    for _ in range(RECENT_LOOKS if before else 0):
        meter.add(Spans((), SERVED, waits=AT_ONCE), counts=True)
    meter.begin()
    for _ in range(RECENT_LOOKS):
        meter.add(Spans(taken, (), without, waits=waits, woken_by_own=own), counts=True)
    return meter.recently().too_long(0.1, errors=2)


def met_requests(
    waits: Durations, without: Durations, *, cores: int = TOTAL, own: int = OWN_WAKES
) -> str:
    """The same of a way that meets the primary, of which the sensor tells the waits ``without``
    lending, too."""
    meter = Meter(cores, few=True)
    for _ in range(RECENT_LOOKS):
        spans = Spans(
            SENT_LATE, (), SERVED, harmed_waits=waits, unharmed_waits=without, woken_by_own=own
        )
        meter.add(spans, counts=True)
    return meter.recently().too_long(0.1, errors=2)


def test_waits_of_tasks_that_are_short_are_those_of_requests() -> None:
    assert "of its requests" in requests(SENT_LATE, SERVED, WAITS)


def test_of_requests_nothing_is_said_unless_all_waits_are_known_with_nothing_lent() -> None:
    assert not requests(SENT_LATE, SERVED, WAITS, before=False)
    assert not requests(SENT_LATE, SERVED, ())


def test_where_the_two_meet_waits_are_held_against_those_without_lending() -> None:
    assert "of its requests" in met_requests(WAITS, AT_ONCE)
    assert not met_requests(WAITS, WAITS)
    assert not met_requests(AT_ONCE, AT_ONCE)
    assert not met_requests((), ())


@pytest.mark.parametrize("own", [0, 90])
def test_where_no_task_wakes_another_none_is_waited_for(own: int) -> None:
    assert not requests(SENT_LATE, SERVED, WAITS, own=own)
    assert not met_requests(WAITS, AT_ONCE, own=own)
    assert "of its requests" in met_requests(WAITS, AT_ONCE, own=110)


def test_of_two_cores_that_meet_the_group_nothing_is_said_of_requests() -> None:
    assert not met_requests(WAITS, AT_ONCE, cores=2)


def test_work_that_takes_longer_by_itself_is_no_wait() -> None:
    longer: Durations = ((10_000, 600), (650_000, 400))
    assert not requests(longer, longer, AT_ONCE)
    assert "of its requests" in requests(longer, longer, WAITS)


def test_what_was_usual_under_more_load_says_nothing() -> None:
    twice = tuple((ns, 2 * count) for ns, count in TAIL)
    assert lent_after(twice, TAIL).too_long(0.1)


@pytest.mark.parametrize(
    ("answers_ns", "late"),
    [
        ([30_000], False),
        ([45_000], True),
        ([45_000] * 9 + [30_000] * 99, True),
        ([45_000] * 9 + [20_000] * 99, False),
    ],
)
def test_idle_cores_that_answered_late_do_so_until_they_answer_much_earlier(
    answers_ns: list[int], late: bool
) -> None:
    meter = Meter(2, few=True)
    for answer_ns in answers_ns:
        meter.add(Spans(USUAL, (), USUAL, idle_answer_ns=answer_ns), counts=True)
    assert meter.idles_late is late
    meter.begin()
    assert meter.idles_late is late


def test_what_was_usual_long_ago_says_nothing() -> None:
    assert lent_after(TAIL, TAIL, periods=LATELY_PERIODS).too_long(0.1)


def test_a_median_is_held_against_the_same_tasks_alone() -> None:
    assert "P50" in lent_after(LONGER, LONGER).too_long(0.1)


@pytest.mark.parametrize(
    ("cores", "meet", "longer"), [(2, True, 7.1), (2, False, 0.036), (TOTAL, True, 0.036)]
)
def test_a_rest_compares_the_medians_of_the_way_and_of_nothing_lent(
    cores: int, meet: bool, longer: float
) -> None:
    meter = Meter(cores, few=True, meet=meet)
    without: Durations = ((10_000, 510), (250_000, 490))
    taken: Durations = ((10_000, 490), (260_000, 510))
    meter.add(Spans(taken, (), without), counts=True)
    meter.begin_rest()
    meter.add(Spans((), without), counts=True)
    assert meter.end_rest(0).mean == pytest.approx(longer, rel=0.25)


@pytest.mark.parametrize(("few", "looks"), [(True, 12), (False, 6)])
def test_where_cores_are_few_rests_together_tell_what_is_usual_else_the_last_one(
    few: bool, looks: int
) -> None:
    meter = Meter(TOTAL, few=few)
    for _ in range(2):
        meter.begin_rest()
        for _ in range(6):
            meter.add(Spans((), USUAL), counts=True)
        meter.end_rest(0)
        meter.add(Spans(USUAL, (), USUAL), counts=True)
    assert meter.usual_looks == looks


@pytest.mark.parametrize("lends", [True, False])
def test_a_look_at_no_task_tells_what_is_usual_only_with_nothing_lent(lends: bool) -> None:
    meter = Meter(TOTAL, few=True)
    meter.add(Spans((), USUAL), counts=True, lends=False)
    meter.add(Spans((), ()), counts=True, lends=lends)
    assert meter.usual_looks == (1 if lends else 2)


@pytest.mark.parametrize(("few", "said"), [(True, False), (False, True)])
def test_of_many_cores_the_last_three_seconds_count_however_few_looks_they_were(
    few: bool, said: bool
) -> None:
    meter = Meter(TOTAL, few=few)
    for _ in range(RECENT_LOOKS - 10):
        meter.add(Spans(USUAL, (), USUAL), counts=True, periods=3)
    for _ in range(10):
        meter.add(Spans(LONGER, (), USUAL), counts=True, periods=3)
    assert (
        meter.recently().too_long(0.1) == metered(*[LONGER] * 10).recently().too_long(0.1)
    ) is said


def test_what_was_spent_is_of_the_last_minute_and_nothing_once_nobody_has_looked_for_one() -> None:
    meter = metered(*[LONGER] * RECENT_LOOKS)
    spent = meter.spent(0)
    assert spent.p50 is not None
    assert 0.1 < spent.p50 < 0.3
    assert (spent.rests, spent.by_rests) == (0, None)
    meter.fade(LATELY_PERIODS)
    assert meter.spent(0) == Spent(0.1, 0.0, 0.0, 0.0)
