"""The control plane's side of the polling loop: windows and periods to the controller, plans back.

It knows the loop, the controller and what is read of the primary's waits; it knows nothing of how
the host is arranged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.controller import Controller
from smartharvest.core import _loop, _sensors
from smartharvest.core._learner import Decider
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from smartharvest.errors import SmartHarvestError
from smartharvest.sensor.dispatches import DispatchReader
from smartharvest.sensor.harm import HarmMeter
from smartharvest.sensor.waits import WaitReader
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.histogram import Histogram, add
from smartharvest.telemetry.recorder import Recorder
from smartharvest.telemetry.status import loop_histograms, sensor_histograms

_log = logging.getLogger(__name__)

LOOK_MS = 300
"""Longest sleep where no window needs an answer of its own; a permit lasts longer."""
QUIET_MS = 600
"""The same where nothing can be lent."""
WAIT_MS = 100
"""Longest sleep otherwise."""
BUDGET_PERIOD_NS = 60_000_000_000
"""So often it is recorded what lending has cost: about as long ago as that counts."""
REST_NS = 500_000_000
"""Longest window where nobody asks for them: each is an interruption."""


def _ignore(_wanted: int | None) -> None:
    """Where nobody keeps CPUs idle, or can freeze."""


class ControlLoop:
    """Answers windows and judges periods of one polling loop after the other.

    ``waits`` reads what the long-term safeguard judges (None: it is off), ``observe`` gets every
    window with its decision, ``recorder`` records them; ``audit`` is for events.
    ``keep_spare`` hears how many CPUs plans have the kernel keep idle, ``keep_frozen`` whether they
    have the elastic side frozen.
    """

    def __init__(
        self,
        controller: Controller,
        waits: WaitReader | None,
        observe: Callable[[Window, Decision], None],
        audit: AuditLog | None,
        recorder: Recorder,
        keep_spare: Callable[[int | None], None] = _ignore,
        keep_frozen: Callable[[bool], None] = _ignore,
    ) -> None:
        self.controller = controller
        self.waits = waits
        self._observe = observe
        self._audit = audit
        self._recorder = recorder
        self._keep_spare = keep_spare
        self._keep_frozen = keep_frozen
        self._frozen: bool | None = None
        """Of the last plan (``Plan.frozen``)."""
        self._dispatches = DispatchReader()
        self.harm = HarmMeter()
        self._past: dict[str, int] = {}
        self._past_histograms: dict[str, Histogram | None] = {}
        self._detached = False
        """Whether ``_past`` contains what the loop has counted."""
        self._past_on_lent_ns = 0
        self._past_displacements = 0
        self._runs = False
        self._hurries = True
        self._rest_ns = 0
        self.quiet = False
        """Whether no window is answered otherwise than the last, and nothing else is in a hurry."""
        self._explanation = ""
        self._budget_due_ns = _loop.monotonic_ns() + BUDGET_PERIOD_NS

    # --- one polling loop after the other ---------------------------------------------------------

    def attach(
        self, loop: _loop.Loop, decider: Decider | None, primaries: Sequence[str] = ()
    ) -> None:
        """Goes on with ``loop``, which has not started; ``decider`` answers its windows in it.

        ``primaries`` are the names of those that its sensor watches, in its order.
        """
        self.loop = loop
        self._watch(primaries)
        self._detached = False
        self._hurries, self._rest_ns = True, 0
        self.decide_with(decider)

    def take_over_from(
        self, sensor: _sensors.Sensor, pool: Collection[int], primaries: Sequence[str]
    ) -> None:
        """Goes on with the sensor that the loop has been given instead of ``sensor``, which is
        closed; ``primaries`` as of ``attach``."""
        self._keep_seen(sensor, pool)
        self._watch(primaries)

    def _watch(self, primaries: Sequence[str]) -> None:
        self.harm.watch(self.loop.sensor, primaries)
        self.loop.sensor.count_minimum(self._frozen is False)
        self._dispatches.watch(len(primaries))
        self.controller.watch(primaries)

    def decide_with(self, decider: Decider | None) -> None:
        """From the loop's next start on ``decider`` answers its windows in it; None: nobody."""
        self.controller.loop_decides = decider is not None
        self.loop.decide_with(decider)

    def start(self) -> None:
        """Starts the loop, for the first time or after ``stop``."""
        self.controller.give_everything_back()  # what a loop starts with, whatever was answered
        self.loop.start()
        self._runs = True

    def stop(self) -> None:
        """Stops the loop, which gives everything back; it can go on."""
        self.loop.stop()
        if not self.controller.loop_decides:
            self.loop.permit(0)
        self._runs = False

    @property
    def runs(self) -> bool:
        """Whether the loop has been started and not stopped; it may have halted."""
        return self._runs

    def detach(self, pool: Collection[int]) -> None:
        """Stops the loop, which gives everything back, and closes its sensor; once for each."""
        if self._detached:
            return
        self.stop()
        self._past_histograms |= self._with_past(loop_histograms(self.loop))
        self._keep_seen(self.loop.sensor, pool)
        self._past, self._detached = self.counters(), True

    def _keep_seen(self, sensor: _sensors.Sensor, pool: Collection[int]) -> None:
        """Takes in what ``sensor`` has seen, and closes it."""
        self._past_on_lent_ns += _on_lent_ns(sensor, pool)
        self._past_displacements += sensor.displacements
        self._past_histograms |= self._with_past(sensor_histograms(sensor))
        self.harm.keep()
        sensor.close()

    def counters(self) -> dict[str, int]:
        """What this loop and those before it have counted (csrc/loop/loop.h)."""
        if self._detached:
            return self._past
        return {
            name: self._past.get(name, 0) + value for name, value in self.loop.counters().items()
        }

    def histograms(self) -> dict[str, Histogram | None]:
        """The durations that this loop and those before it have met: moves, lateness, waits."""
        if self._detached:
            return self._past_histograms
        return self._with_past(
            {**loop_histograms(self.loop), **sensor_histograms(self.loop.sensor)}
        )

    def _with_past(self, now: Mapping[str, Histogram | None]) -> dict[str, Histogram | None]:
        return {name: add(self._past_histograms.get(name), one) for name, one in now.items()}

    def on_lent_ns(self, pool: Collection[int]) -> int:
        """How long primary tasks have run on lent cores; 0 without the in-kernel sensor."""
        if self._detached:
            return self._past_on_lent_ns
        return self._past_on_lent_ns + _on_lent_ns(self.loop.sensor, pool)

    @property
    def displacements(self) -> int:
        """How often an elastic task got a CPU that others waited for."""
        now = 0 if self._detached else self.loop.sensor.displacements
        return self._past_displacements + now

    # --- a turn -----------------------------------------------------------------------------------

    def wait(self, most_ms: float, other_fd: int, *, prompt: bool, may_rest: bool = True) -> bool:
        """Until a window needs an answer, ``other_fd`` is readable, or it is time for a look; False
        for the last. With ``may_rest`` both may be rare where nothing is in a hurry."""
        now_ns = _loop.monotonic_ns()
        controller = self.controller
        lends = controller.hurries(now_ns)
        hurries = lends and not controller.steady
        if hurries != self._hurries:
            self._hurries = hurries
            self.loop.hurry(hurries)
        prompt |= self.loop.sensor.wants_visits
        self.quiet = may_rest and not (hurries or prompt)
        rests = self.quiet and controller.rests and not self._recorder.every
        rest_ns = REST_NS if rests else 0
        if rest_ns != self._rest_ns:
            self._rest_ns = rest_ns
            self.loop.rest(rest_ns)
        prompt |= hurries and not controller.loop_decides
        if controller.wants_dispatches:
            most_ms = min(most_ms, -(-self._dispatches.left_ns(controller, now_ns) // 1_000_000))
        judgement_ms = (
            QUIET_MS if self.waits is None else -(-self.waits.left_ns(now_ns) // 1_000_000)
        )
        look_ms = QUIET_MS if self.quiet and not lends else LOOK_MS
        timeout_ms = min(WAIT_MS if prompt else look_ms, int(most_ms), judgement_ms)
        return self.loop.wait(max(0, timeout_ms), other_fd)

    def answer_windows(self) -> bool:
        """Answers every window that has come in, if any: the loop takes up the newest plan."""
        came = False
        while (taken := self.loop.take_answered()) is not None:
            came = True
            window, loop_answer = taken
            if self.waits is not None:
                self.waits.note(window)
            answer = self.controller.on_window(window, loop_answer)
            if answer is None:
                continue
            if answer.plan is not None:
                self._keep_spare(answer.plan.spare)
                self.loop.post(answer.plan)
                self._keep_minimum(answer.plan.frozen)
            self._recorder.decision(
                window, answer.decision, self.loop.harvested, answer.inhibited_by
            )
            self._observe(window, answer.decision)
        self._note_explanation()
        return came

    def judge_period(self, primary_threads: Callable[[], list[int]]) -> None:
        """The long-term safeguard, once its period is over."""
        now_ns = _loop.monotonic_ns()
        if self.waits is None or self.waits.left_ns(now_ns) > 0:
            return
        waits = self.waits.read(now_ns, primary_threads, self.loop.sensor, self.loop.harvested)
        if waits is not None:
            self._recorder.waits(waits)
            self._give_back(self.controller.on_period(now_ns, waits))

    def renew_permit(self) -> None:
        """Lets a loop that decides by itself, or has a steady plan, lend for a while, as far as
        anything may be lent."""
        if self.controller.loop_decides or self.controller.steady:
            self.loop.permit(self.controller.permit_until_ns(_loop.monotonic_ns()))

    def read_dispatches(self) -> None:
        """Hands a policy that asks for them the dispatches of the last period."""
        dispatches = self._dispatches.read(self.controller, self.loop, _loop.monotonic_ns())
        if dispatches is not None:
            self.controller.on_dispatches(dispatches)

    def read_harm(self) -> None:
        """Records what the primaries have met, once a period."""
        period = self.harm.read_period(_loop.monotonic_ns())
        if period is not None and self._audit is not None:
            for name, harm in period.items():
                self._audit.event("harm", primary=name, **harm.describe())

    def note_budget(self) -> None:
        """Records what lending has cost in each minute, where the policy judges that."""
        now_ns = _loop.monotonic_ns()
        if self._audit is None or now_ns < self._budget_due_ns:
            return
        self._budget_due_ns = now_ns + BUDGET_PERIOD_NS
        if (kept := self.controller.budget) is not None:
            for name, spent in kept.items():
                self._audit.event("budget", primary=name, **asdict(spent))

    def inhibit(self, reasons: Mapping[str, str | None]) -> None:
        """Lends nothing while any cause has a reason; see ``Controller.inhibit``."""
        for cause, reason in reasons.items():
            self._give_back(self.controller.inhibit(cause, reason))

    def give_everything_back(self) -> None:
        """At once, instead of with the next window's answer."""
        self._give_back(self.controller.give_everything_back())

    def _give_back(self, plan: Plan | None) -> None:
        if plan is None:
            return
        self.loop.permit(0)
        self.loop.post(plan)
        self._keep_minimum(plan.frozen)

    def _keep_minimum(self, frozen: bool | None) -> None:
        """What the elastic side has with nothing lent is frozen, or counts as lent, or neither."""
        if frozen == self._frozen:
            return
        self._frozen = frozen
        try:
            self._keep_frozen(bool(frozen))
        except SmartHarvestError as error:
            _log.warning("%s; the elastic group keeps its minimum", error)
        self.loop.sensor.count_minimum(frozen is False)

    def _note_explanation(self) -> None:
        """What a policy that explains itself says, whenever that changes."""
        why = self.controller.explanation
        if why == self._explanation:
            return
        self._explanation = why
        if why:
            name = self.controller.policy.name
            _log.info("%s: %s", name, why)
            if self._audit is not None:
                self._audit.event("policy", name=name, why=why)

    def change_wait_reader(self, waits: WaitReader | None) -> None:
        """Another reader of waits from now on."""
        self.close()
        self.waits = waits

    def close(self) -> None:
        """Closes what reads the waits."""
        if self.waits is not None:
            self.waits.close()


def _on_lent_ns(sensor: _sensors.Sensor, pool: Collection[int]) -> int:
    """How long primary tasks have run on CPUs of ``pool`` while they were lent."""
    return sum(lent_ns for _, lent_ns in map(sensor.primary_times_ns, pool))
