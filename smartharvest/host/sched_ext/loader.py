"""Loading the scheduler of the ``strict`` mechanism without libbpf.

A scheduler is a table of programs, which the kernel calls (``struct sched_ext_ops``). It is in
force as long as its link is open: the kernel ends it with the process that has loaded it.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
from collections.abc import Mapping
from typing import Self

from smartharvest.errors import SmartHarvestError
from smartharvest.host.sched_ext import program, state, system_call
from smartharvest.host.sched_ext.kernel_types import FUNC, STRUCT, VMLINUX, layout_of
from smartharvest.host.sched_ext.packed import Packed, unpack

NAME = "smartharvest"
"""Of the scheduler, as /sys/kernel/sched_ext/root/ops tells it."""
ROOT = "/sys/kernel/sched_ext"
_OPS, _TABLE = "sched_ext_ops", "bpf_struct_ops_sched_ext_ops"
_SWITCH_PARTIAL, _ENQ_LAST, _KEEP_IDLE = 1 << 3, 1 << 1, 1 << 0  # enum scx_ops_flags
_TIMEOUT_MS = 30_000
"""The longest that the kernel takes: it ends a scheduler when some task has waited so long."""
_MOST_GROUPS = 4096
_CALL_BACK = "scx_bpf_dsq_reenq"
"""The one function that a kernel may lack."""


class NoStrict(SmartHarvestError):
    """This host cannot run the scheduler of the ``strict`` mechanism."""

    exit_code = 4


def why_not(root: str = ROOT, types: str = VMLINUX) -> str | None:
    """Why no scheduler can be loaded here, as far as can be seen; None: nothing stands in the way.

    Reads files only.
    """
    if not os.path.isdir(root):
        return "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT, since Linux 6.12)"
    if not os.path.exists(types):
        return f"{types}: missing; the kernel needs CONFIG_DEBUG_INFO_BTF"
    if (other := loaded(root)) is not None:
        return f"another sched_ext scheduler is loaded: {other}"
    return None


def loaded(root: str = ROOT) -> str | None:
    """The name of the scheduler in force; None if there is none."""
    try:
        with open(f"{root}/state") as file:
            if file.read().strip() == "disabled":
                return None
        with open(f"{root}/root/ops") as file:
            return file.read().strip()
    except OSError:
        return None


class Shared:
    """What schedulers, one after the other, share with us: the loop's thread goes on reading it
    while one has ended and another comes. Raises OSError."""

    _fds: tuple[int, ...] = ()

    def __init__(self) -> None:
        self.map = system_call.create_map(
            system_call.ARRAY, 4, program.MEMORY, 1, system_call.MMAPABLE, "sh_strict"
        )
        self._fds = (self.map,)
        page = mmap.PAGESIZE
        self.fd = system_call.create_map(system_call.RING, 0, 0, page)
        """A Revocation's, as ``slot``."""
        self._fds = (self.map, self.fd)
        self.memory = memoryview(mmap.mmap(self.map, program.MEMORY))
        self.slot = state.stage_slot(self.memory)
        self._read = memoryview(mmap.mmap(self.fd, page)).cast("Q")
        written = mmap.mmap(self.fd, page, prot=mmap.PROT_READ, offset=page)
        self._written = memoryview(written).cast("Q")

    def clear(self) -> None:
        """For the next scheduler; the last one has ended."""
        self._read[0] = self._written[0]
        self.memory[:] = bytes(len(self.memory))

    def __del__(self) -> None:
        for fd in self._fds:
            os.close(fd)


