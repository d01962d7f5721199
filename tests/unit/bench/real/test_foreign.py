"""Which blocks of a slice others had."""

from __future__ import annotations

import numpy as np
import pytest

from bench.real.foreign import Foreign, disturbed, stood_still

MS = 1_000_000


@pytest.mark.parametrize(
    ("had_ms", "expected"),
    [
        ([0, 0, 0, 0, 0], []),
        ([0, 1, 2, 3, 4], []),
        ([0, 0, 5, 5, 5], [1]),  # all within the second block
        ([0, 0, 0, 0, 9], [3]),
        ([0, 10, 20, 30, 40], [0, 1, 2, 3]),
    ],
)
def test_a_block_is_disturbed_if_others_had_more_than_their_part(
    had_ms: list[int], expected: list[int]
) -> None:
    start_ns = 5_000 * MS
    rows = np.array([(start_ns + n * 100 * MS, had * MS) for n, had in enumerate(had_ms)])
    assert disturbed(rows, start_ns, 4, 100 * MS, 2 * MS).tolist() == expected


@pytest.mark.parametrize(
    ("standstills_ms", "expected"),
    [
        ([], []),
        ([(130, 160)], [1]),
        ([(110, 120)], [0, 1]),  # requests were under way
        ([(150, 190)], [1, 2]),  # as long again until all is worked off
        ([(-50, -10), (395, 450), (5_000, 5_100)], [0, 3]),
    ],
)
def test_a_standstill_touches_the_blocks_it_was_in_and_those_with_what_it_delayed(
    standstills_ms: list[tuple[int, int]], expected: list[int]
) -> None:
    start_ns = 5_000 * MS
    intervals = [(start_ns + a * MS, start_ns + b * MS) for a, b in standstills_ms]
    assert stood_still(intervals, start_ns, 4, 100 * MS).tolist() == expected


def test_without_groups_of_its_own_only_the_hypervisor_is_seen() -> None:
    foreign = Foreign(None)
    assert not foreign.seen
    with foreign.series() as rows:
        pass
    assert len(rows) >= 2
    assert rows[-1][1] >= rows[0][1] >= 0
