"""``adapter qemu`` with a real guest: Linux with a balloon and QEMU's agent, in emulation.

Needs a kernel of the lab (``make lab-image``) and the agent, which ``make test-virtual`` fetches.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.qemu_guest import OVERHEAD, QemuGuest
from smartharvest.errors import SmartHarvestError
from tests.lab import kernels
from tests.lab.boot import CPU, NO_CX16, NO_MITIGATIONS
from tests.lab.image import LAB, MODULES, pack, put_modules
from tests.lab.kernels import Kernel

MIB = 1 << 20
MEMORY_MIB, VCPUS = 1024, 4
BOOT_S = 300.0
AGENT = LAB / "guest-agent" / "usr" / "sbin" / "qemu-ga"
TOOLS = ("qemu-system-x86_64", "busybox", "cpio", "ldd")
PORT = "org.qemu.guest_agent.0"
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
for module in {modules}; do insmod /modules/$module.ko; done
while ! ls /dev/vport*; do sleep 0.1; done
for port in /dev/vport*; do exec qemu-ga -m virtio-serial -p $port -t /tmp -f /tmp/agent.pid; done
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timing,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not all(map(shutil.which, TOOLS)) or not AGENT.exists() or not kernels.unpacked(LAB),
        reason="needs QEMU, a kernel of the lab and QEMU's guest agent: make test-virtual",
    ),
]


def build_initramfs(kernel: Kernel, stage: Path, archive: Path) -> None:
    """busybox, the drivers, and the agent with its libraries."""
    for name in ("bin", "modules", "proc", "sys", "dev", "tmp"):
        (stage / name).mkdir(parents=True)
    names = (*MODULES, "virtio_balloon", "virtio_console")
    present = put_modules(kernel, stage / "modules", names)
    shutil.copy(shutil.which("busybox") or "", stage / "bin" / "busybox")
    shutil.copy(AGENT, stage / "bin")
    listed = subprocess.run(["ldd", AGENT], check=True, text=True, stdout=subprocess.PIPE).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        (stage / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, stage / library[1:])
    (stage / "init").write_text(INIT.format(modules=" ".join(present)))
    (stage / "init").chmod(0o755)
    pack(stage, archive)


@pytest.fixture
def sockets(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The monitor and the agent of a guest that runs."""
    kernel = kernels.unpacked(LAB)[0]
    archive = tmp_path / "initramfs"
    build_initramfs(kernel, tmp_path / "stage", archive)
    monitor, agent = str(tmp_path / "qmp"), str(tmp_path / "qga")
    guest = subprocess.Popen(
        [
            *("qemu-system-x86_64", "-accel", "tcg", "-cpu", CPU, "-smp", str(VCPUS)),
            *("-m", f"{MEMORY_MIB}M", "-display", "none", "-nodefaults", "-no-reboot"),
            *("-kernel", str(kernel.image), "-initrd", str(archive)),
            *("-append", f"console=ttyS0 quiet panic=-1 tsc=reliable {NO_CX16} {NO_MITIGATIONS}"),
            *("-serial", f"file:{tmp_path / 'console'}"),
            *("-qmp", f"unix:{monitor},server=on,wait=off"),
            *("-device", "virtio-balloon,deflate-on-oom=on", "-device", "virtio-serial"),
            *("-chardev", f"socket,path={agent},server=on,wait=off,id=agent"),
            *("-device", f"virtserialport,chardev=agent,name={PORT}"),
        ],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield monitor, agent
    finally:
        guest.kill()
        guest.wait()


def wait_until(what: Callable[[], bool], longest_s: float) -> None:
    deadline = time.monotonic() + longest_s
    while True:
        try:
            if what():
                return
        except SmartHarvestError:  # it has not come so far
            if time.monotonic() > deadline:
                raise
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_guest_has_the_memory_and_the_vcpus_that_it_is_told_and_all_again_at_the_end(
    sockets: tuple[str, str],
) -> None:
    found: list[QemuGuest] = []

    def answers() -> bool:
        if all(map(os.path.exists, sockets)):
            found[:] = [QemuGuest(*sockets)]
        return bool(found)

    wait_until(answers, BOOT_S)
    (guest,) = found
    everything = guest.before
    assert everything.memory == MEMORY_MIB * MIB
    assert everything.online == frozenset(range(VCPUS))
    guest.advertise(2)
    assert guest.verify() == 2
    guest.hold(512 * MIB + OVERHEAD)
    wait_until(lambda: guest.read().memory == 512 * MIB, BOOT_S)
    assert guest.read().online == frozenset((0, 1))
    guest.advertise(0)
    assert guest.read().online == frozenset((0,)), "one stays"
    guest.close()
    wait_until(lambda: guest.read() == everything, BOOT_S)
