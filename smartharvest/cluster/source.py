"""Sources of what the node can promise: the agent's socket, or its HTTP page."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, cast

from smartharvest.errors import ConfigError, RightsError, SmartHarvestError
from smartharvest.telemetry.client import NoAgent, ask, not_one, socket_of, sockets
from smartharvest.telemetry.protocol import LONGEST_ANSWER, ProtocolError

Source = Callable[[], dict[str, Any]]
"""Returns the capacity document of agent/promise.py. Raises NoCapacity."""

TIMEOUT_S = 1.0
_MOST_CORES = 1 << 20
_MOST_SHOWN = 64


class NoCapacity(SmartHarvestError):
    """No agent answers."""

    exit_code = 6


class WhichGroup(ConfigError):
    """The agent lends to several elastic groups, or to none of that name."""


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


def of_group(source: Source, group: str | None) -> Source:
    """What ``source`` says of one elastic group, called by its name.

    None: of the whole node, which has to have one group. The document is the node's with the
    group's entry over it. It also raises WhichGroup.
    """
    return lambda: _narrowed(source(), group)


def of_place(source: Source, target: str) -> Source:
    """What ``source`` says of the elastic group at ``target``, such as ``cgroup:batch/one``, or
    above it; where there is one group, of that. It also raises WhichGroup.
    """

    def placed() -> dict[str, Any]:
        document = source()
        groups = _groups(document)
        if len(groups) < 2:
            return document
        for one in groups:
            if f"{target}/".startswith(f"{one.get('target')}/"):
                return document | one
        return _narrowed(document, target)

    return placed


def _groups(document: dict[str, Any]) -> list[dict[str, Any]]:
    groups = document.get("groups", [])
    if not isinstance(groups, list) or not all(
        _has_cores(one) and isinstance(one.get("name"), str) for one in groups
    ):
        raise NoCapacity("the answer is no capacity document")
    return groups


def _narrowed(document: dict[str, Any], group: str | None) -> dict[str, Any]:
    groups = _groups(document)
    names = ", ".join(one["name"][:_MOST_SHOWN] for one in groups)
    if group is None:
        if len(groups) > 1:
            raise WhichGroup(f"the agent lends to several groups; choose one with --group: {names}")
        return document
    for one in groups:
        if group == one["name"]:
            return document | one
    raise WhichGroup(f"the agent has no elastic group {group!r}; it has {names or 'no names'}")


def _has_cores(document: Any) -> bool:
    cores = document.get("cores") if isinstance(document, dict) else None
    return isinstance(cores, dict) and all(
        isinstance(cores.get(name), int) and 0 <= cores[name] <= _MOST_CORES
        for name in ("now", "guaranteed", "promised")
    )


def _checked(document: Any, where: str) -> dict[str, Any]:
    if not _has_cores(document):
        raise NoCapacity(f"{where}: the answer is no capacity document")
    return cast(dict[str, Any], document)
