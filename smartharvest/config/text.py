"""The settings as text: the documented example file, and the configuration in force."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field
from itertools import pairwise
from typing import Any

from smartharvest.config.durations import format_duration
from smartharvest.config.elastic_groups import group_tables
from smartharvest.config.file import EXPERT
from smartharvest.config.loading import Effective
from smartharvest.config.settings import FIELDS, Settings
from smartharvest.config.sizes import format_size
from smartharvest.host.cpulist import format_cpulist

_TITLES = {
    "primary": "Who shares, and what",
    "policy": "Deciding",
    "order": "Lending",
    "duration": "The agent",
    "audit_log": "Reporting",
    "decisions": "For experiments, and to repeat the paper",
}
"""Title of the section that begins with this setting; the last is the expert's."""

_EXAMPLES = {
    "primary": '["cgroup:web"]',
    "elastic": '"cgroup:batch"',
    "cores": '"0-15"',
    "elastic_min": "1",
    "max_harvest": "8",
    "protect_of": '["cgroup:web=5%"]',
    "strict_spare": "1",
    "duration": '"10min"',
    "cgroup_root": '"/sys/fs/cgroup"',
    "metrics": '"127.0.0.1:9464"',
    "web": '"127.0.0.1:9465"',
    "web_token": '"/etc/smartharvest/web.token"',
    "status_group": '"monitoring"',
    "audit_log": '"/var/log/smartharvest/audit.jsonl"',
}
"""What to write where there is no default to show."""


_GROUPS = (
    "# Several groups that share what is lent, instead of the line `elastic` above. Each has a",
    '# name and a target; min and max are cores, and a weight counts with share = "weight".',
    "#",
    "#   [[elastic]]",
    '#   name = "analytics"',
    '#   target = "cgroup:batch/analytics"',
    "#   min = 1",
    "#   max = 8",
    "#   weight = 2",
    '#   guarantee = "70%"                # of what an equal share gives it, or heartbeats: "4/s"',
    '#   heartbeats = "/run/batch/beats"  # where it counts them; without: CPU time',
    '#   memory = { min = "2GiB", max = "16GiB" }  # what it may hold follows what is unused',
)


def sections() -> Iterator[tuple[str, list[str]]]:
    """(title, names of its settings) of each section, the expert's last."""
    names = list(FIELDS)
    starts = [*map(names.index, _TITLES), len(names)]
    for title, (start, end) in zip(_TITLES.values(), pairwise(starts), strict=True):
        yield title, names[start:end]


def example_text() -> str:
    """A configuration file with every setting documented.

    Settings that must be chosen stand there to be changed; all others are comments with their
    defaults, or with an example where the default is to have none.
    """
    lines = [
        "# SmartHarvest's configuration. Every setting is here; a line that begins with '#' shows",
        "# the default, or an example. Each is a flag of `smartharvest agent` too, and flags win.",
        "# Files in a directory of this file's name with .d after it (*.toml, in alphabetical",
        "# order) are read after this one, and win key by key.",
        "#",
        "# Check it with `smartharvest check-config FILE`. SIGHUP makes a running agent read it",
        "# again: a file with a mistake changes nothing. For a setting marked [restarts] the agent",
        "# gives everything back and starts again; all others change while it lends.",
    ]
    for title, names in sections():
        if FIELDS[names[0]].metadata["expert"]:
            lines += ["", f"# {title}; no other setting is read below this line.", f"[{EXPERT}]"]
        else:
            lines += ["", f"# ---- {title} " + "-" * (75 - len(title))]
        for name in names:
            lines += ["", *_commented(name)]
    return "\n".join([*lines, "", *_GROUPS]) + "\n"


def _commented(name: str) -> list[str]:
    item = FIELDS[name]
    mark = " [restarts]" if item.metadata["applies"] == "restart" else ""
    words = textwrap.wrap(
        item.metadata["help"] + mark, 98, initial_indent="# ", subsequent_indent="# "
    )
    has_default = item.default not in (None, ())
    value = format_value(item, item.default) if has_default else _EXAMPLES[name]
    required = name in ("primary", "elastic")
    return [*words, f"{'' if required else '# '}{name} = {value}"]


def effective_text(effective: Effective) -> str:
    """The settings in force as a configuration file, each with where it came from.

    Without those that are not set; reading it gives the same settings.
    """
    lines = []
    for _, names in sections():
        if FIELDS[names[0]].metadata["expert"]:
            lines.append((f"[{EXPERT}]", ""))
        for name in names:
            item = FIELDS[name]
            value = getattr(effective.settings, item.name)
            if name == "elastic" and effective.settings.elastic_groups:
                continue  # tables stand behind all keys
            if value in (None, ()):
                lines.append((f"# {name} is not set", ""))
            else:
                origin = effective.origins.get(name, "default")
                lines.append((f"{name} = {format_value(item, value)}", origin))
    tables = group_tables(effective.settings.elastic_groups)
    origin = effective.origins.get("elastic", "default")
    for table in tables:
        lines.append(("[[elastic]]", origin))
        lines += [(f"{key} = {_toml(value)}", "") for key, value in table.items()]
    width = min(44, max(len(text) for text, _ in lines))
    return "".join(
        f"{text.ljust(width)}  # {_one_line(origin)}\n" if origin else f"{text}\n"
        for text, origin in lines
    )


def effective_document(effective: Effective) -> dict[str, dict[str, Any]]:
    """Setting -> its value as the file has it (None: not set) and where it came from."""
    document: dict[str, dict[str, Any]] = {
        name: {
            "value": None if value in (None, ()) else plain_value(item, value),
            "from": effective.origins.get(name, "default"),
        }
        for name, item in FIELDS.items()
        for value in [getattr(effective.settings, item.name)]
    }
    if effective.settings.elastic_groups:
        document["elastic"]["value"] = group_tables(effective.settings.elastic_groups)
    return document


def plain_value(item: Field[Any], value: Any) -> Any:
    """A setting's value in the words of a configuration file: strings, numbers, lists."""
    if isinstance(value, frozenset):
        return format_cpulist(value)
    if isinstance(value, tuple):
        return [str(target) for target in value]
    if isinstance(value, float):
        return f"{value * 100:.9g}%"  # every one is a share
    if isinstance(value, bool | int):
        if item.name.endswith("_ns"):
            return format_duration(value)
        return format_size(value) if item.name.endswith("_bytes") else value
    return str(value)


def shown_value(name: str, settings: Settings) -> str:
    """The value in force of the setting of that name, for messages."""
    value = getattr(settings, FIELDS[name].name)
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "not set"
    return str(value)


def format_value(item: Field[Any], value: Any) -> str:
    """A setting's value as TOML."""
    plain = plain_value(item, value)
    if isinstance(plain, list):
        return f"[{', '.join(_strings(plain))}]"
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return str(plain) if isinstance(plain, int) else next(_strings([plain]))


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return next(_strings([value])) if isinstance(value, str) else str(value)


def _strings(texts: Iterable[str]) -> Iterator[str]:
    # A JSON string is a TOML one but for this character.
    return (json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f") for text in texts)


def _one_line(text: str) -> str:
    return text if text.isprintable() else repr(text)
