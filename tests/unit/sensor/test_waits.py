"""Which waits lending is blamed for, by what is lent and by what the source tells."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from smartharvest.algorithm.safeguard import PeriodWaits
from smartharvest.host.process.waits import ReadWaits
from smartharvest.sensor import waits as module
from smartharvest.sensor.waits import WaitReader
from tests.unit.algorithm.policy.windows import window

PERIOD_NS = 500_000_000
COUNTS = {
    "waits": 266, "total_ns": 0, "longer": 85, "longer_while_lent": 80, "longer_after_elastic": 9,
    "longer_throttled": 10, "longer_blamed": 15,
}  # fmt: skip
NONE = dict.fromkeys(COUNTS, 0)
PENDING = {
    "waiting": 3, "longer": 3, "longer_blamed": 1, "longer_throttled": 1, "longest_ns": 9_000,
    "blamed_longest_ns": 4_000,
}  # fmt: skip


class MadeWaits:
    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    def since(self, earlier: MadeWaits) -> MadeWaits:
        return MadeWaits({name: n - earlier.counts[name] for name, n in self.counts.items()})

    def quantile_ns(self, _q: float) -> int:
        return 0


def reader(*, exclusive: bool, attributed: bool = True) -> WaitReader:
    return WaitReader(
        total=4, period_ns=PERIOD_NS, threshold_ns=50_000, attributed=attributed,
        exclusive=exclusive,
    )  # fmt: skip


def judged(*, exclusive: bool, harvested: int, attributed: bool = True) -> PeriodWaits:
    """A period's waits by a sensor that sees each."""
    seen = [MadeWaits(NONE), MadeWaits(COUNTS)]
    sensor: Any = SimpleNamespace(
        tells_waits=True, waits=lambda: seen.pop(0), pending=lambda: PENDING
    )
    one = reader(exclusive=exclusive, attributed=attributed)
    assert one.read(0, list, sensor, 0) is None  # the base
    waits = one.read(PERIOD_NS, list, sensor, harvested)
    assert waits is not None
    return waits


def test_shared_only_waits_behind_others_are_blamed() -> None:
    waits = judged(exclusive=False, harvested=1)
    assert (waits.long_waits, waits.blamed) == (88, 16)
    assert not waits.circumstantial
    assert waits.longest_pending_us == 4


def test_exclusive_waits_that_began_while_lent_are_blamed_but_for_throttled_ones() -> None:
    waits = judged(exclusive=True, harvested=1)
    assert waits.blamed == 80 + 3 - 11
    assert waits.lent
    assert waits.circumstantial
    assert waits.longest_pending_us == 9


def test_exclusive_with_nothing_lent_what_waits_is_not_blamed() -> None:
    waits = judged(exclusive=True, harvested=0)
    assert not waits.lent
    assert waits.blamed == 80 - 11  # they began while something was
    assert waits.unlent == 88 - 69 - 11


class Threads:
    """Of ten dispatches, five of a thread that waits."""

    def __init__(self, _threshold_ns: int, _read: ReadWaits) -> None:
        pass

    def read(self, _threads: Iterable[int]) -> tuple[int, int]:
        return 10, 5


@pytest.mark.parametrize(
    ("exclusive", "demand", "lent", "blamed"),
    [
        (False, 3, True, 5),
        (False, 4, True, 0),  # it also waits for itself
        (False, 3, False, 0),
        (True, 4, True, 5),  # on fewer cores than it wants
        (True, 4, False, 0),
    ],
)
def test_of_the_threads_totals_all_or_none_are_blamed(
    monkeypatch: pytest.MonkeyPatch, exclusive: bool, demand: int, lent: bool, blamed: int
) -> None:
    monkeypatch.setattr(module, "ThreadWaits", Threads)
    sensor: Any = SimpleNamespace(tells_waits=False)
    one = reader(exclusive=exclusive)
    one.read(0, list, sensor, 0)
    one.note(window([demand], primary_cores=4))
    waits = one.read(PERIOD_NS, list, sensor, int(lent))
    assert waits is not None
    assert (waits.dispatches, waits.long_waits, waits.blamed) == (10, 5, blamed)
    assert (waits.lent, waits.circumstantial) == (lent, True)
    one.close()
