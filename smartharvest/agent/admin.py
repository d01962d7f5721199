"""What an operator asks of a running agent, as requests: parsed here, carried out elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.config.settings import FIELDS, Settings, changed_settings
from smartharvest.errors import ConfigError

LIMITS = ("max_harvest", "keep_idle")
POLICY = ("policy", "safeguard")


@dataclass(frozen=True)
class Pause:
    """Takes everything back but the elastic minimum, until ``Resume``."""


@dataclass(frozen=True)
class Resume:
    """Ends ``Pause`` and ``Evict``."""


@dataclass(frozen=True)
class Evict:
    """Takes back even the elastic minimum (section 3.2 of the paper): freezes the group."""


@dataclass(frozen=True)
class TakeUp:
    """Goes on with other settings."""

    settings: Settings
    kind: str
    """What the log calls it: ``set`` or ``reloaded``."""
    restarts: tuple[str, ...] = ()
    """The changed settings that only another arrangement of the host takes up."""


@dataclass(frozen=True)
class ReplaceProgram:
    """Another program takes over, if it starts with its configuration."""


Request = Pause | Resume | Evict | TakeUp | ReplaceProgram
Load = Callable[[], Settings]
"""Reads the configuration again. Raises ConfigError."""


def parse_request(
    name: str, arguments: Mapping[str, Any], settings: Settings, load: Load | None
) -> Request:
    """The request called ``name``, with the ``settings`` in force.

    Raises ConfigError for arguments that it does not take and values that are refused.
    """
    if name in ("set-policy", "set-limit"):
        return _parse_set(arguments, settings, POLICY if name == "set-policy" else LIMITS)
    if name == "reload":
        return parse_reload(settings, load)
    if name == "restart":
        return ReplaceProgram()
    _only(arguments, ())
    plain: dict[str, Request] = {"pause": Pause(), "resume": Resume(), "evict": Evict()}
    return plain[name]


REQUESTS = ("pause", "resume", "evict", "set-policy", "set-limit", "reload", "restart")
"""The names they have on the socket."""


def parse_reload(settings: Settings, load: Load | None) -> TakeUp:
    """The configuration, read again. Raises ConfigError for one that is refused."""
    if load is None:
        raise ConfigError("reload: this agent was started without a way to read it again")
    new = load()
    new.require_targets()
    changes = changed_settings(settings, new)
    restarting = tuple(sorted(name for name, when in changes.items() if when == "restart"))
    return TakeUp(new, "reloaded", restarting)


def _parse_set(arguments: Mapping[str, Any], settings: Settings, names: tuple[str, ...]) -> TakeUp:
    _only(arguments, names)
    if not arguments:
        raise ConfigError(f"nothing to set: give {', '.join(names)}")
    parsed = {
        FIELDS[name].name: FIELDS[name].metadata["parse"](value, name)
        for name, value in arguments.items()
    }
    return TakeUp(dataclasses.replace(settings, **parsed), "set")


def _only(arguments: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in known:
            raise ConfigError(f"unknown argument {name!r}; known are {', '.join(known) or 'none'}")
