"""The paper's ElasticVM: a guest with as many vCPUs as the host has cores (section 3.2).

It is expanded and contracted by where its threads may run; the guest sees the same vCPUs all the
time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smartharvest.errors import ConfigError, RightsError, SmartHarvestError, TargetError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal import registry
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process.parent import die_with
from smartharvest.host.target.qmp import read_vcpus

_log = logging.getLogger(__name__)

PROGRAM = "qemu-system-x86_64"
CONTROLLERS = ("cpuset", "cpu", "freezer")
QCOW2 = b"QFI\xfb"
START_S = 10.0
"""How long QEMU may take until its monitor answers."""
POWER_DOWN_S = 5.0
"""How long QEMU may take to end when it is asked to."""


@dataclass(frozen=True)
class ElasticVm:
    """What is to be started."""

    image: str | None
    name: str
    cpus: int
    memory_mib: int
    state_dir: str
    more: tuple[str, ...] = ()
    """Further arguments of QEMU."""

    @property
    def socket(self) -> str:
        """Of QEMU's monitor."""
        return os.path.join(self.state_dir, f"elastic-vm-{self.name}.qmp")

    def command(self, accelerator: str) -> list[str]:
        """QEMU's command line. Raises ConfigError for an unreadable image.

        Threads have names, idle vCPUs leave their CPUs, and networking needs no rights.
        """
        fast = accelerator == "kvm"
        command = [
            *(PROGRAM, "-name", f"guest={self.name},debug-threads=on"),
            *("-accel", "kvm" if fast else "tcg,thread=multi", "-cpu", "host" if fast else "max"),
            *("-smp", str(self.cpus), "-m", f"{self.memory_mib}M", "-overcommit", "cpu-pm=off"),
            *("-display", "none", "-nodefaults", "-serial", "stdio"),
            *("-qmp", f"unix:{self.socket},server=on,wait=off"),
        ]
        if self.image is not None:
            form = _format_of(self.image)
            command += ["-drive", f"file={self.image.replace(',', ',,')},if=virtio,format={form}"]
        return [*command, *self.more]


def usable_accelerators() -> tuple[str, ...]:
    """What to try, best first: KVM where it may be used, then emulation."""
    return ("kvm", "tcg") if os.access("/dev/kvm", os.R_OK | os.W_OK) else ("tcg",)


def run(vm: ElasticVm, accelerators: Sequence[str], started: Callable[[str], None]) -> int:
    """Runs the guest until it or this process is ended; QEMU's exit code.

    The first of ``accelerators`` that QEMU starts with is used. It gets a group of its own where
    that may be made; ``started`` gets what to call it as an agent's elastic target. Whatever was
    made is removed again. Raises ConfigError or TargetError if it does not start.
    """
    if shutil.which(PROGRAM) is None:
        raise ConfigError(f"{PROGRAM} is not installed; apt-get install qemu-system-x86")
    with contextlib.suppress(OSError):
        os.makedirs(vm.state_dir, 0o700, exist_ok=True)
    if os.path.exists(vm.socket):
        with contextlib.suppress(TargetError):
            read_vcpus(vm.socket)
            raise ConfigError(f"{vm.socket}: {vm.name} runs already; choose another --name")
        os.unlink(vm.socket)
    *others, last = accelerators
    with own_group(vm) as group:
        for accelerator in others:
            with contextlib.suppress(TargetError):
                return _run(vm, accelerator, group, started)
            _log.warning("%s does not work here: emulating the guest's processors", accelerator)
        return _run(vm, last, group, started)


def _run(
    vm: ElasticVm, accelerator: str, group: Group | None, started: Callable[[str], None]
) -> int:
    process = _start(vm.command(accelerator), group)
    try:
        _wait_for_monitor(vm, process)
        user = f",user={os.geteuid()}" if os.geteuid() else ""  # the agent may be root's
        started(f"cgroup:{group}" if group is not None else f"qemu:{vm.name}{user}")
        return process.wait()
    finally:
        _end(process)
        with contextlib.suppress(OSError):
            os.unlink(vm.socket)


@contextlib.contextmanager
def own_group(vm: ElasticVm) -> Iterator[Group | None]:
    """A group for the guest in every hierarchy, removed afterwards; None if impossible."""
    journal: Journal | None = None
    try:
        tree = CgroupTree.discover()
        recover(tree.files, vm.state_dir)
        journal = Journal(vm.state_dir, name="elastic-vm")
        registry.note(journal.path)
        writer = HostWriter(tree.files, journal)
        group = tree.group(f"smartharvest-{vm.name}")
        if tree.version == 2:
            writer.enable_controllers(tree.group("").path, ("cpuset", "cpu"))
        for directory in _directories(group):
            writer.make_group(directory)
    except SmartHarvestError as error:
        if journal is not None:
            writer.restore()
        _log.info("%s; %s runs without a group of its own", error, vm.name)
        yield None
        return
    try:
        yield group
    finally:
        writer.restore()


def _directories(group: Group) -> list[str]:
    return sorted({path for name in CONTROLLERS if (path := group.directory(name)) is not None})


def _start(command: Sequence[str], group: Group | None) -> subprocess.Popen[bytes]:
    parent = os.getpid()

    def join() -> None:
        die_with(parent)
        if group is not None:
            for directory in _directories(group):
                group.tree.files.write(f"{directory}/cgroup.procs", str(os.getpid()))

    try:
        return subprocess.Popen(command, preexec_fn=join)  # noqa: PLW1509
    except (OSError, subprocess.SubprocessError) as error:
        raise RightsError(f"{command[0]}: cannot be started: {error}") from None


def _wait_for_monitor(vm: ElasticVm, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + START_S
    while True:
        if process.poll() is not None:
            raise TargetError(f"{PROGRAM} ended with {process.returncode}; it says why above")
        try:
            read_vcpus(vm.socket)
            return
        except TargetError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.02)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)  # QEMU flushes its disks and ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POWER_DOWN_S)
    if process.poll() is None:
        process.kill()
        process.wait()


def _format_of(image: str) -> str:
    try:
        with open(image, "rb") as file:
            return "qcow2" if file.read(4) == QCOW2 else "raw"
    except OSError as error:
        raise ConfigError(f"{image}: {error.strerror}") from None
