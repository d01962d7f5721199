"""Births and deaths from the kernel, and their shape on the wire."""

from __future__ import annotations

import os
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.errors import RightsError
from smartharvest.host.process.events import Birth, Death, EventsLost, ProcessEvents, parse_event
from tests.integration.processes import wait_until

FORK, EXEC, EXIT = 1, 2, 0x80000000


def datagram(what: int, *fields: int) -> bytes:
    """As the kernel sends it: nlmsghdr, cn_msg, proc_event."""
    header = struct.pack("=IHHII", 76, 3, 0, 0, 0) + struct.pack("=IIIIHH", 1, 1, 0, 0, 40, 0)
    return header + struct.pack("=IIQ4I", what, 1, 5, *fields) + bytes(8)


def test_a_birth_tells_who_started_whom() -> None:
    assert parse_event(datagram(FORK, 11, 10, 12, 12)) == Birth(parent_pid=10, tid=12, pid=12)


def test_a_death_tells_the_thread_and_its_process() -> None:
    assert parse_event(datagram(EXIT, 12, 10, 0, 17)) == Death(tid=12, pid=10)


def test_other_events_are_passed_over() -> None:
    assert parse_event(datagram(EXEC, 12, 10, 0, 0)) is None


@given(st.binary(max_size=51))
def test_what_is_too_short_is_no_event(data: bytes) -> None:
    assert parse_event(data) is None


@pytest.mark.timing
@pytest.mark.root
def test_the_kernel_tells_of_a_process_that_comes_and_goes() -> None:
    events = ProcessEvents()
    try:
        with subprocess.Popen(["true"]) as process:
            pass
        seen: list[Birth | Death] = []

        def both_came() -> bool:
            seen.extend(events.read())
            born = Birth(parent_pid=os.getpid(), tid=process.pid, pid=process.pid)
            return born in seen and Death(process.pid, process.pid) in seen

        wait_until(both_came, lambda: seen)
    finally:
        events.close()


@pytest.mark.timing
@pytest.mark.root
def test_too_many_events_are_told_as_lost_and_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smartharvest.host.process.events.RECEIVE_BYTES", 4096)
    events = ProcessEvents()
    losses: list[EventsLost] = []

    def seen_after_a_loss() -> bool:
        if not losses:
            subprocess.run(
                ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do true & done; wait"], check=True
            )
        with subprocess.Popen(["true"]) as process:
            pass
        try:
            born = {event.pid for event in events.read() if isinstance(event, Birth)}
        except EventsLost as loss:
            losses.append(loss)
            return False
        return bool(losses) and process.pid in born

    try:
        wait_until(seen_after_a_loss, lambda: losses)
    finally:
        events.close()


def test_without_rights_it_says_which_are_missing() -> None:
    if os.geteuid() == 0:
        pytest.skip("needs to be nobody in particular")
    with pytest.raises(RightsError, match="CAP_NET_ADMIN"):
        ProcessEvents()
