"""Real batch work that counts its units: ``python -m bench.real.batch NAME PROGRESS_FD WORKERS``.

It waits for a line on standard input, still one process with one thread, so that its parent can
move it into a group first; then forks WORKERS, which append one byte to PROGRESS_FD a unit, for
ever. All of them end with its standard input, and with its parent.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from smartharvest.core._tasks import ask_for_slice
from smartharvest.host.process.parent import die_with

RECORD_BYTES, KEY_BYTES = 100, 10
"""Of TeraSort."""
SORTED_RECORDS = 50_000
STREAMED = 8_000_000
"""Numbers of 8 bytes; 64 MB an array."""
LONG_SLICE_NS = 100_000_000
"""The longest the kernel grants (from 6.12 on; others ignore it)."""
QEMU = "qemu-system-x86_64"
COUNTED = 5_000_000
"""Turns of a guest's loop between two words: some hundredths of a second, emulated."""
BUILT_SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return strcmp(a, b); }
int main(int argc, char **argv) {
    qsort(argv, (size_t)argc, sizeof(*argv), compare);
    for (int i = 0; i < argc; i++) printf("%s\\n", argv[i]);
    return 0;
}
"""


def bully(unit_done: Callable[[], None], _directory: Path) -> None:
    """CPUBully: sums of integers that stay in the first-level cache."""
    import numpy as np

    numbers = np.arange(2048)
    while True:
        for _ in range(2000):
            numbers.sum()
        unit_done()


def regression(unit_done: Callable[[], None], _directory: Path) -> None:
    """Trains a logistic regression, over and over."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    features, labels = make_classification(4000, 40, random_state=1)
    while True:
        LogisticRegression(max_iter=50).fit(features, labels)
        unit_done()


def sort(unit_done: Callable[[], None], directory: Path) -> None:
    """TeraSort in small: records through real files, sorted by their keys."""
    source, result = directory / "records", directory / "sorted"
    while True:
        source.write_bytes(os.urandom(RECORD_BYTES * SORTED_RECORDS))
        data = source.read_bytes()
        records = [data[at : at + RECORD_BYTES] for at in range(0, len(data), RECORD_BYTES)]
        records.sort(key=lambda record: record[:KEY_BYTES])
        result.write_bytes(b"".join(records))
        unit_done()


def build(unit_done: Callable[[], None], directory: Path) -> None:
    """Compiles a small program again and again: forks, page faults, files."""
    source = directory / "program.c"
    source.write_text(BUILT_SOURCE)
    compiler = shutil.which(os.environ.get("CC", "cc")) or "cc"
    while True:
        subprocess.run(
            [compiler, "-O1", "-o", directory / "program", source],
            stderr=subprocess.DEVNULL,  # at the end its directory is gone before it is
            check=True,
        )
        unit_done()


def stream(unit_done: Callable[[], None], _directory: Path) -> None:
    """STREAM's triad over arrays that no cache holds."""
    import numpy as np

    first, second = (np.ones(STREAMED) for _ in range(2))
    result = np.empty(STREAMED)
    while True:
        np.multiply(second, 3.0, out=result)
        np.add(result, first, out=result)
        unit_done()


def slices(unit_done: Callable[[], None], directory: Path) -> None:
    """CPUBully that asks for the longest time slice there is."""
    ask_for_slice(LONG_SLICE_NS)
    bully(unit_done, directory)


def guests(unit_done: Callable[[], None], directory: Path) -> None:
    """An emulated machine with one CPU that counts, and says so on its debug port."""
    disk, pipe = directory / "disk", directory / "port"
    count = struct.pack("<I", COUNTED)
    code = b"\x66\xb9" + count + b"\x66\x49\x75\xfc\xb0.\xe6\xe9\xeb"
    code += struct.pack("b", -(len(code) + 1))
    disk.write_bytes((code.ljust(510, b"\0") + b"\x55\xaa").ljust(1 << 16, b"\0"))
    os.mkfifo(pipe)
    parent = os.getpid()
    subprocess.Popen(
        [
            *(
                QEMU,
                "-accel",
                "tcg",
                "-m",
                "16",
                "-display",
                "none",
                "-nodefaults",
                "-no-user-config",
            ),
            *("-drive", f"file={disk},format=raw,if=ide"),
            *("-chardev", f"file,id=port,path={pipe}", "-device", "isa-debugcon,chardev=port"),
        ],
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
    )
    with open(pipe, "rb", buffering=0) as port:
        while said := port.read(1):
            if said == b".":
                unit_done()
    raise SystemExit("the guest ended")


BATCHES: dict[str, Callable[[Callable[[], None], Path], None]] = {
    "bully": bully,
    "regression": regression,
    "sort": sort,
    "build": build,
    "stream": stream,
    "slices": slices,
    "guests": guests,
}
NEEDED = {"guests": QEMU, "build": "cc"}
"""Programs, which not every machine has."""


IMPORTED = {
    "bully": ("numpy",),
    "stream": ("numpy",),
    "slices": ("numpy",),
    "regression": ("sklearn.datasets", "sklearn.linear_model"),
}


def main(name: str, progress_fd: int, workers: int) -> None:
    """Fork the workers once told to, and wait for the end."""
    die_with(os.getppid())
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    for module in IMPORTED.get(name, ()):
        import_module(module)  # once, and before it counts
    if not sys.stdin.readline():
        return
    with tempfile.TemporaryDirectory(
        prefix="smartharvest-batch-", ignore_cleanup_errors=True
    ) as made:
        for number in range(workers):
            parent = os.getpid()
            if os.fork() == 0:
                die_with(parent)
                directory = Path(made, str(number))
                directory.mkdir()
                BATCHES[name](lambda: (os.write(progress_fd, b"."), None)[1], directory)
        sys.stdin.read()
        for child in _children():
            os.kill(child, 9)
            os.waitpid(child, 0)


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
