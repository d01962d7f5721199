"""Shared by all tests: who may run those that need root and real cgroups."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from smartharvest.host.journal.group_locks import VARIABLE

pytest_plugins = (
    *("tests.plugins.cost", "tests.plugins.finding"),
    *("tests.plugins.tries", "tests.plugins.turns"),
)

# Of a busy machine nothing is to be learned from a time. What CI checks must not depend on chance:
# it draws the same examples at each run. A developer's machine looks for others, and for more.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "repeatable", settings.get_profile("busy"), derandomize=True, max_examples=50
)
settings.load_profile("repeatable" if os.environ.get("CI") else "busy")


def pytest_configure(config: pytest.Config) -> None:
    """Agents of tests lock groups among themselves, not against those of this machine."""
    if VARIABLE not in os.environ:
        made = tempfile.TemporaryDirectory(prefix="smartharvest-locks-")
        os.environ[VARIABLE] = made.name
        config.add_cleanup(made.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that cannot run here are skipped, and say why."""
    missing = {}
    if not any(os.access(path, os.W_OK) for path in _CPUSET_MOUNTS):
        missing["root"] = "needs a writable cgroup tree with cpusets"
    if os.geteuid() != 0:
        missing |= dict.fromkeys(("root", "rights"), "needs root")
    for marker, reason in missing.items():
        for item in items:
            if item.get_closest_marker(marker) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


_CPUSET_MOUNTS = ("/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cgroup.controllers")
