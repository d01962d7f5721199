"""The process that serves the agent's page: it has two open sockets, and no rights.

It asks the agent over a connection that it was given, and outlives one arrangement of the host
after the other. One that dies is started again, never in a hurry.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import subprocess
import time

from smartharvest.config.settings import Settings
from smartharvest.errors import AddressTaken, Unavailable
from smartharvest.host.process.start import start_python
from smartharvest.telemetry.web.listening import listen, require_libraries
from smartharvest.telemetry.web.token import read_token

_log = logging.getLogger(__name__)

AGAIN_AFTER_S = 30.0
ENDS_WITHIN_S = 1.5


class WebPage:
    """Nothing runs until it is opened with settings that want a page."""

    def __init__(self) -> None:
        self._address: str | None = None
        self._token = ""
        self._listener: socket.socket | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._started_s = 0.0
        self.connection: socket.socket | None = None
        """This end of the child's connection; None without a child."""

    def open(self, settings: Settings) -> None:
        """Serves what ``settings`` say; what is served already goes on.

        Raises ConfigError for a missing library or a bad token, Unavailable for an address that
        this host has not. One that somebody else has taken is tried again: any user can do that,
        and must not keep the agent from starting.
        """
        if settings.web is None:
            self.close()
            return
        require_libraries("web")
        token = "" if settings.web_token is None else read_token(settings.web_token, "web_token")
        if (settings.web, token) == (self._address, self._token):
            return
        self.close()
        self._address, self._token = settings.web, token
        try:
            self._listen()
        except AddressTaken as error:
            _log.warning("%s; tried again every %.0f s", error, AGAIN_AFTER_S)
        except Unavailable:
            self.close()
            raise

    def _listen(self) -> None:
        """Raises AddressTaken or Unavailable."""
        assert self._address is not None
        self._started_s = time.monotonic()
        self._listener = listen(self._address, "web")
        self._start()
        _log.info("The page is at http://%s/", self._address)

    def check(self) -> bool:
        """Starts what has died or could not listen; whether there is another connection now."""
        if self._address is not None and self._listener is None:
            if time.monotonic() < self._started_s + AGAIN_AFTER_S:
                return False
            with contextlib.suppress(Unavailable):
                self._listen()
            return self.connection is not None
        if self._child is None or self._child.poll() is None:
            return False
        if time.monotonic() < self._started_s + AGAIN_AFTER_S:
            return False
        _log.warning("The page's server ended (%s); starting it again", self._child.returncode)
        self._end_child()
        self._start()
        return self.connection is not None

    def close(self) -> None:
        """Ends the child and gives the address free."""
        self._end_child()
        if self._listener is not None:
            self._listener.close()
        self._listener = self._address = None

    def _start(self) -> None:
        assert self._listener is not None
        self._started_s = time.monotonic()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._child = start_python(
                    "smartharvest.telemetry.web",
                    str(self._listener.fileno()),
                    str(theirs.fileno()),
                    pass_fds=(self._listener.fileno(), theirs.fileno()),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                )
                assert self._child.stdin is not None
                with self._child.stdin as its_input:
                    its_input.write(f"{self._token}\n".encode())
            except OSError as error:
                ours.close()
                _log.warning("The page's server cannot be started: %s", error.strerror)
                return
        self.connection = ours

    def _end_child(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        if self._child is None:
            return
        self._child.terminate()
        try:
            self._child.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None
