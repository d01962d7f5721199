"""What gives the elastic side its cores: what every mechanism can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from smartharvest.core import _actuators, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.core._rescue import Rescue
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.process.family import Births
from smartharvest.host.target.base import Target
from smartharvest.placement.snapshot import HostSnapshot


class Mechanism(Protocol):
    """The elastic side of one session. All that it changes is journaled first."""

    @property
    def name(self) -> str:
        """As ``status`` tells it."""

    @property
    def target(self) -> Target | None:
        """Who gets the cores; None: nobody in particular."""

    @property
    def preempts(self) -> bool:
        """Whether the primary preempts the elastic side wherever they meet."""

    @property
    def idle_file(self) -> str | None:
        """The cpu.idle switch, if it is on."""

    @property
    def may_nudge(self) -> bool:
        """Whether nobody in the group has an affinity of his own."""

    # --- for a host as last seen ------------------------------------------------------------------

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        """Journals what the loop is going to write, and puts the group under cpu.idle.

        Raises TargetError or WriteRefused if that is impossible.
        """

    def make_room(self, snapshot: HostSnapshot) -> None:
        """Arranges it again for a host that has changed."""

    def files(self, snapshot: HostSnapshot) -> list[ManagedFile]:
        """The files that nobody else may write meanwhile."""

    def minimum(self, snapshot: HostSnapshot) -> Minimum:
        """What the guardian has to write to leave the elastic side its minimum, in that order."""

    def minimum_cpus(self, snapshot: HostSnapshot) -> tuple[int, ...]:
        """What the guardian has to leave threads that are moved by affinity; else empty."""

    def given_cpus(self, snapshot: HostSnapshot) -> list[tuple[int, ...]]:
        """What threads that are moved by affinity may get; empty where none are."""

    def chosen(self, snapshot: HostSnapshot) -> dict[str, tuple[str, str]]:
        """For the journal: what files may get beside their listed masks; empty: nothing."""

    def make_order(
        self, snapshot: HostSnapshot, sensor: _sensors.Sensor, slots: memoryview
    ) -> LendOrder | None:
        """Who chooses the cores by their use, as ``sensor`` tells it; None: they are not chosen."""

    def make_actuator(
        self,
        snapshot: HostSnapshot,
        nudge_slot: memoryview | None,
        primary_files: Sequence[ManagedFile] = (),
        fifo_priority: int = 0,
        beat_slot: memoryview | None = None,
        order: LendOrder | None = None,
    ) -> _actuators.Actuator:
        """What moves the cores; ``primary_files`` are those of the primaries.

        An ``order`` chooses which. With a ``fifo_priority`` threads of that priority hold each core
        while it changes hands. ``beat_slot`` is for the time during a long move.
        """

    def make_rescue(
        self, sensor: _sensors.Sensor, cpus: Sequence[int], fifo_priority: int
    ) -> Rescue | None:
        """Who has CPUs given back that the kernel hands to the elastic side over waiting tasks."""

    # --- who belongs to it -----------------------------------------------------------------------

    @property
    def moves_threads(self) -> bool:
        """Whether threads are moved one by one, so that ``follow`` has to be called often."""

    @property
    def births(self) -> Births | None:
        """How births are noticed; None where that is not needed."""

    def members(self) -> list[int]:
        """The processes that an elastic process has started, as far as they are known."""

    def follow(self, smallest: Sequence[int]) -> str | None:
        """Confines those that have come since, and journals it.

        Why nothing may be lent if there are more than it can follow: those get the CPUs of
        ``smallest``.
        """

    def adopt_newcomers(self) -> None:
        """Takes tasks that joined the group's cpuset only along, under cpu.idle and the freezer."""

    def foreign_pins(self) -> list[ForeignPin]:
        """What somebody else has given threads that are moved one by one; none amid a move."""

    def confine_foreign_tasks(self, smallest: Sequence[int]) -> None:
        """Confines what an elastic process has started and what has pinned itself since."""

    # --- the operator's --------------------------------------------------------------------------

    def freeze(self) -> None:
        """Stops the elastic side altogether.

        Raises TargetError if there is no way, or WriteRefused.
        """

    def thaw(self) -> None:
        """Undoes ``freeze``."""

    def close(self) -> None:
        """Journals those born last, so that they are given back with the others."""
