"""Puts a loop together for the host as last seen: sensor, actuator, where its thread runs."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.core._rescue import Rescue
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.journal import Journal
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.exclusive import PrimarySide
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.sensor.choice import LOOKS_A_WINDOW, Sensing, make_sensor

_log = logging.getLogger(__name__)

FIFO_PRIORITY = 10
RESCUE_PRIORITY = FIFO_PRIORITY + 1
CORE_HOLD_PRIORITY = FIFO_PRIORITY - 1
"""Below the loop's: on its own core it must never be waited for."""


@dataclass(frozen=True)
class BuiltLoop:
    """A loop that has not started, with what it senses by and writes."""

    loop: _loop.Loop
    sensing: Sensing
    managed: list[ManagedFile] = field(default_factory=list)
    """What the loop writes."""
    order: LendOrder | None = None
    """Chooses the cores by their use; None: their order is the snapshot's."""

    def fits(self, before: HostSnapshot, now: HostSnapshot) -> bool:
        """Whether the loop, built for ``before``, can go on with the cores of ``now``.

        Its sensor goes on if the primaries are the same and may use as much, and if it looks at
        the same CPUs where the order is chosen by their use.
        """
        return (
            (self.order is None or before.capacity.lendable == now.capacity.lendable)
            and before.sources == now.sources
            and before.kernel_ids == now.kernel_ids
            and before.capacity.allocations == now.capacity.allocations
            and before.capacity.total == now.capacity.total
            and before.capacity.pool == now.capacity.pool
        )

    def can_sense_by(self, other: Sensing) -> bool:
        """Whether the loop, once stopped, can go on with another sensor: one of the same kind."""
        sensor, new = self.loop.sensor, other.sensor
        return (sensor.sees_changes, sensor.wakes) == (new.sees_changes, new.wakes)


