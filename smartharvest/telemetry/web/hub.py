"""Asks the agents once a second while somebody looks, and hands everybody the same answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from smartharvest.telemetry.web.sources import Agent, Silent
from smartharvest.telemetry.web.view import describe

EVERY_S = 1.0
MOST_VIEWERS = 16
_BEHIND = 3
"""Updates that a viewer may be behind; it misses the others."""


class TooManyViewers(Exception):
    """MOST_VIEWERS look already."""


class Hub:
    """``agents`` says whom there is to ask; ``notes`` what else there is to say."""

    def __init__(
        self,
        agents: Callable[[], Sequence[Agent]],
        notes: Callable[[], Sequence[str]] = lambda: (),
        every_s: float = EVERY_S,
    ) -> None:
        self._agents = agents
        self._notes = notes
        self._every_s = every_s
        self._viewers: set[asyncio.Queue[str | None]] = set()
        self._asking: asyncio.Task[None] | None = None

    @property
    def viewers(self) -> int:
        return len(self._viewers)

    async def watch(self) -> AsyncIterator[str]:
        """Events for one viewer, the past first, until it is closed. Raises TooManyViewers."""
        if len(self._viewers) >= MOST_VIEWERS:
            raise TooManyViewers
        queue: asyncio.Queue[str | None] = asyncio.Queue(_BEHIND + 1)
        self._viewers.add(queue)
        try:
            yield event("history", await self.look("history"))
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask())
            while (text := await queue.get()) is not None:
                yield text
        finally:
            self._viewers.discard(queue)

    def close(self) -> None:
        """Ends every viewer's stream."""
        for queue in self._viewers:
            if not queue.full():
                queue.put_nowait(None)

    async def _ask(self) -> None:
        while self._viewers:
            text = event("now", await self.look("recent"))
            for queue in self._viewers:
                if queue.qsize() < _BEHIND:
                    queue.put_nowait(text)
            await asyncio.sleep(self._every_s)

    async def look(self, past: str) -> dict[str, Any]:
        """Every agent's document; ``past`` is ``history`` or ``recent``."""
        agents = self._agents()
        found = await asyncio.gather(*(_look_at(agent, past) for agent in agents))
        return {"agents": found, "notes": list(self._notes())}


async def _look_at(agent: Agent, past: str) -> dict[str, Any]:
    document: dict[str, Any] = {"name": agent.name}
    try:
        status = await agent.ask("status")
        capacity = await _ask_or_none(agent, "capacity")
        document |= describe(status, capacity)
        document["past"] = await _ask_or_none(agent, past)
    except Silent as error:
        document["silent"] = str(error)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        document["silent"] = f"its status is of another version ({type(error).__name__}: {error})"
    return document


async def _ask_or_none(agent: Agent, command: str) -> Any:
    """None from an agent that has no such command."""
    try:
        return await agent.ask(command)
    except Silent:
        return None


def event(name: str, document: Any) -> str:
    """One server-sent event."""
    return f"event: {name}\ndata: {json.dumps(document, separators=(',', ':'))}\n\n"
