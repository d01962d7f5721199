"""KVM guests among the primaries, whose idleness the host may not see.

A vCPU that halts leaves the CPU, but KVM first polls for work for up to ``halt_poll_ns``, and a
guest with ``cpu-pm=on`` may use MWAIT and HLT itself and never leaves. Both look busy to a
count of running threads (virt/kvm/kvm_main.c, kvm_vcpu_halt; QEMU, -overcommit).
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host import kernels
from smartharvest.host.parameters import HALT_POLL_PARAMETER
from smartharvest.host.target.spec import TargetSpec

_log = logging.getLogger(__name__)

_VCPU_NAMES = re.compile(r"CPU \d+/KVM|fc_vcpu \d+|vcpu\d+|crosvm_vcpu\d+")
"""Of QEMU (debug-threads), Firecracker, Cloud Hypervisor and crosvm."""
_TRUE = ("on", "yes", "true", "y")


class Primary(Protocol):
    """What is asked of a target here."""

    @property
    def spec(self) -> TargetSpec:
        """As the user wrote it."""

    def threads(self) -> list[int]:
        """Its thread ids. Raises TargetVanished."""


@dataclass(frozen=True)
class Guest:
    """A process that runs a virtual machine."""

    pid: int
    name: str
    spins: bool
    """Its idle vCPUs do not leave the CPU."""

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


def is_vcpu(comm: str) -> bool:
    """Whether a thread of this name is a vCPU."""
    return _VCPU_NAMES.fullmatch(comm.strip()) is not None


def keeps_idle_cpus(arguments: Sequence[str]) -> bool:
    """Whether a QEMU command line has ``-overcommit cpu-pm=on``; the last one counts."""
    keeps = False
    for option, value in itertools.pairwise(arguments):
        if option not in ("-overcommit", "--overcommit"):
            continue
        for pair in value.split(","):
            key, _, setting = pair.partition("=")
            if key == "cpu-pm":
                keeps = setting in _TRUE
    return keeps


def halt_poll_ns(root: str = "/") -> int:
    """How long KVM polls before a halted vCPU sleeps; 0 where there is no KVM."""
    try:
        with open(_below(root, HALT_POLL_PARAMETER)) as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def find_guests(threads: Iterable[int], root: str = "/") -> list[Guest]:
    """The virtual machines that ``threads`` belong to."""
    processes, seen = set[int](), set[int]()
    for tid in threads:
        if tid not in seen and (pid := _process_of(tid, root)) is not None:
            processes.add(pid)
            seen.update(_threads_of(pid, root))
    return [
        Guest(pid, _read(f"/proc/{pid}/comm", root).strip(), keeps_idle_cpus(_arguments(pid, root)))
        for pid in sorted(processes)
        if _has_vcpus(pid, root)
    ]


def check_idleness_shows(
    primaries: Sequence[Primary],
    root: str = "/",
    stop_polling: Callable[[str], None] | None = None,
) -> None:
    """Raises TargetError for a guest that never looks idle; tells of KVM's polling.

    ``stop_polling`` writes 0 into the given parameter; without it a message asks for that.
    """
    guests = []
    for primary in primaries:
        try:
            found = find_guests(primary.threads(), root)
        except TargetVanished:
            continue  # reported where the target is used
        for guest in found:
            if guest.spins:
                raise TargetError(
                    f"{primary.spec}: guest {guest} has -overcommit cpu-pm=on: its idle vCPUs "
                    "never leave their CPUs and look busy; start it with cpu-pm=off"
                )
        guests += found
    polling_ns = halt_poll_ns(root)
    if guests and polling_ns and stop_polling is not None:
        stop_polling(_below(root, HALT_POLL_PARAMETER))
        if not kernels.has(kernels.PER_VM_HALT_POLL):
            _log.warning("guests that were started before may go on polling on this kernel")
    elif guests and polling_ns:
        _log.warning(
            "guest %s: KVM polls for up to %d us before an idle vCPU sleeps, which looks busy; "
            "use --halt-poll off, or write 0 into %s",
            ", ".join(map(str, guests)),
            polling_ns // 1000,
            HALT_POLL_PARAMETER,
        )


def _has_vcpus(pid: int, root: str) -> bool:
    """By its descriptors of vCPUs, or where those may not be read by its threads' names."""
    directory = _below(root, f"/proc/{pid}/fd")
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            with contextlib.suppress(OSError):
                if os.readlink(f"{directory}/{name}").startswith("anon_inode:kvm-vcpu"):
                    return True
    try:
        tids = os.listdir(_below(root, f"/proc/{pid}/task"))
    except OSError:
        return False
    return any(is_vcpu(_read(f"/proc/{pid}/task/{tid}/comm", root)) for tid in tids)


def _threads_of(pid: int, root: str) -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from map(int, os.listdir(_below(root, f"/proc/{pid}/task")))


def _process_of(tid: int, root: str) -> int | None:
    match = re.search(r"^Tgid:\s*(\d+)$", _read(f"/proc/{tid}/status", root), re.MULTILINE)
    return int(match[1]) if match else None


def _arguments(pid: int, root: str) -> list[str]:
    return _read(f"/proc/{pid}/cmdline", root).split("\0")


def _read(path: str, root: str) -> str:
    """Empty if it is gone or may not be read."""
    try:
        with open(_below(root, path), errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _below(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))
