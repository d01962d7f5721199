"""Which tests get another try, and what the end of a run says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

tries = {"late": 0, "lost": 0, "broken": 0, "grave": 0}

def at(name):
    tries[name] += 1
    return tries[name]

@pytest.mark.timing
def test_late():
    assert at("late") == 2

@pytest.mark.timing
def test_lost():
    at("lost")
    raise ValueError("too slow\\nby far")

def test_broken():
    at("broken")
    assert False

@pytest.mark.timing
@pytest.mark.flaky(reruns=0)
def test_grave():
    at("grave")
    assert False

def test_how_often():
    assert tries == {"late": 2, "lost": 3, "broken": 1, "grave": 1}
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of a run of ``TESTS`` and of another folder."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timing\n")
    for name, text in (("one", TESTS), ("two", "def test_fine(): pass\n")):
        (folder / name).mkdir()
        (folder / name / f"test_{name}.py").write_text(text)
    plugins = ("-p", "tests.plugins.tries", "-p", "tests.plugins.cost")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--strict-markers", "--color=no", *plugins],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_only_tests_that_depend_on_timing_are_run_again_and_at_most_twice(said: list[str]) -> None:
    assert said[-1].startswith("3 failed, 3 passed, 3 rerun in ")


def test_who_needed_another_try_is_listed_with_its_first_failure(said: list[str]) -> None:
    (at,) = [number for number, line in enumerate(said) if " needed another try " in line]
    late, lost = said[at + 1 : at + 3]
    assert late.startswith("one/test_one.py::test_late: passed at try 2; at first test_one.py:12: ")
    assert late.endswith("assert 1 == 2")
    assert lost.startswith("one/test_one.py::test_lost: failed at try 3; at first test_one.py:17: ")
    assert lost.endswith("ValueError: too slow")


def test_every_folder_has_its_cost(said: list[str]) -> None:
    (at,) = [number for number, line in enumerate(said) if " what each folder took " in line]
    rows = [line.split() for line in said[at + 2 : at + 5]]
    assert {row[-1]: row[1] for row in rows if row[-1] in ("one", "two")} == {
        "one": "5",
        "two": "1",
    }
