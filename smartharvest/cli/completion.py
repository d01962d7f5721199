"""``smartharvest completion``: what makes a shell complete our commands and flags."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from smartharvest.errors import ConfigError


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: smartharvest completion bash > /etc/bash_completion.d/smartharvest
    zsh:  smartharvest completion zsh > /usr/local/share/zsh/site-functions/_smartharvest
    fish: smartharvest completion fish > /etc/fish/completions/smartharvest.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise ConfigError(f"completion: this version of click knows no {shell}")
    root = context.find_root().command
    click.echo(kind(root, {}, "smartharvest", "_SMARTHARVEST_COMPLETE").source())
