"""The lab's own tests, which only a guest of the lab runs: they change what the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import host, processes

__all__ = ["host", "processes"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "lab.tests=" in Path("/proc/cmdline").read_text():
        return
    skip = pytest.mark.skip(reason="runs inside the kernel lab: make lab")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(skip)
