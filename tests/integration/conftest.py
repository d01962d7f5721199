"""Processes that end with the test, and made trees of both versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.processes import Processes
from tests.integration.worlds import World, make_world


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes()
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
