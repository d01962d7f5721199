"""Writes the man pages: python docs/man.py DIR

A page of section 1 for each command, from what ``--help`` shows, with EXAMPLES, FILES and EXIT
STATUS; and smartharvest.toml(5), from the settings.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

import click
from click_man.core import write_man_pages

from smartharvest import __version__
from smartharvest.cli import EPILOG, cli
from smartharvest.cli.command_group import LazyGroup
from smartharvest.config.settings import FIELDS
from smartharvest.config.text import plain_value, sections

FILES = (
    ("/etc/smartharvest.toml", "The configuration that the service reads, smartharvest.toml(5)."),
    ("/etc/smartharvest.toml.d/*.toml", "Its drop-ins, in the order of their names."),
    (
        "/run/smartharvest/agent-PID.journal",
        "What the agent has changed; gone once it is put back.",
    ),
    ("/run/smartharvest/agent-PID.sock", "Where it answers status, top, pause and the others."),
    ("/var/lib/smartharvest/*.model", "What was learned, for the next start."),
    ("/var/log/smartharvest/audit.jsonl", "The audit log, where the configuration names it."),
)


def escaped(text: str) -> str:
    """``text`` for roff: no request, no hyphenation of flags."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in text.split("\n"))


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Each command below ``command``, itself included, by the name of its page."""
    yield name, command
    if isinstance(command, click.Group):
        for below in command.commands:
            yield from commands(command.commands[below], f"{name}-{below}")


def first_sentence(text: str) -> str:
    """Without its point."""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def examples_of(command: click.Command) -> list[str]:
    lines = (command.epilog or "").splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith("Examples:")), len(lines))
    shown = []
    for line in lines[start + 1 :]:
        if not line.startswith("  "):
            break
        shown.append(line.strip())
    return shown


def more(command: click.Command) -> str:
    """The sections that click-man does not write."""
    lines = []
    if shown := examples_of(command):
        lines += [".SH EXAMPLES", ".nf", *map(escaped, shown), ".fi"]
    lines.append(".SH FILES")
    for path, what in FILES:
        lines += [".TP", f".I {escaped(path)}", escaped(what)]
    codes = EPILOG[EPILOG.index("Exit codes:") :].removeprefix("Exit codes:")
    lines += [".SH EXIT STATUS", escaped(" ".join(codes.split()))]
    lines += [".SH SEE ALSO", ".BR smartharvest (1),", ".BR smartharvest.toml (5)"]
    return "\n".join(lines) + "\n"


def configuration_page() -> str:
    """smartharvest.toml(5)."""
    lines = [
        f'.TH "SMARTHARVEST.TOML" "5" "" "{__version__}" "smartharvest Manual"',
        ".SH NAME",
        "smartharvest.toml \\- configuration of the SmartHarvest agent",
        ".SH DESCRIPTION",
        escaped(
            "A TOML file. Each setting is also a flag of smartharvest agent, with dashes for "
            "underscores; flags win over files, drop-ins over the file. Durations need a unit "
            "(50us, 25ms, 10s, 5min, 2h, 1d). smartharvest check-config lists every mistake."
        ),
    ]
    for title, names in sections():
        lines.append(f'.SH "{escaped(title).upper()}"')
        for name in names:
            item = FIELDS[name]
            default = ""
            if item.default not in (None, ()):
                default = f" Default: {plain_value(item, item.default)}."
            expert = " In the section [expert]." if item.metadata["expert"] else ""
            lines += [
                ".TP",
                f".B {escaped(name)}",
                escaped(item.metadata["help"] + default + expert),
            ]
    lines += [
        ".SH EXAMPLES",
        ".nf",
        *map(escaped, ('primary = ["systemd:web.service"]', 'elastic = "systemd:batch.slice"')),
        ".fi",
        ".SH FILES",
        ".TP",
        ".I /etc/smartharvest.toml",
        "and its drop\\-ins /etc/smartharvest.toml.d/*.toml",
        ".SH SEE ALSO",
        ".BR smartharvest\\-agent (1),",
        ".BR smartharvest\\-check\\-config (1)",
    ]
    return "\n".join(lines) + "\n"


def write_pages(directory: str) -> None:
    os.makedirs(directory, exist_ok=True)
    for group in (cli, *cli.load_all().values()):
        if isinstance(group, LazyGroup):
            group.load_all()
    pages = dict(commands(cli, "smartharvest"))
    for command in pages.values():  # the whole first sentence: click-man would cut it
        command.short_help = first_sentence(command.help or "")
    write_man_pages("smartharvest", cli, version=__version__, target_dir=directory)
    for name, command in pages.items():
        path = os.path.join(directory, f"{name}.1")
        with open(path) as page:
            text = re.sub('^.TH "[^"]*"', f'.TH "{name.upper()}"', page.read())
        with open(path, "w") as page:
            page.write(text + more(command))
    with open(os.path.join(directory, "smartharvest.toml.5"), "w") as page:
        page.write(configuration_page())


if __name__ == "__main__":
    write_pages(sys.argv[1])
