"""The agent from its start to its end: one arrangement of the host after the other."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from smartharvest.agent.admin import Load
from smartharvest.agent.backoff import Backoff
from smartharvest.agent.model_store import PolicyStores
from smartharvest.agent.outcome import Ended, Outcome, Reexec, Restart, StepAside
from smartharvest.agent.reexec import SIGNALS, HandoffState, replace_program
from smartharvest.agent.report import Report
from smartharvest.agent.supervisor import Supervisor
from smartharvest.agent.web_page import WebPage
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy import Policy
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.errors import CpusLost, SmartHarvestError, TargetError, TargetVanished
from smartharvest.guardian import stacks
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.writes import ForeignWrite
from smartharvest.placement.target_set import has_primaries, may_come_back

_log = logging.getLogger(__name__)

CPUS_MAY_COME_BACK_S = 5.0
"""How soon it is tried again to share what CPUs there are."""
PRIMARIES_COME_AND_GO_S = 1.0
"""The same of primaries, at first: while the agent steps aside the batch is not confined."""
_LOOK_S = 0.1
"""How soon a signal is seen while the agent steps aside."""


def run_agent(
    settings: Settings,
    load: Load,
    observe: Callable[[Window, Decision], None],
    left: HandoffState | None = None,
) -> Report | None:
    """Lends until SIGINT or SIGTERM, or for ``settings.duration_ns``; the last run's report.

    None if no run has come to its end: the agent was stopped while it stepped aside.

    SIGHUP calls ``load``, which raises ConfigError for what it refuses; SIGUSR2 replaces the
    program. ``observe`` gets every window with its decision; ``left`` is what the program before
    this one has handed off. Raises what Supervisor raises.
    """
    return _Lifecycle(load, observe, left).run(settings, left)


@dataclass(frozen=True)
class _Start:
    """What the next arrangement begins with."""

    settings: Settings
    left: HandoffState | None = None
    cpus_come_and_go: bool = False
    instead: Settings | None = None
    """What was in force before, in case ``settings`` are refused."""
    apart: bool = False
    """See Restart."""


class _Lifecycle:
    """What lasts from one arrangement to the next."""

    def __init__(
        self,
        load: Load,
        observe: Callable[[Window, Decision], None],
        left: HandoffState | None,
    ) -> None:
        self._load = load
        self._observe = observe
        self._signals = _Signals()
        self._backoff = Backoff()
        self._gone_backoff = Backoff(PRIMARIES_COME_AND_GO_S)
        self._ran_s = 0.0 if left is None else left.ran_s
        self._usual_cores = 0 if left is None else left.usual_cores
        self._before: Supervisor | None = None
        self._report: Report | None = None
        """Of the last run that has one."""
        self._page = WebPage()

    def run(self, settings: Settings, left: HandoffState | None) -> Report | None:
        """One arrangement after the other; the report of the last that has one."""
        try:
            return self._run(_Start(settings, left))
        finally:
            self._page.close()

    def _run(self, start: _Start) -> Report | None:
        while True:
            outcome = self._run_once(start)
            supervisor = self._before
            assert supervisor is not None
            settings = supervisor.settings
            self._signals.ask_again(supervisor.unanswered)
            match outcome:
                case StepAside() as aside:
                    if not self._step_aside(aside, supervisor):
                        return self._report
                    come_and_go = not isinstance(aside.why, ForeignWrite)
                    start = _Start(settings, cpus_come_and_go=come_and_go)
                case Ended(report):
                    return report
                case Restart(report, new, apart=apart) if supervisor.left is None:
                    if self._signals.ending:
                        return report
                    start = _Start(new, instead=settings, apart=apart)
                case Restart(report, _) | Reexec(report):
                    left = supervisor.left
                    if left is not None:
                        left = replace(left, ran_s=self._ran_s, usual_cores=self._usual_cores)
                    if self._signals.ending:
                        if left is not None:
                            left.give_back()
                        return report
                    if isinstance(outcome, Reexec):
                        supervisor.service.handing_over()
                        self._page.close()
                        replace_program(left)
                    apart = isinstance(outcome, Restart) and outcome.apart
                    start = _Start(settings, left, apart=apart)

    def _run_once(self, start: _Start) -> Outcome:
        """One arrangement from its start to its end."""
        began_s = time.monotonic()
        try:
            with ExitStack() as saving, ExitStack() as stack:
                supervisor = self._enter(stack, start)
                self._signals.reach(supervisor)
                settings = supervisor.settings
                left_s = None
                if settings.duration_ns is not None:
                    left_s = max(0.0, settings.duration_ns / 1e9 - self._ran_s)
                policy = supervisor.make_policy()
                total = supervisor.capacity.total
                self._usual_cores = self._usual_cores or total
                stores = PolicyStores(total, self._usual_cores)
                keep = partial(_keep, stores, supervisor)
                keep(policy)
                saving.callback(stores.save)  # only after the host is given back
                outcome = supervisor.run(
                    policy,
                    seconds=left_s,
                    started=partial(_report_start, supervisor),
                    observe=partial(_observe, stores, self._observe),
                    took_over=keep,
                )
                self._ran_s += outcome.report.seconds
                self._report = outcome.report
                return outcome
        except (ForeignWrite, TargetError, TargetVanished) as error:
            if not isinstance(error, ForeignWrite | CpusLost) and not self._may_go_on(start):
                raise
            ran_s = time.monotonic() - began_s
            self._ran_s += ran_s
            return StepAside(error, ran_s)

    def _step_aside(self, aside: StepAside, before: Supervisor) -> bool:
        """Waits until sharing may be tried again; False if the agent is to end, which is no failure
        then: everything has been given back."""
        match aside:
            case StepAside(ForeignWrite() as why, ran_s):
                return self._signals.wait(why, self._backoff.next_wait_s(ran_s), before)
            case StepAside(CpusLost() as why):
                return self._signals.wait(why, CPUS_MAY_COME_BACK_S, before)
            case StepAside(why, ran_s):
                there = partial(has_primaries, before.settings)
                return self._signals.wait(why, self._gone_backoff.next_wait_s(ran_s), before, there)

    def _may_go_on(self, start: _Start) -> bool:
        """Whether only primaries are missing that come and go, and it has lent before."""
        if not self._usual_cores:
            return False
        return may_come_back(start.settings)

    def _enter(self, stack: ExitStack, start: _Start) -> Supervisor:
        """A supervisor for the settings; or for those before, if these are refused."""
        try:
            return stack.enter_context(self._make(start))
        except SmartHarvestError as error:
            if start.instead is None:
                raise
            _log.warning("%s; the configuration in force stays", error)
            supervisor = stack.enter_context(self._make(_Start(start.instead)))
            supervisor.audit_event("reload refused", why=str(error))
            return supervisor

    def _make(self, start: _Start) -> Supervisor:
        """A supervisor that the operator has paused as it had the one before."""
        before = self._before
        self._before = Supervisor(
            start.settings,
            start.left,
            load=self._load,
            paused=None if before is None else before.paused,
            overrides=None if before is None else before.overrides,
            page=self._page,
            recent=None if before is None else before.recent,
            resets=None if before is None else before.resets,
            evicted=before is not None and before.arrangement.evicted,
            held_groups=None if before is None else before.arrangement.held_groups,
            cpus_come_and_go=start.cpus_come_and_go,
            apart=start.apart,
        )
        return self._before


def _report_start(supervisor: Supervisor) -> None:
    settings, arrangement = supervisor.settings, supervisor.arrangement
    supervisor.announce_ready()
    built = arrangement.built
    _log.info(
        "%s %s → %s on CPUs %s (policy %s, sensor %s, pid %d); ctrl-C ends it",
        "Trying without writing:" if settings.dry_run else "Lending",
        ", ".join(str(spec) for spec in settings.primary),
        settings.elastic or "nobody",
        format_cpulist(arrangement.capacity.pool),
        settings.policy,
        "none" if built is None else built.sensing.name,
        os.getpid(),
    )


def _keep(stores: PolicyStores, supervisor: Supervisor, policy: Policy) -> None:
    """What it knows is loaded, and kept from now on, unless nothing may be written."""
    if not supervisor.settings.dry_run:
        stores.follow(policy, supervisor.arrangement.settings)


def _observe(
    stores: PolicyStores,
    observe: Callable[[Window, Decision], None],
    window: Window,
    decision: Decision,
) -> None:
    stores.save_if_due(window.end_ns)
    observe(window, decision)


class _Signals:
    """SIGINT and SIGTERM end the run, SIGHUP has it read its configuration again, SIGUSR2 has it
    replaced by another program, SIGQUIT has it write where its threads stand.

    One that comes between two supervisors reaches the next; so does one that the last has not
    answered.
    """

    def __init__(self) -> None:
        self.ending = False
        self._unanswered: set[str] = set()
        self._supervisor: Supervisor | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        signal.signal(signal.SIGHUP, self._reload)
        signal.signal(signal.SIGUSR2, self._reexec)
        stacks.answer()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # held by the program before this one

    def reach(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        for name in ("ask_reload", "ask_reexec"):
            if name in self._unanswered:
                getattr(supervisor, name)()
        self._unanswered.clear()
        if self.ending:
            supervisor.stop()

    def ask_again(self, names: Iterable[str]) -> None:
        """What is asked of the next supervisor: names of its methods."""
        self._unanswered.update(names)

    def wait(
        self,
        because: ForeignWrite | TargetError | TargetVanished,
        wait_s: float,
        before: Supervisor,
        ready: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Steps aside for so long, again and again until ``ready``; False if it is to end."""
        if self.ending:
            _log.warning("%s; everything was given back", because)
            return False
        _log.warning("%s; everything was given back, trying again in %.0f s", because, wait_s)
        before.service.status(f"stepping aside for {wait_s:.0f} s: {because}")
        self._supervisor = None
        until_s = time.monotonic() + wait_s
        while time.monotonic() < until_s:
            if self.ending:
                return False
            before.service.beat(time.monotonic_ns())
            time.sleep(_LOOK_S)
            if time.monotonic() >= until_s and not ready():
                until_s += wait_s
        return not self.ending

    def _end(self, *_: object) -> None:
        self.ending = True
        if self._supervisor is not None:
            self._supervisor.stop()

    def _reload(self, *_: object) -> None:
        if self._supervisor is not None:
            self._supervisor.ask_reload()
        else:
            self._unanswered.add("ask_reload")

    def _reexec(self, *_: object) -> None:
        if self._supervisor is not None:
            self._supervisor.ask_reexec()
        else:
            self._unanswered.add("ask_reexec")
