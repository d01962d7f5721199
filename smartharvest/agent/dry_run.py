"""Shadow mode (``--dry-run``): senses, learns and decides, and writes nothing to the host.

Nobody runs on the cores that would have been lent, so the primary is seen as it is when left alone:
what is told is how much would have been lent and how often too much, not what contention for
caches, or a batch that is in the way, would have cost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass

from smartharvest.agent.loop_builder import LoopBuilder
from smartharvest.agent.session import Session
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core import _actuators
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.process.family import Births
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import CgroupTarget, PidTarget, check_apart, resolve_target
from smartharvest.host.target.virtual_machines import check_idleness_shows
from smartharvest.placement.snapshot import Survey
from smartharvest.placement.target_set import Participants

_log = logging.getLogger(__name__)


class ShadowSession(Session):
    """A session without a journal, a guardian or a writer; its actuator only remembers.

    The elastic target may be missing: the cores are then lent to nobody in particular.
    """

    def _arrange(self) -> None:
        settings = self.settings
        if not settings.primary:
            raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.tree = CgroupTree.discover(settings.cgroup_root)
        self.participants = Participants(self.tree, settings.primary, self._resolve)
        self.participants.find_primaries()
        if settings.elastic is not None:
            try:
                self.participants.find_elastic(settings.elastic)
            except TargetError as error:
                _log.info("%s; lending to nobody in particular", error)
        check_apart(self.primaries, self.elastic)
        self._make_idleness_show(self.primaries)
        self.survey = self.look()
        with contextlib.suppress(OSError):  # without it there is no status
            os.makedirs(settings.state_dir, 0o700, exist_ok=True)
        _log.info("dry run: nothing is written to the host")

    def _restore(self) -> None:
        """There is nothing to put back."""

    def _bequeath(self) -> None:
        """Nor to leave."""

    def _make_idleness_show(self, primaries: Sequence[CgroupTarget | PidTarget]) -> None:
        check_idleness_shows(primaries)

    def _resolve(self, spec: TargetSpec) -> CgroupTarget | PidTarget:
        return resolve_target(spec, self.tree)

    def _loop_builder(self) -> LoopBuilder:
        return LoopBuilder(
            self.settings,
            self.survey,
            self.tree,
            failed=self.failed_sensors,
            told=self.told_sensor,
        )

    @property
    def preempts(self) -> bool:
        """As it would, with shared placement."""
        return self.settings.placement == "shared"

    def enter_phase(self, phase: Phase) -> None:
        """Nobody guards what nobody changes."""

    def followed(self) -> list[int]:
        return []

    def foreign_pins(self) -> list[ForeignPin]:
        return []

    def confine_strangers(self) -> None:
        """Nobody was confined."""

    @property
    def moves_threads(self) -> bool:
        return False

    def follow(self, actuator: _actuators.Actuator, smallest: Sequence[int]) -> str | None:  # noqa: ARG002
        return None

    @property
    def births(self) -> Births | None:
        return None

    def guardian_counts(self) -> dict[str, int]:
        return {}

    def beat(self) -> None:
        """Nobody listens."""

    def adopt_newcomers(self) -> None:
        """They stay where they are."""

    def make_room(self, seen: Survey) -> None:
        self.survey = seen

    def freeze(self) -> None:
        self.evicted = True

    def thaw(self) -> None:
        self.evicted = False


@dataclass
class ShadowFigures:
    """How often the decisions would have been wrong. ``observe`` takes every window in."""

    windows: int = 0
    lending: int = 0
    """Windows in which something would have been lent."""
    short: int = 0
    """Of those: the primary used all it had left, so that it would have had to wait."""
    most_missing: int = 0
    """Cores it wanted beyond what it had left, at worst."""
    unused_core_windows: int = 0
    """Cores neither used nor lent, summed over the windows: what caution costs."""

    def observe(self, window: Window, decision: Decision) -> None:
        total = decision.primary_cores + decision.harvest_cores
        if window.stale:
            return
        self.windows += 1
        self.unused_core_windows += max(0, window.primary_cores - window.demand_max)
        if window.primary_cores < total:
            self.lending += 1
            if window.exhausted:
                self.short += 1
                missing = window.demand_max - window.primary_cores
                self.most_missing = max(self.most_missing, missing)

    def tell(self) -> str:
        """In words."""
        if not self.lending:
            return f"dry run: in {self.windows} windows nothing would have been lent"
        missing = (
            f"; at worst {self.most_missing} cores were missing" if self.most_missing > 0 else ""
        )
        return (
            f"dry run: {self.lending} of {self.windows} windows would have lent something; "
            f"{self.short} of them ({self.short / self.lending:.2%}) too much for a moment"
            f"{missing}; {self.unused_core_windows / self.windows:.2f} cores on average were "
            "neither used nor lent"
        )
