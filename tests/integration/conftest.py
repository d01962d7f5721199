"""Processes that end with the test, and fake trees of both versions."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.agent.reexec import SIGNALS
from tests.integration.hosts import Host, need_a_free_cpu
from tests.integration.processes import Processes
from tests.integration.worlds import World, make_world


@pytest.fixture
def processes(request: pytest.FixtureRequest) -> Iterator[Processes]:
    # A copy takes a page fault for all that it touches first: on this machine's own groups, where
    # milliseconds count, an agent is started as a user does.
    started = Processes(copied=request.node.get_closest_marker("root") is None)
    yield started
    started.end()


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture
def world(tmp_path: Path, version: int, processes: Processes) -> World:
    """The primary spins and sleeps, the elastic group spins."""
    return make_world(
        tmp_path,
        version,
        primary=(processes.spinning(), processes.asleep()),
        elastic=(processes.spinning(),),
    )


@pytest.fixture
def quiet_world(tmp_path: Path, version: int) -> World:
    """Nobody runs: the primary is idle for certain."""
    return make_world(tmp_path, version)


@pytest.fixture
def host(processes: Processes, tmp_path: Path) -> Iterator[Host]:
    made = Host(processes, tmp_path / "state")
    need_a_free_cpu(made.tree)
    try:
        made.populate()
        yield made
    finally:
        made.remove()


@pytest.fixture
def signals_kept() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)
