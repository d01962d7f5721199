"""Where the page's figures come from: an agent's connection, or every socket of this host."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from smartharvest.errors import RightsError
from smartharvest.telemetry.agents import find, pid_of
from smartharvest.telemetry.client import NoAgent, ask
from smartharvest.telemetry.protocol import (
    LONGEST_ANSWER,
    ProtocolError,
    format_request,
    parse_answer,
)

ANSWER_WITHIN_S = 3.0


class Silent(Exception):
    """An agent that does not answer, and why."""


class Agent(Protocol):
    """One agent that can be asked."""

    name: str
    """Unique among those of a page."""

    async def ask(self, command: str) -> Any:
        """The answer to a command without arguments. Raises Silent."""


class Inherited:
    """The agent that started this process, over the ``connection`` that it was given."""

    name = "agent"

    def __init__(self, connection: socket.socket, gone: Callable[[], None]) -> None:
        self._connection = connection
        self._gone = gone
        self._writer: asyncio.StreamWriter | None = None
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()
        self._owed = 0
        """Answers that come for requests which nobody waits for any more."""
        self._lock = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Reads from now on; ``gone`` is called once the agent has closed its end."""
        reader, self._writer = await asyncio.open_unix_connection(
            sock=self._connection, limit=LONGEST_ANSWER
        )
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._answers.put_nowait(line)
        except (OSError, ValueError):
            pass
        self._gone()

    async def ask(self, command: str) -> Any:
        assert self._writer is not None
        async with self._lock:
            self._owed += 1
            self._writer.write(format_request(command, {}))
            try:
                async with asyncio.timeout(ANSWER_WITHIN_S):
                    while True:
                        line = await self._answers.get()
                        self._owed -= 1
                        if not self._owed:
                            return parse_answer(line)
            except TimeoutError:
                raise Silent("the agent does not answer") from None
            except ProtocolError as error:
                raise Silent(str(error)) from None


class BySocket:
    """An agent that is asked at its socket, as often as it is asked again."""

    def __init__(self, path: str) -> None:
        self.name = path
        self.pid = pid_of(path)

    async def ask(self, command: str) -> Any:
        try:
            return await asyncio.to_thread(ask, self.name, command, {}, ANSWER_WITHIN_S)
        except NoAgent:
            raise Silent("it is starting, ending or being replaced") from None
        except (ProtocolError, RightsError, TimeoutError, OSError) as error:
            raise Silent(str(error)) from None


class Host:
    """Every agent of this host, as its state directories have them."""

    def __init__(self, state_dirs: Iterable[str]) -> None:
        self._state_dirs = tuple(state_dirs)
        self._known: dict[str, BySocket] = {}
        self.orphans: list[str] = []

    def agents(self) -> list[Agent]:
        """Those there are now."""
        try:
            found = find(self._state_dirs)
        except RightsError as error:
            self.orphans = [str(error)]
            return []
        self.orphans = [orphan.describe() for orphan in found.orphans]
        self._known = {
            path: self._known.get(path) or BySocket(path) for path in dict.fromkeys(found.sockets)
        }
        return list(self._known.values())
