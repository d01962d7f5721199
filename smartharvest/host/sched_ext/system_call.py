"""bpf(2), as far as a sched_ext scheduler needs it. All functions raise OSError."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_SYS_BPF = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _MAP_UPDATE, _PROG_LOAD, _PROG_RUN, _BTF_LOAD = 0, 2, 5, 10, 18
_LINK_CREATE = 28
HASH, ARRAY, STRUCT_OPS_MAP, RING = 1, 2, 26, 27
MMAPABLE, LINKED = 1 << 10, 1 << 13
STRUCT_OPS, _SYSCALL = 27, 31
"""Types of programs."""
ATTACH_STRUCT_OPS = 44
SLEEPABLE = 1 << 4
_LOG_BYTES = 1 << 16
_libc = ctypes.CDLL(None, use_errno=True)


def _call(command: int, attributes: bytes) -> int:
    return _change(command, ctypes.create_string_buffer(attributes, len(attributes)))


def _change(command: int, attributes: ctypes.Array[ctypes.c_char]) -> int:
    """The same, where the kernel answers in ``attributes``."""
    number = _SYS_BPF.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, "this machine's kind is not known to bpf(2)")
    result = int(_libc.syscall(number, command, attributes, len(attributes)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _address(data: bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Of ``data``, which the caller keeps meanwhile."""
    if isinstance(data, bytes):
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    return ctypes.addressof(data)


def create_map(
    kind: int, key: int, value: int, entries: int, flags: int = 0, name: str = ""
) -> int:
    """The descriptor of a map whose keys and values have so many bytes."""
    return _call(
        _MAP_CREATE,
        struct.pack("<7I16s", kind, key, value, entries, flags, 0, 0, name.encode()),
    )


def create_operations(value: int, number: int, types_fd: int) -> int:
    """The same of one that has a table of operations, which is the kernel's type ``number``."""
    attributes = struct.pack(
        "<7I16s5I4x", STRUCT_OPS_MAP, 4, value, 1, LINKED, 0, 0, b"", 0, types_fd, 0, 0, number
    )
    return _call(_MAP_CREATE, attributes)


def put(map_fd: int, key: bytes, value: bytes) -> None:
    _call(_MAP_UPDATE, struct.pack("<I4xQQQ", map_fd, _address(key), _address(value), 0))


def load_types(btf: bytes) -> int:
    """The descriptor of a program's own types."""
    return _call(_BTF_LOAD, struct.pack("<QQII", _address(btf), 0, len(btf), 0))


def load_program(
    kind: int,
    code: bytes,
    *,
    name: str,
    flags: int = 0,
    expected_attach: int,
    attach_type: int,
    types_fd: int,
    function: int,
    moves: bytes = b"",
) -> int:
    """The descriptor of a program; ``moves`` are the fields whose offsets the kernel puts in.

    If the kernel refuses, the error says the last words of its verifier.
    """
    licence, record = b"GPL\0", struct.pack("<II", 0, function)

    def load(log: ctypes.Array[ctypes.c_char] | None) -> int:
        logs = (0, 0, 0) if log is None else (1, _LOG_BYTES, _address(log))
        attributes = struct.pack(
            "<IIQQIIQII16sIIIIQIIQIIIIQQII",
            kind, len(code) // 8, _address(code), _address(licence), *logs, 0, flags,
            name.encode()[:15], 0, expected_attach, types_fd, 8, _address(record), 1,
            0, 0, 0, attach_type, 0, len(moves) // 16, 0, _address(moves) if moves else 0,
            16 if moves else 0, 0,
        )  # fmt: skip
        return _call(_PROG_LOAD, attributes)

    try:
        return load(None)
    except OSError as error:
        log = ctypes.create_string_buffer(_LOG_BYTES)
        try:
            return load(log)
        except OSError:
            said = log.value.decode(errors="replace").strip().splitlines()
            words = [line for line in said if not line.startswith("processed ")]
            raise OSError(
                error.errno, f"{name}: {words[-1] if words else error.strerror}"
            ) from error


def link_struct_ops(map_fd: int) -> int:
    """Puts the operations of a map in force; the link ends with its last descriptor."""
    return _call(_LINK_CREATE, struct.pack("<IIII", map_fd, 0, ATTACH_STRUCT_OPS, 0))


def type_number(kind: int, name: str) -> int:
    """The number of a type of the kernel; 0 if there is none of that name."""
    # The name goes to the stack; bpf_btf_find_by_name_kind(name, size, kind, 0) is the result.
    text = name.encode() + b"\0"
    words = struct.unpack(f"<{(len(text) + 3) // 4}i", text + bytes(-len(text) % 4))
    start = -(4 * len(words) + 7) // 8 * 8
    code = [_instruct(0x62, 10, start + 4 * i, word) for i, word in enumerate(words)]
    code += [_instruct(0xBF, 1 | 10 << 4), _instruct(0x07, 1, 0, start)]
    code += [_instruct(0xB7, 2, 0, len(text)), _instruct(0xB7, 3, 0, kind), _instruct(0xB7, 4)]
    code += [_instruct(0x85, 0, 0, _FIND_BY_NAME), _instruct(0x95)]
    whole, licence = b"".join(code), b"GPL\0"
    head = struct.pack("<IIQQ", _SYSCALL, len(code), _address(whole), _address(licence))
    program = _call(_PROG_LOAD, head + struct.pack("<IIQII", 0, 0, 0, 0, SLEEPABLE))
    try:
        run = ctypes.create_string_buffer(struct.pack("<IIIIQQIIIIQQ", program, *[0] * 11))
        _change(_PROG_RUN, run)
        (found,) = struct.unpack_from("<i", run, 4)
    finally:
        os.close(program)
    return max(0, int(found))


_FIND_BY_NAME = 167


def _instruct(operation: int, registers: int = 0, offset: int = 0, number: int = 0) -> bytes:
    """One instruction of BPF; ``registers``: destination, and source in the upper half."""
    return struct.pack("<BBhi", operation, registers, offset, number)
