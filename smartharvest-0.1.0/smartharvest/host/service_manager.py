"""Messages to a service manager: sd_notify(3), and its watchdog.

Without one (no NOTIFY_SOCKET) nothing happens. A message that fails is dropped: then the watchdog
of the manager acts.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections.abc import Mapping

PATIENCE_US = 20_000_000
"""The watchdog's timeout while a new program starts."""
MORE_TIME_US = 10_000_000
"""How much longer a start, a reload or a stop may take from each sign of progress on."""
_PROGRESS_EVERY_NS = 250_000_000
_BEATS_PER_TIMEOUT = 4
"""sd_watchdog_enabled(3) asks for two; more, so that a busy second does not end the agent."""


class ServiceManager:
    """The manager that ``environment`` names. Times are nanoseconds of any one clock."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        given = os.environ if environment is None else environment
        self._address = _address(given.get("NOTIFY_SOCKET", ""))
        self._beat_every_ns = _beat_every_ns(given)
        self._next_beat_ns = self._next_progress_ns = 0
        self._timeout = given.get("WATCHDOG_USEC", "") if self._beat_every_ns else ""

    def ready(self, status: str) -> None:
        """The service is ready; ``status`` is a line for people."""
        watchdog = f"\nWATCHDOG_USEC={self._timeout}" if self._timeout else ""
        self._send(f"READY=1\nSTATUS={status}\nMAINPID={os.getpid()}{watchdog}")

    def handing_over(self) -> None:
        """The agent is silent until a new program is ready."""
        now_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        watchdog = f"\nWATCHDOG_USEC={PATIENCE_US}\nWATCHDOG=1" if self._timeout else ""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now_us}\nSTATUS=handing over{watchdog}")

    def reloading(self, now_ns: int) -> None:
        """The agent reads its configuration from ``now_ns`` (CLOCK_MONOTONIC) until ``ready``."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now_ns // 1000}")

    def progress(self, now_ns: int) -> None:
        """The service starts, reloads or stops, goes on with that, and needs more time for it.

        It counts as a beat, also where there is no watchdog to feed.
        """
        if now_ns >= self._next_progress_ns:
            self._next_progress_ns = now_ns + _PROGRESS_EVERY_NS
            watchdog = "\nWATCHDOG=1" if self._beat_every_ns else ""
            self._send(f"EXTEND_TIMEOUT_USEC={MORE_TIME_US}{watchdog}")

    def status(self, status: str) -> None:
        self._send(f"STATUS={status}")

    def beat(self, now_ns: int) -> None:
        """Keeps the watchdog quiet; call it while all is well, at any rate."""
        if self._beat_every_ns and now_ns >= self._next_beat_ns:
            self._next_beat_ns = now_ns + self._beat_every_ns
            self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError):
            kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
            with socket.socket(socket.AF_UNIX, kind) as notify:
                notify.sendto(message.encode(), self._address)


def _address(text: str) -> str:
    """An absolute path, or an abstract name, which is written with @ and begins with a null."""
    if text.startswith("@"):
        return "\0" + text[1:]
    return text if text.startswith("/") else ""


def _beat_every_ns(given: Mapping[str, str]) -> int:
    """0 if the manager expects no beats of this process."""
    if given.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0
    timeout_us = given.get("WATCHDOG_USEC", "")
    is_number = re.fullmatch("[0-9]{1,18}", timeout_us)
    return int(timeout_us) * 1000 // _BEATS_PER_TIMEOUT if is_number else 0
