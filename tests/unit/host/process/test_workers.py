"""Jobs that worker processes do."""

from __future__ import annotations

import os
import signal

import pytest

from smartharvest.errors import SmartHarvestError
from smartharvest.host.process.start import in_workers


def _square(number: int) -> int:
    return number * number


def _die_of(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _refuse(number: int) -> int:
    raise SmartHarvestError(f"{number} is refused")


def test_every_result_comes_with_the_number_of_its_job() -> None:
    assert dict(in_workers(_square, [5, 6, 7], 2)) == {0: 25, 1: 36, 2: 49}


def test_a_worker_that_is_killed_from_outside_is_a_failure_and_no_endless_wait() -> None:
    with pytest.raises(SmartHarvestError, match="a worker process ended early"):
        list(in_workers(_die_of, [1, 2, 3], 2))


def test_what_a_job_raises_is_raised_here() -> None:
    with pytest.raises(SmartHarvestError, match="is refused"):
        list(in_workers(_refuse, [1, 2], 2))


def test_work_that_nobody_waits_for_any_more_ends_with_its_workers() -> None:
    coming = in_workers(_square, list(range(1000)), 2)
    next(coming)
    coming.close()
    with pytest.raises(StopIteration):
        next(coming)
