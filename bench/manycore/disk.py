"""What a guest of the many-core machine boots from: the lab's disk with these programs on it."""

from __future__ import annotations

from pathlib import Path

from bench.compiling import build_program
from bench.manycore.guest import HERE
from tests.lab import image, kernels
from tests.lab.kernels import Kernel

MODULE = "bench.manycore.inside"
REAL = HERE.parent / "real"
XAPIAN = Path("/usr/include/xapian.h")


def ready(kernel: Kernel) -> tuple[Path, Path]:
    """(disk, the kernel's initramfs), built if they are not there or no longer true."""
    for program in ("batch.c", "waker.c", "queuer.c"):  # a guest has no compiler
        build_program(HERE / program)
    build_program(REAL / "openloop.c", "-pthread")
    if XAPIAN.exists():  # what needs no search server needs no library of it
        build_program(REAL / "search_server.cpp", "-lxapian", "-pthread")
        build_program(REAL / "search_index.cpp", "-lxapian")
    initramfs = image.initramfs_of(kernel)
    if not initramfs.exists():
        image.build_initramfs(kernel)
    if not image.DISK.exists() or image.is_out_of_date():
        image.build_disk()
    return image.DISK, initramfs


def known() -> list[Kernel]:
    return kernels.unpacked(image.LAB)
