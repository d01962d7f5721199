"""What goes wrong with a service: each time the primary must have its cores, and soon."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.report import Finding
from tests.lab.systemd.inside.service import STATE, UNIT
from tests.lab.systemd.inside.watch import Watch

BACK_S = 30.0
"""More than any patience of the agent's, its guardian's and the watchdog's."""
AUDIT = Path("/var/log/smartharvest")
MODELS = Path("/var/lib/smartharvest")
_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17  # linux/ptrace.h
_WALL = 0x40000000  # linux/wait.h


def kill(finding: Finding) -> None:
    """SIGKILL to the agent."""
    _strike(finding, lambda pid: os.kill(pid, signal.SIGKILL))


def kill_all(finding: Finding) -> None:
    """SIGKILL to the agent and its guardian at once."""

    def hit(pid: int) -> None:
        for each in (*service.guardians(), pid, *service.pids()):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)

    _strike(finding, hit)


def kill_guardian(finding: Finding) -> None:
    """SIGKILL to the guardian alone: another takes its place, the agent goes on."""
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    agent, before = service.main_pid(), set(service.guardians())
    finding.expect(len(before) == 1, f"the guardians are {before}")
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    came = service.until(lambda: bool(set(service.guardians()) - before), BACK_S)
    finding.took("replaced_s", came, "no other guardian has come")
    finding.took("lends_again_s", service.until(service.lends), "it does not lend again")
    finding.expect(service.main_pid() == agent, "the process has changed")


def stopped(finding: Finding) -> None:
    """SIGSTOP to the agent, which nobody continues."""
    _strike(finding, lambda pid: os.kill(pid, signal.SIGSTOP))


def wedged(finding: Finding) -> None:
    """The control plane's thread is held, while the loop's goes on."""
    libc = ctypes.CDLL(None, use_errno=True)

    def hold(pid: int) -> None:
        for request in (_SEIZE, _INTERRUPT):
            if libc.ptrace(request, service.control_thread(pid), None, None) != 0:
                raise OSError(ctypes.get_errno(), "ptrace")

    def reaped(pid: int) -> bool:
        # Whoever traces a process hears of its end first, and its parent only afterwards.
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG | _WALL)
        return not Path(f"/proc/{pid}/stat").exists()

    _strike(finding, hold, gone=reaped)


def frozen(finding: Finding) -> None:
    """``systemctl freeze``: the agent and all that watches it in its unit."""
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    since = service.cursor()
    service.until(service.lends, every_s=0.001)
    began_s = time.monotonic()
    done = service.systemctl("freeze", UNIT)
    finding.expect(done.returncode == 0, f"systemctl freeze: {done.stdout}")
    _cores_come_back(finding, began_s)
    service.until(lambda: False, 5)
    finding.note(f"while frozen: {service.ask('ActiveState', 'FreezerState', 'MainPID')}")
    service.systemctl("thaw", UNIT)
    finding.took("lends_again_s", service.until(service.lends), "it does not lend after the thaw")
    finding.note(f"said: {service.said(since)[-300:]!r}")


def full_at_start(finding: Finding) -> None:
    """No room for the journal: it does not start and says why; with room it does."""
    with _small(STATE, "64k") as fill:
        fill()
        service.systemctl("start", "--no-block", UNIT)
        said = service.until(lambda: "space left" in service.said(), BACK_S, every_s=0.5)
        finding.took("said_s", said, "nobody has said that the disk is full")
        finding.expect(service.is_free(), "the batch is confined, although nothing is journaled")
        service.systemctl("stop", UNIT)
    service.systemctl("reset-failed", UNIT)
    finding.took("lends_s", service.start(), "with room it does not lend")


def full_while_running(finding: Finding) -> None:
    """The journal's disk fills up while it lends, and what must be noted then cannot be."""
    with _small(STATE, "1m") as fill:
        if not finding.took("lends_s", service.start(), "the started unit does not lend"):
            return
        fill()
        service.configure(elastic_min="2")
        service.systemctl("reload", UNIT)
        service.until(lambda: "space left" in service.said(), BACK_S, every_s=0.5)
        service.systemctl("restart", "batch.service")
        service.until(lambda: False, 2)
        finding.note(str(service.ask("ActiveState", "SubState", "NRestarts", "Result")))
        service.systemctl("stop", UNIT)
        finding.expect(service.is_free(), "the batch is still confined, or still cpu.idle")
        finding.expect(not service.pids(), "processes are left in the unit's group")
    service.configure()
    service.systemctl("reset-failed", UNIT)
    finding.took("lends_again_s", service.start(), "with room it does not lend")


def full_logs(finding: Finding) -> None:
    """The disks of the audit log and of the models are full: it lends all the same."""
    service.configure(audit_log=f'"{AUDIT}/audit.jsonl"')
    with _small(AUDIT, "64k") as fill_audit, _small(MODELS, "64k") as fill_models:
        if not finding.took("lends_s", service.start(), "the started unit does not lend"):
            return
        pid = service.main_pid()
        fill_audit()
        fill_models()
        service.until(lambda: False, 5)
        finding.expect(service.until(service.lends, BACK_S) >= 0, "full logs end the lending")
        finding.expect(service.main_pid() == pid, "full logs end the agent")
        done = service.systemctl("stop", UNIT)
        finding.expect(done.returncode == 0, f"systemctl stop: {done.stdout}")
        finding.expect(service.ask("Result")["Result"] == "success", "full logs spoil its end")


def _gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}/stat").exists()


def _strike(
    finding: Finding, hit: Callable[[int], object], gone: Callable[[int], bool] = _gone
) -> None:
    """Hits the agent that lends; the cores come back, it ends, and systemd's successor lends.

    The batch is confined and idle-class all the while.
    """
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    pid = service.main_pid()
    service.until(service.lends, every_s=0.001)  # it may just have given back
    with Watch() as watch:
        began_s = time.monotonic()
        hit(pid)
        _cores_come_back(finding, began_s)
        ended = service.until(lambda: gone(pid), BACK_S)
        if finding.took("ended_s", ended, "the agent has not ended"):
            again = service.until(lambda: service.main_pid() not in (0, pid), every_s=0.5)
            finding.took("restarted_s", again, "systemd has not started another")
        finding.took("lends_again_s", service.until(service.lends), "the successor does not lend")
    watch.tell(finding)


def _cores_come_back(finding: Finding, began_s: float) -> None:
    came = service.until(service.gave_back, BACK_S, every_s=0.001)
    took_s = round(time.monotonic() - began_s, 3) if came >= 0 else -1.0
    finding.took("cores_back_s", took_s, "the primary has not got its cores back")
    if came >= 0:
        finding.note(f"then the batch had {service.batch_cpus()} CPUs (None: all)")


@contextmanager
def _small(place: Path, size: str) -> Iterator[Callable[[], None]]:
    """A file system of ``size`` at ``place``, and what fills it to the last byte."""
    place.mkdir(parents=True, exist_ok=True)
    service.command("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "lab", str(place))

    def fill() -> None:
        with suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(512))

    try:
        yield fill
    finally:
        service.systemctl("stop", UNIT)
        service.command("umount", "--lazy", str(place))
        with suppress(OSError):
            shutil.rmtree(place)
