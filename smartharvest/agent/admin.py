"""What an operator asks of a running agent, as requests: parsed here, carried out elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from smartharvest.config.settings import FIELDS, Settings, changed_settings
from smartharvest.errors import ConfigError

LIMITS = ("max_harvest", "keep_idle")
POLICY = ("policy", "safeguard")
"""Settings, and fields by the same name, that an operator may set while the agent runs."""


@dataclass(frozen=True)
class Pause:
    """Takes everything back but the elastic minimum, until ``Resume``."""


@dataclass(frozen=True)
class HoldGroup:
    """Leaves one of several groups its minimum, or not even that, until it is resumed."""

    group: str
    how: Literal["paused", "evicted"]


@dataclass(frozen=True)
class ResumeGroup:
    """Ends ``HoldGroup``."""

    group: str


@dataclass(frozen=True)
class Resume:
    """Ends ``Pause`` and ``Evict``, and those of single groups."""


@dataclass(frozen=True)
class Evict:
    """Takes back even the elastic minimum (section 3.2 of the paper): freezes the group."""


@dataclass(frozen=True)
class TakeUp:
    """Goes on with other settings."""

    settings: Settings
    kind: str
    """What the log calls it: ``set`` or ``reloaded``."""
    overrides: Mapping[str, Any]
    """What an operator has set and a reload keeps, by name of the setting."""
    restarts: tuple[str, ...] = ()
    """The changed settings that only another arrangement of the host takes up."""


@dataclass(frozen=True)
class ReplaceProgram:
    """Another program takes over, if it starts with its configuration."""


Request = Pause | Resume | Evict | HoldGroup | ResumeGroup | TakeUp | ReplaceProgram
Load = Callable[[], Settings]
"""Reads the configuration again. Raises ConfigError."""


def parse_request(
    name: str,
    arguments: Mapping[str, Any],
    settings: Settings,
    overrides: Mapping[str, Any],
    load: Load | None,
) -> Request:
    """The request called ``name``, with the ``settings`` and ``overrides`` in force.

    Raises ConfigError for arguments that it does not take and values that are refused.
    """
    if name in ("set-policy", "set-limit"):
        names = POLICY if name == "set-policy" else LIMITS
        if arguments.get("reset"):
            return _parse_reset(arguments, settings, overrides, names, load)
        return _parse_set(arguments, settings, overrides, names)
    if name == "reload":
        return parse_reload(settings, overrides, load)
    if name == "restart":
        return ReplaceProgram()
    if name in ("pause", "resume", "evict") and "group" in arguments:
        return _parse_group(name, arguments, settings)
    _only(arguments, ())
    plain: dict[str, Request] = {"pause": Pause(), "resume": Resume(), "evict": Evict()}
    return plain[name]


def _parse_group(name: str, arguments: Mapping[str, Any], settings: Settings) -> Request:
    """What is asked for one of several elastic groups."""
    _only(arguments, ("group",))
    group, known = arguments["group"], [one.name for one in settings.elastic_groups]
    if group not in known:
        named = f"its groups are {', '.join(known)}" if known else "its one group has no name"
        raise ConfigError(f"group: the agent has no elastic group {group!r}; {named}")
    if name == "resume":
        return ResumeGroup(group)
    return HoldGroup(group, "paused" if name == "pause" else "evicted")


REQUESTS = ("pause", "resume", "evict", "set-policy", "set-limit", "reload", "restart")
"""The names they have on the socket."""


def parse_reload(settings: Settings, overrides: Mapping[str, Any], load: Load | None) -> TakeUp:
    """The configuration, read again, under what an operator has set since.

    Raises ConfigError for one that is refused.
    """
    new = dataclasses.replace(_read_again(load), **overrides)
    new.require_targets()
    changes = changed_settings(settings, new)
    restarting = tuple(sorted(name for name, when in changes.items() if when == "restart"))
    return TakeUp(new, "reloaded", overrides, restarting)


def _parse_set(
    arguments: Mapping[str, Any],
    settings: Settings,
    overrides: Mapping[str, Any],
    names: tuple[str, ...],
) -> TakeUp:
    _only(arguments, names)
    if not arguments:
        raise ConfigError(f"nothing to set: give {', '.join(names)}")
    parsed = {
        name: FIELDS[name].metadata["parse"](value, name) for name, value in arguments.items()
    }
    return TakeUp(dataclasses.replace(settings, **parsed), "set", {**overrides, **parsed})


def _parse_reset(
    arguments: Mapping[str, Any],
    settings: Settings,
    overrides: Mapping[str, Any],
    names: tuple[str, ...],
    load: Load | None,
) -> TakeUp:
    """What the configuration says of ``names``, and nothing else of it."""
    _only(arguments, ("reset",))
    configured = _read_again(load)
    values = {name: getattr(configured, name) for name in names}
    left = {name: value for name, value in overrides.items() if name not in names}
    return TakeUp(dataclasses.replace(settings, **values), "reset", left)


def _read_again(load: Load | None) -> Settings:
    if load is None:
        raise ConfigError("reload: this agent was started without a way to read it again")
    return load()


def _only(arguments: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in known:
            raise ConfigError(f"unknown argument {name!r}; known are {', '.join(known) or 'none'}")
