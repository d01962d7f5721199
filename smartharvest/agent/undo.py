"""What puts the host back as it was: the journal, the writer that fills it, and the guardian."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence

from smartharvest.agent.reexec import HandoffState, signals_held
from smartharvest.config.on_death import leaves_minimum
from smartharvest.config.settings import Settings, host_settings
from smartharvest.core._loop import monotonic_ns
from smartharvest.core.timeouts import plan_ttl_ns
from smartharvest.errors import TargetError
from smartharvest.guardian.process import GuardianConfig
from smartharvest.guardian.supervisor import GuardianSupervisor
from smartharvest.guardian.verdict import limits_for
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal import registry
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.journal.succession import take_over
from smartharvest.host.journal.writer import HostWriter

_log = logging.getLogger(__name__)

_SHOWN_EVERY_NS = 5_000_000
"""A sign of life amid thousands of changes."""
GUARDIAN_PATIENCE_S = 1.0
"""How long the guardian may take to end a write of its own."""


def left_by_the_dead(
    settings: Settings, tree: CgroupTree, claims: Callable[[], Sequence[str]]
) -> HandoffState | None:
    """What an agent has left that died, if these settings keep the batch confined until now.

    With exclusive placement nobody knows any more what the primaries had.
    """
    keeps = leaves_minimum(settings.on_death, os.environ)
    if not keeps or settings.placement == "exclusive":
        return None
    arrangement = host_settings(settings)
    try:
        targets = claims()
    except TargetError:  # they have gone, and the batch may be let go
        return None
    root = tree.hierarchies["cpuset"]
    journal = take_over(
        tree.files, settings.state_dir, claims=targets, root=root, arrangement=arrangement
    )
    if journal is None:
        return None
    return HandoffState(
        journal=journal,
        keeper=None,
        guardian=None,
        primary_cpus=(),
        may_nudge=False,  # who has pinned himself does not show now
        root=settings.cgroup_root,
        arrangement=arrangement,
    )


class Undo:
    """Owns journal, writer and guardian of one arrangement.

    ``claims`` are what the journal calls the targets; ``left`` is what an earlier arrangement
    handed over; ``note_write`` gets every change, ``progress`` is called while the agent has other
    work than lending. Raises AlreadyManaged if another agent holds a target, or JournalError.
    """

    def __init__(
        self,
        settings: Settings,
        tree: CgroupTree,
        claims: Callable[[], Sequence[str]],
        left: HandoffState | None,
        note_write: Callable[[str, str, str], None],
        progress: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._tree = tree
        self.journal = (
            left.journal
            if left is not None
            else Journal(
                settings.state_dir,
                claims=claims(),
                root=tree.hierarchies["cpuset"],
                arrangement=host_settings(settings),
            )
        )
        if tree.runs_tasks:
            registry.note(self.journal.path)
        self._progress = progress
        self._shown_ns = 0
        self.journal.while_waiting = self._show_life

        def note(path: str, before: str, value: str) -> None:
            if monotonic_ns() - self._shown_ns > _SHOWN_EVERY_NS:
                if self.journal.page.phase is not Phase.RUNNING:  # then only windows show life
                    self._show_life()
                self._shown_ns = monotonic_ns()
            note_write(path, before, value)

        family = None if left is None else left.family
        self.writer = HostWriter(tree.files, self.journal, note, family)
        self.guardian: GuardianSupervisor | None = None

    def start_guardian(self, left: HandoffState | None) -> None:
        """Nothing is journaled, and so nothing changes, before the guardian is ready."""
        if not self._settings.guardian:
            return
        if left is not None and left.keeper is not None:
            self.guardian = left.keeper
            return
        config = GuardianConfig(
            self.journal.path,
            "" if self._tree.runs_tasks else self._tree.root,
            restores=not leaves_minimum(self._settings.on_death, os.environ),
            limits=limits_for(self._settings.window_ns, self._settings.hang_timeout_ns),
        )
        if left is not None:
            self.guardian = GuardianSupervisor(config, self.journal.page, left.guardian)
            self.guardian.wait_ready()
            return
        self.guardian = GuardianSupervisor(config, self.journal.page)
        self.journal.before_first_entry = self.guardian.wait_ready

    def _show_life(self) -> None:
        """Many changes, or a slow disk: neither the guardian nor the manager takes it for a hang.

        The manager's watchdog hears nothing if the loop should run and does not.
        """
        page = self.journal.page
        page.beat_as_agent()
        patience = plan_ttl_ns(self._settings.window_ns)
        if page.phase is not Phase.RUNNING or monotonic_ns() - page.loop_beat < patience:
            self._progress()

    def enter_phase(self, phase: Phase) -> None:
        """Announces the phase to the guardian; returns once it is not writing itself."""
        page = self.journal.page
        with page.locked(GUARDIAN_PATIENCE_S) as held:
            if not held and self.guardian is not None:
                self.guardian.end()  # it was stopped while it wrote, and must not go on
            page.beat_as_agent()
            page.phase = phase

    def guardian_counts(self) -> dict[str, int]:
        """How often the guardian took the cores back, by reason."""
        page = self.journal.page
        return {"silent loop": page.shrinks, **page.silences}

    def restore(self, before: Callable[[], None]) -> None:
        """Calls ``before``, puts everything back and ends the guardian.

        Births are listened to from before ``before``, which ends the listener of the run.

        Raises RightsError for what is not to be put back.
        """
        with signals_held():
            try:
                self.writer.hear_births()
                before()
                self.enter_phase(Phase.ENDING)
                restored = self.writer.restore()
            finally:
                if self.guardian is not None:
                    self.guardian.end()
        for line in restored:
            _log.debug("Restored: %s", line)
