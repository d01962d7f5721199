"""``python -m tests.lab.image``: fetches the kernels and builds what ``make lab`` boots.

The disk has busybox, this Python with what the tests import, and this checkout. What is fetched
stays below build/lab; after that no network is needed.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from bench.compiling import build_library, build_program
from tests.faults import population
from tests.lab import kernels
from tests.lab.kernels import Kernel

CHECKOUT = Path(__file__).parents[2]
LAB = CHECKOUT / "build" / "lab"
DISK = LAB / "disk.ext4"
PROBES = CHECKOUT / "bench" / "probe.c"
"""What the sensors are held against."""
TOOLS = ("apt-get", "dpkg-deb", "busybox", "cpio", "mke2fs", "qemu-system-x86_64")
MODULES = (
    *("crc16", "mbcache", "jbd2", "ext4"),
    "virtio",
    "virtio_ring",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_blk",
)
"""In the order of their needs; what is built into a kernel is left out."""
PACKAGES = (
    *("click", "numpy", "numpy.libs", "pyroute2", "vowpalwabbit", "vowpal_wabbit_next"),
    *(
        "pytest",
        "_pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        *("pytest_rerunfailures.py", "pytest_timeout.py"),
        "pygments",
        "py.py",
    ),
    *("xdist", "execnet"),  # pytest loads what is listed among its plugins
    *("hypothesis", "sortedcontainers", "attr", "attrs", "_hypothesis_globals.py"),
)
PATTERNS = ("pylibvw*", "vowpalwabbit*", "_hypothesis*", "pytest-*", "pytest_*-*.dist-info")
PROGRAMS = ("nice", "prlimit", "setpriv", "bash", "memcached")
"""Of this host, which tests and benchmarks start and busybox lacks."""
SIZE_MIB = 900
START = """#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin HOME=/root LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t tmpfs none /tmp
mount -t tmpfs none /run
mount -t cgroup2 none /sys/fs/cgroup
mount -t bpf none /sys/fs/bpf
mount -t tracefs none /sys/kernel/tracing
echo "+cpuset +cpu" >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
cd /checkout
export PYTHONPATH=/checkout:/packages
export SMARTHARVEST_LONGEST_S SMARTHARVEST_EMULATED=1
module=tests.lab.inside
for word in $(cat /proc/cmdline); do
    case $word in lab.module=*) module=${word#lab.module=} ;; esac
done
@python@ -m $module >/dev/ttyS1 2>/dev/ttyS0
poweroff -f
"""
FIRST = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev /disk
/bin/busybox mount -t devtmpfs none /dev
for module in MODULES; do /bin/busybox insmod /modules/$module.ko; done
/bin/busybox mount -t ext4 /dev/vda /disk || /bin/busybox poweroff -f
exec /bin/busybox switch_root /disk /start
"""


def main() -> None:
    """Fetches and builds. Ends with one line about what is missing."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise SystemExit(
            f"lab: {', '.join(missing)} not found; apt-get install qemu-system-x86 busybox-static "
            "cpio e2fsprogs"
        )
    LAB.mkdir(parents=True, exist_ok=True)
    for kernel in kernels.fetch(LAB):
        build_initramfs(kernel)
        print(f"lab: {kernel.release}", flush=True)
    build_disk()
    print(f"lab: {DISK} {DISK.stat().st_blocks * 512 >> 20} MiB", flush=True)


def initramfs_of(kernel: Kernel) -> Path:
    return LAB / f"initramfs-{kernel.release}.cpio"


def build_initramfs(kernel: Kernel) -> None:
    """busybox and the modules that find the disk."""
    stage = LAB / "initramfs"
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "bin").mkdir(parents=True)
    (stage / "modules").mkdir()
    present = put_modules(kernel, stage / "modules", MODULES)
    shutil.copy(shutil.which("busybox") or "", stage / "bin" / "busybox")
    first = stage / "init"
    first.write_text(FIRST.replace("MODULES", " ".join(present)))
    first.chmod(0o755)
    pack(stage, initramfs_of(kernel))
    shutil.rmtree(stage)


def put_modules(kernel: Kernel, directory: Path, names: Iterable[str]) -> list[str]:
    """Those of ``names`` that are not built into ``kernel``, as NAME.ko."""
    present = []
    for name in names:
        for found in kernel.modules.rglob(f"{name}.ko*"):
            data = found.read_bytes()
            if found.suffix == ".xz":
                data = lzma.decompress(data)
            (directory / f"{name}.ko").write_bytes(data)
            present.append(name)
    return present


def pack(stage: Path, archive: Path) -> None:
    """What is below ``stage`` as an initramfs."""
    names = "\n".join(str(path.relative_to(stage)) for path in sorted(stage.rglob("*")))
    with archive.open("wb") as file:
        subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc"],
            cwd=stage,
            input=names.encode(),
            stdout=file,
            check=True,
        )


def build_disk() -> None:
    """The disk that every kernel gets; a guest writes to a snapshot of it."""
    stage = LAB / "disk"
    shutil.rmtree(stage, ignore_errors=True)
    build_library(PROBES)  # a guest has no compiler
    build_program(population.SOURCE, *population.LIBRARIES)
    for name in [
        "proc",
        "sys",
        "dev",
        "tmp",
        "run",
        "root",
        "etc",
        "bin",
        "sbin",
        "usr",
        "packages",
        "var",
        "checkout",
    ]:
        (stage / name).mkdir(parents=True)
    _copy_busybox(stage)
    _copy_python(stage)
    _copy_checkout(stage)
    _compile(stage)
    _copy_libraries(stage)
    (stage / "etc" / "passwd").write_text(
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
    )
    (stage / "etc" / "group").write_text("root:x:0:\nnogroup:x:65534:\n")
    start = stage / "start"
    start.write_text(START.replace("@python@", os.path.realpath(sys.executable)))
    start.chmod(0o755)
    fresh = DISK.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    subprocess.run(
        [
            "mke2fs",
            "-q",
            "-t",
            "ext4",
            "-O",
            "^has_journal",
            "-F",
            "-d",
            stage,
            fresh,
            f"{SIZE_MIB}M",
        ],
        check=True,
    )
    fresh.rename(DISK)
    shutil.rmtree(stage)


def _copy_busybox(stage: Path) -> None:
    busybox = stage / "bin" / "busybox"
    shutil.copy(shutil.which("busybox") or "", busybox)
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout
    for applet in applets.split():
        if not (stage / "bin" / applet).exists():
            (stage / "bin" / applet).symlink_to("busybox")
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            (stage / "bin" / name).unlink(missing_ok=True)
            shutil.copy(found, stage / "bin" / name)


def _copy_python(stage: Path) -> None:
    program = Path(os.path.realpath(sys.executable))
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    _copy_file(program, stage)
    shutil.copytree(
        library,
        stage / library.relative_to("/"),
        ignore=shutil.ignore_patterns(
            *("site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3"),
            *("*.a", "config-*"),
        ),
    )
    own = stage / library.relative_to("/") / "site-packages"
    own.mkdir()
    (own / "packages.pth").write_text("/packages\n")  # for children that obey no PYTHONPATH
    site = Path(sysconfig.get_path("purelib"))
    chosen = {site / name for name in PACKAGES} | {p for one in PATTERNS for p in site.glob(one)}
    for path in sorted(path for path in chosen if path.exists()):
        place = stage / "packages" / path.name
        if path.is_dir():
            shutil.copytree(path, place, ignore=shutil.ignore_patterns("tests"))
        else:
            shutil.copy(path, place)


def is_out_of_date() -> bool:
    """Whether the checkout has changed since the disk was built."""
    built_s = DISK.stat().st_mtime
    return any((CHECKOUT / name).stat().st_mtime > built_s for name in _checkout())


def _checkout() -> list[str]:
    """What the disk gets of it: all that is no document or figure, and what was built."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    built = [*(CHECKOUT / "smartharvest").rglob("*.so"), *(CHECKOUT / "build" / "bench").glob("*")]
    names = [*listed, *(str(path.relative_to(CHECKOUT)) for path in built)]
    left_out = ("docs/", "bench/results/")
    return [n for n in names if (CHECKOUT / n).is_file() and not n.startswith(left_out)]


def _copy_checkout(stage: Path) -> None:
    for name in _checkout():
        place = stage / "checkout" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, place)


