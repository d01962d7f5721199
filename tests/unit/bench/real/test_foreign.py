"""Which blocks of a slice others had."""

from __future__ import annotations

import numpy as np
import pytest

from bench.real.foreign import Foreign, disturbed

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


def test_without_groups_of_its_own_only_the_hypervisor_is_seen() -> None:
    foreign = Foreign(None)
    assert not foreign.seen
    with foreign.series() as rows:
        pass
    assert len(rows) >= 2
    assert rows[-1][1] >= rows[0][1] >= 0
