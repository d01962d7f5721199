"""The measured cases within a document, wherever a subject has put them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One case of one subject; times in microseconds."""

    group: tuple[str, ...]
    """The subject and what stands between it and the case."""
    name: str
    median_us: float
    p99_us: float
    max_us: float
    spread_us: tuple[float, float]
    """The smallest and the largest median of a round."""
    samples: int
    floor: str | None
    median_ratio: float | None
    p99_ratio: float | None
    quantiles_us: tuple[float, ...]
    """At bench.statistics.QUANTILES; empty in documents that have none."""

    @property
    def path(self) -> str:
        return ".".join((*self.group, self.name))


def find_cases(document: Mapping[str, object]) -> list[Case]:
    """All cases of a document's subjects, in its order."""
    subjects = document["subjects"]
    assert isinstance(subjects, Mapping)
    return list(_walk(subjects, ()))


def find_numbers(document: Mapping[str, object]) -> dict[tuple[str, ...], dict[str, object]]:
    """What the subjects say beside their cases: plain values by the group they stand in."""
    found: dict[tuple[str, ...], dict[str, object]] = {}

    def walk(figures: Mapping[str, object], group: tuple[str, ...]) -> None:
        for name, value in figures.items():
            if not isinstance(value, Mapping):
                found.setdefault(group, {})[name] = value
            elif "median_us" not in value:
                walk(value, (*group, name))

    subjects = document["subjects"]
    assert isinstance(subjects, Mapping)
    walk(subjects, ())
    return found


def _walk(figures: Mapping[str, object], group: tuple[str, ...]) -> Iterator[Case]:
    for name, value in figures.items():
        if not isinstance(value, Mapping):
            continue
        if "median_us" in value:
            yield _case(group, name, value)
        else:
            yield from _walk(value, (*group, name))


def _case(group: tuple[str, ...], name: str, value: Mapping[str, object]) -> Case:
    def number(key: str) -> float:
        found = value.get(key, 0.0)
        assert isinstance(found, int | float)
        return float(found)

    def optional(key: str) -> float | None:
        return None if value.get(key) is None else number(key)

    spread, quantiles = value.get("spread_us"), value.get("quantiles_us", ())
    assert isinstance(spread, list | tuple)
    assert isinstance(quantiles, list | tuple)
    floor = value.get("floor")
    return Case(
        group=group,
        name=name,
        median_us=number("median_us"),
        p99_us=number("p99_us"),
        max_us=number("max_us"),
        spread_us=(float(spread[0]), float(spread[1])),
        samples=int(number("samples")),
        floor=None if floor is None else str(floor),
        median_ratio=optional("median_ratio"),
        p99_ratio=optional("p99_ratio"),
        quantiles_us=tuple(float(value) for value in quantiles),
    )
