"""What happens to a service in its life without anything going wrong."""

from __future__ import annotations

import re
from pathlib import Path

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.host import CGROUPS, read, take_snapshot
from tests.lab.systemd.inside.load import SELF_PINNED
from tests.lab.systemd.inside.report import Finding
from tests.lab.systemd.inside.service import UNIT
from tests.lab.systemd.inside.watch import RESET_S, Watch

LEAST = Path("/lab/least.conf")
"""The drop-in that the how-to page on least rights shows."""


def start_and_stop(finding: Finding) -> None:
    """It starts and lends; the stop is checked for every scenario."""
    _note_pins(finding, "before")
    if finding.took("lends_s", service.start(), "the started unit does not lend"):
        _note_pins(finding, "while it runs")
        state = service.ask("SubState", "NRestarts", "StatusText")
        finding.expect(state["SubState"] == "running", f"the unit is {state}")
        finding.expect(state["NRestarts"] == "0", f"the unit is {state}")
        finding.note(state["StatusText"])


def delegation(finding: Finding) -> None:
    """What any unit with the same ``Delegate=`` does to affinities where ours is not enabled."""
    service.systemctl("disable", "--quiet", UNIT)
    service.systemctl("restart", "web.service", "batch.service")
    service.populate()
    _note_pins(finding, "before")
    delegate = ask_file("Delegate=")
    unit = ("systemd-run", "--unit=delegated", f"--property={delegate}", "sleep", "600")
    done = service.command(*unit)
    finding.expect(done.returncode == 0, done.stdout)
    _note_pins(finding, "while it runs")
    service.systemctl("stop", "delegated")
    service.systemctl("restart", "web.service")
    _note_pins(finding, "after it, when another unit has started")
    service.prepare()
    service.systemctl("restart", "batch.service")
    service.populate()


def ask_file(setting: str) -> str:
    """The line of the agent's unit that begins with ``setting``."""
    lines = Path(f"/lib/systemd/system/{UNIT}").read_text().splitlines()
    return next(line for line in lines if line.startswith(setting))


def _note_pins(finding: Finding, when: str) -> None:
    """Which controllers the root's children have, and where the thread with a pin may run."""
    controllers = read(CGROUPS / "cgroup.subtree_control")
    tasks = take_snapshot().tasks.values()
    pins = [sorted(task.cpus) for task in tasks if task.name == SELF_PINNED]
    finding.note(f"{when}: {controllers}; the pinned thread on {pins}")


def sandbox(finding: Finding) -> None:
    """What the unit's sandbox leaves the agent: the sensor it has, what systemd thinks of it."""
    _tell_sandbox(finding)


def least_rights(finding: Finding) -> None:
    """The same with the drop-in of the how-to page."""
    service.drop_in(LEAST.read_text())
    _tell_sandbox(finding)


def _tell_sandbox(finding: Finding) -> None:
    started = service.start()
    finding.note(_line(service.command("systemd-analyze", "security", UNIT).stdout, "Overall"))
    if finding.took("lends_s", started, "the started unit does not lend"):
        said = service.command("smartharvest", "status").stdout
        finding.note(_line(said, "ensor"))
        seconds = service.ask("CPUUsageNSec", "MemoryCurrent")
        finding.note(str(seconds))


def reload(finding: Finding) -> None:
    """A new limit is taken up by the same process; a file with a mistake changes nothing."""
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    pid = service.main_pid()
    service.configure(max_harvest="1")
    done = service.systemctl("reload", UNIT)
    finding.expect(done.returncode == 0, f"systemctl reload: {done.stdout}")
    taken = service.until(lambda: service.batch_cpus() == service.MINIMUM + 1)
    finding.took("taken_up_s", taken, "the new limit is not taken up")
    since = service.cursor()
    service.configure(max_harvest='"many"')
    service.systemctl("reload", UNIT)
    said = service.until(lambda: "max_harvest" in service.said(since), every_s=0.5)
    finding.took("refused_s", said, "nobody has said what is wrong with the file")
    finding.expect(service.until(service.lends) >= 0, "it does not lend after a refused file")
    finding.expect(service.main_pid() == pid, "the reload changed the process")
    service.configure()


