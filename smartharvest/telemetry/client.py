"""The client's end of an agent's socket."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

from smartharvest.errors import RightsError
from smartharvest.host.journal.places import STATUS_DIRECTORY, is_live
from smartharvest.telemetry.protocol import (
    LONGEST_ANSWER,
    ProtocolError,
    format_request,
    parse_answer,
)

SUFFIX = ".sock"
PATIENCE_S = 3.0
"""The time a new program takes to start, and somewhat more."""
_RETRY_S = 0.05


class NoAgent(Exception):
    """No agent listens at the socket: it is gone, or starts, ends or is being replaced."""


def socket_path(state_dir: str, pid: int) -> str:
    return os.path.join(state_dir, f"agent-{pid}{SUFFIX}")


def socket_of(state_dir: str, pid: int) -> str:
    """The socket of the agent with that ``pid`` that the caller may use, if there is one."""
    path = socket_path(state_dir, pid)
    telling = socket_path(os.path.join(state_dir, STATUS_DIRECTORY), pid)
    return path if os.access(path, os.W_OK) or not os.path.exists(telling) else telling


def sockets(state_dir: str) -> list[str]:
    """The sockets in ``state_dir``: of running agents, and of some that were killed.

    For a caller who may not read it, those that only tell (status_socket.py). Raises RightsError
    if the caller may not read these either.
    """
    try:
        names = sorted(os.listdir(state_dir))
    except FileNotFoundError:
        return []
    except OSError as error:
        state_dir = os.path.join(state_dir, STATUS_DIRECTORY)
        try:
            names = sorted(os.listdir(state_dir))
        except OSError:
            raise RightsError(
                f"{os.path.dirname(state_dir)}: {error.strerror}; run as root, or as a member of "
                "the agent's status_group"
            ) from error
    return [os.path.join(state_dir, name) for name in names if name.endswith(SUFFIX)]


def not_one(state_dir: str, count: int) -> str:
    """What to do where ``count`` agents run and one is meant."""
    if not count:
        return (
            f"No agent is running (state directory {state_dir}); start one, or give its --state-dir"
        )
    return (
        f"{count} agents run in {state_dir}; choose one with --pid (smartharvest status lists them)"
    )


def lives(path: str) -> bool:
    """Whether the agent with the socket at ``path``, now or soon, is alive."""
    return is_live(_with_suffix(path, ".journal"))


def _with_suffix(path: str, suffix: str) -> str:
    return os.path.splitext(path)[0] + suffix


def ask_patiently(path: str, command: str, arguments: Mapping[str, Any]) -> Any:
    """As ``ask``, but gives a living agent PATIENCE_S to open its socket."""
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask(path, command, arguments)
        except NoAgent:
            if not lives(path) or time.monotonic() > until_s:
                raise
        time.sleep(_RETRY_S)


def ask(path: str, command: str, arguments: Mapping[str, Any], timeout_s: float = 3.0) -> Any:
    """The result of one request to the agent at ``path``.

    Raises NoAgent, RightsError, ProtocolError with the agent's refusal, or TimeoutError after
    ``timeout_s``.
    """
    until_s = time.monotonic() + timeout_s
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        _connect(connection, path)
        # The agent may have refused and closed the connection already.
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(format_request(command, arguments))
        received = bytearray()
        while not received.endswith(b"\n"):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError(f"{path}: no answer within {timeout_s:g} s")
            connection.settimeout(left_s)
            try:
                data = connection.recv(64 * 1024)
            except ConnectionResetError:
                data = b""
            if not data:
                raise NoAgent(path)
            received += data
            if len(received) > LONGEST_ANSWER:
                raise ProtocolError(f"{path}: the answer is too long")
    return parse_answer(bytes(received))


def _connect(connection: socket.socket, path: str) -> None:
    """Through the directory's descriptor: the path of a socket has at most 107 bytes."""
    try:
        directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise NoAgent(path) from error
    except OSError as error:
        raise RightsError(f"{path}: {error.strerror}; run as root") from error
    try:
        connection.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
    except (ConnectionRefusedError, FileNotFoundError) as error:
        raise NoAgent(path) from error
    except PermissionError as error:
        raise RightsError(f"{path}: {error.strerror}; run as root") from error
    finally:
        os.close(directory)
