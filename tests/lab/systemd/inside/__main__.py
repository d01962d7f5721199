"""What a guest runs: the scenarios that the kernel's command line asks for; then it powers off.

``lab.scenarios=A,B`` says what. A scenario may reboot: what is left is on the disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.host import differences, is_kernels_doing, online, take_snapshot
from tests.lab.systemd.inside.report import Finding, tell, tell_of
from tests.lab.systemd.inside.scenarios import ALL

LEFT = Path("/var/lib/lab/left.json")
"""What is still to be run, and what the scenario has found that goes on after a reboot."""

FREE_S = 30.0
"""More than it takes to start a process that restores."""


def main() -> None:
    """Runs them one after another."""
    words = dict(word.partition("=")[::2] for word in Path("/proc/cmdline").read_text().split())
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    if LEFT.exists():
        left = json.loads(LEFT.read_text())
    else:
        left = {"scenarios": words["lab.scenarios"].split(","), "finding": None}
        tell(
            kernel=os.uname().release,
            systemd=service.command("systemctl", "--version").stdout.split()[1],
            boot_seconds=round(float(Path("/proc/uptime").read_text().split()[0]), 1),
        )
    LEFT.write_text(json.dumps({"scenarios": []}))  # a guest that boots unasked does nothing
    service.prepare()
    service.populate()
    while left["scenarios"]:
        name = left["scenarios"][0]
        if not run(name, left):
            return  # the machine goes down
        left = {"scenarios": left["scenarios"][1:], "finding": None}
    LEFT.unlink()
    tell(complete=True)
    subprocess.run(["sync"], check=False)
    subprocess.run(["systemctl", "poweroff", "--force", "--force"], check=False)


def run(name: str, left: dict[str, Any]) -> bool:
    """Runs one, and tells of it; False if it has asked for a reboot."""
    tell(unfinished=name)
    scenario = ALL[name]
    rebooted = left["finding"] is not None
    finding = Finding(**left["finding"]) if rebooted else Finding()
    began_s = time.monotonic()
    service.begin("" if rebooted else service.cursor())
    service.configure()
    before = None if rebooted else take_snapshot()
    try:
        if rebooted:
            assert scenario.after_reboot is not None
            scenario.after_reboot(finding)
        else:
            scenario.steps(finding)
            if scenario.after_reboot is not None:
                LEFT.write_text(json.dumps({**left, "finding": asdict(finding)}))
                service.systemctl("reboot")
                return False
        if scenario.ends_stopped:
            stop(finding)
    except Exception:  # the next one may still hold
        finding.expect(False, traceback.format_exc())
    if before is not None:
        for line in differences(before, take_snapshot(), online()):
            if scenario.ends_delegation and is_kernels_doing(line, os.uname().release):
                finding.note(f"the kernel changed: {line}")
            else:
                finding.expect(False, f"changed: {line}")
    said = service.said().splitlines()
    finding.expect(not any("Traceback" in line for line in said), "a traceback in the journal")
    finding.journal = said[-60:]
    service.end()
    tell_of(name, finding, time.monotonic() - began_s)
    return True


def stop(finding: Finding) -> None:
    """Every scenario ends with a unit that is stopped, and with a plain end."""
    began_s = time.monotonic()
    done = service.systemctl("stop", service.UNIT)
    finding.figures["stop_s"] = round(time.monotonic() - began_s, 3)
    finding.expect(done.returncode == 0, f"systemctl stop: {done.stdout.strip()}")
    free = service.until(service.is_free, FREE_S)  # the unit may have another one restore
    finding.took("free_s", free, "the batch is still confined, or still cpu.idle")
    finding.expect(not service.pids(), "processes are left in the unit's group")
    finding.expect(
        service.until(lambda: not service.guardians(), FREE_S) >= 0, "a guardian is left"
    )
    result = service.ask("Result", "ActiveState")
    finding.expect(
        result == {"Result": "success", "ActiveState": "inactive"}, f"at the end it is {result}"
    )


if __name__ == "__main__":
    main()
