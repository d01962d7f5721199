"""The command line as a user meets it: as a process of its own, or quicker, in this one."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smartharvest.agent.reexec import SIGNALS
from smartharvest.cli import main

LONGEST_S = float(os.environ.get("SMARTHARVEST_LONGEST_S", "60"))
"""How long something may take that takes a moment on a machine with nothing else to do."""

EMULATED = bool(os.environ.get("SMARTHARVEST_EMULATED"))
"""Whether this machine's processors are: slow, and whoever spins takes from everybody."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def failure(self) -> str:
        """The one line that a failed command says."""
        assert self.code != 0
        assert self.err.endswith("\n"), self.err
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("smartharvest: "), self.err
        text, _, identifier = lines[0].removeprefix("smartharvest: ").rpartition(" [")
        assert re.fullmatch(r"SH-([A-Z]\d\d|\d+)\]", identifier), self.err
        return text


def as_command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "smartharvest", *arguments]


def instead_of(command: Sequence[str], *, copied: bool = EMULATED) -> Callable[[], None] | None:
    """What ``subprocess`` is to have called in place of starting ``command``; None: it starts it.

    Nearly all of a start is imports: ten seconds of it where processors are emulated. Our own
    commands, if ``copied``, run in a copy of this process, which has imported all.
    """
    ours = as_command(())
    if not copied or list(command[: len(ours)]) != ours:
        return None

    def run() -> None:
        gc.freeze()  # what is the tests' is not looked through again and again
        # What is open is no more, by which subprocess learns that the command has begun; the
        # numbers stay taken, since what was opened here may yet be closed by its owner.
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in map(int, os.listdir("/proc/self/fd")):
            if number > 2 and number != nothing:
                os.dup2(nothing, number, inheritable=False)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python has it where it is started
        sys.orig_argv = list(command)  # what an agent that restarts runs anew
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        code: object = 1
        try:
            main(list(command[len(ours) :]))
        except SystemExit as end:
            code = end.code
        finally:
            sys.stdout.flush()
            os._exit(code if isinstance(code, int) else int(code is not None))

    return run


def smartharvest(*arguments: str, largest_file: int | None = None) -> Outcome:
    """Runs one command to its end; ``largest_file`` limits the bytes of any file it writes."""
    limit = ["prlimit", f"--fsize={largest_file}"] if largest_file is not None else []
    command = [*limit, *as_command(arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
        preexec_fn=instead_of(command),
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def smartharvest_here(*arguments: str) -> Outcome:
    """The same within this process, for commands that end by themselves."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        _signals_and_logging_kept(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main(list(arguments))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Outcome(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _signals_and_logging_kept() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    kept = {n: signal.getsignal(n) for n in SIGNALS}
    root.handlers.clear()  # basicConfig would close them
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for number, handler in kept.items():
            signal.signal(number, handler)
