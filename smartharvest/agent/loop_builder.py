"""Puts a loop together for the host as surveyed: sensor, actuator, where its thread runs."""

from __future__ import annotations

import logging
from collections.abc import Collection

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.journal import Journal
from smartharvest.mechanism.elastic_side import ElasticSide
from smartharvest.mechanism.exclusive import PrimarySide
from smartharvest.placement.snapshot import Survey
from smartharvest.sensor.choice import Sensing, make_sensor

_log = logging.getLogger(__name__)

FIFO_PRIORITY = 10
RESCUE_PRIORITY = FIFO_PRIORITY + 1
HANDOVER_PRIORITY = FIFO_PRIORITY - 1
"""Below the loop's: on its own core it must never be waited for."""


class LoopBuilder:
    """Builds one loop, which moves nothing: its actuator only remembers.

    ``failed`` are the sensors to leave out; ``told`` is the one the user knows of already.
    """

    def __init__(
        self,
        settings: Settings,
        survey: Survey,
        tree: CgroupTree,
        *,
        failed: Collection[str] = (),
        told: str | None = None,
    ) -> None:
        self._settings = settings
        self._survey = survey
        self._capacity = survey.capacity
        self._tree = tree
        self.managed: list[ManagedFile] = []
        """What the loop writes."""
        self.order: LendOrder | None = None
        """Who chooses the cores by their use; None: their order is the survey's."""
        self.sensing = self._sense(failed, told)

    def build(self) -> _loop.Loop:
        """The loop. Raises OSError as the host does, ValueError for settings that cannot be.

        Where its thread runs depends on how it may. A real-time thread preempts the batch at once,
        so it runs where the batch always is: the batch pays for our polling, and where the batch is
        merely parked each poll makes the kernel choose anew, so that a primary task queued behind
        the batch waits for a poll instead of a tick. Any other thread would queue behind the batch
        it displaces: off the lent cores.
        """
        settings, capacity = self._settings, self._capacity
        sensor = self.sensing.sensor
        actuator, beat_slot = self._actuator(sensor)
        self._rescue(sensor)
        exact = sensor.sees_changes and settings.accounting == "exact"
        online = self._tree.online_cpus()
        return _loop.Loop(
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
            realtime_cpus=[capacity.lendable[0]],
            cpus=sorted(online - self._ever_lent(capacity.max_harvest)) or sorted(online),
            fifo_priority=FIFO_PRIORITY if self._realtime else 0,
            exact=exact,
            event_driven=exact and sensor.wakes and settings.events,
            beat_slot=beat_slot,
        )

    def _sense(self, failed: Collection[str], told: str | None) -> Sensing:
        """Makes the sensor; says which it is when that has changed."""
        if not self._survey.sources:
            all_busy = _sensors.FakeSensor([self._capacity.total])
            return Sensing(all_busy, "none", "there is no primary to watch")
        made_tree = isinstance(self._tree.files, FakeKernel)
        sensing = make_sensor(self._settings, self._survey, failed=failed, made_tree=made_tree)
        if sensing.name != told:
            _log.info("sensor: %s (%s)", sensing.name, sensing.reason)
        return sensing

    def _ever_lent(self, most: int) -> frozenset[int]:
        """The CPUs that the elastic group may get while at most so many cores are lent."""
        chosen = self.order is not None
        return frozenset(self._capacity.lendable if chosen else self._capacity.elastic_cpus(most))

    @property
    def _realtime(self) -> bool:
        # A spinning real-time thread runs into the kernel's real-time throttling every second.
        return self._settings.realtime and self._settings.pacing != "spin"

    def _actuator(
        self, _sensor: _sensors.Sensor, /
    ) -> tuple[_actuators.Actuator, memoryview | None]:
        """What moves the cores, and where the loop leaves the time of its polls."""
        return _actuators.FakeActuator(), None

    def _rescue(self, sensor: _sensors.Sensor, /) -> None:
        """Has CPUs that the kernel hands to the elastic group over waiting tasks given back."""


class HostLoopBuilder(LoopBuilder):
    """Builds one loop that moves the cores of the two sides, with what it writes journaled."""

    def __init__(
        self,
        settings: Settings,
        survey: Survey,
        tree: CgroupTree,
        *,
        journal: Journal,
        elastic_side: ElasticSide,
        primary_side: PrimarySide | None,
        failed: Collection[str] = (),
        told: str | None = None,
    ) -> None:
        super().__init__(settings, survey, tree, failed=failed, told=told)
        self._journal = journal
        self._elastic_side = elastic_side
        self._primary_side = primary_side

    def _actuator(
        self, sensor: _sensors.Sensor, /
    ) -> tuple[_actuators.Actuator, memoryview | None]:
        elastic_side, survey = self._elastic_side, self._survey
        minimum = elastic_side.minimum(survey)
        primary_files: list[ManagedFile] = []
        if self._primary_side is not None:
            minimum = (*self._primary_side.maximum(survey), *minimum)
            primary_files = self._primary_side.files(survey)
        self.managed = [*elastic_side.files(survey), *primary_files]
        self._journal.expect(
            {path: masks for path, _, masks in self.managed},
            minimum,
            elastic_side.minimum_cpus(survey),
            elastic_side.chosen(survey),
            elastic_side.given_cpus(survey),
        )
        page = self._journal.page
        self.order = self._lend_order(sensor)
        actuator = elastic_side.make_actuator(
            survey,
            page.nudge_slot,
            primary_files,
            fifo_priority=HANDOVER_PRIORITY if self._realtime else 0,
            beat_slot=page.beat_slot,
            order=self.order,
        )
        return actuator, page.beat_slot

    def _lend_order(self, sensor: _sensors.Sensor) -> LendOrder | None:
        if self._settings.order != "dynamic":
            return None
        slots = self._journal.page.choice_slots
        order = self._elastic_side.make_order(self._survey, sensor, slots)
        if order is None:
            why = "the cores differ" if sensor.tells_cpus_apart else "it needs the bpf sensor"
            _log.warning("order: dynamic: %s; cores are lent by the machine's topology", why)
        elif isinstance(sensor, _sensors.BpfSensor):
            sensor.follow(order)
        return order

    def _rescue(self, sensor: _sensors.Sensor, /) -> None:
        if not (self._settings.rescue and self._elastic_side.idle_file):
            return
        if isinstance(sensor, _sensors.BpfSensor):
            cpus = sorted(self._ever_lent(self._capacity.max_shared))
            try:
                sensor.rescue(cpus, RESCUE_PRIORITY if self._settings.realtime else 0)
            except OSError as error:
                _log.warning("rescue: %s; an idle batch may hold a CPU for a tick", error.strerror)
