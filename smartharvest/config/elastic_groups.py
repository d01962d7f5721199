"""Several elastic groups: tables ``[[elastic]]`` of a configuration file, or several targets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from smartharvest.algorithm.guarantee import Guarantee, parse_guarantee
from smartharvest.config.durations import format_duration, parse_duration_ns
from smartharvest.config.sizes import format_size, parse_size_bytes
from smartharvest.errors import ConfigError
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import FORMS, is_pattern, parse_target

MOST_CORES = 1 << 16
HEAVIEST = 1000.0
LEAST_MEMORY = 16 << 20
"""Bytes; below it a program does little but fetch its own pages."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


OnEviction = Literal["freeze", "end"]


@dataclass(frozen=True)
class MemoryBounds:
    """What a group may hold, in bytes."""

    min: int
    max: int
    """At least ``min``."""


@dataclass(frozen=True)
class ElasticGroup:
    """One elastic group, as its owner is promised it; all counts are cores."""

    name: str
    target: TargetSpec
    min: int = 0
    max: int | None = None
    """At least ``min``; None: all there are."""
    weight: float = 1.0
    """Within 0.001 and 1000."""
    guarantee: Guarantee | None = None
    heartbeats: str | None = None
    """The file its programs count in; None: its throughput is its CPU time."""
    notice_ns: int | None = None
    """From the notice to the eviction, once the primaries need its minimum; None: it is kept."""
    on_eviction: OnEviction = "freeze"
    """What becomes of its programs then."""
    memory: MemoryBounds | None = None
    """None: its memory is left alone."""


