"""``python -m tests.cluster.condor``: HTCondor from a newer Debian, in a folder.

Debian 12 has no HTCondor. What is fetched (signatures checked by apt, 60 MB) and unpacked stays
below build/condor; nothing of it is installed. It runs there on loopback, in namespaces that end
with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from smartharvest.cli.adapter import HTCONDOR_FILE
from tests.cluster.agents import wait_until
from tests.debian import apt

CHECKOUT = Path(__file__).parents[2]
HERE = CHECKOUT / "build" / "condor"
ROOT = HERE / "root"
FRAGMENT = CHECKOUT / "packaging" / "htcondor" / "50-smartharvest"
SUITE = "trixie"
PACKAGES = ("condor", "coreutils", "dash")
COMMANDS = ("condor_status", "condor_q", "condor_submit", "condor_rm")
NOBODY, CONDOR = 65534, 64

CONFIGURATION = """
CONDOR_HOST = 127.0.0.1
NETWORK_INTERFACE = 127.0.0.1
BIND_ALL_INTERFACES = false
ENABLE_IPV6 = false
COLLECTOR_HOST = 127.0.0.1:{port}
SHARED_PORT_PORT = {port}
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_NEGOTIATOR = *
ALLOW_ADMINISTRATOR = *
SEC_DEFAULT_AUTHENTICATION = OPTIONAL
UID_DOMAIN = local
FILESYSTEM_DOMAIN = local
NUM_CPUS = 4
RUNBENCHMARKS = false
NEGOTIATOR_INTERVAL = 2
NEGOTIATOR_MIN_INTERVAL = 1
NEGOTIATOR_CYCLE_DELAY = 1
SCHEDD_INTERVAL = 2
SCHEDD_MIN_INTERVAL = 1
MASTER_BACKOFF_CONSTANT = 1
"""
FILES = {
    "etc/passwd": "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
    "condor:x:64:64::/var/lib/condor:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\ncondor:x:64:\n",
    "etc/nsswitch.conf": "hosts: files\n",
}
DEVICES = {"null": (1, 3), "zero": (1, 5), "random": (1, 8), "urandom": (1, 9)}


def fetch() -> None:
    """Ends with one line if the packages cannot be had."""
    shutil.rmtree(HERE, ignore_errors=True)
    apt(HERE, SUITE, ["install", "--yes", "--download-only", *PACKAGES])
    for package in (HERE / "cache/archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", str(package), str(ROOT)], check=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        with contextlib.suppress(FileExistsError):
            (ROOT / name).symlink_to(f"usr/{name}")
    for name, text in FILES.items():
        (ROOT / name).write_text(text)
    (ROOT / "dev").mkdir(exist_ok=True)
    for name, numbers in DEVICES.items():
        os.mknod(ROOT / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(*numbers))
        (ROOT / "dev" / name).chmod(0o666)
    shutil.rmtree(HERE / "cache")
    (HERE / "complete").touch()


class MadeCondor:
    """A pool of one machine with four CPUs, named localhost."""

    def __init__(self, port: int, commands: Path) -> None:
        for name in ("tmp", "var/tmp", "run/smartharvest", "proc"):
            (ROOT / name).mkdir(parents=True, exist_ok=True)
        (ROOT / "run/smartharvest").chmod(0o700)  # as the agent's is: condor reads elsewhere
        shutil.rmtree(ROOT / "run/smartharvest-htcondor", ignore_errors=True)
        for name in (
            "lib/condor/execute",
            "spool/condor",
            "log/condor",
            "lock/condor",
            "run/condor",
        ):
            own = ROOT / "var" / name
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir(parents=True)
            os.chown(own, CONDOR, CONDOR)
        for name in ("tmp", "var/tmp", "var/lib/condor/execute"):
            (ROOT / name).chmod(0o1777)
        (ROOT / "etc/hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")
        (ROOT / "etc/condor/condor_config.local").write_text(CONFIGURATION.format(port=port))
        shutil.copy(FRAGMENT, ROOT / "etc/condor/config.d")
        self.advertisement = ROOT / HTCONDOR_FILE.lstrip("/")
        for name in COMMANDS:
            command = commands / name
            command.write_text(
                f'#!/bin/sh\nexec chroot --userspec={NOBODY}:{NOBODY} {ROOT} {name} "$@"\n'
            )
            command.chmod(0o755)
        self._daemons: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        inside = (
            f"mount --bind {ROOT} {ROOT} && mount -t proc proc {ROOT}/proc && "
            f"exec chroot {ROOT} condor_master -f"
        )
        self._daemons = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "sh", "-c", inside],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: self.says("condor_status", "-af", "Name") != "", 60.0)

    def stop(self) -> None:
        """The first process of the namespace ends, and with it all that is in there."""
        assert self._daemons is not None
        children = f"/proc/{self._daemons.pid}/task/{self._daemons.pid}/children"
        with contextlib.suppress(FileNotFoundError):
            for pid in Path(children).read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        self._daemons.wait()

    def says(self, *command: str) -> str:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        return ran.stdout if ran.returncode == 0 else ""

    def submit(self, count: int) -> None:
        description = ROOT / "tmp" / f"jobs-{time.monotonic_ns()}"
        description.write_text(
            "executable = /bin/sleep\narguments = 600\ntransfer_executable = false\n"
            "should_transfer_files = no\nrequest_cpus = 1\nrequest_memory = 20\n"
            # How long a job waits for a startd that crashed before it goes back to the queue.
            f"request_disk = 1\njob_lease_duration = 10\nqueue {count}\n"
        )
        said = self.says("condor_submit", f"/tmp/{description.name}")
        assert f"{count} job(s) submitted" in said

    def states(self) -> list[str]:
        """One per job: 1 idle, 2 running, 5 held."""
        return sorted(self.says("condor_q", "-allusers", "-af", "JobStatus").split())


@contextlib.contextmanager
def made_condor(port: int, commands: Path) -> Iterator[MadeCondor]:
    made = MadeCondor(port, commands)
    made.start()
    try:
        yield made
    finally:
        made.stop()


if __name__ == "__main__":
    if not (HERE / "complete").exists():
        fetch()
