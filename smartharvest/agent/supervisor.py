"""One run of the agent: it owns the arrangement of the host and the lending, and alone says when
either changes."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from smartharvest.agent.admin import (
    REQUESTS,
    Evict,
    HoldGroup,
    Load,
    Pause,
    ReplaceProgram,
    Request,
    Resume,
    ResumeGroup,
    TakeUp,
    parse_reload,
    parse_request,
)
from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import QUIET_MS, ControlLoop
from smartharvest.agent.deciders import (
    choose_policy,
    judged_waits_of,
    long_term_of,
    make_controller,
    make_wait_reader,
    spares_for,
)
from smartharvest.agent.group_sharing import GroupSharing
from smartharvest.agent.host_watch import Failed, HostWatch, Rearrange, Rebuild, Resets, Verdict
from smartharvest.agent.lending import Lending
from smartharvest.agent.outcome import Ended, Reexec, Restart, RunOutcome
from smartharvest.agent.outputs import Outputs
from smartharvest.agent.reexec import HandoffState
from smartharvest.agent.replacement import Replacement
from smartharvest.agent.reporting import Reporting
from smartharvest.agent.sockets import Sockets
from smartharvest.agent.usage import UsageMeter
from smartharvest.agent.web_page import WebPage
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy import Policy
from smartharvest.algorithm.policy.fallback import is_barren
from smartharvest.config.elastic_groups import group_tables
from smartharvest.config.settings import Settings, changed_settings
from smartharvest.config.text import shown_value
from smartharvest.core import _loop
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError, SmartHarvestError
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.service_manager import ServiceManager
from smartharvest.host.target.base import Target
from smartharvest.mechanism.choice import MakeMechanism, make_mechanism
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.telemetry.metrics import text
from smartharvest.telemetry.recent import Recent
from smartharvest.telemetry.recorder import Recorder
from smartharvest.telemetry.server import Command

_log = logging.getLogger(__name__)

CHORES_NS = 50_000_000
"""While windows come, everything else has its turn this often,"""
QUIET_CHORES_NS = 1_000_000_000
"""... and while nobody asks for them."""
REST_S = 1e-5


def _ignore(*_: object) -> None:
    """No-op callback."""


class Supervisor:
    """A context manager: inside it the host is arranged for lending, outside it is as before.

    ``left`` is what an earlier supervisor handed off, ``load`` reads the configuration again,
    ``apart`` is what Restart has, ``make`` makes the mechanism.
    Entering raises ConfigError, RightsError, TargetError, WriteRefused or AlreadyManaged, with the
    host untouched or put back.
    """

    def __init__(
        self,
        settings: Settings,
        left: HandoffState | None = None,
        *,
        load: Load | None = None,
        paused: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        recent: Recent | None = None,
        resets: Resets | None = None,
        page: WebPage | None = None,
        evicted: bool = False,
        held_groups: Mapping[str, str] | None = None,
        cpus_come_and_go: bool = False,
        apart: bool = False,
        make: MakeMechanism = make_mechanism,
    ) -> None:
        self.settings = settings
        self._load = load
        self.paused = paused if left is None else left.paused
        """Why nothing is lent, if the operator wants it so."""
        self.overrides = dict(overrides or {})
        """What the operator has set and a reload keeps, by name of the setting."""
        self.recent = Recent() if recent is None else recent
        """The last quarter of an hour."""
        self.resets = Resets() if resets is None else resets
        self.service = ServiceManager()
        self._owns_page = page is None
        self.page = page or WebPage()
        self._outputs = Outputs(settings, self.page)
        self.arrangement = Arrangement(
            settings,
            left,
            evicted=evicted,
            held_groups=held_groups,
            audit=self.audit_event,
            claimed=self._outputs.open,
            progress=self._show_progress,
            apart=apart,
            make=make,
        )
        self.arrangement.cpus_come_and_go |= cpus_come_and_go
        self.outcome: RunOutcome | None = None
        """How the run ended."""
        self.left: HandoffState | None = None
        """What a successor gets, once the supervisor has been left."""
        self._stopped = self._reload_asked = self._reexec_asked = False
        self._replacement = Replacement(self.audit_event)
        self._next: tuple[type[Restart | Reexec], dict[str, Any]] | None = None
        """What follows this run, as soon as something is to."""

    def __enter__(self) -> Self:
        settings = self.settings
        self._show_progress()
        self._outputs.begin()
        try:
            self.arrangement.__enter__()
        except BaseException as error:
            self._outputs.close(f"could not start: {error}")
            if self._owns_page:
                self.page.close()
            raise
        several = settings.elastic_groups
        self.audit_event(
            "started",
            policy=settings.policy,
            primary=[str(target.spec) for target in self.arrangement.primaries],
            elastic=str(settings.elastic),
            **({"groups": group_tables(several), "share": settings.share} if several else {}),
            pool=format_cpulist(self.capacity.pool),
            cores=self.capacity.total,
            dry_run=settings.dry_run,
            budget=settings.long_term_share,
            generation=self.arrangement.generation,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        keeps = error is None and (
            isinstance(self.outcome, Reexec)
            or (isinstance(self.outcome, Restart) and self.outcome.keeps_arranged)
        )
        why = "handed over" if keeps else "stopped"
        self._show_progress()
        try:
            if keeps:
                self.left = self.arrangement.hand_off(paused=self.paused)
            else:
                self.arrangement.restore()
        finally:
            self._outputs.close(why if error is None else str(error))
            if self._owns_page:
                self.page.close()

    def audit_event(self, kind: str, **details: Any) -> None:
        """Notes something that was done, if there is an audit log."""
        self._outputs.event(kind, **details)

    def _show_progress(self) -> None:
        """Arranging and restoring may take long: the service manager hears that they go on."""
        self.service.progress(_loop.monotonic_ns())

    @property
    def capacity(self) -> Capacity:
        """Of the host as last seen."""
        return self.arrangement.capacity

    @property
    def failed_sensors(self) -> frozenset[str]:
        """Those that broke during this run."""
        return frozenset(self._watch.failed_sensors)

    # --- what decides -----------------------------------------------------------------------------

    def make_policy(self, spec: str | None = None) -> Policy:
        """The policy of the settings, or the one spelled ``spec``, for this host's cores."""
        settings = self.arrangement.settings
        return choose_policy(
            settings,
            spec or settings.policy,
            self.capacity.total,
            preempts=self.arrangement.mechanism.preempts,
            found=self.arrangement.preemption,
            spares=self._spares,
            freezes=self.arrangement.mechanism.may_freeze,
            smallest=self.arrangement.smallest,
            asked_as=self.arrangement.targets.asked_as,
        )

    @property
    def _spares(self) -> tuple[int, ...]:
        arrangement = self.arrangement
        return spares_for(
            self.settings, arrangement.mechanism, arrangement.tree, self.capacity.pool
        )

    # --- asked for from outside, also by signals --------------------------------------------------

    def stop(self) -> None:
        """Ends the run soon; may be called from a signal handler."""
        self._stopped = True

    def ask_reload(self) -> None:
        """Reads the configuration again soon; may be called from a signal handler."""
        self._reload_asked = True

    def ask_reexec(self) -> None:
        """Tries soon to hand over to another program; may be called from a signal handler."""
        self._reexec_asked = True

    @property
    def unanswered(self) -> frozenset[str]:
        """The names of those methods that were called and have not come to their end."""
        asked = {"ask_reload": self._reload_asked}
        asked["ask_reexec"] = self._reexec_asked or self._replacement.is_tried
        return frozenset(name for name, is_asked in asked.items() if is_asked)

    def rearrange(self, settings: Settings, *, keeps_arranged: bool) -> None:
        """Ends the run soon; another arrangement is to follow."""
        self._next = Restart, {"settings": settings, "keeps_arranged": keeps_arranged}

    def _set_apart(self) -> None:
        """Ends the run where sharing cores gives the batch nothing, and a set of its own may.

        Meanwhile the batch has its minimum.
        """
        if self.arrangement.may_set_apart():
            details = {"settings": self.settings, "keeps_arranged": True, "apart": True}
            self._next = Restart, details

    # --- the run ----------------------------------------------------------------------------------

    def run(
        self,
        policy: Policy,
        *,
        seconds: float | None = None,
        started: Callable[[], None] = _ignore,
        finished: Callable[[], None] = _ignore,
        observe: Callable[[Window, Decision], None] = _ignore,
        took_over: Callable[[Policy], None] = _ignore,
    ) -> RunOutcome:
        """Lends until ``stop`` or for ``seconds``; everything is taken back when it returns.

        ``started`` and ``finished`` are called right after the first and before the last poll;
        ``observe`` gets every window with its decision, ``took_over`` a policy that takes the place
        of this one, before it sees anything. Raises TargetVanished, SensorError, WriteRefused,
        ForeignWrite or CpusLost if the host no longer allows it.
        """
        arrangement = self.arrangement
        self._took_over = took_over
        self._watch = HostWatch(arrangement, self.resets, self._rest)
        audit = self._outputs.audit
        every = self.settings.audit_level == "decisions"
        recorder = Recorder(self.recent, audit, every=every)
        self._control = ControlLoop(
            make_controller(self.settings, self.capacity, policy),
            make_wait_reader(arrangement.settings, self.capacity.total),
            observe,
            audit,
            recorder,
            arrangement.mechanism.keep_spare,
            arrangement.mechanism.keep_frozen,
        )
        self._lending = Lending(
            arrangement, self._control, self._watch, self.audit_event, self._show_progress
        )
        self._groups = GroupSharing(arrangement, self._control, self.audit_event)
        self._reporting = Reporting(
            arrangement,
            self._control,
            self._groups,
            self._watch,
            self._outputs.warnings,
            self._outputs.metrics,
            lambda: self._replacement.refused,
            lambda: self.overrides,
        )
        self._usage = (
            None
            if audit is None
            else UsageMeter(self._all_targets, audit.event, groups=self._groups.core_seconds)
        )
        began_s = time.monotonic()
        sockets = self._listen()
        self._control.inhibit({"operator": self.paused})
        try:
            self._lending.start()
            self._lending.report_scheduling()
            started()
            self._serve(sockets, None if seconds is None else began_s + seconds)
            finished()
        finally:
            self._groups.memories.close()
            self._end(sockets)
            recorder.close()
            if self._usage is not None:
                self._usage.close()
        elapsed_s, cpu_s = self._reporting.elapsed_s, self._reporting.cpu_s
        if self._control.loop.halt is not None:
            verdict = self._watch.judge_halt(self._control)
            if isinstance(verdict, Failed):
                raise verdict.error
        report = self._reporting.report(elapsed_s, cpu_s)
        follows, details = self._next or (Ended, {})
        self.outcome = follows(report, **details)
        return self.outcome

    def _serve(self, sockets: Sockets, until_s: float | None) -> None:
        """Turn after turn, until something ends the run."""
        control, arrangement = self._control, self.arrangement
        chores_ns = 0  # when they had their last turn
        while not self._stopped and self._next is None:
            left_ms = QUIET_MS if until_s is None else (until_s - time.monotonic()) * 1e3
            if left_ms <= 0:
                return
            prompt = arrangement.mechanism.moves_threads
            may_rest = not self.settings.elastic_groups  # they share in turns of their own
            woken = control.wait(left_ms, sockets.fileno(), prompt=prompt, may_rest=may_rest)
            came = control.answer_windows()
            now_ns = _loop.monotonic_ns()
            since_ns = now_ns - chores_ns
            if came and since_ns < CHORES_NS and not prompt:
                continue
            self._look(control)
            if control.quiet and since_ns < QUIET_CHORES_NS and not (woken or self._is_asked):
                continue
            chores_ns = now_ns
            if arrangement.confinement is not None and (self._watch.is_due() or not control.quiet):
                self._rest()
                arrangement.confinement.turn(self._rest)
            sockets.serve()
            self._rest()
            control.read_harm()
            control.note_budget()
            control.loop.sensor.attend()
            self._rest()
            if control.loop.halt is not None:
                self._follow(self._watch.judge_halt(control))
            if arrangement.mechanism.moves_threads and self._next is None:
                smallest = self.capacity.elastic_cpus(0)
                why_not = arrangement.mechanism.follow(smallest)
                control.inhibit({"births": why_not})
            if self._next is None:
                self._follow(self._watch.poll(control))
            self._rest()
            if self._next is None and self._groups.turn(_loop.monotonic_ns()):
                self._take_up_division()
            if self._next is None and is_barren(control.controller.policy):
                self._set_apart()
            self._reporting.publish()
            if self._usage is not None:
                self._usage.look()
            self._attend_to_requests()

    @property
    def _is_asked(self) -> bool:
        """Whether something waits that is done with the chores."""
        return (
            self._reload_asked
            or self._reexec_asked
            or self._replacement.is_tried
            or self._control.loop.halt is not None
            or self._watch.is_due()
        )

    def _rest(self) -> None:
        """Lets go of the CPU: a task that has woken there waits for one chore, not for all.

        The kernel lets a thread run on for milliseconds while others have woken on its CPU
        (fair.c, RUN_TO_PARITY). A yield does not reach beyond the control group.
        """
        if self.arrangement.tree.runs_tasks:
            time.sleep(REST_S)

    def _all_targets(self) -> list[Target]:
        elastic = self.arrangement.elastic
        return [*self.arrangement.primaries, *([] if elastic is None else [elastic])]

    def _look(self, control: ControlLoop) -> None:
        """What no turn goes without: beats, the guardian's, the permit, what is to be judged."""
        arrangement = self.arrangement
        control.renew_permit()
        arrangement.beat()
        if arrangement.hears_loop():
            self.service.beat(_loop.monotonic_ns())
        control.inhibit({"guardian": arrangement.check_guardian()})
        if arrangement.others.have_written():
            self._watch.look_early()
        control.judge_period(arrangement.primary_threads)
        control.read_dispatches()

    def _end(self, sockets: Sockets) -> None:
        hands_off = self._next is not None and (
            self._next[0] is Reexec or self._next[1]["keeps_arranged"]
        )
        # Stopped and closed before anything is restored: a loop that still ran would write on,
        # and one that still held its descriptors might leave none to restore with.
        self._lending.end(Phase.HANDING_OVER if hands_off else Phase.ENDING)
        sockets.close()
        self._replacement.end()
        self._groups.close()
        self._control.close()

    # --- rebuilding -------------------------------------------------------------------------------

    def _follow(self, verdict: Verdict) -> None:
        """Does what a look at the host calls for."""
        self._control.inhibit(verdict.reasons)
        match verdict:
            case Rebuild(snapshot, why, keeps_loop):
                self._rebuild(snapshot, why, keeps_loop=keeps_loop)
            case Rearrange(keeps_arranged=keeps_arranged):
                self.rearrange(self.settings, keeps_arranged=keeps_arranged)
            case Failed(error):
                raise error

    def _rebuild(self, seen: HostSnapshot, why: str, *, keeps_loop: bool = True) -> None:
        """Goes on with the host as ``seen``: the same loop with other cores if it ``keeps_loop``
        and can, or another loop, or another arrangement."""
        arrangement, total = self.arrangement, self.capacity.total
        if arrangement.was_remade(seen):
            _log.warning("A group was removed and made again: starting from its originals")
            self.rearrange(self.settings, keeps_arranged=False)
        elif seen.capacity.total != total:
            _log.log(
                logging.INFO if arrangement.targets.may_change else logging.WARNING,
                "The cores to share went from %d to %d: starting again with those",
                total,
                seen.capacity.total,
            )
            arrangement.enter_phase(Phase.ARRANGING)
            self._control.stop()
            arrangement.leave_what_it_may_have(seen)
            # A new primary meets a batch that stays confined and idle meanwhile.
            may_keep = arrangement.exclusive is None or not arrangement.targets.may_change
            self.rearrange(self.settings, keeps_arranged=may_keep)
        else:
            halted = self._control.loop.halt is not None
            keeps_loop = keeps_loop and not halted and arrangement.can_keep_loop(seen)
            self._lending.go_on(seen, why, keeps_loop)

    def _take_up_division(self) -> None:
        """Has the loop move the masks that follow from how the groups share now."""
        try:
            seen = self.arrangement.poll()  # a group may have gone since the last look
        except (SmartHarvestError, OSError):
            return  # the next look at the host says what follows
        keeps_loop = self.arrangement.can_keep_loop(seen)
        self._lending.go_on(seen, "the groups share otherwise", keeps_loop, same_masks=False)

    # --- requests ---------------------------------------------------------------------------------

    def _listen(self) -> Sockets:
        def answer(name: str) -> Command:
            return lambda arguments: self._answer(name, arguments)

        telling: dict[str, Command] = {
            "status": lambda _arguments: self._reporting.describe(),
            "capacity": lambda _arguments: self._reporting.describe_capacity(),
            "metrics": lambda _arguments: text(self._reporting.describe()),
            "history": lambda _arguments: self.recent.describe(),
            "recent": lambda _arguments: self.recent.latest(),
        }
        asking = {name: answer(name) for name in REQUESTS}
        return Sockets(self.settings, self.page, telling, asking)

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Parses and carries out what came over the socket. Raises SmartHarvestError."""
        if name == "reload":
            return self._reload()
        request = parse_request(name, arguments, self.settings, self.overrides, self._load)
        return self._carry_out(request)

    def _attend_to_requests(self) -> None:
        """What signals have asked for, and a new program that is being tried."""
        if self._reload_asked:
            self._reload_asked = False
            with contextlib.suppress(ConfigError):  # which has been logged
                self._reload()
        if self._reexec_asked:
            self._reexec_asked = False
            with contextlib.suppress(ConfigError):  # which has been logged
                self._try_program()
        if self._replacement.passed():
            self._next = Reexec, {}

    def _reload(self) -> dict[str, Any]:
        self.service.reloading(_loop.monotonic_ns())
        try:
            request = parse_reload(self.settings, self.overrides, self._load)
        except ConfigError as error:
            _log.warning("%s; the configuration in force stays", error)
            self.audit_event("reload refused", why=str(error))
            self.announce_ready()
            raise
        try:
            return self._carry_out(request)
        finally:
            if self._next is None:  # otherwise the service is ready once the next run is
                self.announce_ready()

    def announce_ready(self) -> None:
        """Tells the service manager that the agent does what it is for."""
        self.service.ready(f"lending with {self.settings.policy}")

    def _carry_out(self, request: Request) -> dict[str, Any]:
        match request:
            case Pause():
                self._hold("paused by the operator")
                self.audit_event("paused")
                return {"paused": True}
            case HoldGroup(group, how):
                return self._groups.hold(group, how)
            case ResumeGroup(group):
                return self._groups.resume(group)
            case Resume():
                was_paused = self.paused is not None
                if self.arrangement.evicted:
                    self.arrangement.thaw()
                self._hold(None)
                self.audit_event("resumed")
                groups = self._groups.resume_all()
                return {"paused": False, "was_paused": was_paused or bool(groups), "groups": groups}
            case Evict():
                self._hold("evicted by the operator")
                self.arrangement.freeze()
                self.audit_event("evicted")
                return {"paused": True, "evicted": True}
            case ReplaceProgram():
                return self._try_program()
            case TakeUp(settings, restarts=restarts) if restarts:
                _log.info("Reload: %s changed: starting again", ", ".join(restarts))
                self.audit_event("reloaded", changed=list(restarts), restarts=True)
                self.rearrange(settings, keeps_arranged=False)
                return {"changed": list(restarts), "restarts": True} | self._kept()
            case TakeUp(settings, kind, overrides):
                answer = self._take_up(settings, kind)
                self.overrides = dict(overrides)
                return answer | (self._kept() if kind == "reloaded" else {})

    def _kept(self) -> dict[str, list[str]]:
        """What a reload did not take from the configuration, if anything."""
        if not self.overrides:
            return {}
        _log.info("Reload: kept until --reset or a restart: %s", ", ".join(sorted(self.overrides)))
        return {"kept": sorted(self.overrides)}

    def _hold(self, reason: str | None) -> None:
        self.paused = reason
        self._control.inhibit({"operator": reason})

    def _take_up(self, new: Settings, kind: str) -> dict[str, Any]:
        """Goes on with other settings. Raises ConfigError; the old ones are in force then."""
        changed = sorted(changed_settings(self.settings, new))
        try:
            if changed:
                self._apply(new)
        except (SmartHarvestError, OSError) as error:
            _log.warning("%s: %s; the configuration in force stays", kind, error)
            self.audit_event(f"{kind} refused", changed=changed, why=str(error))
            raise ConfigError(f"{error}; the configuration in force stays") from error
        values = {name: shown_value(name, new) for name in changed}
        shown = ", ".join(f"{name} = {value}" for name, value in values.items())
        _log.info("%s: %s", kind.capitalize(), shown or "nothing has changed")
        self.audit_event(kind, **values)
        answer: dict[str, Any] = {"changed": changed, "restarts": False}
        if "max_harvest" in changed and (notes := self.arrangement.capacity.notes):
            answer["notes"] = list(notes)
        return answer

    def _apply(self, new: Settings) -> None:
        """Takes up settings of which none that differs needs another arrangement.

        Raises what a start with them would raise; the old ones are in force then.
        """
        control, arrangement = self._control, self.arrangement
        controller = control.controller
        old, old_policy = self.settings, controller.policy
        changed = changed_settings(old, new)
        self.settings = arrangement.settings = new
        try:
            seen = arrangement.poll()
            if changed.keys() & {"policy", "safeguard", "protect", "protect_of"}:
                controller.change_policy(self.make_policy())
                self._took_over(controller.policy)  # before a loop begins with what it knows
            self._rebuild(
                seen,
                "the configuration has changed",
                keeps_loop="rebuild" not in changed.values(),
            )
            if "elastic" in changed and self._next is None:
                if self._usage is not None:
                    self._usage.close()  # of groups that go
                self._groups.take_up(new)
                self._take_up_division()
        except (SmartHarvestError, OSError):
            self.settings = arrangement.settings = old
            if controller.policy is not old_policy:
                controller.change_policy(old_policy)
                self._took_over(old_policy)
            if "elastic" in changed:
                self._groups.take_up(old)
            if not control.runs:
                seen = arrangement.poll()
                self._rebuild(seen, "the configuration stays", keeps_loop=False)
            raise
        if "control_priority" in changed:
            self._lending.change_priority()
        if any(name.startswith("long_term") or name == "waits" for name in changed):
            controller.change_long_term(long_term_of(new), judged_waits_of(new))
            control.change_wait_reader(make_wait_reader(arrangement.settings, self.capacity.total))

    def _try_program(self) -> dict[str, Any]:
        self._replacement.begin()
        return {"restarting": True, "generation": self.arrangement.generation}
