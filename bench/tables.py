"""Figures as tables of Markdown: as few of them, and as alike, as what was measured allows. Pure.

A *row* is a group that holds values and plain figures and nothing deeper, but for its ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bench.cases import Case, Node, Value, is_case, is_value, read_value
from bench.pictures import words

Row = Mapping[str, str]
ROWS_OF_A_PART = 3
"""At most: a group of so few rows becomes rows of the table above it."""
NO_ROW = ("skipped", "failed", "share_of_samples")


def case_table(cases: Sequence[Case]) -> Iterator[str]:
    """One line for each distribution; times in microseconds."""
    extra = _extra(cases)
    yield "| | median µs | p99 µs | max µs | spread µs | ratio | to |" + _cells(map(words, extra))
    yield "|---" * (7 + len(extra)) + "|"
    for case in cases:
        ratio = "" if case.median_ratio is None else f"{case.median_ratio:.3g}"
        if case.p99_ratio is not None:
            ratio += f" (p99 {case.p99_ratio:.3g})"
        low, high = case.spread_us
        yield (
            f"| {words(case.name)} | {case.median_us:g} | {case.p99_us:g} | {case.max_us:g} "
            f"| {low:g}..{high:g} | {ratio} | {words(case.floor or '')} |" + _more(case, extra)
        )


def value_table(values: Sequence[Value]) -> Iterator[str]:
    """One line for each figure that every round has one of."""
    extra = _extra(values)
    yield "| | median | spread | ratio |" + _cells(map(words, extra))
    yield "|---" * (4 + len(extra)) + "|"
    for value in values:
        ratio = "" if value.ratio is None else f"{value.ratio:g}"
        low, high = value.spread
        figures = f"| {words(value.name)} | {value.median:g} | {low:g}..{high:g} | {ratio} |"
        yield figures + _more(value, extra)
    yield ""


def _extra(found: Sequence[Case | Value]) -> list[str]:
    """The columns that a table has beyond its usual ones."""
    return sorted({key for one in found for key in one.more})


def _more(one: Case | Value, extra: Sequence[str]) -> str:
    return _cells(f"{one.more[key]:g}" if key in one.more else "" for key in extra)


def find_rows(node: Node) -> tuple[dict[str, Row], set[str]]:
    """The rows of ``node``, and the groups within that they are of: those that are alike, or whose
    own rows are. Empty where there are fewer than two.
    """
    groups = {
        name: inner
        for name, inner in node.items()
        if isinstance(inner, Mapping) and not (is_case(inner) or is_value(inner))
    }
    found = {name: row for name, inner in groups.items() if (row := _row(inner))}
    used = set(found)
    if len(found) < 2:
        found, used = _rows_of_parts(groups), set(groups)
    return (found, used) if _are_alike(list(found.values())) else ({}, set())


def _rows_of_parts(groups: Mapping[str, Node]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for name, group in groups.items():
        rows = {
            part: row
            for part, inner in group.items()
            if isinstance(inner, Mapping) and (row := _row(inner))
        }
        if len(rows) != len(group) or len(rows) > ROWS_OF_A_PART:
            return {}
        found |= {f"{name}: {part}": row for part, row in rows.items()}
    return found


def _row(node: Node) -> Row | None:
    """The cells of a group that is one, by column."""
    if is_case(node) or is_value(node):
        return None
    own = node.get("ratio")
    ratios = own if isinstance(own, Mapping) else {}
    cells = {}
    for name, value in node.items():
        if value is own and ratios:
            continue
        ratio = ratios.get(name)
        if isinstance(value, Mapping) and is_value(value):
            figure = read_value((name,), value)
            low, high = figure.spread
            text, ratio = f"{figure.median:g} ({low:g}..{high:g})", ratio or figure.ratio
        elif isinstance(value, Mapping) or name in NO_ROW:
            return None
        else:
            text = shown(value)
        cells[name] = text if ratio is None else f"{text} ×{ratio:.3g}"
    return cells


def _are_alike(rows: Sequence[Row]) -> bool:
    """Whether most columns of a table of ``rows`` are filled."""
    columns = {name for row in rows for name in row}
    filled = sum(map(len, rows))
    return len(rows) > 1 and bool(columns) and filled >= 0.6 * len(rows) * len(columns)


def row_table(rows: Mapping[str, Row]) -> Iterator[str]:
    """One line for each row; what all have in common stands above."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    everywhere = {
        name: value
        for name in columns
        if len({row.get(name) for row in rows.values()}) == 1
        and (value := next(iter(rows.values()))[name])
        and not value[0].isdigit()
    }
    if everywhere:
        yield "; ".join(f"{words(name)}: {value}" for name, value in everywhere.items()) + ".\n"
    columns = [name for name in columns if name not in everywhere]
    yield "\n| |" + _cells(map(words, columns)) + "\n" + "|---" * (1 + len(columns)) + "|"
    for name, row in rows.items():
        yield f"| {words(name)} |" + _cells(words(row.get(column, "")) for column in columns)
    yield ""


def shown(value: object) -> str:
    """A plain figure, or several."""
    if isinstance(value, list):
        return ", ".join(map(shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "unknown" if value is None else str(value)


def _cells(texts: Iterable[str]) -> str:
    return "".join(f" {text} |" for text in texts)
