from collections.abc import Sequence
from typing import NamedTuple

MAX_GROUPS: int

class Writer(NamedTuple):
    """One write by another process; ``group`` is the inode of the group's directory."""

    at_ns: int
    group: int
    file: str
    pid: int
    name: str
    parent: int
    parent_name: str

class WriterLog:
    """Notes who writes the files of chosen groups, but for this process.

    Raises OSError, with what failed as its text, where the kernel or the rights do not allow it.
    """

    def __init__(self) -> None: ...
    def close(self) -> None:
        """Detaches the programs."""

    def watch(self, groups: Sequence[int]) -> None:
        """Notes writes to these groups, inodes of their directories, and to no others."""

    def writes(self) -> list[Writer]:
        """The last writes, newest first."""
