"""The control plane's side of the loop: from the windows it takes to the plans it posts."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smartharvest.agent.admin import Steering
from smartharvest.agent.deciders import long_term_of
from smartharvest.agent.halts import explain_halt
from smartharvest.agent.host_watch import HostWatch
from smartharvest.agent.promise import HarvestMonitor
from smartharvest.agent.report import Report
from smartharvest.algorithm.algorithm1 import Agent, Decision
from smartharvest.algorithm.inhibit import Rest
from smartharvest.algorithm.policy import LENDS_NOTHING, Policy
from smartharvest.algorithm.policy.fallback import explanation, fallback_steps
from smartharvest.config.settings import Settings
from smartharvest.core import _loop, _sensors
from smartharvest.core.window import Window
from smartharvest.errors import (
    ConfigError,
    SmartHarvestError,
)
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.process.priority import ControlPlanePriority
from smartharvest.placement.snapshot import Survey
from smartharvest.sensor.dispatches import DispatchWatch, judges_waits
from smartharvest.sensor.waits import WaitWatch
from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import ControlSocket
from smartharvest.telemetry.status import AgentState, describe

if TYPE_CHECKING:
    from smartharvest.agent.session import Session

_log = logging.getLogger(__name__)

PERMIT_MS = 500
"""For how long a loop that decides itself may lend after the last look of the control plane."""
LOOK_MS = 250
"""How often that looks where no window needs an answer of its own: the loop decides itself, or
nothing can be lent."""
WAIT_MS = 100
"""Longest sleep otherwise."""
CHORES_NS = 50_000_000
"""How often beats, the guardian and the socket's clients have their turn while windows come."""
PUBLISH_S = 1.0
_OF_THE_POLICY = frozenset({"policy", "safeguard"})
"""Settings that concern the policy alone: the loop need not start anew."""


def _changed_fields(old: Settings, new: Settings) -> set[str]:
    names = (item.name for item in dataclasses.fields(Settings))
    return {name for name in names if getattr(old, name) != getattr(new, name)}


