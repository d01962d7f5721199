"""The ``affinity`` mechanism: ``sched_setaffinity`` on each thread of the group and those below it.

For comparison, and for hosts where somebody else owns the cpuset, which stays as it is. A thread
that joins from elsewhere is confined with the next move, or within a second; one that is born
inherits its confinement. A thread that has an affinity of its own stays within it, as far as the
set of the moment has any of it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from smartharvest.core import _actuators
from smartharvest.core._mechanisms import GroupAffinityActuator
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.foreign.pins import ForeignPin, GivenThreads
from smartharvest.host.target.base import Target
from smartharvest.mechanism.group import LOOK_S, LOOK_SHARE, GroupMechanism
from smartharvest.mechanism.levels import added_cpus
from smartharvest.placement.snapshot import HostSnapshot


class GroupAffinityMechanism(GroupMechanism):
    """Moves the threads of a group, which keeps its cpuset."""

    moves_threads = True
    _actuator: GroupAffinityActuator | None = None
    _given: GivenThreads | None = None
    _sets: tuple[frozenset[int], ...] = ()
    """What threads may have from here."""
    _next_look_s = 0.0

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        self.enter_idle_class(primaries)
        self.make_room(snapshot)

    def make_room(self, snapshot: HostSnapshot) -> None:
        sets = map(frozenset, snapshot.capacity.elastic_sets())
        self._sets = tuple(dict.fromkeys((*self._sets, *sets)))
        self._writer.adopt_affinities(self._group.path, self._sets)

    def minimum_cpus(self, snapshot: HostSnapshot) -> tuple[int, ...]:
        return snapshot.capacity.elastic_cpus(0)

    def make_actuator(
        self,
        snapshot: HostSnapshot,
        *,
        nudge_slot: memoryview | None = None,
        beat_slot: memoryview | None = None,
        **_: object,
    ) -> _actuators.Actuator:
        group = self._group
        self._actuator = GroupAffinityActuator(
            [one.tasks_file for one in (group, *group.descendants())],
            snapshot.capacity.elastic_sets(),
            added_cpus(snapshot.capacity),
            self._writer.pins(group.effective_cpus()),
            nudge_slot,
            beat_slot,
        )
        self._given = GivenThreads(self._actuator, tasks_below(group.tree.files, group.path))
        return self._actuator

    def follow(self, _smallest: Sequence[int]) -> str | None:
        """Takes along what has joined the group."""
        if self._actuator is None or time.monotonic() < self._next_look_s:
            return None
        began_s = time.monotonic()
        if self._given is not None and self._given.pinned_at_rest(everybody=True):
            return None  # that is to be seen first, and would be overwritten
        self._writer.adopt_affinities(self._group.path, self._sets)
        with contextlib.suppress(OSError):  # the loop meets it again
            self._actuator.refresh()
        took_s = time.monotonic() - began_s
        self._next_look_s = began_s + max(LOOK_S, took_s * LOOK_SHARE)
        return None

    def foreign_pins(self) -> list[ForeignPin]:
        given = self._given
        return [] if given is None else [*given.met_by_moves(), *given.pinned_at_rest()]
