"""``smartharvest completion``: what makes a shell complete our commands, flags and values.

The scripts are ours: click's lose what stands before a value in ``--option=value`` (zsh, fish) or
complete nothing there (bash), and bash's does without words that have colons in them.
"""

from __future__ import annotations

import click

from smartharvest.cli.command_group import examples

BASH = r"""_smartharvest_completion() {
    local IFS=$'\n' word glue= prefix= completion type value response
    local -a words=()
    # bash splits words at colons, which our targets have in them, and at the = of --option=value.
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if ((${#words[@]} > 1)) && [[ $glue || $word == : ||
            ($word == = && ${words[${#words[@]}-1]} == --*) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        glue=
        if [[ $word == : || $word == = ]]; then glue=1; fi
    done
    word=${words[${#words[@]}-1]}
    if [[ $word == --*=* ]]; then word=${word#*=}; fi
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

ZSH = r"""#compdef smartharvest

_smartharvest() {
    local type value help
    local -a plain described response
    (( $+commands[smartharvest] )) || return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) \
        _SMARTHARVEST_COMPLETE=zsh_complete smartharvest)}")
    # Of --option=value the value alone.
    if [[ ${words[CURRENT]} == --*=* ]]; then compset -P 1 '*='; fi
    for type value help in "${response[@]}"; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $help == _ ]]; then plain+=("$value"); else described+=("$value:$help"); fi
                ;;
        esac
    done
    if (( $#described )); then _describe -V smartharvest described; fi
    # No space behind a colon: more follows.
    if (( ${#${(M)plain:#*:}} )); then compadd -S '' -V smartharvest-kinds -- ${(M)plain:#*:}; fi
    if (( ${#${plain:#*:}} )); then compadd -V smartharvest-values -- ${plain:#*:}; fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _smartharvest "$@"
else
    compdef _smartharvest smartharvest
fi
"""

FISH = r"""function _smartharvest_completion
    set -l word (commandline -t)
    # Of --option=value the value alone is completed, and the whole is shown.
    set -l front (string match -r -- '^--[^=]+=' "$word")
    for completion in (env COMP_WORDS=(commandline -cp) COMP_CWORD="$word" \
            _SMARTHARVEST_COMPLETE=fish_complete smartharvest)
        set -l found (string split -m 1 -- , $completion)
        switch $found[1]
            case dir
                string replace -r -- '^' "$front" (__fish_complete_directories $found[2])
            case file
                string replace -r -- '^' "$front" (__fish_complete_path $found[2])
            case plain
                echo -- "$front$found[2]"
        end
    end
end

complete --no-files --command smartharvest --arguments "(_smartharvest_completion)"
"""

_SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@click.command(
    epilog=examples("smartharvest completion bash > /etc/bash_completion.d/smartharvest")
)
@click.argument("shell", type=click.Choice(tuple(_SCRIPTS)))
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: smartharvest completion bash > /etc/bash_completion.d/smartharvest
    zsh:  smartharvest completion zsh > /usr/local/share/zsh/site-functions/_smartharvest
    fish: smartharvest completion fish > /etc/fish/completions/smartharvest.fish
    """
    click.echo(_SCRIPTS[shell], nl=False)
