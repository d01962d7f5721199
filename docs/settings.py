"""Prints docs/reference/settings.md, from the settings and ``smartharvest config example``."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

from smartharvest.config.settings import FIELDS

LOOPS = [f"`{name}`" for name, item in FIELDS.items() if item.metadata["applies"] == "rebuild"]
HEAD = f"""# Settings

Made by `make docs` from `smartharvest config example`; do not edit.

Each setting is a key of the configuration file and, with dashes for underscores, a flag of
`smartharvest agent`. Flags win. How files, drop-ins and reloads work:
[configuration](commands.md#configuration).

The third column says what a change does to a running agent: *live* settings change while it lends;
for *restarts* it gives everything back and begins again in the same process. `primary` and
`elastic` are required; any other setting without a default is off unless given.

The polling loop and its thread are built for one value of
{", ".join(LOOPS[:-1])} and {LOOPS[-1]}:
another value is another loop, and nothing is lent until it runs. Any other live setting changes in
the loop that runs. `harm`, `long_term_threshold` and a policy that changes to or from one that
judges harm (`adaptive`, `adaptive-quiet`) need another in-kernel sensor, since the kernel checks
its programs for one purpose: it is loaded while the loop lends, and then takes the place of the one
before.
"""
TABLE = "| key | default | change | meaning |\n|---|---|---|---|"

_SECTION = re.compile(r"# -+ (.+?) -+")
_TABLE = re.compile(r"#? ?\[(?!restarts)([a-z_]+)\]")
_VALUE = re.compile(r"(#? ?)([a-z_]+) = (.+)")
_RESTARTS = "[restarts]"


def page(example: str) -> str:
    """The page; ``example`` is a configuration file with every setting documented."""
    return HEAD + "\n".join(_lines(example)) + "\n"


def _lines(example: str) -> Iterator[str]:
    words: list[str] = []
    for line in example.splitlines():
        if section := _SECTION.fullmatch(line) or _TABLE.fullmatch(line):
            yield f"\n## {section[1]}\n\n{TABLE}"
            words = []
        elif value := _VALUE.fullmatch(line):
            yield _row(value[2], value[3], " ".join(words))
            words = []
        elif not line:
            words = []
        else:
            words.append(line.removeprefix("#").strip())


def _row(key: str, default: str, text: str) -> str:
    change = "restarts" if text.endswith(_RESTARTS) else "live"
    meaning = text.removesuffix(_RESTARTS).strip().replace("|", "\\|")
    example_only = FIELDS[key].default in (None, ())  # there is no default to show
    shown = "" if example_only else f"`{default}`"
    return f"| `{key}` | {shown} | {change} | {meaning} |"


def example() -> str:
    """What the installed program prints. Raises CalledProcessError."""
    command = [sys.executable, "-m", "smartharvest", "config", "example"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.stdout.write(page(example()))
