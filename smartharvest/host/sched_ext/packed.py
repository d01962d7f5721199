"""A BPF program as csrc/bpf/pack.py has packed it."""

from __future__ import annotations

import base64
import zlib
from typing import NamedTuple


def unpack(text: str) -> bytes:
    """The bytes that stand for ``text`` in a packed file."""
    return zlib.decompress(base64.b85decode("".join(text.split())))


class Packed(NamedTuple):
    """One program. Places are instruction numbers."""

    function: int
    """Its number among the programs' own types."""
    memory: tuple[int, ...]
    """Where the mapped memory is referred to,"""
    maps: tuple[tuple[int, str], ...]
    """which map is where,"""
    calls: tuple[tuple[int, str], ...]
    """and which function of the kernel."""
    packed_code: str
    packed_moves: str = ""

    def code(self) -> bytes:
        """Its instructions, eight bytes each."""
        return unpack(self.packed_code)

    def moves(self) -> bytes:
        """The fields whose offsets the kernel puts in: ``struct bpf_core_relo``."""
        return unpack(self.packed_moves) if self.packed_moves else b""
