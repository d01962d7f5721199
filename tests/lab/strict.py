"""``make strict-check``: a bully runs everywhere under ``--mechanism strict`` in a guest.

Beside it a task wakes every millisecond; then the agent is killed. The last line is JSON: the
kernel, the mechanism, ``wake_p99_us`` without a batch (``idle``) and beside it (``batch``), the
cores that the batch got, and whether everything is as it was (``restored``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

from tests.lab import image, kernels
from tests.lab.boot import faketime, run
from tests.lab.image import DISK, LAB
from tests.lab.kernels import Kernel

SUITE = "trixie-backports"
"""Its kernel has sched_ext."""
MACHINE = "dilated"
"""Latencies where time is counted would be those of taking turns."""
MINUTES = 5.0
DEBIAN = ("qemu-system-x86", "busybox-static", "cpio", "e2fsprogs", "libfaketime")
HALF_PATCHED = "Oops: int3"
"""Linux patches its own text, which QEMU's processors that run side by side may see half done: most
often while a scheduler is put in force."""
KEYS = ("kernel", "mechanism", "wake_p99_us", "batch_cores", "restored")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.strict", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of ours, at most")
    options = parser.parse_args()
    _install()
    kernel = _kernel()
    if not DISK.exists() or image.is_out_of_date():
        image.build_disk()
    end_s = time.monotonic() + 60 * options.minutes
    while True:
        left_minutes = (end_s - time.monotonic()) / 60
        told = run(kernel, MACHINE, (), seconds=1000, minutes=left_minutes, more="lab.strict")
        if told.get("complete") or HALF_PATCHED not in told["console"]:
            break
        print("strict-check: QEMU met a half-patched instruction; again", file=sys.stderr)
    if not told.get("complete"):
        print(told["console"][-4000:], file=sys.stderr)
    answer = {key: told.get(key) for key in KEYS} | {"host_seconds": told["host_seconds"]}
    answer["kernel"] = kernel.release
    print(json.dumps(answer))
    return 0 if told.get("complete") and told.get("restored") else 1


def _install() -> None:
    if all(shutil.which(tool) for tool in image.TOOLS) and faketime() is not None:
        return
    if os.geteuid():
        raise SystemExit(f"strict-check: run as root, or apt-get install {' '.join(DEBIAN)}")
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *DEBIAN]):
        subprocess.run([*apt, *command], check=True, stdout=sys.stderr, env=environment)


def _kernel() -> Kernel:
    """The one with sched_ext, which is fetched if it is missing."""
    found = kernels.unpacked(LAB, (SUITE,))
    if not found:
        LAB.mkdir(parents=True, exist_ok=True)
        found = kernels.fetch(LAB, (SUITE,))
    (kernel,) = found
    if not image.initramfs_of(kernel).exists():
        image.build_initramfs(kernel)
    return kernel


if __name__ == "__main__":
    sys.exit(main())
