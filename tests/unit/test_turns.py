"""A test that is tried again runs while no other does."""

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
"""
OTHERS = """
@pytest.mark.timing
@pytest.mark.parametrize("number", range(20))
def test_other(number):
    say("another begins")
    time.sleep(0.01)
    say("another ends")
"""


def test_it_has_the_machine_alone_at_its_second_and_third_try(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = timing\n")
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
    for name in ("try 2", "try 3"):
        at = lines.index(f"{name} begins")
        assert lines[at + 1] == f"{name} ends"
    before = lines[: lines.index("try 2 begins")]
    assert before.count("another begins") == before.count("another ends")
