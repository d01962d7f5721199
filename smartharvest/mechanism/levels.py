"""The CPUs of a group and of those below it, per number of harvested cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.writer import HostWriter
from smartharvest.placement.capacity import Capacity

Levels = dict[str, list[frozenset[int]]]
"""Group directory -> its CPUs with 0, 1, … cores harvested; a parent before its children."""


class Rule(NamedTuple):
    """What a group has of a set of lent CPUs: ``(own & lent) | always``."""

    own: frozenset[int]
    always: frozenset[int]

    def of(self, lent: frozenset[int]) -> frozenset[int]:
        return (self.own & lent) | self.always


def group_rules(
    path: str,
    lendable: frozenset[int],
    smallest: frozenset[int],
    below: Sequence[str],
    original_cpus: Callable[[str], frozenset[int]],
) -> dict[str, Rule]:
    """What the group at ``path``, which gets what is lent, and those ``below`` it (v1) have of it.

    A child keeps its own CPUs as far as the group has them. One with none of the group's smallest
    set always has what its parent has then: sets that only grow, or only shrink, with the harvest
    can be widened parents first and narrowed leaves first, and Linux refuses neither.
    """
    rules = {path: Rule(lendable, frozenset())}
    for child in below:
        own = original_cpus(child)
        parent = rules.get(os.path.dirname(child), rules[path])
        rules[child] = Rule(own, frozenset() if own & smallest else parent.of(smallest))
    return rules


def group_levels(
    path: str,
    levels: Sequence[frozenset[int]],
    below: Sequence[str],
    original_cpus: Callable[[str], frozenset[int]],
) -> Levels:
    """The same with 0, 1, … cores harvested, the group at ``path`` being given ``levels``."""
    all_cpus = frozenset[int]().union(*levels)
    rules = group_rules(path, all_cpus, min(levels, key=len), below, original_cpus)
    return {group: [rule.of(cpus) for cpus in levels] for group, rule in rules.items()}


def make_room(family: Mapping[str, Sequence[frozenset[int]]], writer: HostWriter) -> None:
    """Journals a family's masks and adds the smallest set of each to what it has, parents first.

    They can then be narrowed leaves first, wherever their CPUs lay before (v1).
    """
    for path, levels in family.items():
        cpus_file = f"{path}/cpuset.cpus"
        writer.adopt(cpus_file)
        wide = parse_cpulist(writer.read(cpus_file)) | min(levels, key=len)
        writer.set(cpus_file, format_cpulist(wide))


def mask_files(
    family: Mapping[str, Sequence[frozenset[int]]], path: str, effective_file: str
) -> list[ManagedFile]:
    """(file, file with the set in force or None, masks): ``CpusetActuator``'s files.

    Only the group at ``path`` itself is read back, from ``effective_file``.
    """
    return [
        (
            f"{directory}/cpuset.cpus",
            effective_file if directory == path else None,
            list(map(format_cpulist, levels)),
        )
        for directory, levels in family.items()
    ]


def added_cpus(capacity: Capacity) -> list[int]:
    """For each level the CPU that it has and the one below lacks; -1 if there is none."""
    first = capacity.elastic_min
    levels = range(1, capacity.max_shared + 1)
    # A parked group is on the first core already.
    parked = 0 if capacity.unallocated else 1
    return [-1, *(capacity.lendable[first + n - 1] if first + n > parked else -1 for n in levels)]
