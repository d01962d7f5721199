"""BPF programs at tracepoints of the scheduler that do nothing: what any program there costs."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Self

from bench.subject import NotMeasurableError

# bpf(2): system call numbers and commands of the kernel's uapi.
_SYSCALL = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _RAW_TRACEPOINT_OPEN = 5, 17
_RAW_TRACEPOINT = 17
_RETURN_0 = bytes.fromhex("b7000000000000009500000000000000")  # r0 = 0; exit


class EmptyProgram:
    """Attached to the tracepoints while it is entered. Raises OSError without the right."""

    def __init__(self, *tracepoints: str) -> None:
        self._tracepoints = tracepoints

    def __enter__(self) -> Self:
        self._fds: list[int] = []
        code, text = ctypes.create_string_buffer(_RETURN_0), ctypes.create_string_buffer(b"GPL")
        load = (ctypes.c_uint64 * 16)()
        load[0] = _RAW_TRACEPOINT | len(_RETURN_0) // 8 << 32
        load[1], load[2] = ctypes.addressof(code), ctypes.addressof(text)
        try:
            program = self._bpf(_PROG_LOAD, load)
            for tracepoint in self._tracepoints:
                name = ctypes.create_string_buffer(tracepoint.encode())
                attach = (ctypes.c_uint64 * 16)()
                attach[0], attach[1] = ctypes.addressof(name), program
                self._bpf(_RAW_TRACEPOINT_OPEN, attach)
        except OSError:
            self.close()
            raise
        return self

    def _bpf(self, command: int, attributes: ctypes.Array[ctypes.c_uint64]) -> int:
        number = _SYSCALL.get(platform.machine())
        if number is None:
            raise NotMeasurableError(f"bpf(2) is not known on {platform.machine()}")
        libc = ctypes.CDLL(None, use_errno=True)
        fd = libc.syscall(number, command, attributes, ctypes.sizeof(attributes))
        if fd < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._fds.append(int(fd))
        return int(fd)

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def __exit__(self, *_: object) -> None:
        self.close()
