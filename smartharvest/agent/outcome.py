"""How one arrangement of the host ended, and what is to follow."""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.agent.report import Report
from smartharvest.config.settings import Settings
from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.foreign.writes import ForeignWrite


@dataclass(frozen=True)
class Ended:
    """The time is up, or somebody asked for the end."""

    report: Report


@dataclass(frozen=True)
class Restart:
    """The host is to be arranged for ``settings``: from the originals, or from what is left."""

    report: Report
    settings: Settings
    keeps_arranged: bool = False
    """Whether all but the lent cores stays as it is meanwhile."""
    apart: bool = False
    """Whether primary and batch are to meet nowhere from then on, if that was left open."""


@dataclass(frozen=True)
class Reexec:
    """Another program takes over in this process; all but the lent cores stays as it is."""

    report: Report


@dataclass(frozen=True)
class StepAside:
    """The host is given back; sharing it has to wait for a time."""

    why: ForeignWrite | TargetError | TargetVanished
    """Somebody else writes, CPUs are lost, or a primary that comes and goes is gone."""
    ran_s: float


RunOutcome = Ended | Restart | Reexec
"""What a run of a supervisor returns."""
Outcome = RunOutcome | StepAside
