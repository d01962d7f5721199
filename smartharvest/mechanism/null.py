"""No mechanism: what a dry run has, which changes nothing and only remembers."""

from __future__ import annotations

from collections.abc import Sequence

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.core._rescue import Rescue
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.target.base import Target
from smartharvest.placement.snapshot import HostSnapshot


class NullMechanism:
    """Lends to ``target``, or to nobody in particular, without writing anything."""

    idle_file = None
    may_nudge = False
    moves_threads = False
    births = None

    def __init__(self, settings: Settings, target: Target | None) -> None:
        self.name = settings.mechanism
        self.target = target
        self.preempts = settings.placement == "shared"  # as the settings' own would

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        """Nothing will be written."""

    def make_room(self, snapshot: HostSnapshot) -> None:
        """Nothing is in the way."""

    def files(self, _snapshot: HostSnapshot) -> list[ManagedFile]:
        return []

    def minimum(self, _snapshot: HostSnapshot) -> Minimum:
        return ()

    def minimum_cpus(self, _snapshot: HostSnapshot) -> tuple[int, ...]:
        return ()

    def given_cpus(self, _snapshot: HostSnapshot) -> list[tuple[int, ...]]:
        return []

    def chosen(self, _snapshot: HostSnapshot) -> dict[str, tuple[str, str]]:
        return {}

    def make_order(
        self, _snapshot: HostSnapshot, _sensor: _sensors.Sensor, _slots: memoryview
    ) -> LendOrder | None:
        return None

    def make_actuator(self, *_: object, **__: object) -> _actuators.Actuator:
        return _actuators.FakeActuator()

    def make_rescue(
        self, _sensor: _sensors.Sensor, _cpus: Sequence[int], _fifo_priority: int
    ) -> Rescue | None:
        return None

    def members(self) -> list[int]:
        return []

    def follow(self, _smallest: Sequence[int]) -> str | None:
        return None

    def adopt_newcomers(self) -> None:
        """They stay where they are."""

    def foreign_pins(self) -> list[ForeignPin]:
        return []

    def confine_foreign_tasks(self, smallest: Sequence[int]) -> None:
        """Nobody was confined."""

    def freeze(self) -> None:
        """Who asks for it remembers it."""

    def thaw(self) -> None:
        """Nor is anything to be thawed."""

    def close(self) -> None:
        """Nothing is held."""
