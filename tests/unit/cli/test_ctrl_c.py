"""Ctrl-C while a command is at work: exit code 130, one line, no traceback, at once."""

from __future__ import annotations

import csv
import functools
import importlib
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.audit_lines import decision
from tests.commands import LONGEST_S, smartharvest_here

ROOT = Path(__file__).parents[3]

AT_WORK = {
    ("lab", "simulate", "--seconds", "5"): "lab.simulator.machine:Machine.advance",
    ("lab", "replay", "made.trace"): "lab.trace.reader:TraceReader._record",
    ("report", "audit.jsonl"): "telemetry.audit:_is_sound",
    ("report", "audit.jsonl", "--trace", "made.trace"): "lab.trace.reader:TraceReader._record",
    ("explain", "audit.jsonl"): "telemetry.audit:_is_sound",
    ("plot", "audit.jsonl", "out.png"): "telemetry.audit:_is_sound",
    ("fleet", "simulate", "--trace", "table:vms.csv", "--nodes", "2x8c16g"):
        "fleet.simulation:_Simulation._settle",
    ("fleet", "train", "--trace", "table:vms.csv", "--nodes", "2x8c16g", "--out", "x.model"):
        "fleet.simulation:_Simulation._settle",
    ("fleet", "evaluate", "--trace", "table:vms.csv", "--nodes", "2x8c16g"):
        "fleet.simulation:_Simulation._settle",
    ("serverless", "simulate", "--minutes", "2", "--workers", "4x8"):
        "serverless.simulator.run:home_hash",
}  # fmt: skip
"""Command -> what it calls again and again."""


def interrupted(where: str, at: int) -> tuple[Any, str, Callable[..., Any]]:
    """(object, name, what to put there): the ``at``-th call meets a ctrl-C first."""
    module, _, dotted = where.partition(":")
    *owners, name = dotted.split(".")
    owner = importlib.import_module(f"smartharvest.{module}")
    for one in owners:
        owner = getattr(owner, one)
    real, calls = getattr(owner, name), 0

    @functools.wraps(real)
    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **named)

    return owner, name, call


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.trace").symlink_to(ROOT / "tests" / "golden" / "made.trace")
    Path("audit.jsonl").write_text("".join(decision(1.7e9 + second, 1) for second in range(9)))
    with open("vms.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "cores", "memory", "start", "end"])
        rows.writerows([number, 1, 1, 3600 * number, 3600 * (number + 5)] for number in range(99))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("typed", AT_WORK, ids=" ".join)
def test_a_command_at_work_ends_with_one_line(
    typed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*interrupted(AT_WORK[typed], at=3))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = smartharvest_here(*typed)
    finally:
        signal.signal(signal.SIGINT, before)
    # Click ends the terminal's line with the ^C first.
    assert done.code == 130
    assert done.err.endswith("\nsmartharvest: stopped\n")
    assert "Traceback" not in done.err


POOL = """
import os, signal, sys
from smartharvest.cli import main, progress

def shown(self, done, total):
    if done:
        os.killpg(0, signal.SIGINT)  # as a terminal does: to the workers, too

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
    progress.Progress.__call__ = shown
    main(sys.argv[1:])
"""


def test_a_pool_of_workers_ends_at_once_and_says_nothing(tmp_path: Path) -> None:
    """What the workers have not done by then would take hours."""
    script = tmp_path / "interrupted.py"
    script.write_text(POOL)
    typed = ["lab", "simulate", "--policies", "prev-peak", "--mechanisms", "ipi", "--seconds"]
    long = ["0.1", "--workloads", "memcached", *(f"--seed={seed}" for seed in range(10_000))]
    done = subprocess.run(
        [sys.executable, str(script), *typed, *long],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=LONGEST_S, check=False, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert done.stderr == "\nsmartharvest: stopped\n"
