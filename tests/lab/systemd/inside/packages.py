"""The package comes, is replaced and goes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.report import Finding
from tests.lab.systemd.inside.watch import RESET_S, Watch

LONGEST_S = 3600.0
"""dpkg, on an emulated processor."""
PACKAGED = tuple(Path("/lib/systemd/system").glob("smartharvest*.service"))
MEMBER = ("setpriv", "--reuid=65534", "--regid=smartharvest", "--clear-groups")
"""Somebody of ``status_group`` who is not root."""


def install(finding: Finding) -> None:
    """dpkg -i of the last package; nothing runs by itself."""
    _dpkg(finding, "-i", _package("old"))
    state = service.ask("LoadState", "ActiveState", "UnitFileState")
    finding.expect(
        state == {"LoadState": "loaded", "ActiveState": "inactive", "UnitFileState": "disabled"},
        f"after the installation the unit is {state}",
    )
    checked = service.command("smartharvest", "check-config", str(service.CONFIG))
    finding.expect(checked.returncode == 0, f"check-config: {checked.stdout}")
    finding.note(_version())


def install_service(finding: Finding) -> None:
    """``smartharvest install-service``, as after pip: the package's units are not there."""
    service.systemctl("disable", "--quiet", service.UNIT)
    with _away(*PACKAGED):
        service.CONFIG.unlink()
        targets = ("--primary", "systemd:web.service", "--elastic", "systemd:batch.slice")
        _smartharvest(finding, "install-service", *targets)
        # No unit with Delegate= has turned the cpuset controller on yet.
        _smartharvest(finding, "check-config", "--host", str(service.CONFIG), code=4)
        done = service.systemctl("enable", "--now", service.UNIT)
        finding.expect(done.returncode == 0, f"systemctl enable --now: {done.stdout}")
        finding.took("lends_s", service.until(service.lends), "the installed unit does not lend")
        _smartharvest(finding, "status", "--json", ahead=MEMBER)
        _smartharvest(finding, "install-service", "--remove")
        finding.expect(service.is_free(), "the batch is still confined, or still cpu.idle")
        state = service.ask("LoadState", "ActiveState")
        gone = {"LoadState": "not-found", "ActiveState": "inactive"}
        finding.expect(state == gone, f"after --remove the unit is {state}")
        finding.expect(service.CONFIG.exists(), "the configuration went with the unit")
    service.prepare()


@contextmanager
def _away(*files: Path) -> Iterator[None]:
    """systemd does not see ``files``."""
    kept = {file: file.read_bytes() for file in files}
    for file in files:
        file.unlink()
    service.systemctl("daemon-reload")
    try:
        yield
    finally:
        for file, content in kept.items():
            file.write_bytes(content)
        service.systemctl("daemon-reload")


def _smartharvest(finding: Finding, *words: str, ahead: Sequence[str] = (), code: int = 0) -> None:
    done = service.command(*ahead, "smartharvest", *words)
    finding.expect(done.returncode == code, f"{words}: {done.returncode}, {done.stdout[-500:]}")
    finding.note(done.stdout[-300:])


def upgrade(finding: Finding) -> None:
    """The new package is installed while the old one lends, and has the agent take it up.

    dpkg's daemon-reload comes before the signal. It is the old agent that answers it, and no later
    package can change how soon: a reset's time above cpu.idle is allowed.
    """
    old = _version()
    if not finding.took("lends_s", service.start(), "the old package does not lend"):
        return
    pid = service.main_pid()
    with Watch() as watch:
        since = service.cursor()
        _dpkg(finding, "-i", _package("new"))
        finding.expect(service.main_pid() == pid, "the installation ended the old agent")
        taken = service.until(lambda: "Lending " in service.said(since), every_s=1)
        finding.took("taken_up_s", taken, "the new program has not said that it lends")
        finding.took("lends_again_s", service.until(service.lends), "the new program does not lend")
    new = _version()
    finding.note(f"{old} -> {new}")
    finding.expect(old != new, "the two packages are one version")
    finding.expect(service.main_pid() == pid, "the upgrade changed the process")
    state = service.ask("NRestarts", "SubState")
    finding.expect(state == {"NRestarts": "0", "SubState": "running"}, f"the unit is {state}")
    watch.tell(finding, above_s=RESET_S)


def remove(finding: Finding) -> None:
    """dpkg -r while it lends, and is to start at every boot."""
    if not finding.took("lends_s", service.start(), "the unit does not lend"):
        return
    pids = [*service.pids(), *service.guardians()]
    _dpkg(finding, "-r", "smartharvest")
    finding.expect(service.is_free(), "the batch is still confined, or still cpu.idle")
    left = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    finding.expect(not left, f"processes are left: {left}")
    state = service.ask("LoadState", "ActiveState")
    finding.expect(
        state == {"LoadState": "not-found", "ActiveState": "inactive"}, f"the unit is {state}"
    )
    for path in ("/opt/smartharvest", "/usr/bin/smartharvest"):
        finding.expect(not Path(path).exists(), f"{path} is still there")
    links = [path for path in Path("/etc/systemd/system").rglob(service.UNIT) if path.is_symlink()]
    finding.expect(not links, f"links to a unit that is gone: {[str(path) for path in links]}")
    finding.expect(service.CONFIG.exists(), "the configuration went with the package")


def _package(name: str) -> str:
    return str(next(Path("/packages", name).glob("*.deb")))


def _version() -> str:
    return service.command("smartharvest", "--version").stdout.strip()


def _dpkg(finding: Finding, *words: str) -> None:
    done = service.command("dpkg", "--force-unsafe-io", *words, seconds=LONGEST_S)
    finding.expect(done.returncode == 0, f"dpkg {words[0]}: {done.stdout[-500:]}")
    subprocess.run(["sync"], check=False)
