#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
"""Compile the in-kernel programs and pack them for installation without clang or libbpf.

``build.py`` needs clang, bpftool and libbpf's headers and writes ``sensor.loader.h``: the loader
program that ``bpftool gen skeleton -L`` makes (it creates the maps and loads the programs from
inside the kernel, where CO-RE offsets are filled in), as plain arrays. The scheduler of the
``strict`` mechanism goes into a module (pack.py).
``build.py --check`` needs nothing: it tells whether the checked-in arrays belong to the checked-in
source.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import struct
import subprocess
import sys
import tempfile
import textwrap
import zlib
from base64 import b85encode
from pathlib import Path
from typing import Any

from pack import pack as pack_scheduler

HERE = Path(__file__).resolve().parent
NAME = "sensor"
CLANG = [
    *("clang", "-O2", "-g", "-target", "bpfel", "-mcpu=v3", "-ffreestanding", "-nostdlibinc"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function"),
    *("-idirafter", "/usr/include", f"-ffile-prefix-map={HERE}=."),
]


PACKED = HERE / f"{NAME}.loader.h"
SOURCES = (f"{NAME}.bpf.c", *sorted(p.name for p in HERE.glob(f"{NAME}_*.h")), "kernel_types.h")
STRICT = "strict"
STRICT_PACKED = HERE.parents[1] / "smartharvest" / "host" / "sched_ext" / "program.py"
STRICT_SOURCES = (f"{STRICT}.bpf.c", f"{STRICT}_state.h", f"{STRICT}_types.h", "pack.py")


def source_hash(sources: tuple[str, ...] = SOURCES) -> str:
    """SHA-256 over the names and contents of all sources."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source}\n".encode())
        digest.update((HERE / source).read_bytes())
    return digest.hexdigest()


def packed_hash(path: Path = PACKED) -> str | None:
    """The hash of the source that the packed file was made from."""
    found = re.search(r"sha256\s+([0-9a-f]{64})", path.read_text()) if path.exists() else None
    return found[1] if found else None


def compile_skeleton() -> str:
    """bpftool's light skeleton of the compiled source."""
    with tempfile.TemporaryDirectory() as scratch:
        compiled, linked = Path(scratch, f"{NAME}.o"), Path(scratch, "linked.o")
        subprocess.run([*CLANG, "-c", f"{NAME}.bpf.c", "-o", compiled], check=True, cwd=HERE)
        # Linking drops the debug sections that the kernel has no use for.
        subprocess.run(["bpftool", "gen", "object", linked, compiled], check=True)
        command = ["bpftool", "gen", "skeleton", "-L", str(linked), "name", NAME]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def blob(skeleton: str, name: str) -> bytes:
    """The bytes of one of the skeleton's string literals."""
    found = re.search(rf'{name} = \(void \*\)"(.*?)";', skeleton, re.DOTALL)
    if not found:
        # Newer bpftools use an array of their own.
        found = re.search(rf'{name}\[\] [^"]*"(.*?)";', skeleton, re.DOTALL)
    if not found:
        sys.exit(f"build.py: no {name} in what bpftool wrote")
    text = found[1].replace("\\\n", "").encode()
    return text.decode("unicode_escape").encode("latin-1")


def members(skeleton: str, kind: str) -> list[str]:
    """Maps or programs, in the order in which the loader knows them."""
    return re.findall(rf"struct bpf_{kind}_desc (\w+);", skeleton)


def array(name: str, data: bytes) -> str:
    words = struct.unpack(f"<{(len(data) + 7) // 8}Q", data + bytes(-len(data) % 8))
    lines = [
        "    " + " ".join(f"0x{word:x}," for word in words[i : i + 5])
        for i in range(0, len(words), 5)
    ]
    body = "\n".join(lines)
    return (
        f"enum {{ {name}_bytes = {len(data)} }};\nstatic const uint64_t {name}[] = {{\n{body}\n}};"
    )


def pack(skeleton: str) -> str:
    fields = "\n".join(
        f"    struct sh_loader_{kind} {member};"
        for kind, short in (("map", "map"), ("program", "prog"))
        for member in members(skeleton, short)
    )
    guard = f"SH_{NAME.upper()}_LOADER_H"
    return f"""\
/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Made by build.py from sources with sha256 {source_hash()}.
 * The first array is what the loader program works on, the second the loader program itself. */
#ifndef {guard}
#define {guard}

#include "sensors/bpf_loader.h"

/* clang-format off */
struct {NAME}_programs {{
    struct sh_loader_context context;
{fields}
}};

{array(f"{NAME}_loader_data", blob(skeleton, "opts.data"))}

{array(f"{NAME}_loader_code", blob(skeleton, "opts.insns"))}
/* clang-format on */

#endif
"""


def text_of(data: bytes) -> str:
    """Lines of a module that stand for ``data``."""
    text = b85encode(zlib.compress(data, 9)).decode()
    lines = textwrap.wrap(text, 84, break_on_hyphens=False)
    return '"""\n' + "\n".join(lines) + '\n"""'


def strict_module() -> str:
    with tempfile.TemporaryDirectory() as scratch:
        compiled = Path(scratch, f"{STRICT}.o")
        subprocess.run([*CLANG, "-c", f"{STRICT}.bpf.c", "-o", compiled], check=True, cwd=HERE)
        packed = pack_scheduler(compiled)

    codes = [one["code"] for one in packed["programs"].values()]
    # Two programs may differ only in where they are attached.
    names = {code: f"CODE_{i}" for i, code in enumerate(codes) if code in codes[:i]}

    def entry(one: dict[str, Any]) -> str:
        code = names.get(one["code"]) or text_of(one["code"])
        moves = text_of(one["moves"]) if one["moves"] else '""'
        pairs = [tuple(map(tuple, one[name])) for name in ("maps", "calls")]
        return (
            f"Packed({one['function']}, {tuple(one['memory'])}, {pairs[0]}, {pairs[1]}, "
            f"{code}, {moves})"
        )

    shared = "\n".join(f"{name} = {text_of(code)}" for code, name in names.items())
    programs = "\n".join(f"    {name!r}: {entry(one)}," for name, one in packed["programs"].items())
    return f'''\
# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
{source_hash(STRICT_SOURCES)}.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = {packed["memory"]}
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = {text_of(packed["btf"])}
{shared}
PROGRAMS = {{
{programs}
}}
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare hashes")
    parser.add_argument("--only", choices=(NAME, STRICT), help="build only this one")
    options = parser.parse_args()
    if options.check:
        stale = [
            path.name
            for path, sources in ((PACKED, SOURCES), (STRICT_PACKED, STRICT_SOURCES))
            if packed_hash(path) != source_hash(sources)
        ]
        for name in stale:
            print(f"{name} is not made from this source: run `make bpf`", file=sys.stderr)
        return int(bool(stale))
    if options.only != STRICT:
        PACKED.write_text(pack(compile_skeleton()))
    if options.only != NAME:
        STRICT_PACKED.write_text(strict_module())
    return 0


if __name__ == "__main__":
    sys.exit(main())
