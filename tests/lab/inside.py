"""What a guest of the lab runs: the tests. What comes of each is a line of JSON to standard output.

The kernel's command line says for how long (``lab.seconds=N``) and which (``lab.tests=A,B``), or
that agents are to be struck instead (``lab.faults=PLACE,STRIKES,SEED,MECHANISM,PLACEMENT``, more of
them after a plus sign).
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands import LONGEST_S

if TYPE_CHECKING:
    from tests.faults.campaign import Tally

TELL_EVERY = 2
LEFT_OUT = ("demo", "learns_to_lend")
"""What computes for seconds, of which an emulator makes minutes."""


class Record:
    """Tells of each test that begins, its outcome, and what it said if it failed."""

    def __init__(self, answer: int) -> None:
        self._answer = answer

    def tell(self, **what: Any) -> None:
        os.write(self._answer, json.dumps(what).encode() + b"\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tell(unfinished=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        found: dict[str, Any] = {"outcome": report.outcome, "seconds": round(report.duration, 1)}
        if report.outcome != "passed":
            found["why"] = _last_words(report)
        self.tell(test=report.nodeid, **found)
        print(f"{report.nodeid}: {found}", file=sys.stderr, flush=True)


def _last_words(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash is not None else str(report.longreprtext)[-1500:]
    return " | ".join(line.strip() for line in said.splitlines()[:6])[:1500]


def _strike_agents(slices: Sequence[str], record: Record) -> None:
    """One slice after the other; tells now and then what has come of it."""
    # Imports take seconds on an emulated processor.
    from tests.faults.agents import adopt_orphans
    from tests.faults.places import Ways
    from tests.faults.run import run_in

    adopt_orphans()
    for one in slices:
        where, strikes, seed, mechanism, placement = one.split(",")
        told = 0

        def progress(tally: Tally, one: str = one) -> None:
            nonlocal told
            _show(tally)
            if tally.kills >= told + TELL_EVERY:
                told = tally.kills
                record.tell(slice=one, complete=False, faults=tally.document())

        document = run_in(
            where,
            Ways(mechanism, placement=placement),
            kills=int(strikes),
            seed=int(seed),
            goes_on=True,
            progress=progress,
        )
        record.tell(slice=one, complete=True, faults=document)


def _show(tally: Tally) -> None:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = ", ".join(f"{one.ru_utime + one.ru_stime:.1f}" for one in used)
    print(
        f"{tally.place}: {tally.kills} strikes of {tally.agents} agents, {dict(tally.failed)}, up "
        f"{time.monotonic():.1f} s, CPU {cpu_s}",
        file=sys.stderr,
        flush=True,
    )


def main() -> None:
    """Runs what was asked for."""
    words = dict(word.partition("=")[::2] for word in Path("/proc/cmdline").read_text().split())
    began_s = time.monotonic()
    record = Record(os.dup(1))
    os.dup2(2, 1)  # what pytest says goes to the console
    record.tell(
        kernel=platform.release(),
        cpus=os.cpu_count(),
        boot_seconds=round(float(Path("/proc/uptime").read_text().split()[0]), 1),
    )
    end = threading.Timer(int(words.get("lab.seconds", "200")), os._exit, [1])
    end.daemon = True
    end.start()
    if "lab.faults" in words:
        _strike_agents(words["lab.faults"].split("+"), record)
        record.tell(complete=True, seconds=round(time.monotonic() - began_s, 1))
        return
    # By a signal, and not while its failure is told: a test that hangs is ended alone.
    timeout = [f"--timeout={2 * LONGEST_S + 20:g}", "--timeout-method=signal"]
    timeout += ["-o", "timeout_func_only=true"]
    # Looking up sources takes an emulated processor minutes.
    arguments = ["-p", "no:cacheprovider", "-q", "--color=no", "--tb=native", *timeout]
    chosen = ["-m", "root or rights or lab", "-k", f"not ({' or '.join(LEFT_OUT)})"]
    chosen += words["lab.tests"].split(",")
    code = pytest.main([*arguments, *chosen], plugins=[record])
    whole = code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    record.tell(complete=whole, seconds=round(time.monotonic() - began_s, 1))


if __name__ == "__main__":
    main()
