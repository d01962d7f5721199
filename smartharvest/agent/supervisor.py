"""One agent from its start to its end, through every reload that makes it start anew."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from smartharvest.agent.backoff import Retreat
from smartharvest.agent.dry_run import ShadowSession
from smartharvest.agent.model_store import ModelKeeper, keep_model
from smartharvest.agent.reexec import SIGNALS, Inheritance, replace_program
from smartharvest.agent.report import Report
from smartharvest.agent.session import Session
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.errors import CpusLost, SmartHarvestError
from smartharvest.host.foreign.writes import ForeignWrite

_log = logging.getLogger(__name__)

CPUS_MAY_COME_BACK_S = 5.0
"""How soon it is tried again to share what CPUs there are."""
_LOOK_S = 0.1
"""How soon a signal is seen while the agent steps aside."""


def harvest(
    settings: Settings,
    load: Callable[[], Settings],
    observe: Callable[[Window, Decision], None],
    left: Inheritance | None = None,
) -> Report:
    """Harvests until SIGINT or SIGTERM, or for ``settings.duration_ns``; the last run's report.

    SIGHUP calls ``load``, which raises ConfigError for what cannot be; SIGUSR2 replaces the
    program. ``observe`` gets every window with its decision; ``left`` is what the program before
    this one has left. Raises what Session raises.
    """
    ran_s = left.ran_s if left is not None else 0.0
    usual_cores = left.usual_cores if left is not None else 0
    signals, retreat = _Signals(), Retreat()
    session: Session = _make_session(settings, load, left=left)
    old: Session | None = None
    while True:
        keeper: ModelKeeper | None = None
        began_s = time.monotonic()
        try:
            with ExitStack() as saving, ExitStack() as stack:
                session = _enter(stack, session, old)
                signals.reach(session)
                settings = session.settings
                duration_ns = settings.duration_ns
                left_s = None
                if duration_ns is not None:
                    left_s = max(0.0, duration_ns / 1e9 - ran_s)
                policy = session.make_policy()
                total = session.capacity.total
                usual_cores = usual_cores or total
                if not settings.dry_run:
                    keeper = keep_model(settings, total, policy, usual_cores)
                    if keeper is not None:  # saved only after the host is given back
                        saving.callback(keeper.save)
                report = session.run(
                    policy,
                    seconds=left_s,
                    started=partial(_started, session),
                    observe=partial(_observe, keeper, observe),
                )
        except ForeignWrite as error:
            in_peace_s = time.monotonic() - began_s
            ran_s += in_peace_s
            signals.wait(error, retreat.next_wait_s(in_peace_s), session)
            session, old = _make_session(settings, load, session), None
            continue
        except CpusLost as error:
            ran_s += time.monotonic() - began_s
            signals.wait(error, CPUS_MAY_COME_BACK_S, session)
            session, old = _make_session(settings, load, session), None
            session.cpus_come_and_go = True
            continue
        ran_s += report.seconds
        if session.handing_over:
            if session.bequest is not None:
                left = replace(session.bequest, ran_s=ran_s, usual_cores=usual_cores)
                if signals.ending:
                    left.give_back()
            if signals.ending:
                return report
            if session.restarting:
                session.service.handing_over()
                replace_program(left)
            session, old = _make_session(session.settings, load, session, left), None
            continue
        if session.replacement is None or signals.ending:
            return report
        old, session = session, _make_session(session.replacement, load, session)


def _started(session: Session) -> None:
    session.service.ready(f"harvesting with {session.settings.policy}")
    _log.info("harvesting with %s; ctrl-C ends it", session.settings.policy)


def _observe(
    keeper: ModelKeeper | None,
    observe: Callable[[Window, Decision], None],
    window: Window,
    decision: Decision,
) -> None:
    if keeper is not None:
        keeper.save_if_due(window.end_ns)
    observe(window, decision)


class _Signals:
    """SIGINT and SIGTERM end the session's run, SIGHUP has it read its configuration again, SIGUSR2
    has it replaced by another program.

    One that comes between two sessions reaches the next.
    """

    def __init__(self) -> None:
        self.ending = False
        self._session: Session | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        signal.signal(signal.SIGHUP, self._reload)
        signal.signal(signal.SIGUSR2, self._restart)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # held by the program before this one

    def reach(self, session: Session) -> None:
        self._session = session
        if self.ending:
            session.stop()

    def wait(self, because: ForeignWrite | CpusLost, wait_s: float, session: Session) -> None:
        """Steps aside for so long; raises ``because`` if it is to end meanwhile."""
        _log.warning("%s; all was given back, trying again in %.0f s", because, wait_s)
        session.service.status(f"stepping aside for {wait_s:.0f} s: {because}")
        self._session = None
        until_s = time.monotonic() + wait_s
        while time.monotonic() < until_s:
            if self.ending:
                raise because
            session.service.beat(time.monotonic_ns())
            time.sleep(_LOOK_S)

    def _end(self, *_: object) -> None:
        self.ending = True
        if self._session is not None:
            self._session.stop()

    def _reload(self, *_: object) -> None:
        if self._session is not None:
            self._session.reload_requested = True

    def _restart(self, *_: object) -> None:
        if self._session is not None:
            self._session.restart_requested = True


def _make_session(
    settings: Settings,
    load: Callable[[], Settings],
    before: Session | None = None,
    left: Inheritance | None = None,
) -> Session:
    """A session that the operator holds as he did the one ``before``; with what that one left."""
    session = ShadowSession(settings) if settings.dry_run else Session(settings, left)
    session.load = load
    if before is not None:
        session.held, session.evicted = before.held, before.evicted
    return session


def _enter(stack: ExitStack, session: Session, old: Session | None) -> Session:
    """The session; or one with the settings of ``old``, if that is how it can be entered."""
    try:
        return stack.enter_context(session)
    except SmartHarvestError as error:
        if old is None or old.load is None:
            raise
        _log.warning("%s; the configuration in force stays", error)
        session = stack.enter_context(_make_session(old.settings, old.load, old))
        session.audit_event("reload refused", why=str(error))
        return session
