"""What each folder of tests takes, at the end of a run of more than one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

FINDING = "finding them"


class Cost:
    """Sums up what the tests of each folder took, with their set-up and every try."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._tests: dict[str, set[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        began_s = time.perf_counter()
        yield
        self._seconds[FINDING] = time.perf_counter() - began_s

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = os.path.dirname(report.nodeid.partition("::")[0])
        self._seconds[folder] = self._seconds.get(folder, 0.0) + report.duration
        self._tests.setdefault(folder, set()).add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._tests) < 2:
            return
        terminalreporter.section("what each folder took")
        terminalreporter.line(f"{'seconds':>9} {'tests':>6}  folder")
        for folder, seconds in sorted(self._seconds.items(), key=lambda one: -one[1]):
            tests = len(self._tests.get(folder, ()))
            terminalreporter.line(f"{seconds:>9.1f} {tests or '':>6}  {folder}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Cost(), "cost-per-folder")
