"""The lab's results as one table: what holds on which kernel with how many CPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_MARKS = {"passed": "yes", "failed": "**no**", "skipped": "–"}


def as_markdown(documents: Sequence[Mapping[str, Any]]) -> str:
    """A row for each test, a column for each guest, and below it why something does not hold."""
    ordered = sorted(documents, key=_place)
    heads = [f"{one['name']}, {one['machine']} CPUs" for one in ordered]
    tests = list(dict.fromkeys(test for one in ordered for test in one["tests"]))
    lines = ["| test | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for test in tests:
        found = [one["tests"].get(test, {}).get("outcome") for one in ordered]
        marks = [_MARKS.get(outcome, "not run") for outcome in found]
        lines.append(f"| {_title(test)} | " + " | ".join(marks) + " |")
    reasons = [
        f"- {head}, {_title(test)}: {result['why']}"
        for head, one in zip(heads, ordered, strict=True)
        for test, result in one["tests"].items()
        if "why" in result
    ]
    cut = [
        f"- {head}: out of time in {one['unfinished']}"
        for head, one in zip(heads, ordered, strict=True)
        if "unfinished" in one
    ]
    return "\n".join([*lines, "", *cut, *reasons, ""])


def _place(document: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    version, cpus = document["name"].split("."), document["machine"].split("+")
    return [int(part) for part in version], [int(part) for part in cpus]


def _title(test: str) -> str:
    path, _, name = test.partition("::")
    return f"{path.rsplit('/', 1)[-1].removesuffix('.py')}: {name.replace('|', '/')}"
