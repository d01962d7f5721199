"""The agent's unit, systemd and the two workloads, as a scenario asks for them."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.lab.systemd.inside.host import CGROUPS, online, parse_cpus, read, tids
from tests.lab.systemd.inside.load import SELF_PINNED

UNIT = "smartharvest.service"
OF_US = "smartharvest*"
"""The unit, what restores after it, and guardians in scopes of their own."""
WEB = CGROUPS / "system.slice/web.service"
BATCH = CGROUPS / "batch.slice"
OWN = CGROUPS / "system.slice" / UNIT
CONFIG = Path("/etc/smartharvest.toml")
STATE = Path("/run/smartharvest")
DROP_IN = Path("/etc/systemd/system/smartharvest.service.d/lab.conf")
NEVER_S = 60.0
"""Of the guest's time: what has not come until then does not."""
MINIMUM = 1
"""Cores that the elastic group always has here."""
SETTINGS = {
    "primary": '["systemd:web.service"]',
    "elastic": '"systemd:batch.slice"',
    "elastic_min": str(MINIMUM),
    "learner": '"native"',
}


def command(*words: str, seconds: float = 3 * NEVER_S) -> subprocess.CompletedProcess[str]:
    """Runs ``words`` to their end; the two outputs are one."""
    return subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )


def systemctl(*words: str) -> subprocess.CompletedProcess[str]:
    return command("systemctl", *words)


def ask(*names: str, unit: str = UNIT) -> dict[str, str]:
    """Properties of ``unit`` by name."""
    said = systemctl("show", unit, *(f"--property={name}" for name in names)).stdout
    return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)


def main_pid() -> int:
    return int(ask("MainPID").get("MainPID", "0") or 0)


def pids(group: Path = OWN) -> Sequence[int]:
    """Every process in a group, or below it."""
    files = [group / "cgroup.procs", *group.rglob("cgroup.procs")]
    return sorted({int(word) for file in files for word in (read(file) or "").split()})


def guardians() -> Sequence[int]:
    """The processes that watch an agent, in whatever group."""
    names = ((path.parent.name, read(path)) for path in Path("/proc").glob("[0-9]*/comm"))
    return sorted(int(pid) for pid, name in names if name == "sh-guardian")


def until(true: Callable[[], bool], seconds: float = NEVER_S, every_s: float = 0.02) -> float:
    """How long it took until ``true``; -1 if it never came."""
    began_s = time.monotonic()
    while not true():
        if time.monotonic() - began_s > seconds:
            return -1.0
        time.sleep(every_s)
    return round(time.monotonic() - began_s, 3)


def batch_cpus() -> int | None:
    """To how many CPUs the batch is confined; None if it is not.

    Before Linux 7.3 a mask that was empty is left as what it meant: every CPU.
    """
    cpus = parse_cpus(read(BATCH / "cpuset.cpus") or "")
    return None if not cpus or cpus == online() else len(cpus)


def lends() -> bool:
    """Whether the batch has more than its minimum, by an agent's hand."""
    return (batch_cpus() or 0) > MINIMUM


def gave_back() -> bool:
    """Whether the batch has no more than its minimum, or is as it was without an agent."""
    cpus = batch_cpus()
    return cpus is None or cpus <= MINIMUM


def is_free() -> bool:
    """Whether the batch is as it was without an agent."""
    return batch_cpus() is None and read(BATCH / "cpu.idle") in (None, "0")


def configure(**settings: str) -> None:
    """Writes the agent's file: SETTINGS, with ``settings`` instead or in addition."""
    lines = [f"{key} = {value}\n" for key, value in (SETTINGS | settings).items()]
    CONFIG.write_text("".join(lines))
    CONFIG.chmod(0o600)


def drop_in(text: str) -> None:
    """Settings of the unit for this scenario."""
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text(text)
    systemctl("daemon-reload")


def start(*, lending: bool = True) -> float:
    """Starts the unit, and waits until it lends; how long the two took, -1 if it did not."""
    began_s = time.monotonic()
    if systemctl("start", UNIT).returncode != 0:
        return -1.0
    if lending and until(lends) < 0:
        return -1.0
    return round(time.monotonic() - began_s, 3)


def prepare() -> None:
    """Enables the unit, if it is installed, as its how-to page says.

    An enabled unit is loaded from the boot on, and systemd keeps the controllers turned on that its
    ``Delegate=`` asks for. Turning them on takes affinities away before Linux 6.2, whoever does so:
    it is done before the workloads start.
    """
    if systemctl("enable", "--quiet", UNIT).returncode == 0:
        command("systemd-run", "--quiet", "--wait", "--property=Delegate=yes", "true")


def populate() -> None:
    """The workloads run, with all their threads."""
    systemctl("start", "web.service", "batch.service")
    until(lambda: SELF_PINNED in {read(file) for pid in pids(BATCH) for file in _comms(pid)})


def _comms(pid: int) -> Iterator[Path]:
    return Path(f"/proc/{pid}/task").glob("*/comm")


def end() -> None:
    """Nothing of the agent is left, however the scenario went; the workloads run."""
    systemctl("thaw", UNIT)
    systemctl("stop", UNIT)
    systemctl("reset-failed", UNIT)
    if DROP_IN.exists():
        DROP_IN.unlink()
        systemctl("daemon-reload")
    shutil.rmtree("/var/lib/smartharvest", ignore_errors=True)
    with contextlib.suppress(OSError):
        shutil.rmtree(STATE)
    populate()


def control_thread(pid: int) -> int:
    """The thread that decides: the first one of the process."""
    assert pid in tids(pid)
    return pid


def said(since: str | None = None) -> str:
    """What was said of our units after a cursor, or since the scenario began."""
    command("journalctl", "--sync")
    after = _began if since is None else since
    where = [f"--after-cursor={after}"] if after else ["-b"]
    return command("journalctl", "-q", "-o", "cat", "-u", OF_US, *where).stdout


def priorities(since: str) -> dict[str, int]:
    """What was said of our unit after a cursor -> the priority that the journal noted."""
    command("journalctl", "--sync")
    said = command("journalctl", "-q", "-o", "json", "-u", UNIT, f"--after-cursor={since}").stdout
    entries = [json.loads(line) for line in said.splitlines()]
    return {str(one.get("MESSAGE")): int(one.get("PRIORITY", -1)) for one in entries}


def cursor() -> str:
    """The journal's end now; empty if there is nothing in it."""
    command("journalctl", "--sync")
    said = command("journalctl", "-q", "-n", "1", "-o", "cat", "--show-cursor").stdout
    return said.rpartition("-- cursor: ")[2].strip()


_began = ""


def begin(since: str) -> None:
    """A scenario begins, with the journal's end at ``since``."""
    global _began  # noqa: PLW0603
    _began = since
