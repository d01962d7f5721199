"""Whether the host is as the loop was built for: polled once a second, and after a halt."""

from __future__ import annotations

import errno
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.halts import GONE, actuator_halt, other_halt, sensor_halt
from smartharvest.core import _actuators, _loop
from smartharvest.errors import ConfigError, SmartHarvestError, TargetError, TargetVanished
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writes import Surprise
from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of
from smartharvest.host.target import libvirt_domains
from smartharvest.host.target.cgroup import have_caps_of_their_own
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.sensor.check import SensorCheck
from smartharvest.sensor.choice import RANKING, resync

_log = logging.getLogger(__name__)

HOUSEKEEPING_NS = 1_000_000_000
QUIET_HOUSEKEEPING = 3
"""Times as long from one look to the next while nobody asks for windows."""
HOUSEKEEPING_SHARE = 100
"""Looking after the targets may take one part in so many of the time."""
HOUSEKEEPING_MOST_NS = 5_000_000_000
"""... but no longer between two looks, however long the first took: they notice what is amiss."""
BLIND_CHECKS = 2
"""A sensor that missed much so often in a row has failed."""
EARLY_LOOKS_APART_NS = 1_000_000_000
"""At least, for one who writes all the time."""
LOOKS_FOR_OTHERS = 3
MOST_RESETS, RESETS_WITHIN_NS = 3, 15_000_000_000
"""A service manager that resets groups more often is somebody to step aside for. Where it reads its
units again and then starts one, it does so twice within seconds."""
_OTHER_GROUPS_OR_CPUS = frozenset(
    {errno.EBUSY, errno.EINVAL, errno.EACCES, _actuators.EFFECTIVE_MISMATCH, *GONE}
)
"""What a loop may halt with on a host that is not as it was built for."""
_CHANGED = "the targets' groups or CPUs have changed"


@dataclass(frozen=True)
class Verdict:
    """What a look at the host found."""

    reasons: Mapping[str, str | None] = field(default_factory=dict, kw_only=True)
    """Cause -> why nothing may be lent; None if the cause has no reason any more."""


@dataclass(frozen=True)
class Healthy(Verdict):
    """The loop goes on."""


@dataclass(frozen=True)
class Rebuild(Verdict):
    """The host is another one than the loop was built for."""

    snapshot: HostSnapshot
    why: str
    keeps_loop: bool = True
    """False if the loop's sensor has failed: another loop brings another sensor."""


@dataclass(frozen=True)
class Rearrange(Verdict):
    """The host has to be arranged again, from its originals unless it keeps what is arranged."""

    keeps_arranged: bool = False


@dataclass(frozen=True)
class Failed(Verdict):
    """The host no longer allows it."""

    error: SmartHarvestError


class Resets:
    """Those by a service manager that were followed by arranging the host again."""

    def __init__(self) -> None:
        self._at_ns: deque[int] = deque(maxlen=MOST_RESETS)

    def may_be_followed(self, now_ns: int) -> bool:
        """Whether one that comes now is none too many; notes it then."""
        if len(self._at_ns) == MOST_RESETS and now_ns - self._at_ns[0] < RESETS_WITHIN_NS:
            return False
        self._at_ns.append(now_ns)
        return True


