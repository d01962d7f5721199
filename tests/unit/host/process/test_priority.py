"""The control plane's priority, lowered and put back."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable

import pytest

from smartharvest.host.process.priority import IDLE, NICE, NORMAL, ControlPlanePriority

Standing = tuple[int, int]
SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}


def standing() -> Standing:
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)


def seen_by_a_thread(look: Callable[[ControlPlanePriority], Standing]) -> tuple[Standing, Standing]:
    """What ``look`` saw, and what the thread was afterwards, once it was put back."""
    seen: list[Standing] = []

    def run() -> None:
        priority = ControlPlanePriority()
        seen.append(look(priority))
        priority.put_back()
        seen.append(standing())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen[0], seen[1]


def lowered_to(to: str) -> Callable[[ControlPlanePriority], Standing]:
    def look(priority: ControlPlanePriority) -> Standing:
        priority.lower(to)
        return standing()

    return look


@pytest.mark.root
def test_a_thread_is_lowered_and_comes_back() -> None:
    before = policy, nice = standing()
    for to, lowered in ((IDLE, (os.SCHED_IDLE, nice)), (NICE, (policy, 19)), (NORMAL, before)):
        assert seen_by_a_thread(lowered_to(to)) == (lowered, before)
    assert standing() == before


def slice_ns() -> int:
    """Of the calling thread; 0 before Linux 6.12."""
    attributes = ctypes.create_string_buffer(48)
    number = SCHED_GETATTR[os.uname().machine]
    assert ctypes.CDLL(None).syscall(number, 0, attributes, len(attributes), 0) == 0
    return int(struct.unpack("=IIQiIQQQ", attributes.raw)[5])


@pytest.mark.skipif(os.uname().machine not in SCHED_GETATTR, reason="sched_getattr has no number")
@pytest.mark.skipif(not slice_ns(), reason="tasks have no slices of their own before Linux 6.12")
@pytest.mark.parametrize("to", [NORMAL, pytest.param(IDLE, marks=pytest.mark.root)])
def test_while_lowered_it_has_a_longer_slice_than_whom_it_may_hold_up(to: str) -> None:
    seen: list[int] = []

    def run() -> None:
        priority = ControlPlanePriority()
        seen.append(slice_ns())
        priority.lower(to)
        thread = threading.Thread(target=lambda: seen.append(slice_ns()))
        thread.start()  # inherits it, and its policy
        thread.join()
        priority.put_back()
        seen.append(slice_ns())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    before, lowered, after = seen
    assert lowered == 100_000_000
    assert before == after < lowered


def test_without_a_way_back_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    set_scheduler = os.sched_setscheduler

    def only_down(pid: int, policy: int, param: os.sched_param) -> None:
        if policy != os.SCHED_IDLE:
            raise PermissionError
        set_scheduler(pid, policy, param)

    monkeypatch.setattr(os, "sched_setscheduler", only_down)
    before = standing()
    assert seen_by_a_thread(lowered_to(IDLE)) == (before, before)


def test_one_that_somebody_has_made_real_time_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: os.SCHED_FIFO)
    monkeypatch.setattr(os, "sched_setscheduler", lambda *_: pytest.fail("was changed"))
    ControlPlanePriority().lower(IDLE)
