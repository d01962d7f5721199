"""Tests that run side by side, and those that have the machine alone.

Alone are those that need this machine's real control groups, where one would see the tasks that
another has confined, and each second or third try. For runs of pytest-xdist: a test holds a lock
that all share, or holds it alone. Who waits stands in the door, so that none which comes later
passes it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest

VARIABLE = "SMARTHARVEST_TEST_TURNS"
"""The folder with both locks, of all workers of a run."""


class Turns:
    """Of one worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        again = getattr(item, "execution_count", 1) > 1
        alone = again or item.get_closest_marker("root") is not None
        with self._open("door") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            room = self._held.enter_context(self._open("room"))
            fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._held.close()

    def _open(self, name: str) -> IO[str]:
        return open(self._folder / name, "w", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Turns(Path(os.environ[VARIABLE])), "turns")
    else:
        made = TemporaryDirectory(prefix="smartharvest-turns-")
        os.environ[VARIABLE] = made.name
        config.add_cleanup(made.cleanup)
