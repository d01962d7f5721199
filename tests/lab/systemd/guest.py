"""One guest of the systemd lab, from its first process to its last answer."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smartharvest.host.process.parent import die_with
from tests.lab.boot import CPU, MEMORY_MIB, NO_CX16, NO_MITIGATIONS, attend, lines_of, text_of
from tests.lab.image import initramfs_of
from tests.lab.kernels import Kernel

CPUS = 3
COUNTED_TIME = ("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=on")
"""A guest's time is how many instructions it has run, so a busy host makes nothing in it late. It
sleeps and waits for its disk in our time: left out, a moment of the disk's would be minutes."""
QUIET = "quiet systemd.show_status=0 systemd.journald.forward_to_console=1 fsck.mode=skip"

_running: set[subprocess.Popen[bytes]] = set()


def boot(
    kernel: Kernel,
    disk: Path,
    scenarios: Sequence[str],
    *,
    minutes: float,
    heard: Callable[[str], None],
) -> dict[str, Any]:
    """Boots ``disk``, runs ``scenarios`` inside and returns what was told of them.

    What the guest writes is gone with it, but not by a reboot. Bounded by ``minutes`` of ours.
    ``heard`` gets a line of progress at a time.
    """
    with tempfile.TemporaryDirectory(prefix="smartharvest-lab-") as directory:
        console, answer = Path(directory, "console"), Path(directory, "answer")
        monitor = Path(directory, "qmp")
        command = [
            *("nice", "-n", "5", "qemu-system-x86_64", *COUNTED_TIME, "-cpu", CPU),
            *("-display", "none", "-nodefaults", "-nic", "none"),
            *("-smp", str(CPUS), "-m", f"{MEMORY_MIB}M"),
            *("-kernel", str(kernel.image), "-initrd", str(initramfs_of(kernel))),
            "-append",
            f"console=ttyS0 panic=-1 tsc=reliable {NO_CX16} {NO_MITIGATIONS} {QUIET} "
            f"lab.scenarios={','.join(scenarios)}",
            "-drive",
            f"file={disk},if=virtio,format=raw,snapshot=on",
            *("-serial", f"file:{console}", "-serial", f"file:{answer}"),
            *("-qmp", f"unix:{monitor},server=on,wait=off"),
        ]
        parent = os.getpid()
        with Path(directory, "stderr").open("wb") as stderr:
            guest = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=stderr,
                preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
            )
        try:
            _running.add(guest)
            with _progress(answer, heard):
                ran_s = attend(guest, monitor, answer, 60 * minutes, nudged=True)
        finally:
            _running.discard(guest)
            if guest.poll() is None:
                guest.kill()
                guest.wait()
        return {
            **told(lines_of(answer)),
            "host_seconds": round(ran_s),
            "said": text_of(Path(directory, "stderr"))[-1000:],
            "console": text_of(console)[-20000:],
        }


def end_all() -> None:
    """Every guest that another thread attends to ends now."""
    for guest in list(_running):
        guest.kill()


def told(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A document of what the guest has said: itself, and its scenarios by name.

    A scenario that began and was never told of is broken: it took the guest with it.
    """
    document: dict[str, Any] = {"complete": False}
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        if "scenario" in line:
            found[line["scenario"]] = {k: v for k, v in line.items() if k != "scenario"}
        else:
            document |= line
    begun = document.pop("unfinished", None)
    if begun is not None and begun not in found:
        found[begun] = {"outcome": "broken", "broken": ["the guest ended, or took too long, in it"]}
    return {**document, "scenarios": found}


def in_words(line: dict[str, Any]) -> str | None:
    """A line of the guest's answer as progress; None for what is no news."""
    if "kernel" in line:
        return f"Linux {line['kernel']}, systemd {line['systemd']}, up in {line['boot_seconds']} s"
    if "unfinished" in line:
        return f"{line['unfinished']} ..."
    if "scenario" in line:
        return f"{line['scenario']}: {line['outcome']}, {line['seconds']:g} s of the guest's time"
    return None


@contextmanager
def _progress(answer: Path, heard: Callable[[str], None]) -> Iterator[None]:
    """Tells of the guest's answers as they come."""
    over = threading.Event()

    def listen() -> None:
        done = 0
        while not over.wait(1):
            lines = lines_of(answer)
            for text in filter(None, map(in_words, lines[done:])):
                heard(text)
            done = len(lines)

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
