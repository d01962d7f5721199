"""``python -m tests.lab.systemd``: the package under a real systemd, in guests of QEMU."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.lab import kernels
from tests.lab.image import LAB, build_initramfs, initramfs_of
from tests.lab.kernels import Kernel
from tests.lab.systemd import guest, packages
from tests.lab.systemd.image import DISK, HOME, INSIDE, TOOLS, build_disk
from tests.lab.systemd.matrix import as_markdown
from tests.lab.systemd.plan import KEPT, SCENARIOS, left_of, split

INSTALLED = HOME / "installed.ext4"
"""The disk after the scenarios KEPT."""


def main() -> None:
    """Builds what is missing, boots, and prints what held."""
    parser = argparse.ArgumentParser(prog="make systemd-lab", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--kernel", default="6.1", help="of those the lab has; 6.1")
    parser.add_argument("--from", dest="old", help="the commit to upgrade from")
    parser.add_argument("--minutes", type=float, default=60, help="of ours for each guest")
    parser.add_argument("--at-once", type=int, metavar="N", help="guests; as many as CPUs")
    parser.add_argument("--fresh", action="store_true", help="install anew")
    options = parser.parse_args()
    unknown = [name for name in options.scenarios if name not in SCENARIOS]
    if unknown:
        parser.error(f"no such scenario: {unknown[0]}; there are {', '.join(SCENARIOS)}")
    missing = [tool for tool in (*TOOLS, "qemu-system-x86_64") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(
            f"lab: {', '.join(missing)} not found; apt-get install debootstrap qemu-system-x86 "
            "e2fsprogs"
        )
    try:
        document = run(options)
    except KeyboardInterrupt:
        raise SystemExit("lab: interrupted; what was built is kept") from None
    (HOME / "results.json").write_text(json.dumps(document, indent=1))
    (HOME / "matrix.md").write_text(as_markdown(document))
    print(as_markdown(document))
    if any(result["outcome"] != "held" for result in document["scenarios"].values()):
        raise SystemExit(1)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for; a guest that ends early is followed by another."""
    HOME.mkdir(parents=True, exist_ok=True)
    kernel = _kernel(options.kernel)
    say("building the packages")
    built = packages.build(options.old)
    newest_s = max(path.stat().st_mtime for path in [*built.values(), *INSIDE.glob("*.py")])
    document: dict[str, Any] = {"scenarios": {}}
    if not DISK.exists() or DISK.stat().st_mtime < newest_s:
        say("building the disk")
        build_disk(built)
    wanted = [name for name in SCENARIOS if not options.scenarios or name in options.scenarios]
    fresh = options.fresh or any(name in KEPT for name in wanted)
    if fresh or not INSTALLED.exists() or INSTALLED.stat().st_mtime < DISK.stat().st_mtime:
        copy = INSTALLED.with_suffix(".new")
        shutil.copy(DISK, copy)
        say(f"running {', '.join(KEPT)}, on a disk that is kept")
        kept = _boot(kernel, copy, list(KEPT), options, keep=True)
        _take(document, kept)
        if not kept["complete"]:
            return document
        copy.rename(INSTALLED)
    left = [name for name in wanted if name not in KEPT]
    while left:
        shares = split(left, options.at_once or len(os.sched_getaffinity(0)))
        for names in shares:
            say(f"running {', '.join(names)}")
        with ThreadPoolExecutor(len(shares)) as pool:
            guests = [pool.submit(_boot, kernel, INSTALLED, names, options) for names in shares]
            try:
                for one in guests:
                    _take(document, one.result())
            except KeyboardInterrupt:
                guest.end_all()
                raise
        after = left_of(left, document["scenarios"])
        if after == left:
            for name in left:
                document["scenarios"][name] = {"outcome": "not run", "broken": ["no guest ran it"]}
            break
        left = after
    ordered = {
        name: document["scenarios"].pop(name) for name in SCENARIOS if name in document["scenarios"]
    }
    return {**document, "scenarios": ordered}


def _boot(
    kernel: Kernel, disk: Path, names: list[str], options: argparse.Namespace, *, keep: bool = False
) -> dict[str, Any]:
    began_s = time.monotonic()
    document = guest.boot(kernel, disk, names, minutes=options.minutes, keep=keep, heard=say)
    say(f"the guest ended after {time.monotonic() - began_s:.0f} s")
    (HOME / f"console-{names[0]}.txt").write_text(document.pop("console"))
    return document


def _take(document: dict[str, Any], more: dict[str, Any]) -> None:
    document["scenarios"] |= more.pop("scenarios")
    document |= more


def _kernel(name: str) -> Kernel:
    """The kernel by that name, fetched if none is there; with its initramfs."""
    found = kernels.unpacked(LAB) or kernels.fetch(LAB)
    chosen = [kernel for kernel in found if kernel.name == name]
    if not chosen:
        there = ", ".join(kernel.name for kernel in found)
        raise SystemExit(f"lab: no kernel {name}; there are {there}")
    if not initramfs_of(chosen[0]).exists():
        build_initramfs(chosen[0])
    return chosen[0]


def say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
