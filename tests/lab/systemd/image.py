"""The disk of the systemd lab: Debian by debootstrap, with the lab's service and no network.

What is fetched and built stays below build/lab/systemd.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.debian import mirror
from tests.lab.image import CHECKOUT, LAB

HOME = LAB / "systemd"
TOOLS = (
    "apt-get",
    "busybox",
    "cpio",
    "debootstrap",
    "dpkg-deb",
    "unshare",
    "chroot",
    "tar",
    "mke2fs",
)
INCLUDED = ("systemd", "systemd-sysv", "dbus", "python3")
SIZE_MIB = 1536
HOWTO = CHECKOUT / "docs" / "how-to" / "least-rights.md"
INSIDE = Path(__file__).parent / "inside"
MASKED = (
    *("getty.target", "getty@tty1.service", "serial-getty@ttyS0.service", "timers.target"),
    *("systemd-udevd.service", "systemd-udev-trigger.service", "systemd-firstboot.service"),
    *("systemd-update-utmp.service", "systemd-logind.service", "systemd-random-seed.service"),
    *("dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount"),
    *("sys-fs-fuse-connections.mount", "systemd-pcrphase.service", "e2scrub_reap.service"),
)
"""What no scenario needs, and an emulated processor takes seconds for."""
UNITS = {
    "lab.service": """[Unit]
Description=What the systemd lab runs
After=basic.target
[Service]
WorkingDirectory=/lab
ExecStart=/usr/bin/python3 -m tests.lab.systemd.inside
StandardOutput=journal+console
StandardError=journal+console
TimeoutStopSec=5
[Install]
WantedBy=multi-user.target
""",
    "web.service": """[Unit]
Description=The primary
[Service]
WorkingDirectory=/lab
ExecStart=/usr/bin/python3 -m tests.lab.systemd.inside.load web
TimeoutStopSec=5
""",
    "batch.service": """[Unit]
Description=The batch
[Service]
Slice=batch.slice
WorkingDirectory=/lab
ExecStart=/usr/bin/python3 -m tests.lab.systemd.inside.load batch
TimeoutStopSec=5
""",
}


def suite() -> str:
    """This machine's release: the package is built for its python3. Ends with a line elsewhere."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    if release.get("ID") != "debian":
        raise SystemExit("lab: the package is for this machine's python3; run this on Debian")
    return release["VERSION_CODENAME"]


def _root_tar() -> Path:
    return HOME / f"{suite()}-{'-'.join(INCLUDED)}.tar"


def disk_of(name: str) -> Path:
    """The disk on which a guest begins: ``bare``, or with the package ``old`` or ``new``."""
    return HOME / f"{name}.ext4"


def is_out_of_date(name: str, packages: Mapping[str, Path]) -> bool:
    """Whether the disk is missing, or older than anything on it that is ours."""
    disk = disk_of(name)
    parts = [*packages.values(), *INSIDE.glob("*.py"), HOWTO, Path(__file__)]
    return not disk.exists() or disk.stat().st_mtime < max(p.stat().st_mtime for p in parts)


def build_disk(name: str, packages: Mapping[str, Path]) -> None:
    """The disk ``name``, with all ``packages`` in /packages; Debian is fetched once.

    A package is installed by dpkg in a chroot, and its Python compiled: an emulated processor
    takes minutes for that.
    """
    stage = HOME / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    root = _root_tar()
    if not root.exists():
        _fetch_root(root)
    stage.mkdir()
    subprocess.run(["tar", "-C", stage, "-xf", root], check=True)
    for kind, package in packages.items():
        place = stage / "packages" / kind
        place.mkdir(parents=True)
        shutil.copy(package, place)
    _copy_inside(stage / "lab")
    (stage / "lab" / "least.conf").write_text(drop_in_of(HOWTO.read_text()))
    _set_up(stage)
    if name in packages:
        package = Path("/packages", name, packages[name].name)
        _in_chroot(stage, "dpkg", "--force-unsafe-io", "-i", str(package))
        _in_chroot(stage, "python3", "-m", "compileall", "-q", "/opt/smartharvest")
    _in_chroot(stage, "python3", "-m", "compileall", "-q", "/lab")
    disk = disk_of(name)
    fresh = disk.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    command = [*["mke2fs", "-q", "-t", "ext4", "-F", "-d"], str(stage), str(fresh), f"{SIZE_MIB}M"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    fresh.rename(disk)
    shutil.rmtree(stage)


def _in_chroot(stage: Path, *command: str) -> None:
    done = subprocess.run(
        ["chroot", stage, *command],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"lab: {command[0]} in {stage}: {done.stdout[-1000:]}")


def drop_in_of(page: str) -> str:
    """The drop-in that the how-to page on least rights shows."""
    found = re.search(r"```ini\n(\[Service\]\n.*?)```", page, re.DOTALL)
    if found is None:
        raise SystemExit(f"lab: {HOWTO} shows no drop-in")
    return found[1]


def _copy_inside(place: Path) -> None:
    """INSIDE by the same name, of which the packages above it have nothing but docstrings."""
    for above in ("tests", "tests/lab", "tests/lab/systemd"):
        (place / above).mkdir(parents=True)
        shutil.copy(CHECKOUT / above / "__init__.py", place / above)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(INSIDE, place / INSIDE.relative_to(CHECKOUT), ignore=ignored)


def _fetch_root(root: Path) -> None:
    """debootstrap, in mounts of its own, which go with it however it ends."""
    stage = HOME / "debootstrap"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    options = ["--variant=minbase", f"--include={','.join(INCLUDED)}"]
    subprocess.run(
        ["unshare", "--mount", "nice", "debootstrap", *options, suite(), stage, mirror()],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    fresh = root.with_suffix(".new")
    left_out = ["./var/cache/apt/*", "./var/lib/apt/lists/*", "./usr/share/doc/*", "./dev/*"]
    subprocess.run(
        ["tar", "-C", stage, *(f"--exclude={one}" for one in left_out), "-cf", fresh, "."],
        check=True,
    )
    fresh.rename(root)
    shutil.rmtree(stage)


def _set_up(stage: Path) -> None:
    """What makes a machine of the root file system: units, names, and nothing that waits."""
    units = stage / "etc" / "systemd" / "system"
    for name, text in UNITS.items():
        (units / name).write_text(text)
    for name in MASKED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    wanted = units / "multi-user.target.wants"
    shutil.rmtree(wanted, ignore_errors=True)
    wanted.mkdir()
    (wanted / "lab.service").symlink_to("../lab.service")
    (units / "default.target").symlink_to("/lib/systemd/system/multi-user.target")
    (stage / "etc" / "machine-id").write_text("5aa7" * 8 + "\n")
    (stage / "etc" / "hostname").write_text("lab\n")
    (stage / "etc" / "fstab").write_text("")
    (stage / "var" / "log" / "journal").mkdir(parents=True, exist_ok=True)
    start = stage / "start"  # which the lab's initramfs runs
    start.unlink(missing_ok=True)
    start.symlink_to("/lib/systemd/systemd")
