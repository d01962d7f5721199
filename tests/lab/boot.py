"""One guest of the lab: QEMU's emulation of a machine, its kernel and the lab's disk."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.image import DISK, initramfs_of
from tests.lab.kernels import Kernel

MEMORY_MIB = 2048
CPU = "Haswell-noTSX"
"""The least that the packages are compiled for: Vowpal Wabbit uses AVX2."""
NO_CX16 = "clearcpuid=141"
"""QEMU 7.2 leaves other flags behind than a processor does after CMPXCHG16B, of which Linux 6.12
crashes within seconds: it is told to do without."""
AROUND_S = 60
"""For what comes before and after the tests."""


@dataclass(frozen=True)
class Machine:
    """How many CPUs a guest has, and how they hang together."""

    cpus: int
    smp: str
    nodes: int = 1

    def arguments(self) -> list[str]:
        """QEMU's options for it."""
        arguments = ["-smp", self.smp, "-m", f"{MEMORY_MIB}M"]
        if self.nodes == 1:
            return arguments
        share, cpus = MEMORY_MIB // self.nodes, self.cpus // self.nodes
        for node in range(self.nodes):
            first = node * cpus
            arguments += ["-object", f"memory-backend-ram,id=m{node},size={share}M"]
            arguments += [
                "-numa",
                f"node,nodeid={node},memdev=m{node},cpus={first}-{first + cpus - 1}",
            ]
        return arguments


MACHINES = {
    4: Machine(4, "4"),
    12: Machine(12, "12,sockets=2,cores=3,threads=2", nodes=2),
}


def run(kernel: Kernel, machine: Machine, tests: list[str], seconds: int) -> dict[str, Any]:
    """Boots, runs ``tests`` inside and returns their document; bounded by ``seconds``.

    A guest that says nothing until then is ended; its document tells the console's last line.
    """
    with tempfile.TemporaryDirectory(prefix="smartharvest-lab-") as directory:
        console, answer = Path(directory, "console"), Path(directory, "answer")
        command = [
            *("nice", "-n", "19", "qemu-system-x86_64", "-accel", "tcg,thread=multi"),
            *("-cpu", CPU, "-display", "none", "-no-reboot", "-nodefaults", "-nic", "none"),
            *machine.arguments(),
            *("-kernel", str(kernel.image), "-initrd", str(initramfs_of(kernel))),
            "-append",
            f"console=ttyS0 quiet panic=-1 tsc=reliable {NO_CX16} "
            f"lab.seconds={seconds} lab.tests={','.join(tests)}",
            *("-drive", f"file={DISK},if=virtio,format=raw,snapshot=on"),
            *("-serial", f"file:{console}", "-serial", f"file:{answer}"),
        ]
        guest = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            guest.wait(seconds + AROUND_S)
        except subprocess.TimeoutExpired:
            guest.kill()
            guest.wait()
        said = console.read_text(errors="replace") if console.exists() else ""
        try:
            document: dict[str, Any] = json.loads(answer.read_text())
        except (OSError, ValueError):
            document = {"kernel": kernel.release, "cpus": machine.cpus, "complete": False}
            document |= {"tests": {}, "unfinished": "the guest itself"}
        document["console"] = said[-20000:]
        return document
