"""What a scenario is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.lab.systemd.inside.report import Finding


@dataclass(frozen=True)
class Scenario:
    """``steps`` begins with the unit stopped and the workloads running.

    Afterwards the unit is stopped (``ends_stopped``) and the host compared with before. With
    ``after_reboot`` the machine boots again after ``steps``, and goes on there.
    """

    steps: Callable[[Finding], None]
    ends_stopped: bool = True
    after_reboot: Callable[[Finding], None] | None = None
    ends_delegation: bool = False
    """Whether systemd turns the controllers off that the unit wanted, which costs tasks their own
    affinities before Linux 6.2: the kernel's doing, noted and not held against anybody."""