class LoopBuilder:
    """Builds loops for one snapshot of the host. What they write is journaled in ``journal`` first.

    Without a journal nothing is written. ``failed_sensors`` are left out; ``known_sensor`` is the
    one that the log has named already.
    """

    def __init__(
        self,
        settings: Settings,
        snapshot: HostSnapshot,
        tree: CgroupTree,
        mechanism: Mechanism,
        *,
        journal: Journal | None,
        exclusive: PrimarySide | None = None,
        failed_sensors: Collection[str] = (),
        known_sensor: str | None = None,
    ) -> None:
        self._settings = settings
        self._snapshot = snapshot
        self._capacity = snapshot.capacity
        self._tree = tree
        self._mechanism = mechanism
        self._journal = journal
        self._exclusive = exclusive
        self._failed_sensors = failed_sensors
        self._known_sensor = known_sensor

    def build(self) -> BuiltLoop:
        """The loop. Raises OSError as the host does, ValueError for settings out of range."""
        settings, capacity = self._settings, self._capacity
        sensing = self._sense()
        sensor = sensing.sensor
        managed = self._expect()
        order = self._lend_order(sensor)
        actuator = self._actuator(order)
        exact = sensor.sees_changes and settings.accounting == "exact"
        realtime_cpus, cpus = self._places(chosen=order is not None)
        loop = _loop.Loop(
            sensor=sensor,
            actuator=actuator,
            total=capacity.total,
            window_ns=settings.window_ns,
            poll_ns=settings.poll_ns,
            max_harvest=capacity.max_harvest,
            max_shared=capacity.max_shared,
            keep_idle=capacity.keep_idle,
            whole_harvests=capacity.whole_harvests,
            pacing=settings.pacing,
            realtime_cpus=realtime_cpus,
            cpus=cpus,
            fifo_priority=FIFO_PRIORITY if self._realtime else 0,
            exact=exact,
            event_driven=exact and sensor.wakes and settings.events,
            beat_slot=self._beat_slot,
            lendable=capacity.lendable,
            elastic_min=capacity.elastic_min,
            rescue=self._rescue(sensor, chosen=order is not None),
            most_cpu_percent=sensing.most_cpu_percent,
            most_rest_ns=settings.window_ns // LOOKS_A_WINDOW,
        )
        loop.lend_until(self._mechanism.revocation)
        return BuiltLoop(loop, sensing, managed, order)

    def sense_otherwise(self, built: BuiltLoop) -> Sensing | None:
        """Another sensor, if the settings need one that is not as that of ``built`` is.

        Raises OSError as the host does, SensorError as ``make_sensor`` does.
        """
        if built.sensing.fits(self._settings) or not self._snapshot.sources:
            return None
        return self._sense()

    def change(self, built: BuiltLoop, other: Sensing | None = None) -> BuiltLoop:
        """Has the loop of ``built``, which is stopped, move the cores of this snapshot.

        ``other`` is what it senses by from then on, if not as before. Raises OSError as the host
        does.
        """
        capacity = self._capacity
        sensing = other or built.sensing
        managed = self._expect()
        order = None if built.order is None else self._lend_order(sensing.sensor)
        realtime_cpus, cpus = self._places(chosen=order is not None)
        built.loop.change(
            actuator=self._actuator(order),
            max_harvest=capacity.max_harvest,
            max_shared=capacity.max_shared,
            keep_idle=capacity.keep_idle,
            whole_harvests=capacity.whole_harvests,
            realtime_cpus=realtime_cpus,
            cpus=cpus,
            lendable=capacity.lendable,
            elastic_min=capacity.elastic_min,
            rescue=self._rescue(sensing.sensor, chosen=order is not None),
            sensor=None if other is None else other.sensor,
        )
        built.loop.lend_until(self._mechanism.revocation)
        return BuiltLoop(built.loop, sensing, managed, order)

    def leave_smallest(self) -> None:
        """Leaves the elastic side what it always has on this host; no loop may run.

        Raises OSError as the host does.
        """
        self._expect()
        self._actuator(None).assign(0)

    def _actuator(self, order: LendOrder | None) -> _actuators.Actuator:
        return self._mechanism.make_actuator(
            self._snapshot,
            nudge_slot=None if self._journal is None else self._journal.page.nudge_slot,
            primary_files=self._primary_files(),
            fifo_priority=CORE_HOLD_PRIORITY if self._realtime else 0,
            beat_slot=self._beat_slot,
            order=order,
        )

    def _places(self, *, chosen: bool) -> tuple[list[int], list[int]]:
        """Where the loop's thread runs: as a real-time thread, and as any other.

        A real-time thread preempts the batch at once, so it runs where the batch always is: the
        batch pays for our polling, and where the batch is merely parked each poll makes the kernel
        choose again, so that a primary task queued behind the batch waits for a poll instead of a
        tick. Any other thread would queue behind the batch it displaces: off the lent cores.
        """
        capacity, online = self._capacity, self._tree.online_cpus()
        ever_lent = capacity.lendable if chosen else capacity.elastic_cpus(capacity.max_harvest)
        return [capacity.lendable[0]], sorted(online - frozenset(ever_lent)) or sorted(online)

    def _sense(self) -> Sensing:
        """Makes the sensor; says which it is when that has changed."""
        if not self._snapshot.sources:
            all_busy = _sensors.FakeSensor([self._capacity.total])
            return Sensing(all_busy, "none", "there is no primary to watch")
        sensing = make_sensor(
            self._settings,
            self._snapshot,
            failed=self._failed_sensors,
            fake_tree=not self._tree.runs_tasks,
        )
        if sensing.name != self._known_sensor:
            _log.info("Sensor: %s (%s)", sensing.name, sensing.reason)
        return sensing

    @property
    def _beat_slot(self) -> memoryview | None:
        """Where the loop leaves the time of its polls, for the guardian."""
        return None if self._journal is None else self._journal.page.beat_slot

    @property
    def _realtime(self) -> bool:
        # A spinning real-time thread runs into the kernel's real-time throttling every second.
        return self._settings.realtime and self._settings.pacing != "spin"

    def _primary_files(self) -> list[ManagedFile]:
        return [] if self._exclusive is None else self._exclusive.files(self._snapshot)

    def _expect(self) -> list[ManagedFile]:
        """Journals what the loop is going to write, and what the guardian is to write in its place.

        What the loop writes.
        """
        if self._journal is None:
            return []
        mechanism, snapshot = self._mechanism, self._snapshot
        minimum = mechanism.minimum(snapshot)
        if self._exclusive is not None:
            minimum = (*self._exclusive.maximum(snapshot), *minimum)
        managed = [*mechanism.files(snapshot), *self._primary_files()]
        values = {path: list(masks) for path, _, masks in managed}
        for path, mask in mechanism.without_nobodys(snapshot):
            values[path].append(mask)
        self._journal.expect(
            values,
            minimum,
            mechanism.minimum_cpus(snapshot),
            mechanism.chosen(snapshot),
            mechanism.given_cpus(snapshot),
        )
        return managed

    def _lend_order(self, sensor: _sensors.Sensor) -> LendOrder | None:
        if self._settings.order != "dynamic" or self._journal is None:
            return None
        slots = self._journal.page.choice_slots
        order = self._mechanism.make_order(self._snapshot, sensor, slots)
        if order is None:
            why = "the cores differ" if sensor.tells_cpus_apart else "it needs the bpf sensor"
            _log.warning("order: dynamic: %s; cores are lent by the machine's topology", why)
        return order

    def _rescue(self, sensor: _sensors.Sensor, *, chosen: bool) -> Rescue | None:
        """Gives CPUs back that the kernel hands to the elastic side over waiting tasks."""
        capacity = self._capacity
        cpus = capacity.lendable if chosen else capacity.elastic_cpus(capacity.max_shared)
        priority = RESCUE_PRIORITY if self._settings.realtime else 0
        return self._mechanism.make_rescue(sensor, sorted(cpus), priority)
