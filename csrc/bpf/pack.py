# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
"""Packs a compiled sched_ext scheduler for a loader that knows neither ELF nor libbpf.

A light skeleton cannot do struct_ops. What is left here for the loader are the numbers that differ
from kernel to kernel: type ids, descriptors of maps, and offsets of fields, which the kernel itself
puts in (CO-RE).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_INT, _ARRAY, _STRUCT, _UNION, _ENUM, _FUNC = 1, 3, 4, 5, 6, 12
_FUNC_PROTO, _VAR, _DATASEC, _DECL_TAG, _ENUM64 = 13, 14, 15, 17, 19
_FIXED = {_INT: 4, _ARRAY: 12, _VAR: 4, _DECL_TAG: 4}
_PER_MEMBER = {_STRUCT: 12, _UNION: 12, _ENUM: 8, _FUNC_PROTO: 8, _DATASEC: 12, _ENUM64: 12}
_EXTERN = 2
_SHT_SYMTAB, _SHT_REL = 2, 9
_R_64_64, _R_64_32 = 1, 10


class Section(NamedTuple):
    name: str
    kind: int
    data: bytes
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    name: str
    section: int
    value: int


def pack(path: Path) -> dict[str, Any]:
    """BTF (bytes), ``memory`` (size in bytes of what is mapped) and the programs by section.

    A program has its instructions (bytes), ``function`` (its BTF type), ``moves`` (bytes of
    ``struct bpf_core_relo``), and places (instruction numbers) of references: ``memory``, ``maps``
    (with the map's name) and ``calls`` (with the kernel function's).
    """
    sections = _sections(path.read_bytes())
    symbols = _symbols(sections)
    btf = _named(sections, ".BTF").data
    info = _named(sections, ".BTF.ext").data
    _, _, _, header = struct.unpack_from("<HBBI", info)
    func_at, func_len, _, _, move_at, move_len = struct.unpack_from("<6I", info, 8)
    text = _strings(btf)
    functions = dict(_by_section(info[header + func_at :][:func_len], text))
    moves = dict(_by_section(info[header + move_at :][:move_len], text))
    programs = {}
    for number, section in enumerate(sections):
        if not section.name.startswith("struct_ops"):
            continue
        (record,) = functions[section.name]
        references = _references(sections, symbols, number)
        programs[section.name] = {
            "code": section.data,
            "function": struct.unpack("<II", record)[1],
            "moves": b"".join(moves.get(section.name, ())),
            **references,
        }
    return {
        "btf": _plain(btf),
        "memory": _named(sections, ".bss").size,
        "programs": programs,
    }


def _sections(elf: bytes) -> list[Section]:
    (at,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
    text = elf[headers[names][4] :]
    return [
        Section(text[name : text.index(0, name)].decode(), kind, elf[off : off + n], n, link, about)
        for name, kind, _, _, off, n, link, about, _, _ in headers
    ]


def _named(sections: list[Section], name: str) -> Section:
    return next(section for section in sections if section.name == name)


def _symbols(sections: list[Section]) -> list[Symbol]:
    table = next(section for section in sections if section.kind == _SHT_SYMTAB)
    text = sections[table.link].data
    return [
        Symbol(text[name : text.index(0, name)].decode(), section, value)
        for name, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", table.data)
    ]


def _references(
    sections: list[Section], symbols: list[Symbol], number: int
) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"memory": [], "maps": [], "calls": []}
    tables = [one for one in sections if one.kind == _SHT_REL and one.info == number]
    for at, about in struct.iter_unpack("<QQ", b"".join(one.data for one in tables)):
        symbol, place = symbols[about >> 32], at // 8
        where = sections[symbol.section].name if symbol.section < len(sections) else ""
        if about & 0xFFFFFFFF == _R_64_32 and symbol.section == 0:
            found["calls"].append([place, symbol.name])
        elif about & 0xFFFFFFFF == _R_64_64 and where == ".maps":
            found["maps"].append([place, symbol.name])
        elif about & 0xFFFFFFFF == _R_64_64 and where == ".bss":
            found["memory"].append(place)
            assert symbol.value == 0, "there is but one variable"
        else:
            raise SystemExit(f"pack.py: cannot pack a reference to {symbol.name or where}")
    return found


def _strings(btf: bytes) -> bytes:
    header, _, _, at, size = struct.unpack_from("<IIIII", btf, 4)
    return btf[header + at :][:size]


def _by_section(data: bytes, text: bytes) -> Iterator[tuple[str, list[bytes]]]:
    (size,) = struct.unpack_from("<I", data)
    at = 4
    while at < len(data):
        name, count = struct.unpack_from("<II", data, at)
        at += 8
        records = [data[at + i * size :][:size] for i in range(count)]
        at += count * size
        yield text[name : text.index(0, name)].decode(), records


def _plain(btf: bytes) -> bytes:
    """``btf`` with an empty type for all that the kernel takes from libbpf only.

    Those are variables, sections and functions that are not here; nothing refers to them.
    """
    header, types_at, types_len, _, _ = struct.unpack_from("<IIIII", btf, 4)
    data = btf[header + types_at :][:types_len]
    types, at = [], 0
    while at < len(data):
        _, info, _ = struct.unpack_from("<III", data, at)
        kind, members = info >> 24 & 0x1F, info & 0xFFFF
        size = 12 + _FIXED.get(kind, 0) + _PER_MEMBER.get(kind, 0) * members
        if kind in (_VAR, _DATASEC) or (kind == _FUNC and members == _EXTERN):
            types.append(struct.pack("<III", 0, _STRUCT << 24, 0))
        else:
            types.append(data[at : at + size])
        at += size
    packed, text = b"".join(types), _strings(btf)
    start = btf[:4] + struct.pack("<IIIII", 24, 0, len(packed), len(packed), len(text))
    return start + packed + text
