"""Which tests run while no other does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOG = """
import os, time
import pytest

def say(line):
    with open(os.environ["SAID"], "a") as log:
        log.write(line + "\\n")
"""
AGAIN = """
tries = []

@pytest.mark.timing
def test_again():
    tries.append(1)
    name = f"try {len(tries)}"
    say(name + " begins")
    time.sleep(0.05)
    say(name + " ends")
    assert len(tries) == 3

@pytest.mark.root
def test_of_this_host():
    say("root begins")
    time.sleep(0.05)
    say("root ends")
"""
OTHERS = """
@pytest.mark.timing
@pytest.mark.parametrize("number", range(20))
def test_other(number):
    say("another begins")
    time.sleep(0.01)
    say("another ends")
"""


def test_alone_are_those_tried_again_and_those_of_this_machines_own_groups(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  timing\n  root\n")
    (tmp_path / "test_again.py").write_text(LOG + AGAIN)
    (tmp_path / "test_others.py").write_text(LOG + OTHERS)
    log = tmp_path / "said"
    named = ("xdist", "pytest_rerunfailures", "tests.plugins.tries", "tests.plugins.turns")
    plugins = [word for name in named for word in ("-p", name)]
    workers = ("-n", "2", "--dist", "loadfile")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--color=no", *plugins, *workers],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(ROOT),
            "SAID": str(log),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr
    lines = log.read_text().splitlines()
    assert lines.count("another ends") == 20
    for name in ("try 2", "try 3", "root"):
        at = lines.index(f"{name} begins")
        assert lines[at + 1] == f"{name} ends"
    before = lines[: lines.index("try 2 begins")]
    assert before.count("another begins") == before.count("another ends")
