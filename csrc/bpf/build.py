#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
"""Compile the in-kernel sensor and pack it for installation without clang or libbpf.

``build.py`` needs clang, bpftool and libbpf's headers and writes ``sensor.loader.h``: the loader
program that ``bpftool gen skeleton -L`` makes (it creates the maps and loads the programs from
inside the kernel, where CO-RE offsets are filled in), as plain arrays.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "sensor"
CLANG = [
    *("clang", "-O2", "-g", "-target", "bpfel", "-mcpu=v3", "-ffreestanding", "-nostdlibinc"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function"),
    *("-idirafter", "/usr/include", f"-ffile-prefix-map={HERE}=."),
]


PACKED = HERE / f"{NAME}.loader.h"


def source_hash() -> str:
    """SHA-256 over the names and contents of all sources."""
    digest = hashlib.sha256()
    for source in (f"{NAME}.bpf.c", f"{NAME}_state.h", "kernel_types.h"):
        digest.update(f"{source}\n".encode())
        digest.update((HERE / source).read_bytes())
    return digest.hexdigest()


def packed_hash() -> str | None:
    """The hash of the source that the packed file was made from."""
    found = re.search(r"sha256 ([0-9a-f]{64})", PACKED.read_text()) if PACKED.exists() else None
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare hashes")
    if parser.parse_args().check:
        stale = packed_hash() != source_hash()
        if stale:
            print(f"{PACKED.name} is not made from this source: run `make bpf`", file=sys.stderr)
        return int(stale)
    PACKED.write_text(pack(compile_skeleton()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
