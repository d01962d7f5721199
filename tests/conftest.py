"""Shared by all tests: who may run those that need root and real cgroups."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from smartharvest.host.journal.group_locks import VARIABLE

pytest_plugins = ("tests.plugins.cost", "tests.plugins.tries", "tests.plugins.turns")

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
    reason = _why_not_root()
    if reason is None:
        return
    skip = pytest.mark.skip(reason=reason)
    for item in items:
        if "root" in item.keywords:
            item.add_marker(skip)


def _why_not_root() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    if not any(os.access(path, os.W_OK) for path in _CPUSET_MOUNTS):
        return "needs a writable cgroup tree with cpusets"
    return None


_CPUSET_MOUNTS = ("/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cgroup.controllers")
