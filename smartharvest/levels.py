"""The CPUs of a group and of those below it, per number of harvested cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.writer import HostWriter

Levels = dict[str, list[frozenset[int]]]
"""Group directory -> its CPUs with 0, 1, … cores harvested; a parent before its children."""


def group_levels(
    path: str,
    levels: Sequence[frozenset[int]],
    below: Sequence[str],
    original_cpus: Callable[[str], frozenset[int]],
) -> Levels:
    """What the group at ``path``, which is given ``levels``, and those ``below`` it (v1) will have.

    A child keeps its own CPUs as far as the group has them. One with none of the group's smallest
    set always has what its parent has then: sets that only grow, or only shrink, with the harvest
    can be widened parents first and narrowed leaves first, and Linux refuses neither.
    """
    family = {path: list(levels)}
    smallest = min(range(len(levels)), key=lambda level: len(levels[level]))
    for child in below:
        own = original_cpus(child)
        parent = family.get(os.path.dirname(child), family[path])
        always = frozenset[int]() if own & levels[smallest] else parent[smallest]
        family[child] = [(own & cpus) | always for cpus in levels]
    return family


def make_room(family: Mapping[str, Sequence[frozenset[int]]], writer: HostWriter) -> None:
    """Journals a family's masks and adds the smallest set of each to what it has, parents first.

    They can then be narrowed leaves first, wherever their CPUs lay before (v1).
    """
    for path, levels in family.items():
        cpus_file = f"{path}/cpuset.cpus"
        writer.adopt(cpus_file)
        wide = parse_cpulist(writer.files.read(cpus_file)) | min(levels, key=len)
        writer.set(cpus_file, format_cpulist(wide))


def mask_files(
    family: Mapping[str, Sequence[frozenset[int]]], path: str, effective_file: str
) -> list[tuple[str, str | None, list[str]]]:
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
