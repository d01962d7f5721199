"""What the audit log has besides decisions, each in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from smartharvest.algorithm.harm import in_words

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


def harm_words(record: Record) -> str:
    """What lending cost one primary."""
    try:
        return in_words(record)
    except (KeyError, TypeError, ValueError):  # nobody promises what a file contains
        return "not readable"


def _harm(record: Record) -> str:
    return f"harm to {plain(record.get('primary'))}: {harm_words(record)}"


def _anything(record: Record) -> str:
    details = {key: value for key, value in record.items() if key not in ("t", "kind")}
    text = ", ".join(f"{plain(key)} {plain(value)}" for key, value in details.items())
    return f"{plain(record['kind'])}{': ' if text else ''}{text}"


def _started(record: Record) -> str:
    dry = " It is a dry run: nothing was written." if record.get("dry_run") else ""
    again = record.get("generation")
    which = f", restarted {again} times in place" if again else ""
    groups = [group["name"] for group in record.get("groups") or ()]
    to = f"{plain(groups)} (share {plain(record['share'])})" if groups else plain(record["elastic"])
    return (
        f"The agent started{which}: {plain(record['primary'])} lends to "
        f"{to} on CPUs {plain(record['pool'])} under policy "
        f"{plain(record['policy'])}.{dry}"
    )


def _write(record: Record) -> str:
    path, before, value = (plain(record[name]) for name in ("path", "before", "value"))
    if value == "mkdir":
        return f"The agent made the group {path}."
    if before == "mkdir":
        return f"The agent removed the group {path}."
    if before.startswith("/"):  # a task that is moved, by the group that it was in
        return (
            f"The agent moved {value if ' ' in value else f'task {value}'} from {before} to {path}."
        )
    return f"The agent wrote {value} to {path}, which had {before or 'nothing'}."


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


def _division(record: Record) -> str:
    said = [
        f"{plain(name)} has {plain(one['to'])} instead of {plain(one['from'])}, because "
        f"{plain(one['why'])}"
        for name, one in record["groups"].items()
    ]
    return f"The cores that may be lent were divided otherwise: {'; '.join(said)}."


def _guarantee_violated(record: Record) -> str:
    cores = record.get("cores")
    answer = f" The agent gives it at least {plain(cores)} of what is lent." if cores else ""
    return (
        f"The guarantee of {plain(record['group'])}, {plain(record['guarantee'])}, was violated: "
        f"its throughput was {plain(record['throughput'])}/s.{answer}"
    )


def _guarantee_met(record: Record) -> str:
    return (
        f"The guarantee of {plain(record['group'])}, {plain(record['guarantee'])}, was met again "
        f"after {plain(record['after_s'])} s, with {plain(record['throughput'])}/s."
    )


def _minimum_not_reached(record: Record) -> str:
    return (
        f"The minimum of {plain(record['group'])} was not reached: it had "
        f"{plain(record['cores'])} of {plain(record['min'])}."
    )


def _minimum_reached(record: Record) -> str:
    return (
        f"The minimum of {plain(record['group'])} was reached again after "
        f"{plain(record['after_s'])} s."
    )


def _eviction_notice(record: Record) -> str:
    return (
        f"Group {plain(record['group'])} was given notice: it loses its minimum in "
        f"{plain(record['notice_s'])} s, because {plain(record['why'])}."
    )


def _group_evicted(record: Record) -> str:
    hurry = " at once" if record.get("at_once") else ""
    return (
        f"Group {plain(record['group'])} was evicted{hurry} and {plain(record['how'])}, because "
        f"{plain(record['why'])}."
    )


def _because(words: str) -> Callable[[Record], str]:
    return lambda record: f"{words}: {plain(record['why'])}."


_SENTENCES: Mapping[str, Callable[[Record], str]] = {
    "started": _started,
    "ended": _because("The agent ended"),
    "write": _write,
    "primaries": _primaries,
    "harm": _harm,
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
    "division": _division,
    "guarantee violated": _guarantee_violated,
    "guarantee met": _guarantee_met,
    "minimum not reached": _minimum_not_reached,
    "minimum reached": _minimum_reached,
    "eviction notice": _eviction_notice,
    "eviction notice withdrawn": lambda record: (
        f"The eviction notice of group {plain(record['group'])} was withdrawn."
    ),
    "group evicted": _group_evicted,
    "group returned": lambda record: f"Group {plain(record['group'])} has its minimum again.",
    "policy": lambda record: f"Policy {plain(record['name'])} says: {plain(record['why'])}.",
}
INCIDENTS = (
    *("ended", "reload refused", "reloaded refused", "set refused", "restart refused"),
    *("the loop starts again", "warning", "evicted", "guarantee violated", "minimum not reached"),
    "group evicted",
)
"""Kinds that a report of a day lists."""
