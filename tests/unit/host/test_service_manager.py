from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.service_manager import ServiceManager

MS = 1_000_000


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """(NOTIFY_SOCKET, the manager's end)"""
    name = f"{tmp_path}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.settimeout(0)
        end.bind(name if request.param == "path" else "\0" + name)
        yield (name if request.param == "path" else "@" + name), end


def received(end: socket.socket) -> list[str]:
    messages = []
    while True:
        try:
            messages.append(end.recv(4096).decode())
        except BlockingIOError:
            return messages


def test_the_manager_hears_of_readiness(manager: tuple[str, socket.socket]) -> None:
    address, end = manager
    ServiceManager({"NOTIFY_SOCKET": address}).ready("lending")
    (ready,) = received(end)
    assert ready.split("\n") == ["READY=1", "STATUS=lending", f"MAINPID={os.getpid()}"]


def test_the_manager_hears_of_a_reload_and_when_it_began(
    manager: tuple[str, socket.socket],
) -> None:
    address, end = manager
    ServiceManager({"NOTIFY_SOCKET": address}).reloading(7_000_999)
    assert received(end) == ["RELOADING=1\nMONOTONIC_USEC=7000"]


def test_the_watchdog_hears_four_beats_in_its_time(manager: tuple[str, socket.socket]) -> None:
    address, end = manager
    service = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "2000000"})
    for now_ms in range(0, 2000, 25):
        service.beat(now_ms * MS)
    assert received(end) == ["WATCHDOG=1"] * 4


@pytest.mark.parametrize(
    "environment", [{}, {"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "x"}]
)
def test_without_a_watchdog_there_are_no_beats(
    environment: dict[str, str], manager: tuple[str, socket.socket]
) -> None:
    address, end = manager
    ServiceManager({"NOTIFY_SOCKET": address, **environment}).beat(1)
    assert received(end) == []


@pytest.mark.parametrize("address", ["", "relative", "/nobody/listens"])
def test_without_a_manager_nothing_happens(address: str) -> None:
    service = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000"})
    service.ready("lending")
    service.beat(1)


def test_the_manager_hears_that_a_change_goes_on_and_gives_it_more_time(
    manager: tuple[str, socket.socket],
) -> None:
    address, end = manager
    service = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "2000000"})
    for now_ms in range(1000, 2000, 10):
        service.progress(now_ms * MS)
    assert received(end) == ["EXTEND_TIMEOUT_USEC=10000000\nWATCHDOG=1"] * 4


def test_it_hears_so_without_a_watchdog_too(manager: tuple[str, socket.socket]) -> None:
    address, end = manager
    ServiceManager({"NOTIFY_SOCKET": address}).progress(1)
    assert received(end) == ["EXTEND_TIMEOUT_USEC=10000000"]
