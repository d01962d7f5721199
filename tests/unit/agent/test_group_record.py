"""What the audit log has of the elastic groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smartharvest.agent.group_record import GroupRecord
from smartharvest.agent.usage import UsageMeter
from smartharvest.algorithm.division import Division, Share, divide
from smartharvest.algorithm.guarantee import Guarantee, Keeper
from smartharvest.telemetry.event_words import sentence

SECOND_NS = 1_000_000_000


@dataclass
class Group:
    """As group_sharing.py watches one."""

    share: Share
    keeper: Keeper | None = None

    @property
    def bounded(self) -> Share:
        return self.share


class Noted:
    """The events so far; ``record`` writes them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.record = GroupRecord(lambda kind, **more: self.events.append({"kind": kind, **more}))

    def turn(self, at_s: int, groups: list[Group], cores: list[int], division: Any = None) -> None:
        self.record.turn(at_s * SECOND_NS, groups, cores, division)


def division_of(*shares: Share) -> Division:
    return divide([[cpu] for cpu in range(4)], shares)


def test_a_violated_guarantee_and_its_end_are_noted_once_each() -> None:
    keeper, noted = Keeper(Guarantee(rate=4.0)), Noted()
    group = Group(Share("etl"), keeper)
    for at_s, throughput in enumerate((5.0, 3.0, 2.0, 4.5, 4.6)):
        keeper.turn(throughput, 2.0, None, 4)
        noted.record.look_at_guarantee(at_s * SECOND_NS, group, throughput)
    violated, met = noted.events
    assert violated == {
        "kind": "guarantee violated", "group": "etl", "guarantee": "4/s", "throughput": 3.0,
        "cores": 2.8,
    }  # fmt: skip
    assert met == {
        "kind": "guarantee met", "group": "etl", "guarantee": "4/s", "throughput": 4.5,
        "after_s": 2.0,
    }  # fmt: skip
    assert sentence(violated) == (
        "The guarantee of etl, 4/s, was violated: its throughput was 3.0/s. The agent gives it at "
        "least 2.8 of what is lent."
    )
    assert sentence(met).startswith("The guarantee of etl, 4/s, was met again after 2.0 s")


def test_a_violation_ends_when_the_guarantee_rests() -> None:
    keeper, noted = Keeper(Guarantee(rate=4.0)), Noted()
    group = Group(Share("etl"), keeper)
    keeper.turn(3.0, 2.0, None, 4)
    noted.record.look_at_guarantee(0, group, 3.0)
    keeper.rest()
    for at_s in (5, 6):
        noted.record.look_at_guarantee(at_s * SECOND_NS, group, 0.0)
    _, rests = noted.events
    assert rests == {"kind": "guarantee rests", "group": "etl", "guarantee": "4/s", "after_s": 5.0}
    assert sentence(rests).startswith("The guarantee of etl, 4/s, rests after 5.0 s in which")


def test_a_minimum_that_is_not_reached_is_noted_until_it_is() -> None:
    noted, group = Noted(), Group(Share("etl", min=2))
    for at_s, cores in enumerate((2, 1, 1, 2)):
        noted.turn(at_s, [group], [cores], division_of(group.share))
    assert noted.events == [
        {"kind": "minimum not reached", "group": "etl", "cores": 1, "min": 2},
        {"kind": "minimum reached", "group": "etl", "cores": 2, "after_s": 2.0},
    ]
    assert [sentence(one) for one in noted.events] == [
        "The minimum of etl was not reached: it had 1 of 2.",
        "The minimum of etl was reached again after 2.0 s.",
    ]


def test_a_dry_run_divides_nothing_and_misses_no_minimum() -> None:
    noted = Noted()
    noted.turn(0, [Group(Share("etl", min=2))], [0], None)
    assert noted.events == []


def test_each_change_of_the_division_names_the_groups_and_why() -> None:
    noted, one, two = Noted(), Group(Share("one")), Group(Share("two"))
    noted.turn(0, [one, two], [2, 2], division_of(one.share, two.share))
    one.share = Share("one", min=3)
    for at_s in (1, 2):
        noted.turn(at_s, [one, two], [3, 1], division_of(one.share, two.share))
    (event,) = noted.events
    assert sentence(event) == (
        "The cores that may be lent were divided otherwise: one has 3 instead of 2, because its "
        "guarantee or minimum asks for 3 cores; two has 1 instead of 2, because one took cores."
    )


def test_usage_has_what_each_of_several_groups_had_and_used_since_the_last_time() -> None:
    sums = {"one": {"had": 10.0, "used": 4.0}, "two": {"had": 1.0}}
    noted: list[dict[str, Any]] = []
    meter = UsageMeter(list, lambda _kind, **more: noted.append(more), lambda: 0.0, lambda: sums)
    sums = {"one": {"had": 12.5, "used": 5.0}, "two": {"had": 1.5}, "new": {"had": 0.5}}
    meter.close()
    assert noted == [
        {
            "s": 0.0,
            "core_seconds": {},
            "groups": {
                "one": {"had": 2.5, "used": 1.0}, "two": {"had": 0.5}, "new": {"had": 0.5},
            },
        }
    ]  # fmt: skip


def test_usage_of_a_group_without_a_name_is_as_it_was() -> None:
    noted: list[dict[str, Any]] = []
    UsageMeter(list, lambda _kind, **more: noted.append(more), lambda: 0.0, dict).close()
    assert noted == []
