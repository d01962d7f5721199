"""The rows of a CSV file with a header, plain or gzipped."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from smartharvest.errors import TraceError

MOST_BYTES = 1 << 30
"""Of a file, unpacked."""
Row = Mapping[str, str]
"""Column -> cell. Columns are in lower case; cells are stripped."""


@contextlib.contextmanager
def opened(path: str) -> Iterator[io.TextIOBase]:
    """The text of ``path``, unpacked. Raises TraceError for what goes wrong while it is open."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        opener: Callable[..., io.TextIOBase] = gzip.open if packed else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield text
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: is no table: {error}") from None


def rows_of(path: str, needed: Sequence[str] = ()) -> Iterator[tuple[int, Row]]:
    """(line number, row) of each row, at least one; ``needed`` columns are in every row.

    Raises TraceError if it cannot be read, has more than MOST_BYTES, lacks a column or rows, or a
    row has more or fewer cells than the header.
    """
    with opened(path) as text:
        reader = csv.reader(_lines(path, text))
        header = [name.strip().lower() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise TraceError(f"{path}: line 1: two columns have the same name")
        for name in needed:
            if name.lower() not in header:
                raise TraceError(f"{path}: line 1: has no column {name!r}")
        empty = True
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise TraceError(
                    f"{path}: line {reader.line_num}: has {len(cells)} cells, and the header "
                    f"names {len(header)}"
                )
            empty = False
            yield reader.line_num, dict(zip(header, map(str.strip, cells), strict=True))
        if empty:
            raise TraceError(f"{path}: has no rows")


def _lines(path: str, text: io.TextIOBase) -> Iterator[str]:
    left = MOST_BYTES
    while line := text.readline(left + 1):
        left -= len(line.encode())
        if left < 0:
            raise TraceError(f"{path}: has more than {MOST_BYTES >> 20} MiB")
        yield line


def number(
    path: str, line: int, row: Row, column: str, least: float = -math.inf, most: float = math.inf
) -> float:
    """A cell as a finite number. Raises TraceError unless it is from ``least`` to ``most``."""
    text = row.get(column.lower())
    if text is None:
        raise TraceError(f"{path}: has no column {column}; the header must name it")
    if not text:
        raise TraceError(f"{path}: line {line}: {column} is empty; every row needs it")
    try:
        value = float(text)
    except ValueError:
        raise TraceError(f"{path}: line {line}: {column} is no number: {text!r}") from None
    if not math.isfinite(value):
        raise TraceError(f"{path}: line {line}: {column} is no finite number: {text!r}")
    if not least <= value <= most:
        raise TraceError(
            f"{path}: line {line}: {column} is {value:g}; it must be {least:g} to {most:g}"
        )
    return value
