"""Where an agent is asked: its own socket, its page's, and that of the status group."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping

from smartharvest.agent.web_page import WebPage
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import Command, ControlSocket
from smartharvest.telemetry.status_socket import StatusSocket, kept_for_a_while

_log = logging.getLogger(__name__)


class Sockets:
    """Answers ``telling``, which changes nothing, to all of them, ``asking`` on its own alone."""

    def __init__(
        self,
        settings: Settings,
        page: WebPage,
        telling: Mapping[str, Command],
        asking: Mapping[str, Command],
    ) -> None:
        self._page = page
        self._telling = kept_for_a_while(dict(telling))
        self._control: ControlSocket | None = None
        path = socket_path(settings.state_dir, os.getpid())
        try:
            self._control = ControlSocket(path, {**telling, **asking})
        except OSError as error:
            _log.warning("%s: %s; this agent has no status", path, error.strerror)
            return
        self._adopt_page()
        if (group := settings.status_group) is not None:
            try:
                self._control.attach(StatusSocket(path, group, dict(telling)))
            except (ConfigError, OSError) as error:
                _log.warning("status_group: %s; its members get no status", error)

    def _adopt_page(self) -> None:
        if self._control is not None and self._page.connection is not None:
            self._control.adopt(self._page.connection, self._telling)

    def fileno(self) -> int:
        """Readable when somebody asks; -1 without a socket."""
        return -1 if self._control is None else self._control.fileno()

    def serve(self) -> None:
        """Answers who has asked. Never waits."""
        if self._control is not None:
            self._control.serve()
            if self._page.check():
                self._adopt_page()

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
