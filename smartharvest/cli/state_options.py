"""The options that say where agents are, without the modules of all settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from smartharvest.cli.values import complete_file
from smartharvest.config.state_directory import STATE_DIRECTORY, STATE_DIRECTORY_HELP

Command = TypeVar("Command", bound=Callable[..., Any])

CONFIG_HELP = (
    "TOML file with the same settings, with its drop-ins FILE.d/*.toml; or a directory of such "
    "files."
)


def config_option(command: Command) -> Command:
    """Adds ``--config``."""
    return click.option(
        "--config", "config_file", metavar="FILE", help=CONFIG_HELP, shell_complete=complete_file
    )(command)  # fmt: skip


def state_options(command: Command) -> Command:
    """Adds ``--config`` and ``--state-dir``, as ``settings_options("state_dir")`` would."""
    state_dir = click.option(
        "--state-dir",
        default=None,
        metavar="DIR",
        help=f"{STATE_DIRECTORY_HELP}  [default: {STATE_DIRECTORY}]",
    )
    return config_option(state_dir(command))
