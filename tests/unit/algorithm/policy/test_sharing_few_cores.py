"""The policy that moves between ways of sharing, where cores are few."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy import rests
from smartharvest.algorithm.policy.adaptive import TRIAL_PERIODS
from smartharvest.algorithm.policy.judge import LEAST_USUAL_LOOKS
from smartharvest.algorithm.policy.ways import Way
from tests.unit.algorithm.policy.sharing_host import (
    AWFUL,
    TOTAL,
    USUAL,
    WORSE,
    Host,
    harmless,
    hurt_by,
)


@pytest.mark.parametrize(("total", "waits"), [(2, True), (TOTAL, False)])
def test_of_few_cores_what_is_usual_is_known_before_a_trial(total: int, waits: bool) -> None:
    host = Host(harmless, total=total)
    host.run(10)
    first = next(at for at, way in enumerate(host.periods) if way != "nothing")
    assert (first >= LEAST_USUAL_LOOKS) is waits


@pytest.fixture
def no_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rests, "FIRST_REST_PERIODS", 100_000)


@pytest.mark.usefixtures("no_rests")
def test_of_few_cores_usual_is_seen_again_under_less_load_before_a_way_is_left() -> None:
    less: Durations = ((100_000, 450), (200_000, 48), (400_000, 2))
    tail: Durations = ((100_000, 450), (260_000, 48), (400_000, 2))

    host = Host(harmless, total=2)
    host.run(15)
    host.harms, host.without = (lambda _way: less,), less
    host.run(40)
    host.harms = (lambda way: tail if way.kind == "everywhere" else less,)
    host.idle, began = tail, len(host.periods)
    host.run(30)
    since = host.periods[began:]
    assert 0 < since.count("nothing") < 10
    assert set(since) == {"everywhere", "nothing"}
    host.idle = less
    host.run(70)
    assert "everywhere" not in host.periods[-50:]


@pytest.mark.usefixtures("no_rests")
def test_of_few_cores_usual_is_seen_again_soon_where_the_load_falls_in_steps() -> None:
    def under(load: int) -> tuple[Durations, Durations]:
        usual: Durations = ((100_000, 9 * load), (200_000, load - 2), (400_000, 2))
        longer: Durations = ((100_000, 9 * load), (260_000, load - 2), (400_000, 2))
        return usual, longer

    host = Host(lambda _way: longer, total=2)
    for load, seconds in ((100, 20), (80, 4), (60, 4), (45, 4)):
        host.without, longer = under(load)
        host.idle, began = longer, len(host.periods)
        host.run(seconds)
        if load < 100:
            assert 0 < host.periods[began:].count("nothing") < 10
    assert set(host.periods[150:]) == {"everywhere", "nothing"}


@pytest.mark.usefixtures("no_rests")
@pytest.mark.parametrize("as_long", [True, False])
def test_of_few_cores_usual_is_seen_again_on_a_slower_machine_before_a_way_is_left(
    as_long: bool,
) -> None:
    slow: Durations = ((120_000, 900), (240_000, 95), (480_000, 5))
    tail: Durations = ((120_000, 900), (320_000, 95), (480_000, 5))

    host = Host(harmless, total=2)
    host.run(20)
    host.without, host.idle = slow, tail if as_long else slow
    host.harms, began = (lambda way: tail if way.kind == "everywhere" else slow,), len(host.periods)
    host.run(30)
    since = host.periods[began:]
    assert since.count("nothing") > 0
    assert (since.count("nothing") < 10) is as_long
    assert (since.count("everywhere") > 250) is as_long


@pytest.mark.parametrize(
    ("answer_ns", "harmful", "entered"),
    [
        (0, ("everywhere",), {"part:1", "everywhere"}),
        (30_000, ("everywhere",), {"part:1", "everywhere"}),
        (60_000, (), {"everywhere"}),
        (60_000, ("everywhere",), {"everywhere"}),
    ],
)
def test_where_idle_cores_answer_late_none_is_kept_idle(
    answer_ns: int, harmful: tuple[str, ...], entered: set[str]
) -> None:
    host = Host(hurt_by(*harmful), total=2)
    host.answer_ns = answer_ns
    assert (host.run(60) == "everywhere") is not bool(harmful)
    assert set(host.periods) - {"nothing", "asleep"} == entered


@pytest.mark.parametrize(("answer_ns", "held"), [(60_000, "everywhere"), (30_000, "nothing")])
def test_where_idle_cores_answer_late_the_budget_is_a_share_of_that_too(
    answer_ns: int, held: str
) -> None:
    longer: Durations = ((114_000, 900), (214_000, 95), (414_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else longer, total=2)
    host.answer_ns = answer_ns
    assert host.run(15).replace("asleep", "nothing") == held


@pytest.mark.parametrize(("total", "held"), [(2, "everywhere"), (TOTAL, "wait:100us")])
def test_of_few_cores_a_way_that_is_held_is_not_left_for_little(total: int, held: str) -> None:
    def harm(way: Way) -> Durations:
        longer = 6 + host.number % 2  # with five more 11.5 of 1,000: one and a half standard errors
        little = ((100_000, 900), (200_000, 95 - longer), (240_000, longer), (400_000, 5))
        return little if later and way.kind == "everywhere" else USUAL

    host = Host(harm, total=total)
    later = False
    host.run(15)
    later = True
    host.run(6)
    assert host.policy.way.short == held


def test_of_few_cores_a_trial_in_doubt_goes_on_until_it_fails() -> None:
    little = ((100_000, 900), (200_000, 89), (240_000, 6), (400_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else little, total=2)
    host.run(6)
    assert TRIAL_PERIODS[1] <= host.periods.count("everywhere") <= TRIAL_PERIODS[1] + 2
    assert host.policy.way.kind != "everywhere"


def test_of_few_cores_a_trial_within_the_budget_is_held() -> None:
    little = ((100_000, 900), (200_000, 91), (240_000, 4), (400_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else little, total=2)
    assert host.run(10) == "everywhere"


def test_of_few_cores_the_boldest_way_is_tried_first() -> None:
    host = Host(harmless, total=4)
    assert host.run(10) == "everywhere"
    assert set(host.periods) == {"nothing", "everywhere"}


def test_a_part_that_fails_puts_nothing_bolder_off() -> None:
    host = Host(lambda way: AWFUL if way.kind in awful else USUAL, total=2)
    awful = {"everywhere"}
    assert host.run(140) == "part:1"
    awful = {"part"}
    assert host.run(10) != "part:1"
    assert host.run(60) == "everywhere"


def test_a_small_part_that_fails_puts_off_a_larger_one_but_not_everything() -> None:
    host = Host(hurt_by("everywhere", "part"), total=7)
    host.run(15)
    everything, larger, smaller, *_ = json.loads(host.policy.dump())["records"]
    assert everything[1] < smaller[1] <= larger[1]


@pytest.mark.parametrize(("how", "follows"), [(WORSE, "part:5"), (AWFUL, "nothing")])
def test_where_a_part_is_left_the_next_smaller_is_tried_at_once_unless_it_was_a_disaster(
    how: Durations, follows: str
) -> None:
    host = Host(lambda way: dear.get(way.short, USUAL), total=7, freezes=True)
    dear = {"everywhere": WORSE}
    assert host.run(15) == "part:3"
    dear["part:3"] = how
    began = len(host.periods)
    host.run(10)
    since = host.periods[began:]
    assert next(way for way in since if way != "part:3") == follows
    assert since[-1] == follows


@pytest.mark.parametrize(("times", "put_off"), [(1.15, False), (1.5, True)])
def test_of_few_cores_one_that_fails_by_little_is_not_put_off_for_it(
    times: float, put_off: bool
) -> None:
    longer = tuple((round(ns * times), count) for ns, count in USUAL)
    host = Host(
        lambda way: longer if way.kind == "everywhere" else USUAL,
        total=2,
    )
    host.run(300)
    begun = sum(before != after == "everywhere" for before, after in pairwise(host.periods))
    failures, *_ = json.loads(host.policy.dump())["records"][0]
    assert (begun < 4, failures > 0) == (put_off, put_off)


def pauses(host: Host) -> list[int]:
    """Periods from each end of everything to its next begin."""
    begun = host.begun("everywhere")
    held = [number for number, way in enumerate(host.periods) if way == "everywhere"]
    ended = [number + 1 for number in held if number + 1 not in held]
    return [begin - end for end, begin in zip(ended, begun[1:], strict=False)]


LITTLE_LONGER: Durations = ((115_000, 900), (230_000, 95), (460_000, 5))


def test_of_few_cores_what_fails_by_little_in_a_row_is_tried_later_and_later() -> None:
    host = Host(lambda way: LITTLE_LONGER if way.kind == "everywhere" else USUAL, total=2)
    host.run(200)
    first, second, third, fourth, fifth, *_ = pauses(host)
    assert 50 <= first < 70
    assert 100 <= second < 120
    assert 200 <= third < 220
    assert 400 <= fourth < 420
    assert 400 <= fifth < 420


@pytest.mark.usefixtures("no_rests")
@pytest.mark.parametrize(("fine_s", "pause"), [(15, 200), (35, 50)])
def test_of_few_cores_what_was_held_for_long_fails_by_little_as_if_for_the_first_time(
    fine_s: int, pause: int
) -> None:
    host = Host(lambda way: spans if way.kind == "everywhere" else USUAL, total=2)
    spans = LITTLE_LONGER
    host.run(8)
    spans = USUAL
    host.run(fine_s)
    assert host.periods[-1] == "everywhere"
    spans = LITTLE_LONGER
    host.run(35)
    assert pause <= pauses(host)[2] < pause + 20


@pytest.mark.parametrize(("far", "put_off"), [(9, True), (1, False)])
def test_of_few_cores_what_fails_by_more_over_many_trials_is_put_off(
    far: int, put_off: bool
) -> None:
    """Of each trial chance alone could make so much of it."""
    longer = ((100_000, 900), (200_000, 84 - far), (235_000, 11), (500_000, 5 + far))
    host = Host(lambda way: longer if way.kind == "everywhere" else USUAL, total=2)
    host.run(300)
    failures, *_ = json.loads(host.policy.dump())["records"][0]
    assert (failures > 0) == put_off
