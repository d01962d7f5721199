"""The bare loops that figures are held against."""

from __future__ import annotations

import os

from bench import probe


def test_loads_are_timed_on_each_cpu_and_the_thread_may_run_as_before() -> None:
    allowed = os.sched_getaffinity(0)
    assert probe.load_ns() > 0
    assert os.sched_getaffinity(0) == allowed
