"""libvirt's own daemon with QEMU's emulation, in namespaces that hide it from this host's.

What it keeps lies in memory and goes with it; the control groups it makes are this host's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from smartharvest.host.process.parent import die_with
from tests.commands import LONGEST_S
from tests.integration.processes import wait_until

PROGRAMS = ("libvirtd", "virsh", "qemu-system-x86_64", "unshare", "setpriv")
KEPT = ("/run/libvirt", "/var/lib/libvirt", "/var/log/libvirt", "/etc/libvirt")
CACHE = "/var/cache/libvirt"
SETTINGS = """
unix_sock_dir = "{directory}"
auth_unix_ro = "none"
auth_unix_rw = "none"
host_uuid = "{uuid}"
"""
QEMU_SETTINGS = """
user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
namespaces = []
"""
START = """
set -e
hostname {name}
for place in {kept}; do mount -t tmpfs none $place; done
mount --bind {cache} {place_of_cache}
mount --bind {directory}/passwd /etc/passwd
mount --bind {directory}/group /etc/group
mount --bind {directory}/hosts /etc/hosts
cp {directory}/qemu.conf /etc/libvirt/
until test -e {directory}/ended; do
    setpriv --pdeathsig KILL libvirtd --config {directory}/libvirtd.conf \
        --pid-file {directory}/pid || true
done
"""
DOMAIN = """
<domain type='qemu'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit='MiB'>32</memory>
  <vcpu current='2'>3</vcpu>
  {more}
  <os><type arch='x86_64' machine='pc'>hvm</type></os>
  <features><acpi/></features>
  <devices>
    <emulator>{emulator}</emulator>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
"""


def missing() -> list[str]:
    """What it needs and this host has not."""
    lacking = [program for program in PROGRAMS if shutil.which(program) is None]
    try:
        import libvirt  # noqa: F401
    except ImportError:
        lacking.append("libvirt-python")
    places = (*KEPT, CACHE)
    return [*lacking, *(place for place in places if not lacking and not os.path.isdir(place))]


class Daemon:
    """One daemon, until ``end``.

    Its domains' groups are named after their ids, which each daemon counts from one on.
    """

    def __init__(self, directory: Path, cache: Path, name: str) -> None:
        directory.mkdir()
        cache.mkdir(exist_ok=True)
        self._directory = directory
        self.name = name
        self.uri = f"qemu+unix:///system?socket={directory}/libvirt-sock"
        (directory / "libvirtd.conf").write_text(
            SETTINGS.format(directory=directory, uuid=uuid.uuid4())
        )
        (directory / "qemu.conf").write_text(QEMU_SETTINGS)
        (directory / "hosts").write_text(f"127.0.0.1 localhost {name}\n")
        for file, line in (
            ("passwd", "libvirt-qemu:x:64055:64055::/:/bin/false\n"),
            ("group", "libvirt-qemu:x:64055:\nkvm:x:64056:\n"),
        ):
            (directory / file).write_text(Path("/etc", file).read_text() + line)
        script = START.format(
            name=name,
            kept=" ".join(KEPT),
            cache=cache,
            place_of_cache=CACHE,
            directory=directory,
        )
        parent = os.getpid()
        with (directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ["unshare", "--mount", "--uts", "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
            )
        wait_until(self._answers, (self._directory / "log").read_text)

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self._directory / "log").read_text()
        return self._virsh("list").returncode == 0

    def _virsh(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["virsh", "-q", "-c", self.uri, *arguments],
            capture_output=True,
            text=True,
            timeout=4 * LONGEST_S,
            check=False,
        )

    def virsh(self, *arguments: str) -> str:
        """What libvirt's shell says. Fails the test if that is an error."""
        done = self._virsh(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, name: str, more: str = "", identity: str | None = None) -> None:
        """Starts a domain of two vCPUs, with room for a third, that stands still."""
        description = self._directory / f"{name}.xml"
        description.write_text(
            DOMAIN.format(
                name=name,
                uuid=identity or uuid.uuid4(),
                more=more,
                emulator=shutil.which("qemu-system-x86_64"),
            )
        )
        self.virsh("create", str(description), "--paused")

    def restart(self) -> None:
        """Ends the daemon, not its domains, and returns when another one answers."""
        os.kill(self._pid(), signal.SIGTERM)
        wait_until(lambda: not self._answers())
        wait_until(self._answers)

    def _pid(self) -> int:
        return int((self._directory / "pid").read_text())

    def running(self) -> Sequence[str]:
        """The names of its domains."""
        return self.virsh("list", "--name").split()

    def end(self) -> None:
        with suppress(AssertionError):
            for name in self.running():
                self.virsh("destroy", name)
        (self._directory / "ended").touch()
        with suppress(OSError, ValueError):
            os.kill(self._pid(), signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LONGEST_S)
        self._process.kill()
        self._process.wait()
