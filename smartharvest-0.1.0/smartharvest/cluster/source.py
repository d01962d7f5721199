"""Sources of what the node can promise: the agent's socket, or its HTTP page."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, cast

from smartharvest.errors import RightsError, SmartHarvestError
from smartharvest.telemetry.client import NoAgent, ask, not_one, socket_of, sockets
from smartharvest.telemetry.protocol import LONGEST_ANSWER, ProtocolError

Source = Callable[[], dict[str, Any]]
"""Returns the capacity document of agent/promise.py. Raises NoCapacity."""

TIMEOUT_S = 1.0
_MOST_CORES = 1 << 20


class NoCapacity(SmartHarvestError):
    """No agent answers."""

    exit_code = 6


def from_socket(state_dir: str, pid: int | None) -> Source:
    """Asks the one agent that runs there at the time of the call."""

    def source() -> dict[str, Any]:
        try:
            paths = sockets(state_dir) if pid is None else [socket_of(state_dir, pid)]
            answers = []
            for path in paths:
                try:
                    answers.append(ask(path, "capacity", {}, TIMEOUT_S))
                except NoAgent:  # it was killed
                    continue
        except (RightsError, TimeoutError, ProtocolError, OSError) as error:
            raise NoCapacity(str(error)) from None
        if len(answers) != 1:
            raise NoCapacity(not_one(state_dir, len(answers)))
        return _checked(answers[0], state_dir)

    return source


def from_http(url: str) -> Source:
    """Asks the agent's page ``/capacity``."""

    def source() -> dict[str, Any]:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
                document = json.loads(answer.read(LONGEST_ANSWER))
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            text = " ".join(f"{reason}".split())[:200] or type(error).__name__
            raise NoCapacity(f"{url}: {text}") from None
        return _checked(document, url)

    return source


def _checked(document: Any, where: str) -> dict[str, Any]:
    cores = document.get("cores") if isinstance(document, dict) else None
    if not isinstance(cores, dict) or not all(
        isinstance(cores.get(name), int) and 0 <= cores[name] <= _MOST_CORES
        for name in ("now", "guaranteed", "promised")
    ):
        raise NoCapacity(f"{where}: the answer is no capacity document")
    return cast(dict[str, Any], document)
