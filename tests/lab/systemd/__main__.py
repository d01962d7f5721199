"""``python -m tests.lab.systemd``: the package under a real systemd, in guests of QEMU."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from tests.lab import kernels
from tests.lab.image import LAB, build_initramfs, initramfs_of
from tests.lab.kernels import Kernel
from tests.lab.systemd import guest, packages
from tests.lab.systemd.image import HOME, TOOLS, build_disk, disk_of, is_out_of_date
from tests.lab.systemd.matrix import as_markdown
from tests.lab.systemd.plan import DISKS, SCENARIOS, in_order, left_of, split


def main() -> None:
    """Builds what is missing, boots, and prints what held."""
    parser = argparse.ArgumentParser(prog="make systemd-lab", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--kernel", default="6.1", help="of those the lab has; 6.1")
    parser.add_argument("--from", dest="old", help="the commit to upgrade from")
    parser.add_argument("--minutes", type=float, default=60, help="of ours for each guest")
    cpus = len(os.sched_getaffinity(0))
    parser.add_argument("--at-once", type=int, default=cpus, metavar="N", help="guests")
    options = parser.parse_args()
    unknown = [name for name in options.scenarios if name not in SCENARIOS]
    if unknown:
        parser.error(f"no such scenario: {unknown[0]}; there are {', '.join(SCENARIOS)}")
    missing = [tool for tool in (*TOOLS, "qemu-system-x86_64") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(
            f"lab: {', '.join(missing)} not found; apt-get install debootstrap qemu-system-x86 "
            "busybox-static cpio e2fsprogs python3-venv"
        )
    if os.geteuid() != 0:
        raise SystemExit("lab: a root file system is built by root; run it as root")
    try:
        document = run(options)
    except KeyboardInterrupt:
        raise SystemExit("lab: interrupted; what was built is kept") from None
    print((HOME / "matrix.md").read_text())
    if any(result["outcome"] != "held" for result in document["scenarios"].values()):
        raise SystemExit(1)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for; a guest that ends early is followed by another."""
    HOME.mkdir(parents=True, exist_ok=True)
    kernel = kernel_of(options.kernel)
    say("building the packages")
    built = packages.build(options.old)
    document: dict[str, Any] = {"scenarios": {}}
    left = [name for name in SCENARIOS if not options.scenarios or name in options.scenarios]
    for disk in dict.fromkeys(DISKS.get(name, "new") for name in left):
        if is_out_of_date(disk, built):
            say(f"building the disk {disk}")
            build_disk(disk, built)
    while left:
        shares = split(left, options.at_once)
        with ThreadPoolExecutor(options.at_once) as pool:
            guests = [pool.submit(_boot, kernel, names, options) for names in shares]
            try:
                for one in as_completed(guests):
                    _take(document, one.result())
                    _save(document)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                guest.end_all()
                raise
        after = left_of(left, document["scenarios"])
        if after == left:
            for name in left:
                document["scenarios"][name] = {"outcome": "not run", "broken": ["no guest ran it"]}
            _save(document)
            break
        left = after
    return document


def _boot(kernel: Kernel, names: list[str], options: argparse.Namespace) -> dict[str, Any]:
    say(f"a guest for {', '.join(names)}")
    disk = disk_of(DISKS.get(names[0], "new"))
    document = guest.boot(kernel, disk, names, minutes=options.minutes, heard=say)
    (HOME / f"console-{names[0]}.txt").write_text(document.pop("console"))
    return document


def _take(document: dict[str, Any], more: dict[str, Any]) -> None:
    document["scenarios"] |= more.pop("scenarios")
    document |= more


def _save(document: dict[str, Any]) -> None:
    """Keeps what is known so far, with the earlier results of scenarios that were not asked for."""
    results = HOME / "results.json"
    before = json.loads(results.read_text())["scenarios"] if results.exists() else {}
    every = {**document, "scenarios": in_order(before | document["scenarios"])}
    results.write_text(json.dumps(every, indent=1))
    (HOME / "matrix.md").write_text(as_markdown(every))


def kernel_of(name: str) -> Kernel:
    """The kernel by that name, fetched if it is not there; with its initramfs.

    Ends with a line if there is none.
    """
    found = kernels.unpacked(LAB)
    if name not in {kernel.name for kernel in found}:  # others may be there
        found = kernels.fetch(LAB)
    chosen = [kernel for kernel in found if kernel.name == name]
    if not chosen:
        there = ", ".join(kernel.name for kernel in found)
        raise SystemExit(f"lab: no kernel {name}; there are {there}")
    if not initramfs_of(chosen[0]).exists():
        build_initramfs(chosen[0])
    return chosen[0]


def say(text: str) -> None:
    sys.stderr.write(f"lab: {text}\n")  # at once: several guests speak
    sys.stderr.flush()


if __name__ == "__main__":
    main()
