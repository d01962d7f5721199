"""``smartharvest completion``: what makes a shell complete our commands and flags."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from smartharvest.cli.command_group import examples
from smartharvest.errors import ConfigError

BASH = r"""_smartharvest_completion() {
    local IFS=$'\n' word glue= prefix= completion type value response
    local -a words=()
    # bash splits words at colons, which our targets have in them.
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ $glue || $word == : ]] && ((${#words[@]} > 1)); then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        glue=
        if [[ $word == : ]]; then glue=1; fi
    done
    word=${words[${#words[@]}-1]}
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then prefix=${word%"${word##*:}"}; fi
    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \
        _SMARTHARVEST_COMPLETE=bash_complete "$1")
    for completion in $response; do
        IFS=',' read -r type value <<<"$completion"
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain)
                COMPREPLY+=("${value#"$prefix"}")
                if [[ $value == *: ]]; then compopt -o nospace; fi
                ;;
        esac
    done
}

complete -o nosort -F _smartharvest_completion smartharvest
"""
"""Click's own does without words that have colons in them."""


@click.command(
    epilog=examples("smartharvest completion bash > /etc/bash_completion.d/smartharvest")
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: smartharvest completion bash > /etc/bash_completion.d/smartharvest
    zsh:  smartharvest completion zsh > /usr/local/share/zsh/site-functions/_smartharvest
    fish: smartharvest completion fish > /etc/fish/completions/smartharvest.fish
    """
    if shell == "bash":
        click.echo(BASH, nl=False)
        return
    kind = get_completion_class(shell)
    if kind is None:
        raise ConfigError(f"completion: this version of click knows no {shell}")
    root = context.find_root().command
    click.echo(kind(root, {}, "smartharvest", "_SMARTHARVEST_COMPLETE").source())