def log_levels(finding: Finding) -> None:
    """The journal has the level of each message as its priority, and no prefix in its text."""
    since = service.cursor()
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    service.configure(max_harvest='"many"')
    service.systemctl("reload", UNIT)
    refused = service.until(lambda: "max_harvest" in service.said(since), every_s=0.5)
    finding.took("refused_s", refused, "nobody has said what is wrong with the file")
    said = service.priorities(since)
    for word, priority in (("Lending ", 6), ("max_harvest", 4)):
        found = {text: number for text, number in said.items() if word in text}
        finding.expect(
            set(found.values()) == {priority}, f"not all of priority {priority}: {found}"
        )
        finding.expect(not any(text.startswith("<") for text in found), f"a prefix: {found}")
    service.configure()


def daemon_reload(finding: Finding) -> None:
    """systemd reads its units again, a neighbour gets CPUs, a member of the batch starts anew."""
    if not finding.took("lends_s", service.start(), "the started unit does not lend"):
        return
    pid = service.main_pid()
    with Watch() as watch:
        service.systemctl("daemon-reload")
        finding.expect(service.until(service.lends) >= 0, "it does not lend after a daemon-reload")
    watch.tell(finding, above_s=RESET_S)
    service.systemctl("restart", "batch.service")
    finding.expect(service.until(service.lends) >= 0, "it does not lend to a new batch")
    neighbour = ("systemd-run", "--unit=neighbour", "--property=AllowedCPUs=0-1", "sleep", "600")
    service.command(*neighbour)
    finding.expect(service.until(service.lends) >= 0, "it does not lend beside a neighbour")
    service.systemctl("stop", "neighbour")
    service.systemctl("restart", "web.service")
    finding.expect(service.until(service.lends) >= 0, "it does not lend a new primary's cores")
    finding.expect(service.main_pid() == pid, "the process has changed")


def late_primary(finding: Finding) -> None:
    """The primary's unit is not there when the agent starts, and comes."""
    service.systemctl("stop", "web.service")
    _start_without(finding, "web.service")
    service.systemctl("start", "web.service")
    finding.took("lends_s", service.until(service.lends), "it does not lend when the primary comes")


def late_batch(finding: Finding) -> None:
    """The batch's slice is not there when the agent starts, and comes."""
    service.systemctl("stop", "batch.service", "batch.slice")
    service.until(lambda: not service.BATCH.exists())
    _start_without(finding, "batch.slice")
    service.systemctl("start", "batch.service")
    finding.took("lends_s", service.until(service.lends), "it does not lend when the batch comes")


def _start_without(finding: Finding, target: str) -> None:
    """Starts the unit, which may fail at first, and waits until it says what is missing."""
    service.systemctl("start", "--no-block", UNIT)
    said = service.until(lambda: target in service.said(), every_s=1)
    finding.took("said_s", said, f"nobody has said that {target} is missing")


def before_reboot(finding: Finding) -> None:
    """The enabled unit lends, and the machine is told to boot again."""
    finding.took("lends_s", service.start(), "the started unit does not lend")


def after_reboot(finding: Finding) -> None:
    """The unit ended plainly, has started by itself, and lends."""
    last = service.command("journalctl", "-q", "-b", "-1", "-o", "cat", "-u", UNIT).stdout
    finding.expect(f"{UNIT}: Deactivated successfully" in last, f"its end: {last[-500:]}")
    taken = service.until(service.lends)
    finding.took("lends_again_s", taken, "it does not lend after the boot")


def _line(text: str, word: str) -> str:
    """The first line with ``word``, without what is for terminals."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return next((line.strip() for line in plain.splitlines() if word in line), plain[:200])
