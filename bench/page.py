"""``bench page``: docs/research/performance.md and its pictures, from the benches' JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import click

from bench import pictures, result_file
from bench.cases import Node, find_cases, find_values, is_case, is_value, read_case, read_value
from bench.pictures import words
from bench.real.page import ablations_part, experiments_part
from bench.registry import NAMES, find_subject
from bench.subject import Picture, Subject
from bench.tables import case_table, find_rows, row_table, shown, value_table

RESULTS = Path("bench/results")
PAGE = Path("docs/research/performance.md")

HEAD = """# Performance

Made by `make performance` from `bench/results/*.json`; do not edit. `make bench`, `make bench-real`
and `make bench-ablations` measure your machine and rewrite it. Each part names its machine and day.

The cases of one table ran interleaved, in a new order each round. *Ratio*, and × behind a figure,
is to the floor or rival named next to it, of the same run. *Spread* and the figures in brackets are
the smallest and largest median of a round: what differs by less is noise. `python -m bench compare
OLD NEW` names what moved by more.
"""

Drawer = Callable[[Path], bool]


class Album:
    """Where the page's pictures go; remembers nothing but how to show one."""

    def __init__(self, page: Path) -> None:
        self._folder = page.with_suffix("")
        self._folder.mkdir(parents=True, exist_ok=True)
        for stale in self._folder.glob("*.png"):
            stale.unlink()
        self._drawing = pictures.available()

    def show(self, name: str, caption: str, draw: Drawer) -> Iterator[str]:
        """Draws it, if that can be, and yields the line that shows it."""
        name = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        if self._drawing and draw(self._folder / f"{name}.png"):
            yield f"\n![{caption}]({self._folder.name}/{name}.png)\n"


