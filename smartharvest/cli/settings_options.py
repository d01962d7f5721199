"""Options made from the fields of Settings, so that flags and keys of the file are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from typing import Any, TypeVar

import click

from smartharvest.cli.state_options import config_option
from smartharvest.cli.values import completion_of
from smartharvest.config.loading import Effective, load_effective
from smartharvest.config.settings import FIELDS, Settings
from smartharvest.config.text import plain_value, sections

Command = TypeVar("Command", bound=Callable[..., Any])


class SettingsCommand(click.Command):
    """A command that takes every setting; ``--help`` lists the common ones, ``--help-all`` all."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=self._show_all,
                help="Show this message with every setting, and exit.",
            )
        )
        self._shows_all = False

    def _show_all(self, ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            self._shows_all = True
            click.echo(self.get_help(ctx), color=ctx.color)
            ctx.exit()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the common settings and the command's own options, or all of them in sections."""
        params = [param for param in self.get_params(ctx) if param.param_type_name == "option"]
        own = [param for param in params if param.name not in FIELDS]
        config = [own.pop(0)]
        chosen = {param.name: param for param in params if param.name in FIELDS}
        if self._shows_all:
            _write(ctx, formatter, "Options", config + own)
            for title, names in sections():
                _write(ctx, formatter, title, [chosen[name] for name in names])
        else:
            common = [chosen[name] for name, item in FIELDS.items() if item.metadata["common"]]
            _write(ctx, formatter, "Options", config + common + own)


def _write(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    params: Sequence[click.Parameter],
) -> None:
    rows = [row for param in params if (row := param.get_help_record(ctx)) is not None]
    with formatter.section(title):
        formatter.write_dl(rows)


def settings_options(*names: str) -> Callable[[Command], Command]:
    """Adds ``--config`` and an option for each setting named (all if none are)."""

    def decorate(command: Command) -> Command:
        for name in reversed(names or tuple(FIELDS)):
            command = _option(name, FIELDS[name])(command)
        return config_option(command)

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
        shell_complete=completion_of(name, item),
    )
