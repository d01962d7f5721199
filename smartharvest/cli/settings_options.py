"""Click options made from the fields of Settings, so that flags and file keys are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field
from typing import Any, TypeVar

import click

from smartharvest.config.settings import FIELDS, Effective, Settings, load_effective
from smartharvest.config.text import plain_value

Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(*names: str) -> Callable[[Command], Command]:
    """Adds ``--config`` and an option for each setting named (all if none are)."""

    def decorate(command: Command) -> Command:
        for name in reversed(names or tuple(FIELDS)):
            command = _option(name, FIELDS[name])(command)
        return click.option(
            "--config",
            "config_file",
            metavar="FILE",
            help="TOML file with the same settings, with its drop-ins FILE.d/*.toml; or a "
            "directory of such files.",
        )(command)

    return decorate


def settings_from(options: Mapping[str, Any]) -> Settings:
    """Settings from the values click collected; an option that was not given is None."""
    return effective_from(options).settings


def effective_from(options: Mapping[str, Any]) -> Effective:
    """The same, with where each value came from."""
    flags = {name: (value if value != () else None) for name, value in options.items()}
    config_file = flags.pop("config_file", None)
    return load_effective(flags, config_file)


def _option(name: str, item: Field[Any]) -> Callable[[Command], Command]:
    flag = "--" + name.replace("_", "-")
    help_text = item.metadata["help"]
    if isinstance(item.default, bool):
        spelled = f"{flag}/--no-{flag[2:]}"
        shown = f"{help_text}  [default: {'on' if item.default else 'off'}]"
        return click.option(spelled, name, default=None, help=shown)
    if item.default not in (None, ()):
        help_text += f"  [default: {plain_value(item, item.default)}]"
    return click.option(
        flag,
        name,
        default=None,
        multiple=bool(item.metadata.get("multiple")),
        metavar=item.metadata["metavar"],
        help=help_text,
    )
