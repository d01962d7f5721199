"""Affinities given back by the thousand, unless somebody else has set them."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator

import pytest

from smartharvest.core._confine import give_back
from tests.cpus import ALLOWED, needs_two_cpus

BOTH, LAST = frozenset(ALLOWED), frozenset(ALLOWED[-1:])
GONE = 4_194_305
"""Above the kernel's highest possible pid."""
pytestmark = needs_two_cpus


@pytest.fixture
def threads() -> Iterator[list[int]]:
    with subprocess.Popen(["sleep", "100"]) as one, subprocess.Popen(["sleep", "100"]) as other:
        yield [one.pid, other.pid]
        one.kill()
        other.kill()


def test_who_has_what_was_given_gets_back_what_it_had(threads: list[int]) -> None:
    os.sched_setaffinity(threads[0], LAST)
    assert give_back([*threads, GONE], [BOTH, LAST], BOTH, BOTH) == [1, 0, -errno.ESRCH]
    assert [os.sched_getaffinity(tid) for tid in threads] == [BOTH, BOTH]


def test_who_was_pinned_before_is_pinned_again(threads: list[int]) -> None:
    assert give_back(threads, [LAST, BOTH], BOTH, BOTH) == [1, 1]
    assert [os.sched_getaffinity(tid) for tid in threads] == [LAST, LAST]


def test_who_has_what_nobody_gave_it_stays_as_it_is(threads: list[int]) -> None:
    other = frozenset(ALLOWED[:1])
    os.sched_setaffinity(threads[0], other)
    assert give_back(threads[:1], [BOTH, LAST], BOTH, BOTH) == [2]
    assert os.sched_getaffinity(threads[0]) == other


def test_what_the_kernel_refuses_is_said_and_changes_nothing(threads: list[int]) -> None:
    nowhere = [8191]
    assert give_back(threads, [nowhere, BOTH], BOTH, BOTH) == [-errno.EINVAL] * 2
    assert os.sched_getaffinity(threads[0]) == BOTH


def test_without_an_affinity_or_with_a_cpu_that_cannot_be_nothing_is_given() -> None:
    with pytest.raises(ValueError, match="no affinity"):
        give_back([], [], BOTH, BOTH)
    with pytest.raises(ValueError, match="beyond"):
        give_back([], [[8192]], BOTH, BOTH)
