"""A small disk of its own for the state directory, which can be full."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

SIZE = 8 << 20
_PIECE = 1 << 16
_MNT_DETACH = 2  # sys/mount.h


class SmallDisk:
    """A tmpfs at ``place``. Raises PermissionError without the rights to mount one."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._filling = place / "filling"
        options = f"size={SIZE},mode=700".encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"none", str(place).encode(), b"tmpfs", 0, options):
            raise OSError(ctypes.get_errno(), "mount", str(place))

    def fill(self) -> None:
        fd = os.open(self._filling, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for offset in range(0, 2 * SIZE, _PIECE):
                os.posix_fallocate(fd, offset, _PIECE)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        finally:
            os.close(fd)

    def free(self) -> None:
        self._filling.unlink(missing_ok=True)

    def unmount(self) -> None:
        ctypes.CDLL(None).umount2(str(self._place).encode(), _MNT_DETACH)
