"""Threads where there may be none to be had: any user can use up the process ids of a host."""

from __future__ import annotations

import threading


def has_started(thread: threading.Thread) -> bool:
    """Starts ``thread``; False if the kernel gives no other one now."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
