"""An elastic process: ``sched_setaffinity`` on its threads and on those of what it starts."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators
from smartharvest.errors import RightsError, TargetError
from smartharvest.host.foreign.pins import ForeignPin, GivenThreads
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.family import Births, Family
from smartharvest.host.target.base import Target
from smartharvest.mechanism.base import Mechanism
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)

MOST_AT_ONCE = 1024
"""Threads that one look for newcomers takes in, in some milliseconds."""


class ProcessAffinityMechanism(Mechanism):
    """Moves the threads of the process ``pid`` and of its descendants.

    ``was_arranged``: an earlier session has left all confined.
    """

    name = "affinity"
    preempts = False
    target: Target

    def __init__(
        self,
        settings: Settings,
        target: Target,
        pid: int,
        writer: HostWriter,
        *,
        was_arranged: bool,
    ) -> None:
        super().__init__(settings, target)
        self._pid = pid
        self._writer = writer
        self._was_arranged = was_arranged
        self._family: Family | None = None
        self._actuator: _actuators.AffinityActuator | None = None
        self._followed: list[int] = []
        """The processes the actuator knows, by slot."""
        self._given: GivenThreads | None = None
        self._walk: Iterator[int] | None = None
        """Of the look for newcomers that is under way."""

    # --- for a host as last seen ------------------------------------------------------------------

    def arrange(self, _snapshot: HostSnapshot, _primaries: Sequence[Target] = ()) -> None:
        """Journals the affinities of all there are. Raises RightsError if some are not ours."""
        # No look finds an earlier session's orphans, and who was born to an orphan since.
        left = self._writer.take_family()
        began = tasks.start_time_of_newcomers()
        self._family = family = left or Family(self._pid, beat=self._writer.show_life)
        for pid in (self._pid, *family.members):
            self._check_rights(pid)
        if self._was_arranged:  # an unknown process inherited the confinement
            self._writer.adopt_forked_children(self._pid, family.members.items())
        else:
            # Who is born during the search is no member yet, and would be no newcomer either.
            for pid in (self._pid, *family.members):
                self._writer.adopt_affinity(pid, began)
            for pid in family.turn():
                self._writer.adopt_affinity(pid, began)
        if self._settings.cpu_idle:
            _log.info("%s is no group: running without cpu.idle", self.target.spec)

    def _check_rights(self, pid: int) -> None:
        if tasks.may_confine(pid):
            return
        what = "it" if pid == self._pid else f"{tasks.name(pid)} ({pid}), which it started,"
        raise RightsError(
            f"{self.target.spec}: {what} is not ours to confine; run as its user or as root"
        )

    def minimum_cpus(self, snapshot: HostSnapshot) -> tuple[int, ...]:
        return snapshot.capacity.elastic_cpus(0)

    def make_actuator(
        self, snapshot: HostSnapshot, *, beat_slot: memoryview | None = None, **_: object
    ) -> _actuators.Actuator:
        sets = snapshot.capacity.elastic_sets()
        pins = self._writer.pins(self.target.grantable_cpus())
        actuator = None
        while actuator is None:
            members = [pid for pid in self.members() if tasks.alive(pid)]
            self._followed = [self._pid, *members][: _actuators.MAX_ELASTIC_PROCESSES]
            try:
                actuator = _actuators.AffinityActuator(self._followed, sets, pins, beat_slot)
            except FileNotFoundError:  # somebody has ended since
                if not tasks.alive(self._pid):
                    raise
        self._actuator = actuator
        self._given = GivenThreads(actuator, self._threads())
        return actuator

    # --- who belongs to it -----------------------------------------------------------------------

    @property
    def moves_threads(self) -> bool:
        return self._family is not None

    @property
    def births(self) -> Births | None:
        return None if self._family is None else self._family.births

    def members(self) -> list[int]:
        return [] if self._family is None else list(self._family.members)

    def follow(self, smallest: Sequence[int]) -> str | None:
        if self._family is None or self._actuator is None:
            return None
        new = self._writer.adopt_births(self._family)
        known = set(self._followed)
        left_out = [
            pid
            for pid in (new if len(known) < _actuators.MAX_ELASTIC_PROCESSES else self.members())
            if pid not in known and not self._take_up(self._actuator, pid)
        ]
        for tid in [tid for pid in left_out for tid in tasks.process_threads(pid)]:
            self._writer.set_affinity(tid, smallest)
        if not left_out:
            return None
        return (
            f"{self.target.spec}: more than {_actuators.MAX_ELASTIC_PROCESSES} processes cannot be "
            "followed; put them into a group"
        )

    def _take_up(self, actuator: _actuators.AffinityActuator, pid: int) -> bool:
        """Whether ``pid`` is the actuator's now; so is one that has ended meanwhile."""
        members = set(self.members())
        ended = (i for i, old in enumerate(self._followed) if i and old not in members)
        slot = next(ended, len(self._followed))
        if slot >= _actuators.MAX_ELASTIC_PROCESSES:
            return False
        try:
            actuator.follow(slot, pid)
        except FileNotFoundError:  # it has ended before it took the slot,
            return True
        except ProcessLookupError:  # or just afterwards
            pass
        self._followed[slot : slot + 1] = [pid]
        return True

    def _threads(self) -> list[int]:
        return [tid for pid in self._followed for tid in tasks.process_threads(pid)]

    def _next_threads(self) -> list[int]:
        """Those of this look, which goes on where the one before has ended."""
        walk = self._walk or tasks.threads_of(tuple(self._followed))
        found = list(itertools.islice(walk, MOST_AT_ONCE))
        self._walk = walk if len(found) == MOST_AT_ONCE else None
        return found

    def foreign_pins(self) -> list[ForeignPin]:
        given = self._given
        return [] if given is None else [*given.met_by_moves(), *given.pinned_at_rest()]

    def confine_foreign_tasks(self, smallest: Sequence[int]) -> None:
        given = self._given
        for tid in [] if given is None else given.foreign_tasks(self._next_threads()):
            self._writer.set_affinity(tid, smallest)

    # --- the operator's --------------------------------------------------------------------------

    def freeze(self) -> None:
        raise TargetError(f"{self.target.spec}: a process cannot be evicted; pause instead")

    def close(self) -> None:
        if (family := self.hand_off()) is not None:
            family.close()

    def hand_off(self) -> Family | None:
        family, self._family = self._family, None
        if family is not None:
            self._writer.adopt_last_births(family)
        return family
