"""A unit of its own for the guardian under systemd, so that ``systemctl freeze`` of the agent's
leaves it running.

Under version 2 systemd owns the groups of what it has started: it is asked for a transient scope
(org.freedesktop.systemd1.Manager.StartTransientUnit), which it removes when the guardian has ended.
"""

from __future__ import annotations

import os
from subprocess import Popen

from smartharvest.host.cgroup.freezing import SYSTEMD
from smartharvest.host.process.start import start_command

BUSCTL = "/usr/bin/busctl"
ANSWER_S = 5
_MANAGER = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1")


class ScopeRequest:
    """One question to systemd, by a process that nobody waits for."""

    def __init__(self, pid: int) -> None:
        """Asks for ``pid``, if there is a systemd to ask."""
        self._process: Popen[bytes] | None = None
        if not os.path.isdir(SYSTEMD) or os.geteuid() != 0 or not os.path.exists(BUSCTL):
            return
        try:
            self._process = start_command(
                BUSCTL, f"--timeout={ANSWER_S}", "call", *_MANAGER, f"{_MANAGER[0]}.Manager",
                "StartTransientUnit", "ssa(sv)a(sa(sv))",
                f"smartharvest-guardian-{pid}.scope", "fail",
                "2", "Description", "s", f"SmartHarvest's guardian (pid {pid})",
                "PIDs", "au", "1", str(pid),
                "0",
            )  # fmt: skip
        except OSError:  # the guardian stays where it is, which the status tells
            self._process = None

    @property
    def is_open(self) -> bool:
        """Whether the answer is still to come. Never waits."""
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """Gives up waiting for the answer."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