def _compile(stage: Path) -> None:
    """Everything in Python, which an emulated processor would do anew at each start."""
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0", str(stage)]
    subprocess.run(command, check=False)  # some test data are wrong on purpose


def _copy_libraries(stage: Path) -> None:
    """The shared libraries that anything on the disk is linked to, at the same paths."""
    linked = [path for path in stage.rglob("*") if path.is_file() and _is_elf(path)]
    for library in sorted(_needed(linked)):
        _copy_file(Path(library), stage)
    for link in ("lib", "lib64"):
        target = os.path.realpath(f"/{link}")
        if os.path.islink(f"/{link}") and not (stage / link).exists():
            (stage / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
            (stage / link).symlink_to(target.lstrip("/"))


def _needed(paths: Iterable[Path]) -> set[str]:
    needed = set()
    for path in paths:
        done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            words = line.split()
            found = words[2] if "=>" in words and len(words) > 2 else words[0] if words else ""
            if found.startswith("/") and not found.startswith(str(LAB)):
                needed.add(found)
    return needed


def _copy_file(path: Path, stage: Path) -> None:
    """``path`` with what it is a link to, where the dynamic linker looks for it."""
    place = stage / os.path.realpath(path.parent).lstrip("/") / path.name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        shutil.copy(os.path.realpath(path), place)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


if __name__ == "__main__":
    main()
