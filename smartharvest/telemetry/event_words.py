"""What the audit log has besides decisions, each in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Record = Mapping[str, Any]


def sentence(record: Record) -> str:
    """What happened, in one line whatever the record contains."""
    words = _SENTENCES.get(record["kind"])
    if words is None:
        return _anything(record)
    try:
        return words(record)
    except (AttributeError, KeyError, TypeError):  # nobody promises what a file contains
        return _anything(record)


def plain(value: object) -> str:
    """``value`` in words, on one line, whatever it contains."""
    if isinstance(value, list):
        return " and ".join(map(plain, value)) or "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "nothing"
    text = str(value)
    return text if text.isprintable() else repr(text)


def _anything(record: Record) -> str:
    details = {key: value for key, value in record.items() if key not in ("t", "kind")}
    text = ", ".join(f"{plain(key)} {plain(value)}" for key, value in details.items())
    return f"{plain(record['kind'])}{': ' if text else ''}{text}"


def _started(record: Record) -> str:
    dry = " It is a dry run: nothing was written." if record.get("dry_run") else ""
    again = record.get("generation")
    which = f", restarted {again} times in place" if again else ""
    return (
        f"The agent started{which}: {plain(record['primary'])} lends to "
        f"{plain(record['elastic'])} on CPUs {plain(record['pool'])} under policy "
        f"{plain(record['policy'])}.{dry}"
    )


def _write(record: Record) -> str:
    return (
        f"The agent wrote {plain(record['value'])} to {plain(record['path'])}, which had "
        f"{plain(record['before'])}."
    )


def _primaries(record: Record) -> str:
    now = record["now"]
    return f"The primaries are now {plain(now)}." if now else "No primary is left."


def _set(record: Record) -> str:
    changed = {key: value for key, value in record.items() if key not in ("t", "kind")}
    if not changed:
        return "The operator set what was in force already."
    said = ", ".join(f"{plain(key)} to {plain(value)}" for key, value in changed.items())
    return f"The operator set {said}."


def _reloaded(record: Record) -> str:
    if record.get("restarts"):
        return (
            f"The configuration was read again; {plain(record['changed'])} changed, so the agent "
            "gave everything back and started again."
        )
    changed = {key: value for key, value in record.items() if key not in ("t", "kind", "dropped")}
    if not changed:
        return "The configuration was read again; nothing had changed."
    said = ", ".join(f"{plain(key)} became {plain(value)}" for key, value in changed.items())
    return f"The configuration was read again: {said}."


def _usage(record: Record) -> str:
    used = ", ".join(f"{plain(n)} {plain(s)}" for n, s in record["core_seconds"].items())
    return f"In {plain(record['s'])} s the groups used, in core-seconds: {used}."


def _because(words: str) -> Callable[[Record], str]:
    return lambda record: f"{words}: {plain(record['why'])}."


_SENTENCES: Mapping[str, Callable[[Record], str]] = {
    "started": _started,
    "ended": _because("The agent ended"),
    "write": _write,
    "primaries": _primaries,
    "paused": lambda _: "The operator paused the lending.",
    "resumed": lambda _: "The operator resumed the lending.",
    "evicted": lambda _: "The operator evicted the elastic group, which was frozen.",
    "set": _set,
    "reloaded": _reloaded,
    "restarting": lambda _: "The agent handed over to the program installed now.",
    "reload refused": _because("A new configuration was refused"),
    "reloaded refused": _because("A new configuration was refused"),
    "set refused": _because("The operator's setting was refused"),
    "restart refused": _because("The installed program was refused"),
    "lending other cores": _because("The agent went on with other cores"),
    "the loop starts again": _because("The polling loop started again"),
    "warning": lambda record: f"Warning: {plain(record['text'])}.",
    "usage": _usage,
    "policy": lambda record: f"Policy {plain(record['name'])} says: {plain(record['why'])}.",
}
INCIDENTS = (
    *("ended", "reload refused", "reloaded refused", "set refused", "restart refused"),
    *("the loop starts again", "warning", "evicted"),
)
"""Kinds that a report of a day lists."""
