"""The control plane's answer to a window, as the polling loop takes it up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """What the loop does until the next plan (csrc/loop/loop.h, struct sh_plan).

    Core counts are integers in ``0..total``.
    """

    seq: int
    """The window it answers."""
    primary_cores: int
    """What the primary gets; the loop adds cores when the buffer runs out."""
    safe_cores: int
    """What the primary gets at least if the buffer runs out before the next plan."""
    buffer: int = 0
    """Above 0: the loop keeps so many cores idle at every poll and ignores ``primary_cores``."""
    quiet_ns: int | None = None
    """If given, the buffer grows at once, shrinks after so long without need, and leaves
    ``primary_cores`` at least."""
    shared: bool = False
    """The elastic group stays off ``primary_cores`` and is preempted on all others."""
    spare: int | None = None
    """CPUs that the kernel keeps idle for who wakes; None: as the settings have it. Not the loop's:
    the mechanism takes it up."""
    frozen: bool | None = None
    """Whether even what the elastic group has with nothing lent is taken back. None: it is not, and
    the policy does not judge what that costs. Not the loop's either."""
