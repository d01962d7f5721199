"""What a guest of the lab runs: the tests, and one JSON document to standard output.

The kernel's command line says for how long (``lab.seconds=N``) and which (``lab.tests=A,B``).
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest


class Record:
    """Each test's outcome as pytest tells it, and what it said if it failed."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, Any]] = {}
        self.running = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running = nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        found: dict[str, Any] = {"outcome": report.outcome, "seconds": round(report.duration, 1)}
        if report.outcome != "passed":
            found["why"] = _last_words(report)
        self.tests[report.nodeid] = found
        print(f"{report.nodeid}: {found}", file=sys.stderr, flush=True)


def _last_words(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    lines = str(report.longreprtext).splitlines()
    told = [line[1:].strip() for line in lines if line.startswith("E")]
    return " | ".join(told[:6] or lines[-3:])[:1500]


def main() -> None:
    """Runs what was asked for and prints how it went."""
    words = dict(word.partition("=")[::2] for word in Path("/proc/cmdline").read_text().split())
    began_s = time.monotonic()
    record = Record()
    document: dict[str, Any] = {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "boot_seconds": round(float(Path("/proc/uptime").read_text().split()[0]), 1),
        "complete": False,
    }

    def give_up(_number: int, _frame: object) -> None:
        document["unfinished"] = record.running
        _print(document, record, began_s)
        os._exit(1)

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(words.get("lab.seconds", "200")))
    tests = words["lab.tests"].split(",")
    arguments = ["-p", "no:cacheprovider", "-q", "-m", "root or lab", "--timeout=0", *tests]
    stdout = os.dup(1)
    os.dup2(2, 1)  # what pytest says goes to the console
    pytest.main(arguments, plugins=[record])
    os.dup2(stdout, 1)
    document["complete"] = True
    signal.alarm(0)
    _print(document, record, began_s)


def _print(document: dict[str, Any], record: Record, began_s: float) -> None:
    document |= {"seconds": round(time.monotonic() - began_s, 1), "tests": record.tests}
    sys.stdout.flush()
    os.write(1, json.dumps(document).encode() + b"\n")


if __name__ == "__main__":
    main()
