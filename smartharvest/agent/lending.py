"""The lending of one run: a polling loop for the host as it is, moved or replaced as that changes.

It knows neither what the operator asks for nor when a run ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.deciders import decider_of
from smartharvest.agent.host_watch import HostWatch
from smartharvest.core._learner import Decider
from smartharvest.errors import TargetVanished
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.process.priority import ControlPlanePriority
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)


class Lending:
    """Attaches loops for the host of ``arrangement`` to ``control``, and starts and stops them.

    ``watch`` knows which sensors have failed, ``audit`` gets a kind and details of what is done,
    ``progress`` is called amid what takes long. The control plane's thread makes and calls it.
    """

    def __init__(
        self,
        arrangement: Arrangement,
        control: ControlLoop,
        watch: HostWatch,
        audit: Callable[..., None],
        progress: Callable[[], None],
    ) -> None:
        self._arrangement = arrangement
        self._control = control
        self._watch = watch
        self._audit = audit
        self._progress = progress
        self._priority = ControlPlanePriority()
        self._attach_loop()
        self._set_limits()

    def start(self) -> None:
        """Starts the loop that is attached."""
        self._control.start()
        self._arrangement.enter_phase(Phase.RUNNING)
        self._lower_priority()

    def stop(self, phase: Phase) -> None:
        """Stops the loop, which gives everything back; the guardian hears of ``phase`` before."""
        self._priority.put_back()  # new threads of the loop inherit it
        self._arrangement.enter_phase(phase)
        self._control.stop()

    def end(self, phase: Phase) -> None:
        """Stops the loop for good, and closes its sensor."""
        self._priority.put_back()
        self._arrangement.enter_phase(phase)
        self._control.detach(self._arrangement.capacity.pool)

    def change_priority(self) -> None:
        """Takes up another ``control_priority``."""
        self._priority.put_back()
        self._lower_priority()

    def go_on(
        self, seen: HostSnapshot, why: str, keeps_loop: bool, *, same_masks: bool = True
    ) -> None:
        """Lends the cores of the host as ``seen``, with the same loop or another one.

        A group that goes meanwhile is left out. Raises TargetVanished if a target has gone.
        """
        try:
            self._go_on(seen, why, keeps_loop, same_masks=same_masks)
        except TargetVanished:
            seen = self._arrangement.poll()
            self._go_on(seen, why, keeps_loop=False, same_masks=False)

    def _go_on(self, seen: HostSnapshot, why: str, keeps_loop: bool, *, same_masks: bool) -> None:
        control, arrangement = self._control, self._arrangement
        decider = self._make_decider()
        other = None
        if keeps_loop:  # the loop goes on lending meanwhile, as long as its plan holds
            other = arrangement.sense_otherwise(seen, self._watch.failed_sensors)
        if (
            keeps_loop
            and other is None
            and same_masks
            and seen == arrangement.snapshot
            and not (control.controller.loop_decides or decider)
        ):
            control.controller.keep_idle = arrangement.capacity.keep_idle
            return  # the next plan is all it takes
        self.stop(Phase.ARRANGING)
        keeps_loop = keeps_loop and control.loop.halt is None  # its last write may be refused
        if other is not None and not (keeps_loop and arrangement.can_sense_by(other)):
            other.sensor.close()  # the next loop has one of its own
            keeps_loop = False
        if not keeps_loop:
            arrangement.leave_what_it_may_have(seen)
            control.detach(arrangement.capacity.pool)
        done = "lending other cores" if keeps_loop else "the loop starts again"
        _log.info("%s: %s", done[0].upper() + done[1:], why)
        self._audit(done, why=why)
        arrangement.rearrange(seen)
        if keeps_loop:
            before = control.loop.sensor
            arrangement.change_loop(other)
            if other is not None:
                self._watch.check.start_again()
                control.take_over_from(before, arrangement.capacity.pool, self._primary_names())
            control.decide_with(decider)
        else:
            self._watch.check.start_again()
            self._attach_loop()
        self._set_limits()
        self.start()

    def _attach_loop(self) -> None:
        self._progress()  # a sensor's programs are checked by the kernel before they run
        built = self._arrangement.built
        known = None if built is None else built.sensing.name
        built = self._arrangement.make_loop(self._watch.failed_sensors, known)
        self._control.attach(built.loop, self._make_decider(), self._primary_names())

    def _make_decider(self) -> Decider | None:
        """What decides in the loop as the policy would; None where only the control plane can."""
        arrangement, policy = self._arrangement, self._control.controller.policy
        return decider_of(arrangement.settings, policy, arrangement.capacity.keep_idle)

    def _set_limits(self) -> None:
        controller, capacity = self._control.controller, self._arrangement.capacity
        controller.keep_idle = capacity.keep_idle
        controller.can_lend = capacity.max_shared > 0

    def _primary_names(self) -> list[str]:
        return [str(target.spec) for target in self._arrangement.primaries]

    def _lower_priority(self) -> None:
        if self._arrangement.tree.runs_tasks:  # otherwise nobody runs there whom it could hold up
            self._priority.lower(self._arrangement.settings.control_priority)

    def report_scheduling(self) -> None:
        """Warns of a loop that did not get the scheduling it was to have."""
        settings, loop = self._arrangement.settings, self._control.loop
        if not settings.realtime or settings.pacing == "spin":
            return
        while loop.scheduling is None:  # its thread is about to find out
            time.sleep(0.0001)
        if loop.scheduling != "fifo":
            _log.warning(
                "SCHED_FIFO was refused (no CAP_SYS_NICE, or a cpu group without real-time "
                "budget): the loop runs as %s and may be late by milliseconds under load",
                loop.scheduling,
            )