class HostWatch:
    """Looks after the targets of one arrangement. ``failed_sensors`` grows when one breaks.

    ``rest`` is called amid a look, which takes milliseconds: others may want the CPU.
    """

    def __init__(
        self, arrangement: Arrangement, resets: Resets, rest: Callable[[], object]
    ) -> None:
        self._arrangement = arrangement
        self._rest = rest
        self._resets = resets
        self._measured: list[object] = []
        self._cpu_usage: ReadCpuUsage = lambda: None
        self._next_look_ns = _loop.monotonic_ns() + HOUSEKEEPING_NS
        self._next_early_look_ns = 0
        self._took_ns = 0
        """The last look."""
        self.check = SensorCheck(arrangement.settings.window_ns)
        self.drift = 0
        """How much a resynchronisation found the in-kernel sensor off, in CPUs and tasks."""
        self.failed_sensors: set[str] = set()
        self._taken_back = arrangement.others.taken_back()
        """Of the guardian's writes, those that a halt was put down to."""

    def look_early(self) -> None:
        """Has the next poll look: somebody else has written to a file of ours."""
        now_ns = _loop.monotonic_ns()
        if now_ns >= self._next_early_look_ns:
            pause_ns = self._took_ns * HOUSEKEEPING_SHARE
            self._next_early_look_ns = now_ns + max(EARLY_LOOKS_APART_NS, pause_ns)
            self._next_look_ns = now_ns

    def is_due(self) -> bool:
        """Whether the next poll looks. It does so at once after news of libvirt, which says them
        once."""
        now_ns = _loop.monotonic_ns()
        if libvirt_domains.changed():
            self._next_look_ns = now_ns
        return now_ns >= self._next_look_ns

    def poll(self, control: ControlLoop) -> Verdict:
        """Once a second: are the targets there, and is the host as the loop was built for?"""
        began_ns = _loop.monotonic_ns()
        if not self.is_due():
            return Healthy()
        arrangement = self._arrangement
        before = arrangement.primaries
        if arrangement.poll_targets(control.stop):
            return Rearrange()
        if arrangement.primaries is not before:  # its CPUs come first, the rest at the next poll
            return self._others_came(control)
        for target in arrangement.targets.all():
            if not target.alive():
                return Failed(TargetVanished(f"{target.spec}: is gone; everything was given back"))
        self._rest()
        arrangement.mechanism.adopt_newcomers()
        self._rest()
        self.drift += resync(control.loop.sensor)
        control.loop.sensor.excuse_caps(self._have_caps_of_their_own())
        # With exclusive placement a task may not use what is lent: that is the harm.
        control.loop.sensor.mind_affinity(arrangement.settings.placement != "exclusive")
        reasons: dict[str, str | None] = {"sensor": self._check_sensor(began_ns, control)}
        self._rest()
        verdict = self._compare(control, reasons)
        self._took_ns = _loop.monotonic_ns() - began_ns
        pause_ns = min(HOUSEKEEPING_MOST_NS, self._took_ns * HOUSEKEEPING_SHARE)
        least_ns = HOUSEKEEPING_NS * (QUIET_HOUSEKEEPING if control.quiet else 1)
        self._next_look_ns = began_ns + max(least_ns, pause_ns)
        return verdict

    def _have_caps_of_their_own(self) -> bool:
        try:
            return have_caps_of_their_own(self._arrangement.primaries, self._arrangement.elastic)
        except SmartHarvestError:  # of what is gone `_compare` tells
            return False

    def _others_came(self, control: ControlLoop) -> Verdict:
        """After primaries came or went, for which the loop may have been stopped."""
        verdict = self._compare(control, {})
        if control.runs:
            return verdict
        if isinstance(verdict, Rebuild):  # the loop does not know the masks as they are now
            return replace(verdict, keeps_loop=False)
        if isinstance(verdict, Healthy):
            return Rearrange(keeps_arranged=True, reasons=verdict.reasons)
        return verdict

    def _compare(self, control: ControlLoop, reasons: dict[str, str | None]) -> Verdict:
        arrangement = self._arrangement
        try:
            seen = arrangement.poll()
        except (TargetError, ConfigError) as error:
            return Healthy(reasons={**reasons, "host": str(error)})
        reasons["host"] = None
        if self.check.blind_in_a_row >= BLIND_CHECKS and self._steps_down():
            return Rebuild(seen, "the sensor misses too much", keeps_loop=False, reasons=reasons)
        if seen != arrangement.snapshot:
            return Rebuild(seen, _why(arrangement.snapshot, seen), reasons=reasons)
        self._rest()
        return self._other_writer(control, reasons) or Healthy(reasons=reasons)

    def judge_halt(self, control: ControlLoop) -> Verdict:
        """After a halt: another loop if the host or the sensor is why, else what the user reads."""
        arrangement, halt = self._arrangement, control.loop.halt
        assert halt is not None
        what, error = halt
        verdict = self._outdated(error, control)
        if verdict is not None:
            return verdict
        if what == "actuator" and self._met_the_guardian(error):
            return Rebuild(arrangement.snapshot, "the guardian took cores back amid a move")
        sensor = self._sensor_name
        if what == "sensor" and error == errno.ESTALE:
            _log.warning("Other CPUs are online, or the sensor lost sight of one: it starts again")
            return Rebuild(arrangement.poll_what_is_left(), _CHANGED)
        if what == "sensor" and error == errno.ENOLINK and self._steps_down():
            return Rebuild(arrangement.snapshot, _CHANGED, keeps_loop=False)
        if what == "actuator":
            failure = control.loop.actuator.failure()
            assert arrangement.elastic is not None
            writer = arrangement.others.last(failure[0])
            return Failed(actuator_halt(error, failure, arrangement.elastic, writer))
        if what == "sensor":
            return Failed(sensor_halt(error, arrangement.primaries, sensor))
        return Failed(other_halt(what, error))

    def _outdated(self, error: int, control: ControlLoop) -> Verdict | None:
        """What follows from the host as it is now, if that may be why a loop halted; else None.

        Groups below a target come and go, and CPUs go offline. A lost target is no such case.
        """
        arrangement = self._arrangement
        if error not in _OTHER_GROUPS_OR_CPUS:
            return None
        if arrangement.poll_targets(control.stop):
            return Rearrange()
        if not all(target.alive() for target in arrangement.targets.all()):
            return None
        seen = arrangement.poll_what_is_left()
        return None if seen == arrangement.snapshot else Rebuild(seen, _CHANGED)

    def _met_the_guardian(self, error: int) -> bool:
        """Whether the guardian may have written between the loop's write and its reading of the
        set in force. Each of its writes excuses one halt: who keeps another set is foreign."""
        taken_back = self._arrangement.others.taken_back()
        excused, self._taken_back = self._taken_back < taken_back, taken_back
        return excused and error == _actuators.EFFECTIVE_MISMATCH

    def _check_sensor(self, now_ns: int, control: ControlLoop) -> str | None:
        """Compares what the sensor saw with the CPU time of the primaries."""
        primaries = self._arrangement.primaries
        if self._measured != primaries:
            self._measured = list(primaries)
            self._cpu_usage = cpu_usage_of(primaries)
            self.check.start_again()
        seen_ns = control.loop.sensor.busy_core_ns()
        if seen_ns is None:  # a loop knows it up to its last look, and rests between two
            seen_ns = control.counters()["busy_core_ns"]
        return self.check.observe(now_ns, seen_ns, self._cpu_usage())

    def _other_writer(
        self, control: ControlLoop, reasons: Mapping[str, str | None]
    ) -> Verdict | None:
        """What follows if the groups are not as the loop has left them, and stay so."""
        arrangement, loop = self._arrangement, control.loop
        others = arrangement.others
        arrangement.mechanism.confine_foreign_tasks(arrangement.capacity.elastic_cpus(0))
        surprise: Surprise | None = None
        pins: list[ForeignPin] = []
        for _ in range(LOOKS_FOR_OTHERS):
            before = _moves(control)
            pins = others.pins()
            try:
                surprise = others.surprise(before[0])
            except OSError:
                return None  # an unreadable file is met again where it is needed
            if not (surprise or pins) or loop.halt is not None or _moves(control) != before:
                return None
            time.sleep(0.001)  # the loop may be amid a write that it has not counted yet
        if surprise is None:
            return Failed(others.concede_pins(pins), reasons=reasons)
        manager = others.reset_by(surprise)
        if manager is not None and self._resets.may_be_followed(_loop.monotonic_ns()):
            _log.info(
                "%s: %s has written again what was there before, as at a daemon-reload: arranging "
                "it again",
                surprise.written,
                manager,
            )
            return Rearrange(keeps_arranged=True, reasons=reasons)
        return Failed(others.concede(surprise), reasons=reasons)

    @property
    def _sensor_name(self) -> str | None:
        built = self._arrangement.built
        return None if built is None else built.sensing.name

    def _steps_down(self) -> bool:
        """Whether another sensor can take the place of this one, which has failed."""
        name = self._sensor_name
        if name is None or name == RANKING[-1]:
            return False
        self.failed_sensors.add(name)
        if self._arrangement.settings.sensor != "auto":
            return False
        _log.warning("Sensor %s has failed; the next best one takes over", name)
        return True


def _why(before: HostSnapshot, now: HostSnapshot) -> str:
    """What has changed, as far as others' tasks are the reason, with one of them for each CPU."""
    was_lendable, lendable = set(before.capacity.lendable), set(now.capacity.lendable)
    reasons = [
        f"{task} is confined to CPU {cpu}"
        for cpu, task in now.foreign
        if cpu in was_lendable - lendable
    ]
    reasons += [
        f"CPU {cpu} is free of {task}"
        for cpu, task in before.foreign
        if cpu in lendable - was_lendable
    ]
    return ", ".join(reasons) or _CHANGED


def _moves(control: ControlLoop) -> tuple[int, int]:
    """(cores lent, moves of the loop): while they stay, so do the groups."""
    return control.loop.harvested, control.counters()["assignments"]
