"""One parser under fuzzing: what it is given, and what it may do with it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from smartharvest.errors import SmartHarvestError

ROOM = 4_000
"""Characters of a message beyond what it quotes."""


class BadMessage(AssertionError):
    """An error that a user meets is not one line."""


@dataclass(frozen=True)
class Target:
    """``parse`` takes any bytes, and raises ``refusal`` or nothing."""

    name: str
    parse: Callable[[bytes], object]
    refusal: tuple[type[BaseException], ...]
    """What its documentation says that it raises."""
    samples: tuple[bytes, ...]
    """Valid ones, to begin with."""

    def run(self, data: bytes) -> bool:
        """Whether ``data`` was taken. Any other exception than a refusal propagates."""
        try:
            self.parse(data)
        except self.refusal as error:
            if isinstance(error, SmartHarvestError):
                check_message(str(error), 4 * len(data))
            return False
        return True


def check_message(message: str, quoted: int = 1 << 20) -> None:
    """Raises BadMessage for one that is more than a line, or longer than it can have cause to be:
    ``quoted`` characters are its input's."""
    if "\n" in message or len(message) > quoted + ROOM:
        raise BadMessage(message[:400])


def text(data: bytes) -> str:
    """As the kernel's files are read: names in them need not be UTF-8."""
    return data.decode(errors="surrogateescape")


SCRATCH = "SMARTHARVEST_FUZZ_SCRATCH"
"""In the environment: a directory to use, which the one who set it removes."""


def new_scratch() -> tempfile.TemporaryDirectory[str]:
    """In memory where there is such a place."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = tempfile.TemporaryDirectory(prefix="smartharvest-fuzz-", dir=base)
    os.chmod(directory.name, 0o755)  # HTCondor's user is to get there
    return directory


@cache
def scratch() -> str:
    """A directory for this process, in which each target has its own names."""
    if (given := os.environ.get(SCRATCH)) is not None:
        return given
    _KEPT.append(new_scratch())
    return _KEPT[0].name


_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def put(name: str, data: bytes) -> str:
    """A file with ``data``; its path."""
    path = f"{scratch()}/{name}"
    with open(path, "wb") as file:
        file.write(data)
    return path


def split(data: bytes, mark: bytes = b"\xff\xff") -> tuple[bytes, bytes]:
    """Two inputs in one."""
    first, _, second = data.partition(mark)
    return first, second