class Run:
    """One run of a session: the control plane's side of the loop."""

    def __init__(
        self, session: Session, agent: Agent, observe: Callable[[Window, Decision], None]
    ) -> None:
        self._session = session
        self._agent = agent
        self._observe = observe
        self._learner = getattr(agent.policy, "learner", None)
        """What a policy without one leaves to the next that learns."""
        self._lessons = 0
        self._past: dict[str, int] = {}
        self._counted: _loop.Loop | None = None
        """The loop that ``_past`` contains already."""
        self._waits = self._watch_waits()
        self._answered: tuple[Window, Decision] | None = None
        self._dispatches = DispatchWatch()
        self._told_why = ""
        self._decides_itself = False
        self._hurries = True
        self._chores_ns = 0
        self._priority = ControlPlanePriority()
        self._rest = Rest()
        self._publish_s = 0.0
        self._monitor = HarvestMonitor(
            session.capacity.elastic_min,
            session.settings.promise_hold_ns // 1_000_000_000,
            session.settings.promise_probability,
        )
        self._host_watch = HostWatch(session, self)
        self._displacements = self._primary_on_lent_ns = 0

    def run(
        self, seconds: float | None, started: Callable[[], None], finished: Callable[[], None]
    ) -> Report:
        session = self._session
        self.loop = self._make_loop()
        cpu_s, began = time.process_time(), time.monotonic()
        self._began = cpu_s, began
        steering = Steering(session, self)
        control = self._listen(steering)
        self._rest.because("operator", session.held)
        try:
            self.loop.start()
            self._enter_running()
            self._say_scheduling()
            started()
            while not session.stopped and (seconds is None or time.monotonic() - began < seconds):
                left_ms = LOOK_MS if seconds is None else (began + seconds - time.monotonic()) * 1e3
                self._wait(left_ms, control)
                came = self._answer()
                now_ns = _loop.monotonic_ns()
                if now_ns >= self._chores_ns or not came:
                    self._chores_ns = now_ns + CHORES_NS
                    session.beat()
                    self._look_after_guardian()
                    session.other_writers.look()
                    if control is not None:
                        control.serve()
                self._judge_waits()
                self._permit()
                self._dispatches.look(self._agent.policy, self.loop, now_ns)
                self.loop.sensor.attend()
                if self.loop.halt is not None:
                    self._host_watch.go_on_or_explain()
                if session.moves_threads:
                    self._follow_births()
                self._host_watch.look()
                if time.monotonic() >= self._publish_s:
                    self._publish_s = time.monotonic() + PUBLISH_S
                    self._publish()
                if session.reload_requested:
                    session.reload_requested = False
                    with contextlib.suppress(ConfigError):  # it has been told
                        steering.reload()
                steering.look_after_restart()
            finished()
        finally:
            self._priority.put_back()
            session.enter_phase(Phase.HANDING_OVER if session.handing_over else Phase.ENDING)
            # Stopped and closed before anything is restored: a loop that still ran would write on,
            # and one that still held its descriptors might leave none to restore with.
            self._close_loop()
            if control is not None:
                control.close()
            steering.close()
            if self._waits is not None:
                self._waits.close()
        elapsed_s = time.monotonic() - began
        if self.loop.halt is not None and self._host_watch.outdated_by() is None:
            explain_halt(self._session, self.loop)
        return self._report(elapsed_s, time.process_time() - cpu_s)

    def _make_loop(self) -> _loop.Loop:
        loop = self._session.make_loop()
        self._session.watch_writers()
        decider = self._session.make_decider(self._agent.policy)
        self._decides_itself = decider is not None
        self._hurries = True
        if decider is not None:
            loop.decide_with(decider)
        return loop

    def _wait(self, most_ms: float, control: ControlSocket | None) -> None:
        """Until a window needs an answer, somebody asks, or it is time to look."""
        hurries = self._decides_itself or self._can_lend()
        if hurries != self._hurries:
            self._hurries = hurries
            self.loop.hurry(hurries)
        prompt = self._session.moves_threads or isinstance(self.loop.sensor, _sensors.PerfSensor)
        look_ms = WAIT_MS if prompt or (hurries and not self._decides_itself) else LOOK_MS
        timeout_ms = min(look_ms, int(most_ms), self._judgement_ms())
        self.loop.wait(max(0, timeout_ms), -1 if control is None else control.fileno())

    def _can_lend(self) -> bool:
        """Whether anything might be lent for what a window is answered."""
        return self._may_lend(_loop.monotonic_ns()) and (
            self._session.capacity.max_shared > 0 and self._agent.policy.name != LENDS_NOTHING
        )

    def _may_lend(self, now_ns: int) -> bool:
        """Whether neither safeguards nor any other reason stand against it."""
        long_term = self._agent.long_term
        return self._rest.reason is None and (long_term is None or long_term.harvesting(now_ns))

    def _permit(self) -> None:
        """Lets a loop that decides itself lend for a while."""
        if self._decides_itself:
            now_ns = _loop.monotonic_ns()
            lasts_ns = max(4 * self._session.settings.window_ns, PERMIT_MS * 1_000_000)
            self.loop.permit(now_ns + lasts_ns if self._may_lend(now_ns) else 0)

    def _watch_waits(self) -> WaitWatch | None:
        long_term, settings = self._agent.long_term, self._session.settings
        if long_term is None:
            return None
        return WaitWatch(
            long_term,
            self._agent.total,
            attributed=settings.long_term in ("auto", "attributed"),
            wait_source=settings.waits,
        )

    def _close_loop(self) -> None:
        self.loop.stop()
        sensor = self.loop.sensor
        if isinstance(sensor, _sensors.BpfSensor):
            self._displacements += sensor.displacements
        self._primary_on_lent_ns = self._on_lent_ns(sensor)
        sensor.close()

    def _on_lent_ns(self, sensor: _sensors.Sensor) -> int:
        """How long primary tasks have run on lent cores, by this sensor and those before it."""
        now_ns = 0
        if isinstance(sensor, _sensors.BpfSensor):
            pool = self._session.capacity.pool
            now_ns = sum(sensor.primary_times_ns(cpu)[1] for cpu in pool)
        return self._primary_on_lent_ns + now_ns

    def _listen(self, steering: Steering) -> ControlSocket | None:
        path = socket_path(self._session.settings.state_dir, os.getpid())
        try:
            commands = {
                "status": lambda _arguments: describe(self._state()),
                "capacity": lambda _arguments: self._tell_capacity(),
                **steering.commands(),
            }
            return ControlSocket(path, commands)
        except OSError as error:
            _log.warning("%s: %s; this agent has no status", path, error.strerror)
            return None

    def _publish(self) -> None:
        """Once a second: to the Harvest Monitor, and to whoever reads the metrics."""
        seen = self._tell_capacity()
        if self._session.metrics is not None:
            self._session.metrics.update(describe(self._state()), seen)

    def _tell_capacity(self) -> dict[str, Any]:
        """What this node can promise a cluster engine (cluster/monitor.py)."""
        now_ns, loop, long_term = _loop.monotonic_ns(), self.loop, self._agent.long_term
        withdrawn = self._rest.reason
        if withdrawn is None and long_term is not None and long_term.rest_left_ns(now_ns) > 0:
            withdrawn = "the long-term safeguard rests"
        self._monitor.observe(now_ns, self.counters()["harvested_core_ns"], withdrawn)
        return self._monitor.told(now_ns, loop.harvested, self._session.capacity.max_harvest)

    def _state(self) -> AgentState:
        session = self._session
        cpu_s, began = self._began
        return AgentState(
            settings=session.settings,
            survey=session.survey,
            agent=self._agent,
            loop=self.loop,
            counters=self.counters(),
            sensing=session.sensing,
            failed_sensors=frozenset(session.failed_sensors),
            drift=self._host_watch.drift,
            check=self._host_watch.check,
            answered=self._answered,
            waits=self._waits.last if self._waits else None,
            waits_unreadable=self._waits.unreadable if self._waits else "long_term is off",
            resting=self._rest.reason,
            primary_on_lent_ns=self._on_lent_ns(self.loop.sensor),
            give_backs=self._give_backs(),
            seconds=time.monotonic() - began,
            cpu_seconds=time.process_time() - cpu_s,
            lessons=self._lessons,
            births=births.told() if (births := session.births) else None,
            generation=session.generation,
            restart_refused=session.restart_refused,
            warnings=session.warnings,
        )

    def _say_scheduling(self) -> None:
        """Tells of a loop that did not get the scheduling it was to have."""
        settings = self._session.settings
        if not settings.realtime or settings.pacing == "spin":
            return
        while self.loop.scheduling is None:  # its thread is about to find out
            time.sleep(0.0001)
        if self.loop.scheduling != "fifo":
            _log.warning(
                "SCHED_FIFO was refused (no CAP_SYS_NICE, or a cpu group without real-time "
                "budget): the loop runs as %s and may be late by milliseconds under load",
                self.loop.scheduling,
            )

    def _answer(self) -> bool:
        """Decides on every window that has come in, if any: the loop takes up the newest answer."""
        came = False
        while (taken := self.loop.take_answered()) is not None:
            came = True
            window, answer = taken
            if self._waits is not None:
                self._waits.note(window)
            if answer is not None:
                decision = self._agent.decided(window, *answer)
            elif self._decides_itself:
                continue  # it could not, for the model was being saved: the next one will do
            else:
                decision = self._agent.decide(window)
            why_not = self._rest.reason
            if answer is not None:
                pass  # it is in force already, or not permitted
            elif why_not is None:
                self.loop.post(
                    decision.seq,
                    decision.primary_cores,
                    decision.safe_cores,
                    decision.buffer,
                    decision.quiet_ns,
                    decision.shared,
                )
            else:
                total = self._agent.total
                self.loop.post(decision.seq, total, total)
            self._answered = window, decision
            self._lessons += decision.label is not None
            if self._session.audit is not None:
                self._session.audit.decision(window, decision, self.loop.harvested, why_not)
            self._observe(window, decision)
        self._tell_why()
        return came

    def _tell_why(self) -> None:
        """What a policy that explains itself says, whenever that changes."""
        policy = self._agent.policy
        why = explanation(policy)
        if why != self._told_why:
            self._told_why = why
            if why:
                _log.info("%s: %s", policy.name, why)
                self._session.audit_event("policy", name=policy.name, why=why)

    def _judgement_ms(self) -> int:
        """Until the long-term safeguard's period ends, rounded up."""
        if self._waits is None:
            return LOOK_MS
        return -(-self._waits.left_ns(_loop.monotonic_ns()) // 1_000_000)

    def _judge_waits(self) -> None:
        """The long-term safeguard, after the windows are answered and without waiting for one."""
        now_ns = _loop.monotonic_ns()
        if self._waits is None or self._waits.left_ns(now_ns) > 0:
            return
        session, loop = self._session, self.loop
        tripped = self._waits.judge(
            now_ns,
            session.primary_threads,
            loop.sensor,
            loop.harvested,
            only_stuck=session.settings.long_term == "auto" and judges_waits(self._agent.policy),
        )
        if tripped:
            self._lend_nothing()

    def _look_after_guardian(self) -> None:
        keeper = self._session.keeper
        if keeper is not None:
            self.rest_because("guardian", keeper.check())

    def _lend_nothing(self) -> None:
        """At once, instead of with the next window's answer."""
        if self._decides_itself:
            self.loop.permit(0)
        if self._answered is not None:
            total = self._agent.total
            self.loop.post(self._answered[1].seq, total, total)

    def _follow_births(self) -> None:
        """Takes along what an elastic process has started."""
        session = self._session
        smallest = session.capacity.elastic_cpus(0)
        self.rest_because("births", session.follow(self.loop.actuator, smallest))

    def rest_because(self, cause: str, reason: str | None) -> None:
        """Lends nothing from now on for this ``reason``, if it is one and the first."""
        if self._rest.because(cause, reason):
            self._lend_nothing()

    def hold(self, reason: str | None) -> None:
        """Lends nothing from now on because the operator says so (None: lends again)."""
        self._session.held = reason
        self.rest_because("operator", reason)

    def take_up(self, new: Settings) -> None:
        """Goes on with other settings, of which only LIVE ones differ.

        Raises what a start with them would raise; the old ones are in force then.
        """
        session, agent = self._session, self._agent
        old, changed = session.settings, _changed_fields(session.settings, new)
        if not changed:
            return
        session.settings, policy = new, agent.policy
        try:
            seen = session.look()
            if changed & _OF_THE_POLICY:
                agent.policy = session.make_policy()
                self._go_on_learning(agent.policy)
            decides = self._decides_itself or session.make_decider(agent.policy) is not None
            if changed - _OF_THE_POLICY or decides:
                self.rebuild(seen, "the configuration has changed")
        except (SmartHarvestError, OSError):
            session.settings, agent.policy = old, policy
            if self._counted is self.loop:  # stopped, and no other in its place
                self.rebuild(session.look(), "the configuration stays")
            raise
        agent.keep_idle = seen.capacity.keep_idle
        if any(name.startswith("long_term") or name == "waits" for name in changed):
            agent.long_term = long_term_of(session.settings)
            if self._waits is not None:
                self._waits.close()
            self._waits = self._watch_waits()

    def _go_on_learning(self, policy: Policy) -> None:
        """What was learned stays: what all learners of a run are made from takes a new run."""
        if getattr(policy, "learner", None) is None:
            return
        if self._learner is not None:
            policy.learner = self._learner  # type: ignore[attr-defined]
        self._learner = policy.learner  # type: ignore[attr-defined]

    def rebuild(self, seen: Survey, why: str) -> None:
        """Goes on with a loop for the host as ``seen``, or ends for a session that can."""
        session = self._session
        if session.was_made_again(seen):
            _log.warning("a group was removed and made again: starting anew with its originals")
            session.replacement = session.settings
            session.stop()
            return
        if seen.capacity.total != session.capacity.total and session.participants.may_change:
            _log.info("the primaries now share %d cores: starting anew", seen.capacity.total)
            session.replacement = session.settings
            session.stop()
            return
        if seen.capacity.total != session.capacity.total:
            _log.warning(
                "the cores to share went from %d to %d: starting anew with those",
                session.capacity.total,
                seen.capacity.total,
            )
            self._lend_nothing()
            session.hand_over(restarting=False)
            return
        _log.info("%s: the loop starts anew", why)
        self._priority.put_back()  # new threads of the loop inherit it
        session.enter_phase(Phase.ARRANGING)
        self._close_loop()
        self._past, self._counted = self.counters(), self.loop
        session.make_room(seen)
        self._host_watch.check.start_anew()
        self.loop = self._make_loop()
        self.loop.start()
        self._enter_running()

    def _enter_running(self) -> None:
        self._session.enter_phase(Phase.RUNNING)
        if not self._session.is_made_tree:  # nobody runs there whom it could be in the way of
            self._priority.lower(self._session.settings.control_priority)

    def _give_backs(self) -> dict[str, int]:
        """How often doubt took the cores back, by reason; see docs/operations.md."""
        counters = self.counters()
        return {
            "plan expired": counters["plans_expired"],
            "stale window": counters["stale_windows"],
            **self._session.guardian_counts(),
            **self._rest.counts,
        }

    def counters(self) -> dict[str, int]:
        """Of this loop and those before it."""
        if self._counted is self.loop:
            return self._past
        return {
            name: self._past.get(name, 0) + value for name, value in self.loop.counters().items()
        }

    def _report(self, elapsed_s: float, cpu_s: float) -> Report:
        loop, agent = self.loop, self._agent
        n = self.counters()
        polled_ns = max(1, n["polled_ns"])
        return Report(
            policy=agent.policy.name,
            sensor=self._session.sensing.name if self._session.sensing else "none",
            sensor_drift=self._host_watch.drift,
            displacements=self._displacements,
            primary_on_lent_cores=self._primary_on_lent_ns / polled_ns,
            scheduling=loop.scheduling or "none",
            seconds=elapsed_s,
            total=agent.total,
            windows=n["windows"],
            harvested_cores=n["harvested_core_ns"] / polled_ns,
            busy_cores=n["busy_core_ns"] / polled_ns,
            short_safeguards=n["short_safeguards"],
            long_safeguards=agent.long_term.trips if agent.long_term else 0,
            assignments=n["assignments"],
            polls=n["polls"],
            late_polls=n["late_polls"],
            missed_polls=n["missed_polls"],
            lateness_us={
                name: loop.lateness_ns(q) / 1e3
                for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
            },
            plans_expired=n["plans_expired"],
            stale_windows=n["stale_windows"],
            dropped_windows=n["dropped_windows"],
            wake_ups=n["wake_ups"],
            lessons=self._lessons,
            agent_cpu_seconds=cpu_s,
            fallbacks=fallback_steps(agent.policy),
            give_backs=self._give_backs(),
        )
