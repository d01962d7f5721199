"""A group of commands whose help tells of each in a whole sentence."""

from __future__ import annotations

import click

_LONGEST_SENTENCE = 1000


class CommandList(click.Group):
    """As click's, which cuts the sentences short where a line ends."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one row a command, wrapped."""
        rows = [
            (name, command.get_short_help_str(_LONGEST_SENTENCE))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
