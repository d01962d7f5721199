"""Tests that depend on the machine's timing have three tries, and who needed them is listed."""

from __future__ import annotations

import pytest

RERUNS = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets pytest-rerunfailures run these again, and no others.

    A test that says itself how often (``flaky(reruns=0)``) has as many tries as it says.
    """
    for item in items:
        says = item.get_closest_marker("flaky") is not None
        if item.get_closest_marker("timing") is not None and not says:
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    failures: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("rerun", ()):
        failures.setdefault(report.nodeid, []).append(_in_a_line(report))
    if not failures:
        return
    lost = {
        report.nodeid
        for outcome in ("failed", "error")
        for report in terminalreporter.stats.get(outcome, ())
    }
    terminalreporter.section("needed another try")
    for test, seen in failures.items():
        end = "failed" if test in lost else "passed"
        terminalreporter.line(f"{test}: {end} at try {len(seen) + 1}; at first {seen[0]}")


def _in_a_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash is not None else report.longreprtext
    line = next((line.strip() for line in said.splitlines() if line.strip()), "failed")
    place = f"{crash.path.rpartition('/')[2]}:{crash.lineno}: " if crash is not None else ""
    return place + line[:200]
