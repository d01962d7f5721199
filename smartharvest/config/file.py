"""Configuration files as text: which files, which keys on which lines, and what is no TOML.

Knows no setting; what a key means is in settings.py. All problems are collected, so that the user
sees them at once.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from smartharvest.trusted import Untrusted, open_directory, open_trusted

LARGEST_FILE_BYTES = 1 << 18
"""A configuration is a page or two; a larger file is something else."""
EXPERT = "expert"
"""The section whose keys are settings, too; the keys of any other are not read."""

_ASSIGNMENT = re.compile(r"""\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')\s*=""")
_TABLE = re.compile(r"\s*\[")
_HINTS = {
    "Invalid value": '; strings stand in quotes, such as window = "25ms"',
    "Cannot overwrite a value": "; that key is there before, so remove one of the two",
}
"""What to do about tomllib's messages."""
_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Problem:
    """Something wrong with a configuration."""

    text: str
    """``key: what is wrong; what to do``"""
    file: str | None = None
    line: int | None = None
    """From 1."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else self.file
        return f"{where}: {self.text}" if where else self.text


@dataclass(frozen=True)
class Entry:
    """One key as a file has it."""

    key: str
    value: Any
    file: str
    line: int | None
    expert: bool = False
    """Whether it is in the section ``[expert]``."""
    tables: tuple[int, ...] = ()
    """Of a key of several tables, such as [[elastic]], the line that begins each."""

    @property
    def origin(self) -> str:
        return f"{self.file}:{self.line}" if self.line is not None else self.file


def read_config(path: str) -> tuple[list[Entry], list[Problem]]:
    """The entries of ``path`` and its drop-ins, in the order they apply, and what is wrong.

    ``path`` is a file, followed by ``path.d/*.toml``, or a directory of ``*.toml``; names are taken
    in alphabetical order and a later file wins key by key.
    """
    entries: list[Entry] = []
    problems: list[Problem] = []
    files, drop_ins = ([], path) if os.path.isdir(path) else ([path], f"{path}.d")
    try:
        names = _listed(drop_ins)
    except FileNotFoundError:
        names = []
    except Untrusted as error:
        names = []
        problems.append(Problem(_said(drop_ins, error), drop_ins))
    except OSError as error:
        names = []
        problems.append(Problem(f"cannot be read: {error.strerror}", drop_ins))
    files += [os.path.join(drop_ins, name) for name in names if name.endswith(".toml")]
    if not files and not problems:
        problems.append(Problem("holds no *.toml file", path))
    for file in files:
        try:
            found, wrong = _parse(file, _read_text(file))
        except _UnreadableError as error:
            found, wrong = [], [Problem(str(error), file)]
        entries += found
        problems += wrong
    return entries, problems


def _listed(directory: str) -> list[str]:
    opened = open_directory(directory, shared=True)
    try:
        return sorted(os.listdir(opened))
    finally:
        os.close(opened)


def _said(path: str, error: Untrusted) -> str:
    """Why ``path`` is not obeyed, which may be a directory above it."""
    return str(error.strerror) if error.filename == path else str(error)


class _UnreadableError(Exception):
    """Why a file is not read."""


def _read_text(path: str) -> str:
    try:
        with open(open_trusted(path, follow=True), "rb") as file:
            contents = file.read(LARGEST_FILE_BYTES + 1)
    except Untrusted as error:
        raise _UnreadableError(_said(path, error)) from None
    except OSError as error:
        raise _UnreadableError(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise _UnreadableError("cannot be read: there is a null byte in its name") from None
    if len(contents) > LARGEST_FILE_BYTES:
        raise _UnreadableError(f"is larger than {LARGEST_FILE_BYTES // 1024} KiB")
    try:
        return contents.decode()
    except UnicodeDecodeError:
        raise _UnreadableError("is not UTF-8 text") from None


def _parse(file: str, text: str) -> tuple[list[Entry], list[Problem]]:
    try:
        table = loads(text)
    except tomllib.TOMLDecodeError as error:
        return _salvage(file, text, error)
    lines: dict[tuple[bool, str], list[int]] = {}
    for line, section, part in _statements(text):
        for expert, key, _ in _keys(section, part):
            lines.setdefault((expert, key), []).append(line)
    return [_entry(file, lines.get((expert, key), []), expert, key, value)
            for expert, key, value in _keys("", table)], []  # fmt: skip


def _entry(file: str, lines: list[int], expert: bool, key: str, value: Any) -> Entry:
    tables = isinstance(value, list) and len(value) == len(lines)
    line = lines[0] if lines else None
    return Entry(key, value, file, line, expert, tuple(lines) if tables else ())


def _keys(section: str, table: dict[str, Any]) -> Iterator[tuple[bool, str, Any]]:
    """(whether it is an expert's, key, value) of what ``table`` says below the line of a section.

    The root of the file has the section "".
    """
    for key, value in table.items():
        if section:
            if section == EXPERT:
                yield True, key, value
        elif key == EXPERT and isinstance(value, dict):
            yield from ((True, *item) for item in value.items())
        else:
            yield False, key, value


def loads(text: str) -> dict[str, Any]:
    """tomllib.loads, with TOMLDecodeError for the numbers and depths Python cannot take."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise tomllib.TOMLDecodeError("A number is too large") from None
    except RecursionError:
        raise tomllib.TOMLDecodeError("Nested too deeply") from None
    if any(map(_is_too_large, table.values())):
        raise tomllib.TOMLDecodeError("A number is too large")
    return table


def _is_too_large(value: Any) -> bool:
    """Whether it holds a number of more than the 64 bits TOML asks for."""
    if isinstance(value, dict | list):
        return any(map(_is_too_large, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > 64


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line it starts on, section it is in, what it says) of each statement of a valid TOML text.

    The line that begins a section is a statement of the root.
    """
    pending: list[str] = []
    start, section = 1, ""
    for number, line in enumerate(_lines(text), 1):
        if not pending:
            start = number
        pending.append(line)
        try:
            statement = loads("".join(pending))
        except tomllib.TOMLDecodeError:
            continue  # goes on on the next line
        pending = []
        if _TABLE.match(line) and start == number:
            section = _section(statement)
            yield start, "", statement
        else:
            yield start, section, statement


def _section(statement: dict[str, Any]) -> str:
    """The name in the line that begins a section, such as ``expert``."""
    ((name, value),) = statement.items()
    return name if value == {} else "?"


def _salvage(
    file: str, text: str, error: tomllib.TOMLDecodeError
) -> tuple[list[Entry], list[Problem]]:
    """The statements of an invalid TOML text that are sound, and each that is not."""
    entries: dict[tuple[bool, str], Entry] = {}
    problems: list[Problem] = []
    section = ""
    for start, part in _pieces(text):
        try:
            statement = loads(part)
        except tomllib.TOMLDecodeError as wrong:
            problems.append(_toml_problem(file, start, wrong))
            continue
        is_header = statement and _TABLE.match(part)
        if is_header and any(isinstance(value, list) for value in statement.values()):
            section = "?"  # one of several tables: without its wrong lines it would lack something
            continue
        for expert, key, value in _keys("" if is_header else section, statement):
            if (expert, key) in entries:
                before = entries[expert, key].line
                problems.append(Problem(f"{key}: given on line {before} already", file, start))
            entries[expert, key] = Entry(key, value, file, start, expert)
        if is_header:
            section = _section(statement)
    return list(entries.values()), problems or [_toml_problem(file, 1, error)]


def _toml_problem(file: str, start: int, error: tomllib.TOMLDecodeError) -> Problem:
    said = str(error)
    place = _AT_LINE.search(said)
    what = said[: place.start()] if place else said
    hint = _HINTS.get(what, "")
    line = start + int(place[1]) - 1 if place and place[1] else start
    return Problem(f"is not valid TOML: {what}{hint}", file, line)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """(first line, text) of the parts that begin with a key or a table."""
    piece: list[str] = []
    start = 1
    for number, line in enumerate(_lines(text), 1):
        if piece and (_ASSIGNMENT.match(line) or _TABLE.match(line)):
            yield start, "".join(piece)
            piece = []
        if not piece:
            start = number
        piece.append(line)
    if piece:
        yield start, "".join(piece)


def _lines(text: str) -> list[str]:
    """Lines as TOML has them: other characters that end a line elsewhere do not here."""
    return [line + "\n" for line in text.split("\n")]
