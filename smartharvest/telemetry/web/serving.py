"""Runs the page's server on a socket that is open already, without waking while nobody asks."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from types import FrameType

import uvicorn
from starlette.applications import Starlette


class Server(uvicorn.Server):
    """uvicorn's own looks ten times a second whether it is to end; this one is woken for it.

    ``closing`` is called when it is to end, so that streams come to theirs.
    """

    def __init__(self, app: Starlette, closing: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app, loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None,
                access_log=False, server_header=False, date_header=False, limit_concurrency=64,
                timeout_keep_alive=30, timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        self._closing = closing
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Ends it soon; to be called from its own thread."""
        self.should_exit = True
        self._closing()
        self._ended.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Of signals; uvicorn would raise them again, and the end would look like a failure."""
        self._loop.call_soon_threadsafe(self.end)

    async def main_loop(self) -> None:
        if not self.should_exit:
            await self._ended.wait()


async def _nothing(_server: Server) -> None:
    """Nothing to open."""


def run(
    app: Starlette,
    listener: socket.socket,
    closing: Callable[[], None],
    opening: Callable[[Server], Awaitable[None]] = _nothing,
) -> None:
    """Serves ``app`` until SIGINT or SIGTERM; ``opening`` is awaited before the first request."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)

    async def serve() -> None:
        server = Server(app, closing)
        await opening(server)
        await server.serve(sockets=[listener])

    asyncio.run(serve())