def _word(value: Any, key: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ConfigError(f"{key}: {value!r} is no name; use letters, digits, '-', '_' and '.'")
    return value


def _target(value: Any, key: str) -> TargetSpec:
    if not isinstance(value, str):
        raise ConfigError(f"{key}: {value!r} is no target; write {FORMS}")
    return parse_target(value, key)


def _cores(value: Any, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_CORES:
        raise ConfigError(f"{key}: {value!r} is not a whole number of cores, 0 or more")
    return value


def _weight(value: Any, key: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 1 / HEAVIEST <= value <= HEAVIEST:
        raise ConfigError(f"{key}: {value!r} is no weight; use a number within 0.001 and 1000")
    return float(value)


def _guarantee(value: Any, key: str) -> Guarantee:
    found = parse_guarantee(value) if isinstance(value, str) else None
    if found is None:
        raise ConfigError(
            f'{key}: {value!r} is no guarantee; write "70%" (of what an equal share gives) or '
            '"4/s" (heartbeats)'
        )
    return found


def _file(value: Any, key: str) -> str:
    if not isinstance(value, str) or not os.path.isabs(value) or "\0" in value:
        raise ConfigError(f"{key}: {value!r} is no file; write a path that begins with /")
    return value


def _on_eviction(value: Any, key: str) -> str:
    if value not in ("freeze", "end"):
        raise ConfigError(f'{key}: {value!r} is unknown; write "freeze" or "end"')
    return str(value)


def _memory(value: Any, key: str) -> MemoryBounds:
    if not isinstance(value, Mapping) or value.keys() != {"min", "max"}:
        raise ConfigError(
            f'{key}: {value!r} is no size of both bounds; write {{ min = "2GiB", max = "16GiB" }}'
        )
    least, most = (parse_size_bytes(value[name], f"{key}.{name}") for name in ("min", "max"))
    if least < LEAST_MEMORY:
        raise ConfigError(f"{key}: min must be {format_size(LEAST_MEMORY)} or more")
    if most < least:
        raise ConfigError(
            f"{key}: max is {format_size(most)} and min {format_size(least)}; max is at least min"
        )
    return MemoryBounds(least, most)


_PARSERS: dict[str, Callable[[Any, str], Any]] = {
    "name": _word,
    "target": _target,
    "min": _cores,
    "max": _cores,
    "weight": _weight,
    "guarantee": _guarantee,
    "heartbeats": _file,
    "notice": parse_duration_ns,
    "on_eviction": _on_eviction,
    "memory": _memory,
}


_FIELDS = {"notice": "notice_ns"}
"""Where a field shows units that the key does not."""


def parse_groups(tables: Sequence[Mapping[str, Any]], key: str) -> tuple[ElasticGroup, ...]:
    """The groups of ``[[elastic]]`` tables. Raises ConfigError, naming ``key`` and the group."""
    groups = tuple(parse_group(table, key, number) for number, table in enumerate(tables, 1))
    _check(groups, key)
    return groups


def name_groups(targets: Sequence[str], key: str) -> tuple[ElasticGroup, ...]:
    """Groups without bounds, each called by the last name in its target's path."""
    groups = []
    for text in targets:
        target = _target(text, key)
        groups.append(ElasticGroup(_word(os.path.basename(target.value), key), target))
    _check(tuple(groups), key)
    return tuple(groups)


def parse_group(table: Mapping[str, Any], key: str, number: int) -> ElasticGroup:
    """The group of one table, the one of this ``number``. Raises ConfigError."""
    where = f"{key} {table['name']!r}" if isinstance(table.get("name"), str) else f"{key} {number}"
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _PARSERS:
            raise ConfigError(f"{where}: unknown key {name!r}; use {', '.join(_PARSERS)}")
        values[_FIELDS.get(name, name)] = _PARSERS[name](value, f"{where}: {name}")
    for name in ("name", "target"):
        if name not in values:
            raise ConfigError(f"{where}: has no {name}; every [[elastic]] has a name and a target")
    group = ElasticGroup(**values)
    if group.max is not None and group.max < max(1, group.min):
        raise ConfigError(
            f"{where}: max is {group.max} and min {group.min}; max is at least min, and at least 1"
        )
    if group.guarantee is not None and group.guarantee.rate and group.heartbeats is None:
        raise ConfigError(
            f"{where}: a guarantee of {group.guarantee} needs heartbeats = FILE, where they are "
            "counted"
        )
    _check_notice(group, where)
    if group.memory is not None and (group.target.kind != "cgroup" or is_pattern(group.target)):
        raise ConfigError(
            f"{where}: {group.target} is no target whose memory can be bounded; name a cgroup:PATH"
        )
    return group


def _check_notice(group: ElasticGroup, where: str) -> None:
    if group.notice_ns is None:
        if group.on_eviction != "freeze":
            raise ConfigError(f'{where}: on_eviction and notice go together; add notice = "30s"')
        return
    if not group.min:
        raise ConfigError(
            f"{where}: a notice is for a minimum; write min = 1 or more, or leave notice out"
        )
    if group.target.kind != "cgroup" or is_pattern(group.target):
        raise ConfigError(
            f"{where}: {group.target} is no target that can be evicted; name a cgroup:PATH"
        )


def _check(groups: Sequence[ElasticGroup], key: str) -> None:
    for one, other in combinations(groups, 2):
        if one.name == other.name:
            raise ConfigError(f"{key}: two groups are called {one.name!r}; give each its own name")
        if one.heartbeats and other.heartbeats and _same_path(one.heartbeats, other.heartbeats):
            raise ConfigError(
                f"{key}: {one.name!r} and {other.name!r} count heartbeats in {one.heartbeats}; "
                "give each its own file"
            )
    if len(groups) > 1:
        common_parent(groups, key)


def _same_path(one: str, other: str) -> bool:
    return os.path.normpath(one) == os.path.normpath(other)


def common_parent(groups: Sequence[ElasticGroup], key: str = "elastic") -> TargetSpec:
    """The group that several are right below: what is lent is lent to it, in one write.

    Raises ConfigError if there is none, or a group is no plain ``cgroup:PATH``.
    """
    for group in groups:
        if group.target.kind != "cgroup" or is_pattern(group.target):
            raise ConfigError(
                f"{key} {group.name!r}: several groups share as cgroup:PATH without wildcards, "
                f"not as {group.target}"
            )
    paths = {group.name: os.path.normpath(group.target.value) for group in groups}
    for (one, path), (other, theirs) in combinations(paths.items(), 2):
        if path == theirs:
            raise ConfigError(f"{key}: {one!r} and {other!r} are the same group, {path}")
        for inner, outer in ((one, other), (other, one)):
            if paths[inner].startswith(f"{paths[outer]}/"):
                raise ConfigError(
                    f"{key}: {inner!r} lies in {outer!r}; groups do not lie in each other"
                )
    parents = sorted({os.path.dirname(path) for path in paths.values()})
    if len(parents) > 1 or parents[0] in ("", "/"):
        names = ", ".join(str(group.target) for group in groups[:2])
        raise ConfigError(
            f"{key}: {names} have no parent group of their own in common; put them right below "
            "one, such as cgroup:batch/one and cgroup:batch/two"
        )
    return TargetSpec("cgroup", parents[0])


def parse_elastic(value: Any, key: str) -> tuple[TargetSpec, tuple[ElasticGroup, ...]]:
    """(what is lent to, the groups that share it; none if it is one target).

    ``value`` is a target, several targets, or tables ``[[elastic]]``. Raises ConfigError.
    """
    if isinstance(value, Mapping):
        raise ConfigError(f"{key}: a single table is no target; write [[{key}]], with two brackets")
    several = list(value) if isinstance(value, list | tuple) else []
    if several and all(isinstance(one, dict) for one in several):
        groups = parse_groups(several, key)
    elif len(several) > 1 and all(isinstance(one, str) for one in several):
        groups = name_groups(several, key)
    else:
        return _target(several[0] if len(several) == 1 else value, key), ()
    return groups[0].target if len(groups) == 1 else common_parent(groups, key), groups


def group_tables(groups: Sequence[ElasticGroup]) -> list[dict[str, Any]]:
    """The groups in the words of a configuration file."""
    tables = []
    for group in groups:
        table: dict[str, Any] = {"name": group.name, "target": str(group.target)}
        table |= {"min": group.min} if group.min else {}
        table |= {"max": group.max} if group.max is not None else {}
        table |= {"weight": group.weight} if group.weight != 1 else {}
        table |= {"guarantee": str(group.guarantee)} if group.guarantee else {}
        table |= {"heartbeats": group.heartbeats} if group.heartbeats else {}
        if group.notice_ns is not None:
            table |= {"notice": format_duration(group.notice_ns), "on_eviction": group.on_eviction}
        if group.memory is not None:
            least, most = group.memory.min, group.memory.max
            table |= {"memory": {"min": format_size(least), "max": format_size(most)}}
        tables.append(table)
    return tables
