"""The running kernel's own types (BTF), as far as a sched_ext scheduler needs them.

Their numbers are the kernel's to tell (``system_call.type_number``): it looks through its hundred
thousand types faster than we do. The layout of a structure is read from the types themselves.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

VMLINUX = "/sys/kernel/btf/vmlinux"
STRUCT, FUNC = 4, 12
"""Kinds of types: BTF_KIND_* in include/uapi/linux/btf.h."""
_MAGIC = 0xEB9F


def layout_of(btf: bytes, name: str) -> tuple[int, Mapping[str, tuple[int, int]]] | None:
    """Size in bytes of a structure and member -> (index, offset in bytes); None: there is none.

    Raises ValueError if ``btf`` is no BTF.
    """
    try:
        return _layout_of(btf, name)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"the kernel's types are damaged: {error}") from error


def _layout_of(btf: bytes, name: str) -> tuple[int, Mapping[str, tuple[int, int]]] | None:
    magic, _, _, header, types_at, types_len, text_at, text_len = struct.unpack_from(
        "<HBBIIIII", btf
    )
    if magic != _MAGIC:
        raise ValueError("the kernel's types are no BTF of this machine's byte order")
    text = btf[header + text_at :][:text_len]
    name_at = text.find(b"\0" + name.encode() + b"\0") + 1
    if not name_at:
        return None
    first, end = header + types_at, header + types_at + types_len
    at = btf.find(struct.pack("<I", name_at), first, end)
    while at >= 0:
        info, size = struct.unpack_from("<II", btf, at + 4)
        members = _members(btf, at + 12, info, text) if _is_struct(info) else None
        if (at - first) % 4 == 0 and members:
            return size, members
        at = btf.find(struct.pack("<I", name_at), at + 1, end)
    return None


def _is_struct(info: int) -> bool:
    return info >> 24 & 0x7F == STRUCT and not info >> 16 & 0xFF


def _members(btf: bytes, at: int, info: int, text: bytes) -> dict[str, tuple[int, int]]:
    members = {}
    for index in range(info & 0xFFFF):
        name_at, _, offset = struct.unpack_from("<III", btf, at + 12 * index)
        offset = offset & 0xFFFFFF if info >> 31 else offset
        members[text[name_at : text.index(0, name_at)].decode()] = (index, offset // 8)
    return members
