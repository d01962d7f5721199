"""Where the threads of an agent stand, on request, in the agent's own messages.

The agent's handler is CPython's faulthandler: C that needs neither the interpreter nor its lock, so
it answers for a control plane that holds the lock for ever. A stopped process, and one in state D,
answers when it can take signals again.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys

SIGNAL = signal.SIGQUIT
"""As with a Java virtual machine, which it does not end, either."""


def answer() -> None:
    """From now on SIGNAL has this process write its stacks to standard error; so does a crash."""
    fd = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
    with contextlib.suppress(OSError, RuntimeError, ValueError):  # nowhere to write to
        os.fstat(fd)
        if not faulthandler.is_enabled():
            faulthandler.enable(fd)
        faulthandler.register(SIGNAL, fd, all_threads=True)


def ask(pid: int, pidfd: int) -> bool:
    """Has process ``pid`` write them; False if it would be killed by the question, or is gone."""
    if not _catches(pid):
        return False
    try:
        signal.pidfd_send_signal(pidfd, SIGNAL)
    except ProcessLookupError:
        return False
    return True


def _catches(pid: int) -> bool:
    """Whether it has a handler: a program that has just been replaced has none yet."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status") as file:
        for line in file:
            name, _, mask = line.partition(":")
            if name == "SigCgt":
                return bool(int(mask, 16) >> (SIGNAL - 1) & 1)
    return False
