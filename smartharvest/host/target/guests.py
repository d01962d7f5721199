"""Virtual machines as targets: processes whose threads are vCPUs, an emulator and its helpers.

``qemu:NAME`` (of ``-name``), ``qemu:SOCKET`` (a QMP monitor), ``firecracker:ID`` and
``cloud-hypervisor:SOCKET`` (of its API) are searched each second, so that a machine may end and
come back; ``KIND:PID`` is that process and no other. The machine of a user whom nobody has to
trust is named with that user (owners.py).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from smartharvest.errors import ConfigError, TargetError
from smartharvest.host import kernels
from smartharvest.host.process import tasks
from smartharvest.host.process.search import ProcessSearch
from smartharvest.host.target.asking import Asker
from smartharvest.host.target.base import Kind
from smartharvest.host.target.owners import split_user, user_id, why_not
from smartharvest.host.target.process import PidTarget
from smartharvest.host.target.qmp import Peer, VirtualCpus, read_vcpus
from smartharvest.host.target.spec import TargetSpec, is_process_id, is_zero
from smartharvest.trusted import user_name

_log = logging.getLogger(__name__)

MOST_ARGUMENTS = 1 << 17
"""Bytes of a command line that are looked at."""
_answered: dict[str, tuple[int, int]] = {}
"""Monitor socket -> (process, its start time)."""
_searches: dict[tuple[str, str], ProcessSearch] = {}
"""(root, what is searched for) -> the search."""
_refused: set[tuple[TargetSpec, int]] = set()
"""Processes that were not taken for the machine of that name, as far as it is known."""
MOST_TOLD = 64
_KTHREADD = "2"
"""The parent of every kernel thread."""


@dataclass(frozen=True)
class Monitor:
    """How machines of one kind are known."""

    program: str
    """What the name of the process starts with, as far as the kernel keeps it (15 bytes)."""
    options: tuple[str, ...]
    """Those of the command line that tell what this machine is called."""


MONITORS = {
    "qemu": Monitor("qemu", ("-name", "--name")),
    "firecracker": Monitor("firecracker", ("--id",)),
    "cloud-hypervisor": Monitor("cloud-hyperviso", ("--api-socket",)),
}


class GuestTarget(PidTarget):
    """A process that runs a virtual machine: its vCPUs, its emulator and its I/O threads.

    What the kernel does for its devices in threads of its own counts as well.
    """

    def processes(self) -> list[int]:
        if kernels.has(kernels.VHOST_TASKS):
            return [self.pid]
        return [self.pid, *helper_threads(self.pid)]


def find(spec: TargetSpec, root: str = "/") -> list[TargetSpec]:
    """The machines that ``spec`` names now, by process id; none if there is none."""
    if is_process_id(spec.value):
        return [spec]
    name, user = split_user(spec.value)
    if spec.kind == "qemu" and name.startswith("/"):
        behind = _behind_socket(spec, user)
        return [] if behind is None else [TargetSpec(spec.kind, str(behind))]
    monitor = MONITORS[spec.kind]

    def is_it(pid: int) -> bool:
        return (
            _name(pid, root).startswith(monitor.program)
            and name in names_of(_arguments(pid, root), monitor.options)
            and _is_taken(spec, pid, why_not(pid, monitor.program, user, root))
        )

    return [TargetSpec(spec.kind, str(pid)) for pid in _found(str(spec), is_it, root)]


def _is_taken(spec: TargetSpec, pid: int, reason: str | None) -> bool:
    """Whether there is no ``reason`` against it; one is logged once."""
    if reason is not None and (spec, pid) not in _refused and len(_refused) < MOST_TOLD:
        _refused.add((spec, pid))
        _log.warning(
            "%s: process %d calls itself so and is not taken: %s "
            "(write %s:NAME,user=USER for the machine of another user)",
            spec, pid, reason, spec.kind,
        )  # fmt: skip
    return reason is None


def _behind_socket(spec: TargetSpec, user: str | None) -> int | None:
    """The process that answered at the socket, for as long as it lives; None if nobody does.

    A monitor that is busy with somebody else says nothing about the machine, and one that is mute
    is left to a thread.
    """
    known = _answered.get(spec.value)
    if known is not None and tasks.start_time(known[0]) == known[1]:
        return known[0]
    answer = _monitors.answer(spec)
    if answer is None:
        return None
    pid, peer = answer
    reason = why_not(pid, MONITORS[spec.kind].program, user)
    # libvirt listens at the socket before it starts the machine.
    if peer is not None and peer.pid != pid and peer.uid not in (0, os.geteuid()):
        reason = f"{user_name(peer.uid)} listens there, in another process"
    if not _is_taken(spec, pid, reason):
        return None
    start_time = tasks.start_time(pid)
    if start_time is not None:
        _answered[spec.value] = pid, start_time
    return pid


def _ask_monitor(spec: TargetSpec) -> tuple[int, Peer | None] | None:
    """The process behind the socket, and who listens there."""
    try:
        vcpus = read_vcpus(split_user(spec.value)[0])
        return process_behind(spec, vcpus), vcpus.peer
    except TargetError:
        return None


_monitors: Asker[TargetSpec, tuple[int, Peer | None]] = Asker(_ask_monitor)


def process_behind(spec: TargetSpec, vcpus: VirtualCpus) -> int:
    """The process whose threads the vCPUs are.

    Raises TargetError if they are not those of one process of this pid namespace.
    """
    processes = {tasks.process_of(tid) for tid in vcpus.threads}
    pid = processes.pop()
    if processes or pid is None:
        raise TargetError(
            f"{spec}: its vCPUs are no threads of one process here; "
            "does it run in a pid namespace of its own? name its process with qemu:PID"
        )
    return pid


def names_of(arguments: Sequence[str], options: Iterable[str]) -> list[str]:
    """What ``options`` say: the value, its first part, and its ``guest=``, ``path=`` or ``id=``.

    ``-name web,debug-threads=on`` and ``-name guest=web`` both name ``web``.
    """
    found = []
    for position, argument in enumerate(arguments):
        option, equals, attached = argument.partition("=")
        if option not in options:
            continue
        value = attached if equals else next(iter(arguments[position + 1 : position + 2]), "")
        found.append(value)
        for number, part in enumerate(value.split(",")):
            key, equals, text = part.partition("=")
            if equals and key in ("guest", "path"):
                found.append(text)
            elif not equals and number == 0:
                found.append(part)
    return found


def helper_threads(pid: int, root: str = "/") -> list[int]:
    """Kernel threads that do the machine's I/O: ``vhost-PID``.

    From Linux 6.4 on these are threads of the process itself (kernel/vhost_task.c). Anybody can
    call a process so, but only the kernel's are children of its own.
    """
    name = f"vhost-{pid}"

    def is_it(other: int) -> bool:
        if _name(other, root) != name:
            return False
        stat = _read(f"{root.rstrip('/')}/proc/{other}/task/{other}/stat")
        return tasks.fields_after_name(stat)[1:2] == [_KTHREADD]

    return _found(name, is_it, root)


def _found(what: str, wanted: Callable[[int], bool], root: str) -> list[int]:
    """The processes that are ``wanted``, which ``what`` says in words."""
    search = _searches.get((root, what))
    if search is None:
        search = _searches[root, what] = ProcessSearch(wanted, root)
    return search.look()


def _arguments(pid: int, root: str) -> list[str]:
    return _read(f"{root.rstrip('/')}/proc/{pid}/cmdline").split("\0")


def _name(pid: int, root: str) -> str:
    return _read(f"{root.rstrip('/')}/proc/{pid}/comm").strip()


def _read(path: str) -> str:
    """Empty if it is gone or may not be read."""
    try:
        with open(path, errors="replace") as file:
            return file.read(MOST_ARGUMENTS)
    except OSError:
        return ""


def _check_user(text: str, value: str, key: str) -> None:
    """Raises ConfigError for a user that this host does not know."""
    user = split_user(value)[1]
    if user is not None and user_id(user) is None:
        raise ConfigError(f"{key}: {text!r}: there is no user {user!r} on this host")


def _kind(form: str, named_by: str) -> Kind:
    return Kind(
        form,
        named_by,
        names_one=lambda value: bool(value) and not is_zero(value),
        is_machine=True,
        is_pattern=lambda value: not is_process_id(value),
        find=lambda spec, _tree: find(spec),
        resolve=GuestTarget.resolve,
        check=_check_user,
    )


KINDS = {
    "qemu": _kind("qemu:NAME|SOCKET|PID", "the guest's name, its QMP socket or its process id"),
    "firecracker": _kind("firecracker:ID|PID", "the machine's --id or its process id"),
    "cloud-hypervisor": _kind(
        "cloud-hypervisor:SOCKET|PID", "the path of its API socket or its process id"
    ),
}
