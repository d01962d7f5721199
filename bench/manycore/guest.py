"""A guest with many CPUs on a small host: QEMU's emulation in dilated time, at constant speed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.compiling import build_library
from bench.manycore.dilation import Dilation
from smartharvest.errors import TargetError
from smartharvest.host.process.parent import die_with
from smartharvest.host.target.qmp import read_vcpus

HERE = Path(__file__).parent
CPU = "Haswell-noTSX"
COMMAND_LINE = (
    *("console=ttyS0", "quiet", "panic=-1", "nowatchdog", "no_timer_check"),
    # The dilated counter runs at 1 GHz (dilate.c): to measure it would take time and be less exact.
    *("tsc=reliable", "tsc_early_khz=1000000"),
    "mitigations=off",  # each system call would empty the emulator's translations
    # khugepaged takes a CPU from a task that others wait for, for milliseconds of dilated time.
    "transparent_hugepage=never",
    "clearcpuid=141",  # CMPXCHG16B, which QEMU 7.2 gets wrong
)
MONITOR_S = 30.0
HEARD = 1
"""Our own real-time priority in dilated time, so that we hear the guest in the host's rests."""
BOOT_NICE = -15
"""Of QEMU while its time is the host's: a boot of seconds takes minutes on a busy host."""


class GuestEndedError(Exception):
    """The guest crashed or hung; the message has its last words."""


@dataclass(frozen=True)
class Shape:
    """What the guest is like."""

    cpus: int = 8
    dilation: float = 20.0
    slot_us: int = 100
    """Of the host's time that a virtual CPU has at a time."""
    share: int = 90
    """Per cent of the host that all virtual CPUs have together, used or not."""
    memory_mib: int = 2048


class Guest:
    """One that runs; made by ``booted``."""

    def __init__(
        self,
        shape: Shape,
        process: subprocess.Popen[bytes],
        connection: socket.socket,
        dilation: Dilation,
        directory: Path,
    ) -> None:
        self.shape = shape
        self._process = process
        self._connection = connection
        self._dilation = dilation
        self._directory = directory
        self._paced = self._slow = False
        self._unread = b""

    def lines(self, longest_s: float) -> Iterator[dict[str, Any]]:
        """What the guest says, until it ends; requests for another pace are served meanwhile.

        Raises GuestEndedError if it crashes or is silent for ``longest_s``.
        """
        while (line := self._line(longest_s)) is not None:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if not isinstance(said, dict):
                continue
            if "dilate" in said:
                self.dilate(bool(said["dilate"]))
                self._connection.sendall(b"done\n")
            else:
                yield {**said, "host_ns": time.monotonic_ns()}

    def _line(self, longest_s: float) -> bytes | None:
        ends_s = time.monotonic() + longest_s
        while b"\n" not in self._unread:
            if self._paced:
                self._dilation.keep_pacing()
            self._connection.settimeout(1.0)
            try:
                got = self._connection.recv(1 << 16)
            except TimeoutError:
                if self._process.poll() is not None:
                    return None
                if time.monotonic() > ends_s:
                    raise GuestEndedError(
                        f"silent for {longest_s:.0f} s: {self.last_words()}"
                    ) from None
                continue
            except OSError:
                return None
            if not got:
                return None
            self._unread += got
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def say(self, line: str) -> None:
        """A line to the guest."""
        self._connection.settimeout(MONITOR_S)
        try:
            self._connection.sendall(line.encode() + b"\n")
        except OSError:
            raise GuestEndedError(self.last_words()) from None

    def last_words(self) -> str:
        """What it and QEMU said last."""
        console = (self._directory / "console").read_text(errors="replace").splitlines()
        own = (self._directory / "stderr").read_text(errors="replace").splitlines()
        own = [line for line in own if "TCG doesn't support" not in line]
        return " | ".join([*own[-2:], *console[-6:]]) or "it said nothing"

    def ended_well(self) -> None:
        """Waits for its end. Raises GuestEndedError with its last words if it crashed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        words = self.last_words()
        if self._process.poll() is None or self._process.returncode or "panic" in words:
            raise GuestEndedError(words)

    def dilate(self, paced: bool) -> None:
        """To constant speed in dilated time, or to all of the host's CPUs for what prepares.

        The clock is the host's until first asked for, and then stays dilated: what prepares has
        timeouts, too.
        """
        if paced == self._paced:
            return
        shape = self.shape
        if paced:
            vcpus = _vcpus(self._directory / "qmp")
            lanes = len(os.sched_getaffinity(0))
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(HEARD))
            self._paced = True
            self._dilation.pace(vcpus, shape.slot_us, shape.share, lanes)
            self.slow_down()
        else:
            self._dilation.unpace()  # before that a busy host leaves us no time
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        self._paced = paced

    def slow_down(self) -> None:
        """Dilates the guest's time; the host still schedules its CPUs as it likes."""
        if not self._slow:
            self._dilation.set(self.shape.dilation)
            self._slow = True

    def now_ns(self) -> int:
        """The guest's time, since it was switched on and more."""
        return self._dilation.now_ns()

    def end(self) -> None:
        if self._paced:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def _vcpus(monitor: Path) -> tuple[int, ...]:
    try:
        return read_vcpus(str(monitor), MONITOR_S).threads
    except TargetError as error:
        raise GuestEndedError(str(error)) from None


def _dies_with_us(nice: int = 0) -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        die_with(parent)
        os.nice(nice)

    return prepare


@contextmanager
def booted(
    shape: Shape,
    image: Path,
    initramfs: Path,
    *,
    words: Sequence[str] = (),
    disks: Sequence[str] = (),
) -> Iterator[Guest]:
    """A guest that boots at full speed. It ends with the block, and with this process.

    ``words`` go to its kernel's command line, ``disks`` are options of QEMU's ``-drive``.
    """
    others = (str(HERE / name) for name in ("pace.c", "translation.c"))
    library = build_library(HERE / "dilate.c", *others, "-ldl", "-pthread")
    with tempfile.TemporaryDirectory(prefix="smartharvest-manycore-") as made:
        directory = Path(made)
        dilation = Dilation(directory / "dilation")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(directory / "answer"))
        listener.listen(1)
        listener.settimeout(MONITOR_S)
        command = [
            *("qemu-system-x86_64", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", CPU),
            *("-machine", "q35", "-smp", str(shape.cpus), "-m", f"{shape.memory_mib}M"),
            *("-display", "none", "-no-reboot", "-nodefaults", "-nic", "none"),
            *("-kernel", str(image), "-initrd", str(initramfs)),
            *("-append", " ".join([*COMMAND_LINE, *words])),
            *("-serial", f"file:{directory / 'console'}"),
            *("-chardev", f"socket,id=answer,path={directory / 'answer'}"),
            *("-serial", "chardev:answer"),
            *("-qmp", f"unix:{directory / 'qmp'},server=on,wait=off"),
        ]
        for disk in disks:
            command += ["-drive", disk]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=(directory / "stderr").open("wb"),
            env={
                **os.environ,
                "LD_PRELOAD": str(library),
                "SMARTHARVEST_DILATION": str(dilation.path),
            },
            process_group=0,
            preexec_fn=_dies_with_us(BOOT_NICE),  # noqa: PLW1509
        )
        guest = None
        try:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                said = (directory / "stderr").read_text(errors="replace").strip()
                raise GuestEndedError(f"QEMU did not start: {said}") from None
            guest = Guest(shape, process, connection, dilation, directory)
            with connection:
                yield guest
        finally:
            if guest is not None:
                guest.end()
            else:
                process.kill()
                process.wait()
            listener.close()
            dilation.close()
