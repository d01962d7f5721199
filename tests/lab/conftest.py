"""The lab's own tests, which only a guest of the lab runs: they change what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import host, processes

__all__ = ["host", "processes"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "lab.tests=" in Path("/proc/cmdline").read_text():
        return
    skip = pytest.mark.skip(reason="runs inside the kernel lab: make lab")
    for item in items:
        if item.get_closest_marker("lab") is not None:
            item.add_marker(skip)
