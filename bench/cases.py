"""What was measured within a document, wherever a subject has put it. Pure.

A *case* is a distribution of times; a *value* is a figure that each round has one of. Both have a
median, and the smallest and largest of a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Node = Mapping[str, object]

TIME_KEYS = frozenset({"median_us", "p99_us", "max_us", "spread_us", "samples", "quantiles_us"})
RATIO_KEYS = frozenset({"floor", "median_ratio", "p99_ratio", "ratio_spread"})
VALUE_KEYS = frozenset({"median", "spread", "ratio", "floor"})


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
    samples: int
    floor: str | None
    median_ratio: float | None
    p99_ratio: float | None
    ratio_spread: tuple[float, float] | None
    """Of the rounds' medians."""
    quantiles_us: tuple[float, ...]
    """At bench.statistics.QUANTILES; empty in documents that have none."""
    more: Mapping[str, float] = field(default_factory=dict)
    """What a subject says of the case beyond its times."""

    @property
    def path(self) -> str:
        return ".".join((*self.group, self.name))


@dataclass(frozen=True)
class Value:
    """One figure in the unit that its name has."""

    group: tuple[str, ...]
    name: str
    median: float
    spread: tuple[float, float]
    ratio: float | None
    more: Mapping[str, float] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return ".".join((*self.group, self.name))


def find_cases(document: Node) -> list[Case]:
    """All cases of a document's subjects, in its order."""
    return [read_case(path, node) for path, node in _walk(document) if is_case(node)]


def find_values(document: Node) -> list[Value]:
    """All values of a document's subjects, in its order."""
    return [
        read_value(path, node)
        for path, node in _walk(document)
        if is_value(node) and not _inside_a_case(document, path)
    ]


def is_case(node: object) -> bool:
    return isinstance(node, Mapping) and "median_us" in node


def is_value(node: object) -> bool:
    return isinstance(node, Mapping) and "median" in node and "spread" in node


def _walk(document: Node) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every mapping below the subjects, with where it stands."""

    def walk(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
        for name, inner in node.items():
            if isinstance(inner, Mapping):
                yield (*path, name), inner
                yield from walk(inner, (*path, name))

    subjects = document["subjects"]
    assert isinstance(subjects, Mapping)
    return walk(subjects, ())


def _inside_a_case(document: Node, path: tuple[str, ...]) -> bool:
    node = document["subjects"]
    for name in path[:-1]:
        assert isinstance(node, Mapping)
        node = node[name]
        if is_case(node) or is_value(node):
            return True
    return False


def read_case(path: tuple[str, ...], node: Node) -> Case:
    floor = node.get("floor")
    spread = _pair(node.get("spread_us"))
    assert spread is not None
    quantiles = node.get("quantiles_us", ())
    assert isinstance(quantiles, list | tuple)
    return Case(
        group=path[:-1],
        name=path[-1],
        median_us=_number(node, "median_us") or 0.0,
        p99_us=_number(node, "p99_us") or 0.0,
        max_us=_number(node, "max_us") or 0.0,
        spread_us=spread,
        samples=int(_number(node, "samples") or 0),
        floor=None if floor is None else str(floor),
        median_ratio=_number(node, "median_ratio"),
        p99_ratio=_number(node, "p99_ratio"),
        ratio_spread=_pair(node.get("ratio_spread")),
        quantiles_us=tuple(float(value) for value in quantiles),
        more=_more(node, TIME_KEYS | RATIO_KEYS),
    )


def read_value(path: tuple[str, ...], node: Node) -> Value:
    spread = _pair(node["spread"])
    assert spread is not None
    return Value(
        group=path[:-1],
        name=path[-1],
        median=_number(node, "median") or 0.0,
        spread=spread,
        ratio=_number(node, "ratio"),
        more=_more(node, VALUE_KEYS),
    )


def _more(node: Node, known: frozenset[str]) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in node.items()
        if name not in known and isinstance(value, int | float)
    }


def _number(node: Node, key: str) -> float | None:
    value = node.get(key)
    return float(value) if isinstance(value, int | float) else None


def _pair(value: object) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple):
        return None
    return float(value[0]), float(value[1])
