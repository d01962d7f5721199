"""Groups of commands whose help has a whole sentence for each command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

_LONGEST_SENTENCE = 1000


class CommandGroup(click.Group):
    """Click's own group cuts a sentence short at the end of the line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one row a command, wrapped."""
        rows = [
            (name, command.get_short_help_str(_LONGEST_SENTENCE))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@dataclass(frozen=True)
class Entry:
    """One command of a ``LazyGroup``."""

    name: str
    where: str
    """``module:attribute``, the module below ``smartharvest.cli``."""
    summary: str = ""
    """Its line in the list of commands; a command without one is not listed."""

    def load(self) -> click.Command:
        module, _, attribute = self.where.partition(":")
        command = getattr(importlib.import_module(f"smartharvest.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """Imports a command when it is used, so that each starts without the modules of the others.

    ``sections`` are the headings of the list of commands. ``moved`` maps the name of a command that
    is somewhere else to the words to type instead.
    """

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Sequence[Entry]],
        moved: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*arguments, **more)
        self._sections = {
            title: [entry for entry in entries if entry.summary]
            for title, entries in sections.items()
        }
        self._entries = {entry.name: entry for part in sections.values() for entry in part}
        self._moved = moved or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names in the help, in its order."""
        return [entry.name for entries in self._sections.values() for entry in entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = self._entries.get(cmd_name)
        if cmd_name not in self.commands and entry is not None:
            self.commands[cmd_name] = entry.load()
        return self.commands.get(cmd_name)

    def load_all(self) -> Mapping[str, click.Command]:
        """Every command by its name, those that are not listed too."""
        for name, entry in self._entries.items():
            self.commands.setdefault(name, entry.load())
        return self.commands

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._entries and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib  # for a slip alone

            close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            guess = self._moved.get(name) or (close[0] if close else None)
            hint = f"; did you mean {ctx.command_path} {guess}?" if guess else ""
            ctx.fail(f"No such command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes a section for each heading."""
        width = max(len(entry.name) for part in self._sections.values() for entry in part)
        for title, entries in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name.ljust(width), entry.summary) for entry in entries])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(entry.name, help=entry.summary)
            for entries in self._sections.values()
            for entry in entries
            if entry.name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def examples(*lines: str) -> str:
    """The end of a help text: commands as they are typed."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
