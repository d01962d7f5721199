"""One guest of the lab: QEMU's emulation of a machine, its kernel and the lab's disk."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartharvest.errors import TargetError
from smartharvest.host.process.parent import die_with
from smartharvest.host.target.qmp import read_vcpus
from tests.lab.image import DISK, initramfs_of
from tests.lab.kernels import Kernel
from tests.monitor import nudge, plug, unplug

MEMORY_MIB = 2048
CPU = "Haswell-noTSX"
"""The least that the packages are compiled for: Vowpal Wabbit uses AVX2."""
NO_CX16 = "clearcpuid=141"
"""QEMU 7.2 leaves other flags behind than a processor does after CMPXCHG16B, of which Linux 6.12
crashes within seconds: it is told to do without."""
NO_MITIGATIONS = "mitigations=off"
"""Against processors that guess, which QEMU's do not. Page tables for each side of a system call
cost the most: a change of them empties what QEMU has looked up of them."""
LONGEST_STEP_S = 3.0
"""What counts at most between two looks at a guest: whoever looks may have been stopped himself."""
COUNTED_TIME = ("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off")
"""A guest's time is how many instructions it has run, a nanosecond each; where it would sleep that
time is left out. So nothing inside comes too late because the host is slow or busy."""
NUDGED_EVERY = 5
"""After so many looks. QEMU 7.2 may leave a processor standing for good where time is counted, most
often one that waits for its turn while the machine starts; stopped and continued all go on."""
PLUGGABLE = (
    *("-accel", "tcg,thread=multi"),
    *("-machine", "pc,vmport=on", "-smbios", "type=1,serial=VMware-lab"),
)
"""For CPUs that come and go. QEMU 7.2 hangs on losing one where all share a thread; and unless it
knows the hypervisor, a newer Linux (6.12.107) takes none that the firmware does not call
pluggable."""
CHANGES = {"plug": plug, "unplug": unplug}
"""What a guest may ask for in a line of its answer: ``{"machine": "plug"}``."""
LAB_TESTS = "tests/lab"
ROOT_TESTS = tuple(
    f"tests/integration/test_{name}.py"
    for name in (
        *("agent_on_this_host", "mechanisms", "handing_over_here", "process_targets"),
        "sensor_truth",
    )
)
"""Of those marked ``root``: what the agent does to control groups and threads of this host, and
whether its sensors tell the truth there."""


@dataclass(frozen=True)
class Machine:
    """How many CPUs a guest has, how they hang together, and what is tested there."""

    cpus: int
    smp: str
    nodes: int = 1
    kind: tuple[str, ...] = COUNTED_TIME
    cpu: str = CPU
    clock: str = "tsc=reliable"
    longest_s: int = 30
    """How long something may take inside that takes a moment elsewhere."""
    tests: tuple[str, ...] = (LAB_TESTS,)

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
    "4": Machine(4, "4", tests=(LAB_TESTS, *ROOT_TESTS)),
    "12": Machine(12, "12,sockets=2,cores=3,threads=2", nodes=2),
    "10+2": Machine(
        12,
        "10,maxcpus=12,sockets=2,cores=3,threads=2",
        nodes=2,
        kind=PLUGGABLE,
        cpu=f"{CPU},hypervisor=off",
        clock="notsc clocksource=hpet",  # on a busy host Linux got the other wrong by 38 times
        longest_s=600,
        tests=("tests/lab/test_plugged_cpus.py",),
    ),
}


ONE_CACHE = "4 of one cache"
"""For what a wake from another CPU takes: where no cache is shared it is asked for otherwise. No
tests run there."""
SHAPES = {**MACHINES, ONE_CACHE: Machine(4, "4,sockets=1,cores=4")}


def run(
    kernel: Kernel,
    machine: str,
    tests: Sequence[str],
    *,
    seconds: int,
    minutes: float,
    qmp_dir: Path | None = None,
    faults: str = "",
    module: str = "",
) -> dict[str, Any]:
    """Boots, runs ``tests`` (the machine's own, if none) inside and returns what came of them.

    Bounded by ``seconds`` of the guest's time and ``minutes`` of ours: what has not been run until
    then is missing, and the document says what was being run. With ``faults`` (see inside.py)
    agents are struck instead, and ``slices`` says what came of it; with a ``module`` that runs and
    tells. In ``qmp_dir`` the guest has a monitor by which it may be stopped and continued from
    elsewhere, and does not age meanwhile.
    """
    shape = SHAPES[machine]
    with tempfile.TemporaryDirectory(prefix="smartharvest-lab-") as directory:
        console, answer = Path(directory, "console"), Path(directory, "answer")
        own = Path(directory, "qmp")
        monitors = [own]
        if qmp_dir is not None:
            monitors.append(qmp_dir / f"{kernel.name}-{machine}.sock")
        command = [
            *("nice", "-n", "10", "qemu-system-x86_64", *shape.kind, "-cpu", shape.cpu),
            *("-display", "none", "-no-reboot", "-nodefaults", "-nic", "none"),
            *shape.arguments(),
            *("-kernel", str(kernel.image), "-initrd", str(initramfs_of(kernel))),
            "-append",
            f"console=ttyS0 quiet panic=-1 {shape.clock} {NO_CX16} {NO_MITIGATIONS} "
            f"SMARTHARVEST_LONGEST_S={shape.longest_s} "  # goes to what is started first
            f"lab.seconds={seconds} "
            + (f"lab.module={module} " if module else "")
            + (f"lab.faults={faults}" if faults else f"lab.tests={','.join(tests or shape.tests)}"),
            *("-drive", f"file={DISK},if=virtio,format=raw,snapshot=on"),
            *("-serial", f"file:{console}", "-serial", f"file:{answer}"),
        ]
        for monitor in monitors:
            command += ["-qmp", f"unix:{monitor},server=on,wait=off"]
        parent = os.getpid()
        guest = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=(Path(directory) / "stderr").open("wb"),
            preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
        )
        try:
            counted = shape.kind is COUNTED_TIME
            ran_s = attend(guest, own, answer, 60 * minutes, nudged=counted)
        finally:
            if guest.poll() is None:
                guest.kill()
                guest.wait()
            for monitor in monitors:
                monitor.unlink(missing_ok=True)
        return {
            "kernel": kernel.release,
            "name": kernel.name,
            "machine": machine,
            "host_seconds": round(ran_s),
            "qemu": {
                "ended_with": guest.returncode,
                "said": text_of(Path(directory, "stderr"))[-1000:],
            },
            **_told(answer),
            "console": text_of(console)[-20000:],
        }


def not_booted(kernel: Kernel, machine: str, why: str) -> dict[str, Any]:
    """What is told of a guest that ``run`` could not start or attend to."""
    return {
        "kernel": kernel.release,
        "name": kernel.name,
        "machine": machine,
        "complete": False,
        "unfinished": f"the guest itself ({why})",
        "tests": {},
    }


def attend(
    guest: subprocess.Popen[bytes], monitor: Path, answer: Path, seconds: float, *, nudged: bool
) -> float:
    """Does what ``guest`` asks for until it ends or has run for ``seconds``; how long that was."""
    ran_s, done, owed = 0.0, 0, False
    for look in itertools.count(1):
        if ran_s >= seconds:
            break
        began_s = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            guest.wait(1)
            break
        running = True
        with suppress(TargetError):
            running = read_vcpus(str(monitor)).running
        if running:
            ran_s += min(time.monotonic() - began_s, LONGEST_STEP_S)
            owed = owed or (nudged and look % NUDGED_EVERY == 0)
        if owed:  # still so if it failed: the guest may stand
            with suppress(OSError, ValueError):
                nudge(str(monitor))
                owed = False
        asked = [told["machine"] for told in lines_of(answer) if "machine" in told]
        for what in asked[done:]:
            done += 1
            try:
                CHANGES[what](str(monitor))
            except (OSError, ValueError) as error:  # whoever asked will see that nothing came
                print(f"lab: {what}: {error}", file=sys.stderr, flush=True)
    return ran_s


def _told(answer: Path) -> dict[str, Any]:
    """What the guest has said about itself and its tests."""
    document: dict[str, Any] = {"complete": False, "unfinished": "the guest itself"}
    tests: dict[str, dict[str, Any]] = {}
    slices: dict[str, dict[str, Any]] = {}
    asked: list[str] = []
    for told in lines_of(answer):
        name = told.pop("test", None)
        if name is not None:
            tests[name] = told
        elif "slice" in told:
            slices[told.pop("slice")] = told
        elif "machine" in told:
            asked.append(told["machine"])
        else:
            document |= told
    if document["complete"]:
        del document["unfinished"]
    return {**document, "asked": asked, "slices": slices, "tests": tests}


def lines_of(answer: Path) -> list[dict[str, Any]]:
    found = []
    for line in text_of(answer).splitlines():
        with suppress(ValueError):  # the last one may not be whole
            found.append(json.loads(line))
    return found


def text_of(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
