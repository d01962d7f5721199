"""Whether the host is as the loop was built for: looked at once a second, and after a halt."""

from __future__ import annotations

import errno
import logging
import time
from typing import TYPE_CHECKING

from smartharvest.agent.halts import GONE, explain_halt
from smartharvest.core import _actuators, _loop
from smartharvest.errors import ConfigError, TargetError, TargetVanished
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writes import Surprise
from smartharvest.host.process.cpu_usage import ReadCharge, charge_of
from smartharvest.host.target import libvirt_domains
from smartharvest.placement.snapshot import Survey
from smartharvest.sensor.check import SensorCheck
from smartharvest.sensor.choice import RANKING, resync

if TYPE_CHECKING:
    from smartharvest.agent.control_loop import Run
    from smartharvest.agent.session import Session

_log = logging.getLogger(__name__)

HOUSEKEEPING_NS = 1_000_000_000
HOUSEKEEPING_SHARE = 100
"""Looking after the targets may take one part in so many of the time."""
HOUSEKEEPING_MOST_NS = 5_000_000_000
"""... but no longer between two looks, however long the first took: they notice what is amiss."""
BLIND_CHECKS = 2
"""A sensor that missed much so often in a row has failed."""
LOOKS_FOR_OTHERS = 3
_OTHER_GROUPS_OR_CPUS = frozenset(
    {errno.EBUSY, errno.EINVAL, errno.EACCES, _actuators.EFFECTIVE_MISMATCH, *GONE}
)
"""What a loop may halt with on a host that is not as it was built for."""
_CHANGED = "the targets' groups or CPUs have changed"


class HostWatch:
    """Looks after the targets of one run, which gets another loop where the host has changed."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session = session
        self._run = run
        self._charged: list[object] = []
        self._charge: ReadCharge = lambda: None
        self._next_look_ns = _loop.monotonic_ns() + HOUSEKEEPING_NS
        self.check = SensorCheck(session.settings.window_ns)
        self.drift = 0
        """How much a resynchronisation found the in-kernel sensor off, in CPUs and tasks."""

    def look(self) -> None:
        """Once a second: are the targets there, and is the host as the loop was built for?

        Raises TargetVanished, and ForeignWrite if somebody else writes the groups.
        """
        began_ns = _loop.monotonic_ns()
        if began_ns < self._next_look_ns and not libvirt_domains.changed():
            return
        session, run = self._session, self._run
        session.follow_patterns()
        for target in session.participants.all():
            if not target.alive():
                raise TargetVanished(f"{target.spec}: is gone; everything was given back")
        session.adopt_newcomers()
        self.drift += resync(run.loop.sensor)
        self._check_sensor(began_ns)
        try:
            seen = session.look()
        except (TargetError, ConfigError) as error:
            run.rest_because("host", str(error))
        else:
            run.rest_because("host", None)
            if self.check.blind_in_a_row >= BLIND_CHECKS and self._steps_down():
                run.rebuild(seen, "the sensor misses too much")
            elif seen != session.survey:
                run.rebuild(seen, _CHANGED)
            else:
                self._look_for_other_writers()
        took_ns = _loop.monotonic_ns() - began_ns
        pause_ns = min(HOUSEKEEPING_MOST_NS, took_ns * HOUSEKEEPING_SHARE)
        self._next_look_ns = began_ns + max(HOUSEKEEPING_NS, pause_ns)

    def go_on_or_explain(self) -> None:
        """After a halt: another loop if the host or the sensor is why, else what the user is told.

        Raises what explain_halt does.
        """
        session, halt = self._session, self._run.loop.halt
        seen = self.outdated_by()
        if seen is None and halt == ("sensor", errno.ESTALE):
            _log.warning("other CPUs are online, or the sensor lost sight of one: it starts anew")
            seen = session.look_at_what_is_left()
        if seen is None and halt == ("sensor", errno.ENOLINK) and self._steps_down():
            seen = session.survey
        if seen is None:
            explain_halt(session, self._run.loop)
        self._run.rebuild(seen, _CHANGED)

    def outdated_by(self) -> Survey | None:
        """The host as it is now, if that differs and may be why the loop halted; else None.

        Groups below a target come and go, and CPUs go offline. A lost target is no such case.
        """
        session, halt = self._session, self._run.loop.halt
        if halt is None or halt[1] not in _OTHER_GROUPS_OR_CPUS:
            return None
        session.follow_patterns()
        if not all(target.alive() for target in session.participants.all()):
            return None
        seen = session.look_at_what_is_left()
        return None if seen == session.survey else seen

    def _check_sensor(self, now_ns: int) -> None:
        """Holds what the sensor saw against what the kernel charged the primaries."""
        session, run = self._session, self._run
        if self._charged != session.primaries:
            self._charged = list(session.primaries)
            self._charge = charge_of(session.primaries)
            self.check.start_anew()
        blind = self.check.observe(now_ns, run.counters()["busy_core_ns"], self._charge())
        run.rest_because("sensor", blind)

    def _look_for_other_writers(self) -> None:
        """Raises ForeignWrite if the groups are not as the loop has left them, and stay so."""
        session, loop = self._session, self._run.loop
        session.confine_strangers()
        surprise: Surprise | None = None
        pins: list[ForeignPin] = []
        for _ in range(LOOKS_FOR_OTHERS):
            before = self._moves()
            pins = session.foreign_pins()
            try:
                surprise = session.surprise(before[0])
            except OSError:
                return  # what cannot be read is met again where it is needed
            if not (surprise or pins) or loop.halt is not None or self._moves() != before:
                return
            time.sleep(0.001)  # the loop may be amid a write that it has not counted yet
        if surprise is not None:
            session.step_aside(surprise)
        session.step_aside_for(pins)

    def _moves(self) -> tuple[int, int]:
        """(cores lent, moves of the loop): while they stay, so do the groups."""
        loop = self._run.loop
        return loop.harvested, loop.counters()["assignments"]

    def _steps_down(self) -> bool:
        """Whether another sensor can take the place of this one, which has failed."""
        session = self._session
        if session.sensing is None or session.sensing.name == RANKING[-1]:
            return False
        session.failed_sensors.add(session.sensing.name)
        if session.settings.sensor != "auto":
            return False
        _log.warning("sensor: %s has failed; stepping down", session.sensing.name)
        return True
