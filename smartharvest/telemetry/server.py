"""The agent's end of the socket; the deciding thread serves it between windows.

Nothing here waits: ``serve`` does what there is to do and returns. The polling loop has its own
thread. The cost of clients is bounded: at most MOST_CLIENTS, LONGEST_REQUEST bytes each, one
request of each in a turn, and SILENCE_S without progress ends a connection.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any

from smartharvest.errors import SmartHarvestError
from smartharvest.host.journal.places import UNNAMED
from smartharvest.telemetry.protocol import (
    LONGEST_REQUEST,
    ProtocolError,
    format_error,
    format_result,
    parse_request,
)

_log = logging.getLogger(__name__)

MOST_CLIENTS = 16
SILENCE_S = 10.0
"""A connection without progress for this long is closed."""
_CHUNK = 16 * 1024
_MOST_SHOWN = 100
_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid

Command = Callable[[Mapping[str, Any]], Any]
"""Answers a request with a value JSON can hold. A SmartHarvestError goes to the client."""


class ControlSocket:
    """Listens at ``path``, which it replaces, for root and the agent's own user.

    ``commands`` maps names to functions; more may be added at any time. Raises OSError if creating
    the socket fails.
    """

    longest_request = LONGEST_REQUEST
    """Bytes."""

    def __init__(
        self,
        path: str,
        commands: dict[str, Command],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.commands = commands
        self._clock = clock
        self._clients: dict[int, _Client] = {}
        self._beside: ControlSocket | None = None
        self._selector = selectors.EpollSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            _listen(self._listener, path, self._allow)
            self._selector.register(self._listener, selectors.EVENT_READ)
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Readable when there is something to ``serve``."""
        return self._selector.fileno()

    def attach(self, other: ControlSocket) -> None:
        """Serves and closes ``other`` together with this one."""
        self._beside = other
        self._selector.register(other, selectors.EVENT_READ)

    def adopt(self, connection: socket.socket, commands: Mapping[str, Command]) -> None:
        """Answers ``commands``, and no others, on a ``connection`` whose other end a child has.

        It may be silent as long as it likes. Closing this socket leaves the connection open, for
        the next one that adopts it.
        """
        connection.setblocking(False)
        client = _Client(connection, self._clock(), self.longest_request, commands)
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ)

    def serve(self) -> None:
        """Does what can be done without waiting."""
        if self._beside is not None:
            self._beside.serve()
        for key, _ in self._selector.select(0):
            if key.fileobj is self._listener:
                self._accept()
            elif key.fileobj is not self._beside:
                self._turn(self._clients[key.fd])
        now_s = self._clock()
        for client in [c for c in self._clients.values() if c.is_silent(now_s)]:
            self._drop(client)

    def close(self) -> None:
        """Removes the socket and closes all connections."""
        if self._beside is not None:
            self._selector.unregister(self._beside)
            self._beside.close()
            self._beside = None
        for client in list(self._clients.values()):
            self._drop(client)
        self._selector.close()
        self._listener.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    @property
    def clients(self) -> int:
        return len(self._clients)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # it has gone already, or there are no descriptors left
            return
        connection.setblocking(False)
        refusal = self._refusal(connection)
        if refusal is not None:
            with contextlib.suppress(OSError):
                connection.send(format_error(refusal))
            connection.close()
            return
        client = _Client(connection, self._clock(), self.longest_request)
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ)

    def _refusal(self, connection: socket.socket) -> str | None:
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        _, uid, _ = _CREDENTIALS.unpack(raw)
        if not self._admits(uid):
            return "only root and the user of the agent may send requests"
        if sum(client.commands is None for client in self._clients.values()) >= MOST_CLIENTS:
            return "too many connections; try again"
        return None

    def _allow(self, path: str) -> None:
        """Says by the modes of the socket at ``path`` who may connect."""
        os.chmod(path, 0o600)

    def _admits(self, uid: int) -> bool:
        return uid in (0, os.geteuid())

    def _unknown(self, command: str) -> str:
        return f"unknown command {command!r}; known are {', '.join(sorted(self.commands))}"

    def _turn(self, client: _Client) -> None:
        try:
            if client.unsent:
                client.send()
            else:
                client.receive()
            if not client.unsent and (line := client.next_line()) is not None:
                client.unsent = self._answer(line, client.commands)
                client.send()
        except (OSError, ProtocolError) as error:
            if isinstance(error, ProtocolError):
                with contextlib.suppress(OSError):
                    client.connection.send(format_error(str(error)))
            self._drop(client)
            return
        client.moved_s = self._clock()
        # A request that was received already does not make the socket readable.
        waits_to_write = client.unsent or client.has_line
        self._selector.modify(
            client.connection, selectors.EVENT_WRITE if waits_to_write else selectors.EVENT_READ
        )

    def _answer(self, line: bytes, only: Mapping[str, Command] | None) -> bytes:
        try:
            request = parse_request(line)
            command = (self.commands if only is None else only).get(request.command)
            if command is None:
                return format_error(self._unknown(request.command[:_MOST_SHOWN]))
            return format_result(command(request.arguments))
        except (SmartHarvestError, ProtocolError) as error:
            return format_error(str(error))
        except Exception as error:  # a request must not end the agent
            _log.exception("answering a request failed")
            return format_error(f"unexpected {type(error).__name__}: {error}")

    def _drop(self, client: _Client) -> None:
        del self._clients[client.connection.fileno()]
        self._selector.unregister(client.connection)
        if client.commands is None:
            client.connection.close()


class _Client:
    """One connection: an incomplete line received so far, and bytes not sent yet.

    ``commands`` are those of one that was adopted; None: all of the socket.
    """

    def __init__(
        self,
        connection: socket.socket,
        now_s: float,
        longest: int,
        commands: Mapping[str, Command] | None = None,
    ) -> None:
        self.connection = connection
        self.commands = commands
        self._longest = longest
        self.moved_s = now_s
        self.unsent = b""
        self._received = bytearray()

    def receive(self) -> None:
        """Raises OSError once the other side is gone, ProtocolError for an endless line."""
        if self.has_line:
            return
        data = self.connection.recv(_CHUNK)
        if not data:
            raise ConnectionError("closed")
        self._received += data
        if not self.has_line and len(self._received) > self._longest:
            raise ProtocolError(f"a request may have {self._longest} bytes")

    def is_silent(self, now_s: float) -> bool:
        return self.commands is None and now_s - self.moved_s > SILENCE_S

    @property
    def has_line(self) -> bool:
        return b"\n" in self._received

    def next_line(self) -> bytes | None:
        line, newline, rest = bytes(self._received).partition(b"\n")
        if not newline:
            return None
        self._received[:] = rest
        return line

    def send(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.unsent = self.unsent[self.connection.send(self.unsent) :]


def _listen(listener: socket.socket, path: str, allow: Callable[[str], None]) -> None:
    """Through the directory's descriptor: the path of a socket has at most 107 bytes.

    It gets its name last, so that a client that finds it can connect.
    """
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        short = f"/proc/self/fd/{directory}/{os.path.basename(path)}"
        unnamed = os.path.splitext(short)[0] + UNNAMED
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unnamed)
        listener.bind(unnamed)
        allow(unnamed)
        listener.listen(MOST_CLIENTS)
        os.rename(unnamed, short)
    finally:
        os.close(directory)
