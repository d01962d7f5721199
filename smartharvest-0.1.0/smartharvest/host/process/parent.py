"""A child process that must not outlive its parent."""

from __future__ import annotations

import os
import signal

from smartharvest.core import _demo


def die_with(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends, however that happens.

    Raises SystemExit if the parent is already gone.
    """
    _demo.set_parent_death_signal(signal.SIGKILL)
    if os.getppid() != parent_pid:
        raise SystemExit(f"the parent {parent_pid} is gone")
