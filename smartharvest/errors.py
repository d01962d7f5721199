"""Every failure a user can meet, with its exit code.

The message is one line: what, where (file, key, value), what to do. The command line prints it
after ``smartharvest: `` and exits with ``exit_code``; tracebacks appear only with ``--debug``.
"""

from __future__ import annotations

import errno
import os


class SmartHarvestError(Exception):
    """Base of all expected failures; exit code 1 is kept for the unexpected."""

    exit_code = 1


class ConfigError(SmartHarvestError):
    """A flag, key or value is invalid: wrong syntax, unknown key, impossible CPUs."""

    exit_code = 2


class RightsError(SmartHarvestError):
    """The caller lacks a permission or a kernel facility; the message names it."""

    exit_code = 3


class TargetError(SmartHarvestError):
    """A primary or elastic target is missing, is no cpuset, or overlaps the other side."""

    exit_code = 4


class CpusLost(TargetError):
    """CPUs went offline, and the settings do not fit the rest."""


class WriteRefused(SmartHarvestError):
    """The kernel refused a write; the host has been put back as it was."""

    exit_code = 5

    def __init__(self, path: str, value: str, error: int) -> None:
        self.path = path
        self.value = value
        self.errno = error
        hints = _CPUSET_HINTS if os.path.basename(path).startswith("cpuset.") else {}
        super().__init__(
            f"{path}: writing {value!r} was refused: {errno.errorcode.get(error, error)} "
            f"({os.strerror(error)}){hints.get(error, _HINTS.get(error, ''))}"
        )


class TargetVanished(SmartHarvestError):
    """A group or process went away while the agent was running."""

    exit_code = 6


class SensorError(SmartHarvestError):
    """The sensor no longer sees which tasks run."""

    exit_code = 7


class AlreadyManaged(SmartHarvestError):
    """Another agent holds these groups."""

    exit_code = 8


class UnfitHost(SmartHarvestError):
    """The doctor found something that must be fixed first."""

    exit_code = 10


class TraceError(SmartHarvestError):
    """A trace cannot be read or written, is no trace, or is incomplete."""

    exit_code = 11


class EngineError(SmartHarvestError):
    """A cluster engine does not answer, or refuses."""

    exit_code = 12


class Unavailable(SmartHarvestError):
    """An address or file that the settings name cannot be used now; later it may."""

    exit_code = 13


class AddressTaken(Unavailable):
    """Somebody else listens there, which any user may."""


_HINTS = {
    errno.EACCES: "; run as root",
    errno.EPERM: "; run as root or grant CAP_SYS_ADMIN",
}
_CPUSET_HINTS = {
    errno.EACCES: "; the parent group may not grant these CPUs, or the caller lacks the right",
    errno.EBUSY: "; a child group still needs what would be taken away",
    errno.EINVAL: "; the CPUs may be offline or the mask malformed",
    errno.ENOSPC: "; a populated cpuset cannot be left without CPUs",
}
