"""Inputs near the samples, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_PIECES = (
    b"", b"\0", b"\n", b"\n\n", b" ", b"-", b"-1", b"0", b"1", b"9" * 5000, b"4294967296",
    b"18446744073709551615", b"9223372036854775808", b"1e999", b"0.5", b"NaN", b"null", b"true",
    b"[]", b"{}", b"[" * 3000, b'{"a":' * 3000, b'""', b'"x"', b"\xff", b"\xff\xff",
    b"\xed\xb0\x80", "é\u2028".encode(), b",", b":", b"|", b"=", b")", b"(", b"\\012", b"/", b"..",
    b"%s", b"\r", b"\x1b[2J",
)  # fmt: skip
LONGEST = 1 << 16


def inputs(samples: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """The samples, then ever more of their descendants; without end."""
    source = random.Random(seed)
    yield from samples
    yield b""
    while True:
        data = bytearray(source.choice(samples))
        for _ in range(source.choice((1, 1, 1, 2, 3, 6))):
            _mutate(data, source, samples)
        yield bytes(data[:LONGEST])


def _mutate(data: bytearray, source: random.Random, samples: Sequence[bytes]) -> None:
    start = source.randrange(len(data) + 1)
    end = min(len(data), start + source.choice((0, 1, 1, 2, 4, 8, 64)))
    match source.randrange(7):
        case 0:
            data[start:end] = source.choice(_PIECES)
        case 1:
            data[start:end] = source.randbytes(end - start)
        case 2 if data:
            data[start % len(data)] ^= 1 << source.randrange(8)
        case 3:
            del data[start : start + source.choice((1, 2, 8, 1 << 20))]
        case 4:
            data[start:start] = data[start:end] * source.choice((1, 2, 100))
        case 5:
            other = source.choice(samples)
            at = source.randrange(len(other) + 1)
            data[start:end] = other[at : at + source.choice((1, 4, 32))]
        case _:
            _replace_word(data, source)


def _replace_word(data: bytearray, source: random.Random) -> None:
    """A whole number or value, so that what is around it stays valid."""
    words = [i for i in range(len(data)) if data[i : i + 1].isalnum()]
    if not words:
        return
    start = end = source.choice(words)
    while start > 0 and data[start - 1 : start].isalnum():
        start -= 1
    while end < len(data) and data[end : end + 1].isalnum():
        end += 1
    data[start:end] = source.choice(_PIECES)
