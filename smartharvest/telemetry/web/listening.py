"""Opening the page's address. Needs nothing beyond the standard library: the agent does it."""

from __future__ import annotations

import errno
import importlib.util
import socket

from smartharvest.errors import AddressTaken, ConfigError, Unavailable

_BACKLOG = 32


def require_libraries(key: str) -> None:
    """Raises ConfigError where the extra ``web`` is not installed."""
    for name in ("starlette", "uvicorn"):
        if importlib.util.find_spec(name) is None:
            raise ConfigError(f"{key}: {name} is not installed; pip install 'smartharvest[web]'")


def listen(address: str, key: str) -> socket.socket:
    """A socket that listens at ``ADDRESS:PORT``. Raises AddressTaken, or else Unavailable."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        kind = AddressTaken if error.errno == errno.EADDRINUSE else Unavailable
        raise kind(f"{key}: {address}: {error.strerror}") from None
    listener.setblocking(False)
    return listener
