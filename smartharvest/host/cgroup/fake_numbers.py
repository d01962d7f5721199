"""Numbers and lists as the kernel parses them when they are written to a file."""

from __future__ import annotations

import errno
import os
import re

INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_REGION = re.compile(r"(N|\d+)(?:-(N|\d+)(?::(\d+)/(\d+))?)?")


def refusal(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)  # becomes PermissionError and so on


def c_integer(text: str) -> int:
    """An integer as kstrtoint(…, 0) reads it: decimal, 0x hexadecimal or 0 octal."""
    digits = text.lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if text.startswith("-") else 1)


def kstrto(path: str, value: str) -> int:
    """A number file's value: lib/kstrtox.c allows one newline at the end and no blanks."""
    text = value.removesuffix("\n")
    if not INTEGER.fullmatch(text):
        raise refusal(errno.EINVAL, path)
    return c_integer(text)


def parse_bitmap_list(path: str, value: str, size: int) -> frozenset[int]:
    """bitmap_parselist() of lib/bitmap-str.c after strstrip(): 0-2,5  all  0-N  0-7:2/4."""
    bits: set[int] = set()
    for part in re.split(r"[\s,]+", value.strip().partition("\n")[0].partition("\0")[0]):
        if not part:
            continue
        if part == "all":
            bits.update(range(size))
            continue
        region = _REGION.fullmatch(part)
        if region is None:
            raise refusal(errno.EINVAL, path)
        first, last = (
            size - 1 if number == "N" else int(number)
            for number in (region[1], region[2] or region[1])
        )
        used, group = int(region[3] or 1), int(region[4] or 1)
        if max(first, last, used, group) >= 2**32:
            raise refusal(errno.EOVERFLOW, path)
        if last < first or group == 0 or used > group:
            raise refusal(errno.EINVAL, path)
        if last >= size:
            raise refusal(errno.ERANGE, path)
        bits.update(bit for bit in range(first, last + 1) if (bit - first) % group < used)
    return frozenset(bits)
