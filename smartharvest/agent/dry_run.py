"""What a dry run (``--dry-run``) would have lent, and how often that would have been too much.

Nobody runs on the cores that would have been lent, so the primary is seen as it is when left alone:
what a batch in its way would have cost, or contention for caches, is not among the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.printable import counted


@dataclass
class DryRunFigures:
    """How often the decisions would have been wrong. ``observe`` takes every window in."""

    windows: int = 0
    lending: int = 0
    """Windows in which something would have been lent."""
    short: int = 0
    """Of those: the primary used all it had left, so that it would have had to wait."""
    most_missing: int = 0
    """Cores it wanted beyond what it had left, at worst."""
    shared: int = 0
    """Windows in which the primary would have shared CPUs with the elastic group."""
    unused_core_windows: int = 0
    """Cores neither used nor lent, summed over the windows: what caution costs."""

    def observe(self, window: Window, decision: Decision) -> None:
        total = decision.primary_cores + decision.harvest_cores
        if window.stale:
            return
        self.windows += 1
        self.shared += decision.shared
        self.unused_core_windows += max(0, window.primary_cores - window.demand_max)
        if window.primary_cores < total:
            self.lending += 1
            if window.exhausted:
                self.short += 1
                missing = window.demand_max - window.primary_cores
                self.most_missing = max(self.most_missing, missing)

    def describe(self) -> str:
        """In words."""
        if not self.lending:
            return f"dry run: in {self.windows} windows nothing would have been lent"
        most = counted(self.most_missing, "core")
        missing = f"; at worst {most} missing" if self.most_missing > 0 else ""
        shares = (
            f"; in {self.shared} of them CPUs would have been shared, and what that costs no "
            "rehearsal shows"
        )
        return (
            f"dry run: {self.lending} of {self.windows} windows would have lent something; "
            f"{self.short} of them ({self.short / self.lending:.2%}) too much for a moment"
            f"{missing}; {self.unused_core_windows / self.windows:.2f} cores on average were "
            f"neither used nor lent{shares if self.shared else ''}"
        )