class Loaded:
    """The scheduler, in force until ``close``. Raises NoStrict if the kernel does not take it.

    It uses what is ``shared``, which the last one has left.
    """

    def __init__(
        self, shared: Shared | None = None, *, root: str = ROOT, types: str = VMLINUX
    ) -> None:
        if (why := why_not(root, types)) is not None:
            raise NoStrict(f"mechanism: strict: {why}")
        self._given = shared
        self._fds: list[int] = []
        try:
            self._load(types)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                hint = "; run as root" if error.errno in (errno.EPERM, errno.EACCES) else ""
                raise NoStrict(f"mechanism: strict: {error.strerror}{hint}") from error
            raise

    def _load(self, types: str) -> None:
        with open(types, "rb") as file:
            layouts = _layouts(file.read())
        numbers = _numbers()
        self.calls_back = bool(numbers[_CALL_BACK])
        """Whether a task can be taken from the queue of another CPU (7.3 can)."""
        self.shared = self._given or Shared()
        self.shared.clear()
        self.memory = self.shared.memory
        groups = system_call.create_map(system_call.HASH, 8, 4, _MOST_GROUPS)
        self._fds.append(groups)
        maps = {"": self.shared.map, "ends": self.shared.fd, "places": groups}
        own_types = system_call.load_types(unpack(program.TYPES))
        self._fds.append(own_types)
        size, members = layouts[_TABLE]
        table, at, places = bytearray(size), members["data"][1], layouts[_OPS][1]
        for section, packed in program.PROGRAMS.items():
            group, _, name = section.partition("/")
            index, offset = places[name]
            fd = system_call.load_program(
                system_call.STRUCT_OPS,
                relocate(packed, maps, numbers),
                name=name,
                flags=system_call.SLEEPABLE if group.endswith(".s") else 0,
                expected_attach=index,
                attach_type=numbers[_OPS],
                types_fd=own_types,
                function=packed.function,
                moves=packed.moves(),
            )
            self._fds.append(fd)
            struct.pack_into("<Q", table, at + offset, fd)
        flags = _SWITCH_PARTIAL | _ENQ_LAST | _KEEP_IDLE
        struct.pack_into("<Q", table, at + places["flags"][1], flags)
        struct.pack_into("<I", table, at + places["timeout_ms"][1], _TIMEOUT_MS)
        struct.pack_into(f"{len(NAME)}s", table, at + places["name"][1], NAME.encode())
        self._operations = system_call.create_operations(len(table), numbers[_TABLE], own_types)
        self._fds.append(self._operations)
        system_call.put(self._operations, bytes(4), bytes(table))

    def attach(self) -> None:
        """Puts it in force. Raises NoStrict if another one has come first."""
        try:
            self._fds.append(system_call.link_struct_ops(self._operations))
        except OSError as error:
            other = loaded()
            why = error.strerror if other is None else f"another one is loaded: {other}"
            raise NoStrict(f"mechanism: strict: the kernel does not start it: {why}") from error

    def close(self) -> None:
        """Ends it; its tasks are the fair class's again. Harmless when that is done."""
        while self._fds:
            os.close(self._fds.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _layouts(btf: bytes) -> dict[str, tuple[int, Mapping[str, tuple[int, int]]]]:
    """Of the two structures. Raises NoStrict if there are none, or operations are missing."""
    found = {}
    for name in (_OPS, _TABLE):
        try:
            layout = layout_of(btf, name)
        except ValueError as error:
            raise NoStrict(f"mechanism: strict: {error}") from error
        if layout is None:
            raise NoStrict(f"mechanism: strict: this kernel's types have no {name}")
        found[name] = layout
    for section in program.PROGRAMS:
        name = section.partition("/")[2]
        if name not in found[_OPS][1]:
            raise NoStrict(f"mechanism: strict: this kernel's sched_ext has no operation {name}")
    return found


def _numbers() -> dict[str, int]:
    """The types' numbers in this kernel. Raises NoStrict if it lacks one that is needed."""
    wanted = {_OPS: STRUCT, _TABLE: STRUCT}
    for packed in program.PROGRAMS.values():
        wanted |= dict.fromkeys((name for _, name in packed.calls), FUNC)
    found = {name: system_call.type_number(kind, name) for name, kind in wanted.items()}
    missing = sorted(name for name, number in found.items() if not number and name != _CALL_BACK)
    if missing:
        raise NoStrict(
            f"mechanism: strict: this kernel's sched_ext has no {missing[0]} (Linux 6.19 has)"
        )
    return found


def relocate(packed: Packed, maps: Mapping[str, int], numbers: Mapping[str, int]) -> bytes:
    """A program's instructions with the numbers of this kernel: maps, memory and functions."""
    code = bytearray(packed.code())

    def instruct(place: int, source: int, number: int, after: int | None = None) -> None:
        code[8 * place + 1] = code[8 * place + 1] & 0x0F | source << 4
        struct.pack_into("<i", code, 8 * place + 4, number)
        if after is not None:
            struct.pack_into("<i", code, 8 * place + 12, after)

    for place in packed.memory:
        (offset,) = struct.unpack_from("<i", code, 8 * place + 4)
        instruct(place, _MAP_VALUE, maps[""], offset)
    for place, name in packed.maps:
        instruct(place, _MAP_FD, maps[name], 0)
    for place, name in packed.calls:
        if numbers[name]:
            instruct(place, _KERNEL_FUNCTION, numbers[name])
        else:
            code[8 * place : 8 * place + 8] = _NOTHING
    return bytes(code)


_NOTHING = struct.pack("<BBhi", 0xB7, 0, 0, 0)
"""r0 = 0, in place of a call."""
_MAP_FD, _MAP_VALUE, _KERNEL_FUNCTION = 1, 2, 2  # BPF_PSEUDO_* in include/uapi/linux/bpf.h
