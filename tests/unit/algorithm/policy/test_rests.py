"""Rests from a way of sharing that is held."""

from __future__ import annotations

import json

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.records import FEWER_PAIRS_ERRORS, Slowdown
from smartharvest.algorithm.policy.ways import Way
from tests.unit.algorithm.policy.sharing_host import (
    AWFUL,
    TOTAL,
    USUAL,
    Host,
)


def test_where_idle_cpus_are_as_slow_it_goes_on_lending_and_looks_now_and_then() -> None:
    tail: Durations = ((100_000, 900), (260_000, 95), (400_000, 5))
    host = Host(lambda way: tail if way.kind == "everywhere" else USUAL)
    host.idle = tail
    host.run(300)
    settled = host.periods[100:]
    assert settled.count("everywhere") > 0.98 * len(settled)
    assert 3 <= len([n for n in host.begun("nothing") if n >= 100]) <= 8  # rests are among them
    assert set(settled) == {"everywhere", "nothing"}
    host.idle = USUAL
    host.run(70)
    assert "everywhere" not in host.periods[-50:]


@pytest.mark.parametrize(("total", "held_after_s", "left_after_s"), [(2, 5, 20), (TOTAL, 9, 40)])
def test_what_makes_the_median_longer_without_a_wait_is_left(
    total: int, held_after_s: int, left_after_s: int
) -> None:
    """As a batch does that takes the caches."""
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=total)
    host.without, host.idle = cold, USUAL
    assert host.run(held_after_s) == "everywhere"
    said = set()
    for _ in range(10 * (left_after_s - held_after_s)):
        host.run(0.1)
        said.add(host.policy.explanation)
    assert "the batch runs everywhere under cpu.idle (median request +32% by a rest)" in said
    assert host.policy.way.kind != "everywhere"
    assert host.run(400 if total == TOTAL else 120).replace("asleep", "nothing") == "nothing"
    assert "32% longer than with nothing lent" in host.policy.explanation
    after = Host(*host.harms, total=total)
    after.policy.load(host.policy.dump())
    after.run(1)
    (told,) = json.loads(after.policy.dump())["slowdowns"]
    assert (told,) == tuple(json.loads(host.policy.dump())["slowdowns"])
    assert any(rests >= min(FEWER_PAIRS_ERRORS) and 0.3 < mean < 0.35 for _, rests, mean, _ in told)


def test_what_no_wait_shows_under_any_way_is_found_within_half_a_minute() -> None:
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=7, freezes=True)
    host.without, host.idle = cold, USUAL
    assert host.run(33).replace("asleep", "nothing") == "nothing"
    tried = {"everywhere", "part:5", "minimum"}  # the others would cost too much, too
    assert set(host.periods) - {"nothing", "asleep"} == tried
    # Each has failed by rests of its own.
    (told,) = json.loads(host.policy.dump())["slowdowns"]
    assert {rests >= min(FEWER_PAIRS_ERRORS) for _, rests, *_ in told} == {True}
    assert len(told) == len(tried)


def test_what_rests_tell_of_a_way_puts_off_those_that_lend_less_but_too_much() -> None:
    """+32 % of seven cores would be +18 % of four and +9 % of two; of two +16 % of one."""
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=7, freezes=True)
    host.without, host.idle = cold, USUAL
    host.run(12)
    assert "part:5" not in host.periods
    host.run(5)
    assert "part:5" in host.periods
    host.run(25)
    assert not {"part:3", "part:6"} & set(host.periods)


def test_of_those_put_off_the_most_careful_is_tried_first_and_harmless_ones_are_found() -> None:
    cold: Durations = ((200_000, 900), (300_000, 95), (600_000, 5))

    def harm(way: Way) -> Durations:
        host.without = cold if way.kind == "everywhere" else USUAL
        return host.without

    host = Host(harm, total=7)
    host.idle = USUAL
    # A way that is known to be fine is not put off.
    assert host.run(90) == "part:3"
    first = [host.begun(way)[0] for way in ("everywhere", "part:6", "part:5", "part:3")]
    assert first == sorted(first)


def test_where_no_way_gives_the_batch_anything_for_long_it_says_so_also_after_a_restart() -> None:
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=7, freezes=True)
    host.without, host.idle = cold, USUAL
    host.run(20)
    assert not host.policy.is_barren
    host.run(100)
    assert host.policy.is_barren
    after = Host(*host.harms, total=7, freezes=True)
    after.without, after.idle = cold, USUAL
    after.policy.load(host.policy.dump())
    assert not after.policy.is_barren  # it may be another primary's
    after.run(0.1)
    assert after.policy.is_barren
    after.policy.note_blind()
    assert not after.policy.is_barren
    after.harms = (lambda _way: USUAL,)
    after.without = USUAL
    after.run(400)
    assert not after.policy.is_barren


def test_what_is_held_is_something_unless_it_is_the_minimum() -> None:
    host = Host(lambda _way: USUAL, total=7, freezes=True)
    host.run(60)
    assert not host.policy.is_barren
    apart = Host(lambda way: AWFUL if way.kind != "nothing" else USUAL, total=7, exclusive=True)
    apart.run(200)
    assert not apart.policy.is_barren  # they meet nowhere as it is


def test_a_way_without_what_another_was_left_for_is_held() -> None:
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))

    def harm(way: Way) -> Durations:
        host.without = cold if way.kind in ("everywhere", "part") else USUAL
        return host.without

    host = Host(harm, total=7, freezes=True)
    host.idle = USUAL
    assert host.run(90) == "prediction"
    later = len(host.periods)
    host.run(60)
    assert host.periods[later:].count("prediction") > 0.8 * 600


@pytest.mark.parametrize("total", [2, TOTAL])
def test_a_median_that_is_little_longer_is_no_reason_to_leave(total: int) -> None:
    cold: Durations = ((108_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=total)
    host.without, host.idle = cold, USUAL
    host.run(120)
    settled = host.periods[100:]
    assert settled.count("everywhere") > 0.93 * len(settled)
    assert set(settled) == {"everywhere", "nothing"}


@pytest.mark.parametrize(
    ("parts", "beyond"),
    [
        ([0.2] * 5, True),
        ([0.2] * 4, True),
        ([0.19] * 4, False),
        ([0.3] * 3, True),
        ([0.25] * 3, False),
        ([0.9], False),
        ([0.37] * 2, False),
        ([0.38] * 2, True),
        ([0.85, 0.39], True),
        ([0.85, -0.1], False),
        ([0.12] * 5, False),
        ([0.6, -0.2, 0.5, -0.1, 0.2], False),
        ([0.1] * 20, False),
        ([0.27, 0.37, 0.2, 0.04, 0.02], False),
        ([0.3, 0.03] * 4, False),
        ([0.3, 0.03] * 6, True),
        ([0.12] * 12, True),
        ([0.11] * 20, False),
        ([0.0] * 5 + [0.3] * 40, True),
    ],
)
def test_rests_tell_what_lending_makes_longer_by_their_mean_and_errors(
    parts: list[float], beyond: bool
) -> None:
    told = Slowdown()
    for part in parts:
        told.add(part)
    assert told.is_beyond(0.1) is beyond
