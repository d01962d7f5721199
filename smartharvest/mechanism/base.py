"""What gives the elastic side its cores: what every mechanism can do."""

# ruff: noqa: ARG002 (what a mechanism does nothing about, it has no use for)

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from smartharvest.algorithm.division import Division, Share
from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.core._rescue import Rescue
from smartharvest.core.revocation import Revocation
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.journal.journal import Journal
from smartharvest.host.process.family import Births, Family
from smartharvest.host.target.base import Target
from smartharvest.placement.snapshot import HostSnapshot


class Mechanism:
    """The elastic side of one session: who gets the cores, None if nobody in particular.

    All that it changes is journaled first. A mechanism overrides what it does; by itself this one,
    as in a dry run, changes nothing.
    """

    idle_file: str | None = None
    """The cpu.idle switch, if it is on."""
    may_nudge = False
    """Whether nobody in the group has an affinity of his own."""

    def __init__(self, settings: Settings, target: Target | None) -> None:
        self._settings = settings
        self.target = target

    @property
    def name(self) -> str:
        """As ``status`` tells it."""
        return self._settings.mechanism

    @property
    def preempts(self) -> bool:
        """Whether the primary preempts the elastic side wherever they meet."""
        return self._settings.placement != "exclusive"

    # --- for a host as last seen ------------------------------------------------------------------

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        """Journals what the loop is going to write, and puts the group under cpu.idle.

        Raises TargetError or WriteRefused if that is impossible.
        """

    def make_room(self, snapshot: HostSnapshot) -> None:
        """Arranges it again for a host that has changed."""

    @property
    def division(self) -> Division | None:
        """Who owns which core; None where one group has them all."""
        return None

    def divide(
        self, snapshot: HostSnapshot, shares: Sequence[Share], together: Collection[str] = ()
    ) -> bool:
        """Divides among groups by other ``shares``; True if the loop has to take up other masks.

        The groups of ``together`` share by time.
        """
        return False

    def weigh(self, weights: Mapping[str, float]) -> bool:
        """Gives groups their part of the time, at most 1 each; False where none can be given."""
        return False

    def regroup(self, settings: Settings, snapshot: HostSnapshot, shares: Sequence[Share]) -> None:
        """Goes on with other groups, which ``settings`` name and which may have these ``shares``.

        Raises WriteRefused.
        """

    def files(self, snapshot: HostSnapshot) -> list[ManagedFile]:
        """The files that nobody else may write meanwhile."""
        return []

    def without_nobodys(self, snapshot: HostSnapshot) -> list[tuple[str, str]]:
        """(file, mask), one write after the other: takes all CPUs of nobody from the group."""
        return []

    def minimum(self, snapshot: HostSnapshot) -> Minimum:
        """What the guardian has to write to leave the elastic side its minimum, in that order."""
        return ()

    def minimum_cpus(self, snapshot: HostSnapshot) -> tuple[int, ...]:
        """What the guardian has to leave threads that are moved by affinity; else empty."""
        return ()

    def given_cpus(self, snapshot: HostSnapshot) -> list[tuple[int, ...]]:
        """What threads that are moved by affinity may get; empty where none are."""
        return snapshot.capacity.elastic_sets() if self.minimum_cpus(snapshot) else []

    def chosen(self, snapshot: HostSnapshot) -> dict[str, tuple[str, str]]:
        """For the journal: what files may get besides their listed masks; empty: nothing."""
        return {}

    def make_order(
        self, snapshot: HostSnapshot, sensor: _sensors.Sensor, slots: memoryview
    ) -> LendOrder | None:
        """Who chooses the cores by their use, as ``sensor`` tells it; None: they are not chosen."""
        return None

    def make_actuator(
        self,
        snapshot: HostSnapshot,
        *,
        nudge_slot: memoryview | None = None,
        primary_files: Sequence[ManagedFile] = (),
        fifo_priority: int = 0,
        beat_slot: memoryview | None = None,
        order: LendOrder | None = None,
    ) -> _actuators.Actuator:
        """What moves the cores; ``primary_files`` are those of the primaries.

        An ``order`` chooses which. With a ``fifo_priority`` threads of that priority hold each core
        while it changes hands. ``beat_slot`` is for the time during a long move.
        """
        return _actuators.FakeActuator()

    def make_rescue(
        self, sensor: _sensors.Sensor, cpus: Sequence[int], fifo_priority: int
    ) -> Rescue | None:
        """Who has CPUs given back that the kernel hands to the elastic side over waiting tasks."""
        return None

    @property
    def keeps_spare(self) -> bool:
        """Whether the kernel can keep CPUs idle for tasks of the primary that wake."""
        return self._settings.mechanism == "strict" and not self._settings.divides

    @property
    def spare(self) -> int | None:
        """How many it keeps so at most, of the largest cache; None: it cannot."""
        return None

    def keep_spare(self, count: int | None) -> None:
        """So many of each last-level cache at most, from now on; None: as the settings have it."""

    @property
    def may_freeze(self) -> bool:
        """Whether a policy may freeze the elastic side, beyond lending nothing."""
        return False

    @property
    def frozen(self) -> bool:
        """Whether the policy has it frozen."""
        return False

    def keep_frozen(self, frozen: bool) -> None:
        """Freezes the elastic side for the policy, or thaws it, if that changes.

        Raises TargetError, TargetVanished or WriteRefused where that is impossible.
        """

    def thaw_left(self, journal: Journal) -> None:
        """Thaws what an earlier session of this ``journal`` has left frozen.

        Raises WriteRefused.
        """

    # --- who belongs to it -----------------------------------------------------------------------

    @property
    def moves_threads(self) -> bool:
        """Whether threads are moved one by one, so that ``follow`` has to be called often."""
        return False

    revocation: Revocation | None = None
    """By what the loop's thread hears that nothing may be lent any more. Not before ``arrange``."""
    ends = 0
    """How often what holds the elastic side down has ended, and not by us."""

    @property
    def births(self) -> Births | None:
        """How births are noticed; None where that is not needed."""
        return None

    def members(self) -> list[int]:
        """The processes that an elastic process has started, as far as they are known."""
        return []

    def follow(self, smallest: Sequence[int]) -> str | None:
        """Confines those that have come since, and journals it.

        Why nothing may be lent if there are more than it can follow: those get the CPUs of
        ``smallest``.
        """
        return None

    def adopt_newcomers(self) -> None:
        """Takes tasks that joined the group's cpuset only along, under cpu.idle and the freezer."""

    def foreign_pins(self) -> list[ForeignPin]:
        """What somebody else has given threads that are moved one by one; none amid a move."""
        return []

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

    def hand_off(self) -> Family | None:
        """The same for a successor, who goes on hearing of births by what this returns."""
        self.close()
        return None
