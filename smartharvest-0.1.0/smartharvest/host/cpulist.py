"""CPU lists as the kernel spells them (``0-2,5``; ``%*pbl`` in lib/vsprintf.c)."""

from __future__ import annotations

from collections.abc import Iterable

_HIGHEST_CPU = 65_535  # far above any NR_CPUS; keeps a typo such as 0-99999999 from eating memory


def parse_cpulist(text: str) -> frozenset[int]:
    """The CPU numbers of ``text``; the empty set for an empty list (as a bare ``\\n`` reads).

    Accepts numbers and ascending ranges between commas, in any order and with repetitions.
    Raises ValueError, saying which part is wrong, for everything else.
    """
    cpus: set[int] = set()
    if not text.strip():
        return frozenset()
    for part in text.strip().split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise ValueError(f"{part!r} is not a CPU or a range of CPUs such as 0-2,5")
        low, high = int(first), int(last if dash else first)
        if high < low:
            raise ValueError(f"the range {part!r} runs backwards")
        if high > _HIGHEST_CPU:
            raise ValueError(f"{part!r} is beyond the highest possible CPU, {_HIGHEST_CPU}")
        cpus.update(range(low, high + 1))
    return frozenset(cpus)


def format_cpulist(cpus: Iterable[int]) -> str:
    """The kernel's canonical spelling of ``cpus``: ascending, ranges joined, ``""`` if empty."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in ranges)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
