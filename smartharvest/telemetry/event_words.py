"""What the audit log has besides decisions, each in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from smartharvest.algorithm.harm import in_words
from smartharvest.telemetry.verdict import percent, spent_in_words

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


def _says(template: str) -> Callable[[Record], str]:
    """``template`` with each {field} of a record in words."""

    def words(record: Record) -> str:
        return template.format_map({key: plain(value) for key, value in record.items()})

    return words


def _harm(record: Record) -> str:
    return f"harm to {plain(record.get('primary'))}: {harm_words(record)}"


def budget_words(record: Record) -> str:
    """What lending has cost one primary in a minute, and its budget."""
    try:
        return f"{spent_in_words(record)}; the budget is {percent(record['protect'])}"
    except (KeyError, TypeError, ValueError):
        return "not readable"


def _budget(record: Record) -> str:
    return f"By lending {plain(record.get('primary'))} took longer: {budget_words(record)}."


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


def _group_evicted(record: Record) -> str:
    hurry = " at once" if record.get("at_once") else ""
    return (
        f"Group {plain(record['group'])} was evicted{hurry} and {plain(record['how'])}, because "
        f"{plain(record['why'])}."
    )


def _memory_taken_back(record: Record) -> str:
    return (
        f"Memory is taken back from group {plain(record['group'])}, "
        f"{record['bytes'] / 2**20:.0f} MiB, because of the bound: {plain(record['why'])}."
    )


def _memory_given_back(record: Record) -> str:
    return (
        f"Group {plain(record['group'])} gave {record['bytes'] / 2**20:.0f} MiB of memory back in "
        f"{plain(record['after_s'])} s."
    )


_SENTENCES: Mapping[str, Callable[[Record], str]] = {
    "started": _started,
    "ended": _says("The agent ended: {why}."),
    "write": _write,
    "primaries": _primaries,
    "preemption": _says("Against the batch the agent relies on {defence}: {reason}."),
    "placement": _says("Lent cores are taken out of the primary's cpuset, since {why}."),
    "harm": _harm,
    "budget": _budget,
    "paused": _says("The operator paused the lending."),
    "resumed": _says("The operator resumed the lending."),
    "evicted": _says("The operator evicted the elastic group, which was frozen."),
    "set": _set,
    "reloaded": _reloaded,
    "restarting": _says("The agent handed over to the program installed now."),
    "reload refused": _says("A new configuration was refused: {why}."),
    "reloaded refused": _says("A new configuration was refused: {why}."),
    "set refused": _says("The operator's setting was refused: {why}."),
    "restart refused": _says("The installed program was refused: {why}."),
    "lending other cores": _says("The agent went on with other cores: {why}."),
    "the loop starts again": _says("The polling loop started again: {why}."),
    "warning": _says("Warning: {text}."),
    "usage": _usage,
    "division": _division,
    "guarantee violated": _guarantee_violated,
    "guarantee met": _says(
        "The guarantee of {group}, {guarantee}, was met again after {after_s} s, "
        "with {throughput}/s."
    ),
    "guarantee rests": _says(
        "The guarantee of {group}, {guarantee}, rests after {after_s} s in which it was violated: "
        "the group has no work or is held, or its throughput is not known."
    ),
    "minimum not reached": _says(
        "The minimum of {group} was not reached: it had {cores} of {min}."
    ),
    "minimum reached": _says("The minimum of {group} was reached again after {after_s} s."),
    "eviction notice": _says(
        "Group {group} was given notice: it loses its minimum in {notice_s} s, because {why}."
    ),
    "eviction notice withdrawn": _says("The eviction notice of group {group} was withdrawn."),
    "group evicted": _group_evicted,
    "group returned": _says("Group {group} has its minimum again."),
    "group paused by the operator": _says(
        "The operator paused group {group}; what it had beyond its minimum went to the others."
    ),
    "group evicted by the operator": _says(
        "The operator evicted group {group}, which was frozen; its cores went to the others."
    ),
    "group resumed by the operator": _says("The operator resumed group {group}."),
    "memory taken back": _memory_taken_back,
    "memory given back": _memory_given_back,
    "policy": _says("Policy {name} says: {why}."),
}
INCIDENTS = (
    *("ended", "reload refused", "reloaded refused", "set refused", "restart refused"),
    *("the loop starts again", "warning", "evicted", "guarantee violated", "minimum not reached"),
    "group evicted",
    "group evicted by the operator",
)
"""Kinds that a report of a day lists."""