def write_page(
    page: Path,
    *,
    bench: Node | None = None,
    real: Node | None = None,
    ablations: Node | None = None,
) -> None:
    """Writes ``page`` and its pictures into a folder beside it, named as it without the ending."""
    album = Album(page)
    lines = [HEAD]
    if real is not None:
        lines += ["\n## Real services beside real batch work\n", *_machine(real)]
        lines += experiments_part(real, album.show)
    if ablations is not None:
        lines += ["\n## Ablations\n", *_machine(ablations)]
        lines += ablations_part(ablations, album.show)
    if bench is not None:
        lines += ["\n## Parts\n", *_machine(bench), *_goals(bench), *_subjects(bench, album)]
    lines[1:1] = _contents(lines)
    result_file.replace(page, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n")


def _contents(lines: Sequence[str]) -> Iterator[str]:
    """Links to the parts and, behind each, to what it has."""
    found = re.findall(r"^(##|###) (.+)$", "\n".join(lines), re.MULTILINE)
    entries: list[list[str]] = []
    for level, title in found:
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        if level == "##":
            entries.append([])
        entries[-1].append(f"[{title}](#{anchor})")
    for part, *within in entries:
        yield f"- {part}" + (f": {', '.join(within)}" if within else "")


def _machine(document: Node) -> Iterator[str]:
    machine = document["machine"]
    assert isinstance(machine, Mapping)
    yield (
        f"{machine['cpu_model']}, {machine['cpus']} CPUs, Linux {machine['kernel']}, Python "
        f"{machine['python']}; {_when(machine)}seed {document['seed']}, "
        f"{document['seconds']:.0f} s. The "
        f"hypervisor withheld {machine['steal_share']:.2%} of the CPU time; load average before "
        f"{machine['load_average_before'][0]:g}, after {machine['load_average_after'][0]:g}."
    )
    if parameter := machine.get("wakes_on_busy_cpus"):
        yield (
            f"\n**Not a stock kernel:** it wakes tasks on busy CPUs while others are idle "
            f"(`{parameter}`), so even *alone* waits for itself."
        )
    warnings = document.get("warnings")
    if isinstance(warnings, list):
        for line in warnings:
            yield f"\n**Careful:** the machine was {line}."
    if document.get("interrupted"):
        yield f"\n**Partial:** the run was interrupted in {document['interrupted']}."


def _when(machine: Node) -> str:
    """The day and the commit, as far as the result has them."""
    day, commit = machine.get("date"), machine.get("commit")
    return (f"{day}, " if day else "") + (f"commit {commit}, " if commit else "")


def _goals(document: Node) -> Iterator[str]:
    goals = document["goals"]
    assert isinstance(goals, Mapping)
    if not goals:
        return
    yield "\n### Goals\n\n| | at most | measured | |\n|---|---|---|---|"
    for name, goal in goals.items():
        verdict = "met" if goal["met"] else "**missed**"
        yield f"| {words(name)} | {goal['goal']:g} | {goal['value']:g} | {verdict} |"


def _subjects(document: Node, album: Album) -> Iterator[str]:
    subjects = document["subjects"]
    assert isinstance(subjects, Mapping)
    for name, node in subjects.items():
        subject = find_subject(name) if name in NAMES else None
        yield f"\n### {subject.title if subject else words(name)}\n"
        if subject:
            yield subject.about + "\n"
        lines = [p for p in (subject.pictures if subject else ()) if p.kind == "lines"]
        yield from _group(node, (name,), album, {(name, *picture.group) for picture in lines})
        if subject:
            yield from _own_pictures(document, name, subject, album)


def _group(
    node: Node, path: tuple[str, ...], album: Album, drawn_otherwise: Collection[tuple[str, ...]]
) -> Iterator[str]:
    """A group's plain figures, its tables and distributions, and the groups within."""
    yield from _plain(node)
    cases = [read_case((*path, name), inner) for name, inner in _mappings(node) if is_case(inner)]
    if cases:
        yield from case_table(cases)
        if path not in drawn_otherwise:
            yield from album.show(
                "-".join(path),
                words(" / ".join(path)),
                lambda file: pictures.draw_distributions(cases, file),
            )
    values = [
        read_value((*path, name), inner) for name, inner in _mappings(node) if is_value(inner)
    ]
    if values:
        yield from value_table(values)
    rows, used = find_rows(node)
    if rows:
        yield from row_table(rows)
    for name, inner in _mappings(node):
        if not (is_case(inner) or is_value(inner) or name in used) and _has_figures(inner):
            own = any(
                not isinstance(v, Mapping) or is_case(v) or is_value(v) for v in inner.values()
            )
            if own or find_rows(inner)[0]:
                yield f"\n#### {words(' / '.join((*path[1:], name)))}\n"
            yield from _group(inner, (*path, name), album, drawn_otherwise)


def _plain(node: Node) -> Iterator[str]:
    for key in ("skipped", "failed"):
        if key in node:
            yield f"*{key.capitalize()}: {node[key]}.*\n"
    share = node.get("share_of_samples")
    if isinstance(share, float) and share < 1:
        yield f"With {share:.0%} of the samples of a full run.\n"
    plain = {
        name: value
        for name, value in node.items()
        if not isinstance(value, Mapping) and name not in ("skipped", "failed", "share_of_samples")
    }
    if plain:
        yield "; ".join(f"{words(name)}: {shown(value)}" for name, value in plain.items()) + ".\n"


def _own_pictures(document: Node, name: str, subject: Subject, album: Album) -> Iterator[str]:
    for picture in subject.pictures:
        file_name = "-".join((name, *picture.group, picture.metric))
        yield from album.show(
            file_name, f"{subject.title}: {picture.caption}", _drawer(document, name, picture)
        )


def _drawer(document: Node, subject: str, picture: Picture) -> Drawer:
    group = (subject, *picture.group)
    rows: dict[str, tuple[float, tuple[float, float]]] = {}
    if picture.metric == "median_us":
        for case in find_cases(document):
            if case.group == group:
                rows[case.name] = (case.median_us, case.spread_us)
    else:
        for value in find_values(document):
            if value.group[:-1] == group and value.name == picture.metric:
                rows[value.group[-1]] = (value.median, value.spread)
            elif value.group == group and picture.metric == "median":
                rows[value.name] = (value.median, value.spread)
    unit = picture.caption or words(picture.metric)
    if picture.kind == "bars":
        return lambda file: pictures.draw_bars(rows, file, unit=unit, log=picture.log)
    lines: dict[str, list[tuple[float, float, tuple[float, float]]]] = {}
    for name, (median, spread) in rows.items():
        what, _, count = name.rpartition("_")
        if count.isdigit():
            lines.setdefault(what, []).append((float(count), median, spread))
    return lambda file: pictures.draw_lines(lines, file, x=picture.x, unit=unit)


def _mappings(node: Node) -> Iterator[tuple[str, Node]]:
    return ((name, inner) for name, inner in node.items() if isinstance(inner, Mapping))


def _has_figures(node: Node) -> bool:
    return any(not isinstance(value, Mapping) or _has_figures(value) for value in node.values())


def _load(file: Path) -> Node | None:
    if not file.exists():
        return None
    try:
        document = json.loads(file.read_text())
    except ValueError as error:
        raise click.ClickException(f"{file}: is no result of a bench: {error}") from None
    assert isinstance(document, dict)
    return document


@click.command()
@click.option("--results", default=RESULTS, type=click.Path(path_type=Path), show_default=True)
@click.option("--out", default=PAGE, type=click.Path(path_type=Path), show_default=True)
def main(results: Path, out: Path) -> None:
    """Write the page from the results that there are: bench.json, real.json, ablations.json."""
    documents = {name: _load(results / f"{name}.json") for name in ("bench", "real", "ablations")}
    if not any(documents.values()):
        raise click.ClickException(f"{results}: holds no results; run make bench first")
    if not pictures.available():
        click.echo("careful: no pictures without matplotlib: pip install '.[plot]'", err=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_page(out, **documents)
    click.echo(f"written: {out}", err=True)


if __name__ == "__main__":
    main()
