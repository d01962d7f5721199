"""Asking an agent where its threads stand."""

from __future__ import annotations

import os
import subprocess
import sys

from smartharvest.guardian import stacks

ANSWERS = """
import sys, threading
from smartharvest.guardian import stacks
stacks.answer()

def where_it_stands():
    print("ready", flush=True)
    sys.stdin.read()

where_it_stands()
"""


def asked(program: str) -> tuple[bool, int, str]:
    """(whether it was asked, how it ended, what it said) of a process that runs ``program``."""
    with subprocess.Popen(
        [sys.executable, "-c", program], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        pidfd = os.pidfd_open(process.pid)
        was_asked = stacks.ask(process.pid, pidfd)
        os.close(pidfd)
        _, said = process.communicate()
        return was_asked, process.returncode, said


def test_one_that_answers_says_where_it_stands_and_goes_on() -> None:
    was_asked, code, said = asked(ANSWERS)
    assert (was_asked, code) == (True, 0)
    assert "in where_it_stands" in said


def test_one_that_the_question_would_kill_is_not_asked() -> None:
    assert asked("import sys; print('ready', flush=True); sys.stdin.read()") == (False, 0, "")


def test_nobody_is_asked_for_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as process:
        pidfd = os.pidfd_open(process.pid)
    assert not stacks.ask(process.pid, pidfd)
    os.close(pidfd)
