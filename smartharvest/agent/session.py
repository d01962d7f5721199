"""One agent on one host: from the targets to the running loop, and back to how it was.

Everything written goes through the HostWriter, which has journaled the original first. Leaving the
session - by its end, a signal or any error - stops the loop and restores the originals.
"""

from __future__ import annotations

import contextlib
import logging
import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, NoReturn, Self

from smartharvest.agent.control_loop import Run
from smartharvest.agent.deciders import choose_policy, decider_of, long_term_of
from smartharvest.agent.loop_builder import HostLoopBuilder, LoopBuilder
from smartharvest.agent.reexec import Inheritance, arrangement_of, signals_held
from smartharvest.agent.report import Report
from smartharvest.algorithm.algorithm1 import Agent, Decision
from smartharvest.algorithm.policy import Policy
from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _loop
from smartharvest.core._learner import Decider
from smartharvest.core._lend_order import LendOrder
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError, CpusLost, RightsError, TargetError, TargetVanished
from smartharvest.guardian.process import Charge
from smartharvest.guardian.supervisor import Keeper
from smartharvest.guardian.verdict import limits_for
from smartharvest.host.cgroup.counterparts import exists_somewhere, make_counterpart
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writer_trace import OtherWriters
from smartharvest.host.foreign.writes import (
    ForeignWrite,
    ManagedFile,
    Surprise,
    find_surprise,
)
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import RecoveryReport, recover
from smartharvest.host.journal.restoration import is_same
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process.family import Births
from smartharvest.host.service_manager import ServiceManager
from smartharvest.host.target.patterns import expand
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import CgroupTarget, PidTarget, check_apart, resolve_target
from smartharvest.host.target.virtual_machines import check_idleness_shows
from smartharvest.mechanism.elastic_side import ElasticSide
from smartharvest.mechanism.exclusive import PrimarySide
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.snapshot import Survey, look_at_primaries, survey
from smartharvest.placement.target_set import Participants
from smartharvest.sensor.choice import Sensing
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.metrics import Metrics
from smartharvest.telemetry.status import Warnings

__all__ = ["Session"]

_log = logging.getLogger(__name__)
_package_log = logging.getLogger("smartharvest")

GUARDIAN_PATIENCE_S = 1.0
"""How long the guardian may be amid writing the minimum."""


def _nothing(*_: object) -> None:
    """For those who do not want to be called."""


class Session:
    """A context manager: inside it the host is arranged for harvesting, outside it is as before.

    Entering raises ConfigError, RightsError, TargetError, WriteRefused or AlreadyManaged, with the
    host untouched or put back.
    """

    def __init__(self, settings: Settings, left: Inheritance | None = None) -> None:
        self.settings = settings
        self._left = left
        """What an earlier session has left arranged."""
        self.generation = 0 if left is None else left.generation + 1
        self.handing_over = False
        """Whether a successor takes over what is arranged."""
        self.restarting = False
        """Whether the successor is another program."""
        self.bequest: Inheritance | None = None
        """What the successor gets, once the session has been left."""
        self.cpus_come_and_go = left is not None
        """Whether chosen CPUs may be missing for a time."""
        self.load: Callable[[], Settings] | None = None
        """Reads the configuration again. Raises ConfigError."""
        self.reload_requested = False
        self.restart_requested = False
        self.restart_refused: str | None = None
        self.replacement: Settings | None = None
        """What to start anew with once the run has ended."""
        self.held: str | None = None if left is None else left.paused
        """Why nothing is lent, if the operator wants it so."""
        self.evicted = left is not None and left.evicted
        """Even the elastic minimum is taken back."""
        self.audit: AuditLog | None = None
        self.metrics: Metrics | None = None
        self.stopped = False
        self.service = ServiceManager()
        self._heard_beat = 0
        self.managed: list[ManagedFile] = []
        """What the loop writes, for the host as last surveyed."""
        self.other_writers = OtherWriters()
        self.order: LendOrder | None = None
        """Who chooses the cores by their use; None: their order is the survey's."""
        self.keeper: Keeper | None = None
        self.sensing: Sensing | None = None
        self.failed_sensors: set[str] = set()
        self.primary_side: PrimarySide | None = None
        self.warnings = Warnings()

    # --- arranging the host ----------------------------------------------------------------------

    def __enter__(self) -> Self:
        settings = self.settings
        if settings.audit_log is not None:
            self.audit = AuditLog(settings.audit_log, settings.audit_size_bytes)
            self.warnings.audit = self.audit
        _package_log.addHandler(self.warnings)
        try:
            if settings.metrics is not None:
                self.metrics = Metrics(settings.metrics)
            self._arrange()
        except BaseException as error:
            self._end_telling(f"could not start: {error}")
            raise
        self.cpus_come_and_go = True
        self.audit_event(
            "started",
            policy=settings.policy,
            primary=[str(target.spec) for target in self.primaries],
            elastic=str(settings.elastic),
            pool=format_cpulist(self.capacity.pool),
            cores=self.capacity.total,
            dry_run=settings.dry_run,
            generation=self.generation,
        )
        return self

    def audit_event(self, kind: str, **details: Any) -> None:
        """Notes something that was done, if there is an audit log."""
        if self.audit is not None:
            self.audit.event(kind, **details)

    def _end_telling(self, why: str) -> None:
        _package_log.removeHandler(self.warnings)
        if self.metrics is not None:
            self.metrics.close()
            self.metrics = None
        if self.audit is not None:
            self.audit.event("ended", why=why)
            self.audit.close()

    def _arrange(self) -> None:
        settings = self.settings
        # The /proc sensor keeps one descriptor for each thread of the primary.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        elastic_spec = settings.require_targets()
        self.tree = CgroupTree.discover(settings.cgroup_root)
        _report_recovery(recover(self.tree.files, settings.state_dir))
        left = self._left
        if left is not None and not left.fits(settings):
            _log.info("other targets, or another arrangement: beginning from the originals")
            left.give_back()
            left = self._left = None
        self.journal = self._open_journal(elastic_spec) if left is None else left.journal
        self.writer = HostWriter(self.tree.files, self.journal, self._log_write)
        try:
            self._start_guardian()
            if left is not None:
                self.enter_phase(Phase.ARRANGING)
            elastic = self._find_participants(elastic_spec)
            self.elastic_side = ElasticSide(
                settings,
                self.tree,
                elastic,
                self.writer,
                may_nudge=None if left is None else left.may_nudge,
            )
            self.primary_side = self._take_hold_of_primaries()
            self.survey = self.look_at_what_is_left() if self.cpus_come_and_go else self.look()
            self.arrange_primaries(self.survey)
            self.elastic_side.arrange(self.survey, self.primaries)
            if self.evicted:
                self.freeze()
        except BaseException:
            self._restore()
            raise
        self._left = None
        capacity = self.capacity
        if isinstance(self.tree.files, FakeKernel):
            _log.info(
                "%s is no cgroup filesystem: plain files are all that changes", self.tree.root
            )
        _log.info(
            "pool %s: %d cores between primary and elastic, elastic minimum %d, at most %d lent",
            format_cpulist(capacity.pool),
            capacity.total,
            capacity.elastic_min,
            capacity.max_harvest,
        )
        for remark in capacity.remarks:
            _log.info("order of lending: %s", remark)
        if capacity.max_harvest == 0:
            _log.warning("the limits leave no core to lend; the agent will only watch")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self.handing_over and error is None:
                self._bequeath()
            else:
                self._restore()
        finally:
            self.other_writers.close()
            why = "stopped" if self.bequest is None else "handed over"
            self._end_telling(why if error is None else str(error))

    def hand_over(self, *, restarting: bool) -> None:
        """Ends the run soon, with all but the lent cores left for a successor.

        That is another program (``restarting``), or another session of this one.
        """
        self.handing_over, self.restarting = True, restarting
        self.stop()

    def _bequeath(self) -> None:
        try:
            with signals_held():
                self.elastic_side.close()
        except BaseException:
            self._restore()
            raise
        self.bequest = Inheritance(
            journal=self.journal,
            keeper=self.keeper,
            guardian=None,
            held=() if self.primary_side is None else self.primary_side.had,
            may_nudge=self.elastic_side.may_nudge,
            root=self.settings.cgroup_root,
            arrangement=arrangement_of(self.settings),
            paused=self.held,
            evicted=self.evicted,
            generation=self.generation,
        )

    def _restore(self) -> None:
        with signals_held():
            try:
                if hasattr(self, "elastic_side"):
                    self.elastic_side.close()
                self.enter_phase(Phase.ENDING)
                restored = self.writer.restore()
            finally:
                if self.keeper is not None:
                    self.keeper.end()
        for line in restored:
            _log.debug("put back: %s", line)

    def _log_write(self, path: str, before: str, value: str) -> None:
        self.audit_event("write", path=path, before=before, value=value)

    # --- the guardian ----------------------------------------------------------------------------

    def _start_guardian(self) -> None:
        """Starts the guardian; nothing is journaled, and so nothing changed, before it is ready."""
        if not self.settings.guardian:
            return
        left = self._left
        if left is not None and left.keeper is not None:
            self.keeper = left.keeper
            return
        made_tree = self.tree.root if isinstance(self.tree.files, FakeKernel) else ""
        charge = Charge(
            self.journal.path,
            made_tree,
            restores=self.settings.on_death == "restore",
            limits=limits_for(self.settings.window_ns),
        )
        if left is not None:
            self.keeper = Keeper(charge, self.journal.page, left.guardian)
            self.keeper.wait_ready()
            return
        self.keeper = Keeper(charge, self.journal.page)
        self.journal.before_first_entry = self.keeper.wait_ready

    def enter_phase(self, phase: Phase) -> None:
        """Tells the guardian what comes next; returns when it is not amid a write of its own."""
        page = self.journal.page
        with page.locked(GUARDIAN_PATIENCE_S) as held:
            if not held and self.keeper is not None:
                self.keeper.end()  # stopped amid a write, which it must not go on with
            page.beat_as_agent()
            page.phase = phase

    def _open_journal(self, elastic: TargetSpec) -> Journal:
        return Journal(
            self.settings.state_dir,
            claims=[
                self._claim(spec)
                for pattern in (*self.settings.primary, elastic)
                for spec in expand(pattern, self.tree)
            ],
            root=self.tree.hierarchies["cpuset"],
        )

    def _claim(self, spec: TargetSpec) -> str:
        """What the journal calls it: a process is the same one whatever it is named by."""
        return self.tree.group(spec.value).path if spec.kind == "cgroup" else f"pid:{spec.value}"

    @property
    def capacity(self) -> Capacity:
        return self.survey.capacity

    def _find_participants(self, elastic: TargetSpec) -> CgroupTarget | PidTarget:
        self.participants = Participants(self.tree, self.settings.primary, self._resolve)
        self.participants.find_primaries()
        found = self.participants.find_elastic(elastic)
        check_apart(self.primaries, found)
        self._make_idleness_show(self.primaries)
        return found

    def _resolve(self, spec: TargetSpec) -> CgroupTarget | PidTarget:
        if spec.kind == "cgroup":
            group = self.tree.group(spec.value)
            if group.relative and group.cpuset_path is None and exists_somewhere(group):
                make_counterpart(group, "cpuset", self.writer)
        return resolve_target(spec, self.tree)

    def _make_idleness_show(self, primaries: Sequence[CgroupTarget | PidTarget]) -> None:
        """Stops KVM's polling if it is to; raises TargetError for a guest that never looks idle."""
        off = self.settings.halt_poll == "off"
        stop = (lambda path: self.writer.set(path, "0")) if off else None
        check_idleness_shows(primaries, stop_polling=stop)

    @property
    def primaries(self) -> list[CgroupTarget | PidTarget]:
        """Those there are now."""
        return self.participants.primaries

    @property
    def elastic(self) -> CgroupTarget | PidTarget | None:
        """None in shadow mode alone."""
        return self.participants.elastic

    def follow_patterns(self) -> None:
        """Takes in primaries that have appeared and lets go of those that have vanished."""
        if not self.participants.follow():
            return
        self.audit_event("primaries", now=sorted(str(target.spec) for target in self.primaries))
        if not self.primaries:
            return
        try:
            self._make_idleness_show(self.primaries)
        except TargetError as error:  # it only looks busier than it is
            _log.warning("%s", error)
        if self.primary_side is not None:  # which knows those from before
            self.replacement = self.settings
            self.stop()

    def look(self) -> Survey:
        """The host as it is now, as far as the loop depends on it."""
        if not self.primaries:  # those of a pattern are all gone: the cores stay as they are
            ids = tuple(one for one in self.survey.kernel_ids if one[2] < 0)
            return replace(self.survey, sources=(), kernel_ids=ids)
        followed = self.followed()
        online = self.tree.online_cpus()
        settings = self.settings
        if self.cpus_come_and_go and settings.cores:
            settings = replace(settings, cores=settings.cores & online or settings.cores)
        held = self.primary_side.held(online) if self.primary_side is not None else ()
        return survey(settings, self.tree, self.primaries, self.elastic, followed, held)

    def look_at_what_is_left(self) -> Survey:
        """The same, after CPUs were lost. Raises CpusLost if it cannot be shared."""
        try:
            return self.look()
        except (TargetError, ConfigError) as error:
            raise CpusLost(str(error)) from error

    def _take_hold_of_primaries(self) -> PrimarySide | None:
        """With exclusive placement: what the primaries have, before any of it is taken."""
        if self.settings.placement != "exclusive":
            return None
        if isinstance(self.elastic, PidTarget):
            raise ConfigError(
                f"placement: exclusive needs an elastic group, and {self.elastic.spec} is a "
                "process; use --placement shared"
            )
        pins = not isinstance(self.tree.files, FakeKernel)
        had = (
            look_at_primaries(self.primaries, pins=pins) if self._left is None else self._left.held
        )
        return PrimarySide(
            self.primaries,
            had,
            self.writer,
            self.tree.online_cpus,
            was_arranged=self._left is not None,
        )

    def arrange_primaries(self, seen: Survey) -> None:
        """Journals the primaries' masks, if they are to be written."""
        if self.primary_side is not None:
            self.primary_side.arrange(seen)

    def followed(self) -> list[int]:
        """The processes that an elastic process has started, as far as they are known."""
        return self.elastic_side.members()

    def follow(self, actuator: _actuators.Actuator, smallest: Sequence[int]) -> str | None:
        """Confines what an elastic process has started since; why nothing may be lent, if so."""
        return self.elastic_side.follow(actuator, smallest)

    def confine_strangers(self) -> None:
        """Confines those that have pinned themselves since an elastic process started them."""
        self.elastic_side.confine_strangers(self.capacity.elastic_cpus(0))

    @property
    def is_made_tree(self) -> bool:
        """Whether plain files stand for the kernel's."""
        return isinstance(self.tree.files, FakeKernel)

    @property
    def moves_threads(self) -> bool:
        """Whether ``follow`` has anything to do."""
        return self.elastic_side.moves_threads

    @property
    def births(self) -> Births | None:
        """How births are noticed; None where that is not needed."""
        return self.elastic_side.births

    def adopt_newcomers(self) -> None:
        """Takes along what joined the elastic group."""
        self.elastic_side.adopt_newcomers()

    def was_made_again(self, seen: Survey) -> bool:
        """Whether a group that is written to is another one by the name of the journaled one."""
        written = range(-1, len(self.primaries) if self.primary_side is not None else 0)
        before, now = (
            {one for one in survey.kernel_ids if one[2] in written}
            for survey in (self.survey, seen)
        )
        return before != now

    def make_room(self, seen: Survey) -> None:
        """Arranges the elastic side for a host that has changed."""
        self.survey = seen
        self.arrange_primaries(seen)
        self.elastic_side.make_room(seen)

    def freeze(self) -> None:
        """Stops the elastic group. Raises TargetError or WriteRefused where that cannot be."""
        self.elastic_side.freeze()
        self.evicted = True

    def thaw(self) -> None:
        """Undoes ``freeze``."""
        self.elastic_side.thaw()
        self.evicted = False

    def guardian_counts(self) -> dict[str, int]:
        """How often the guardian took the cores back, by reason."""
        page = self.journal.page
        return {"silent loop": page.shrinks, "starved": page.starved}

    def beat(self) -> None:
        """Tells the guardian that we live, and if the loop does the service manager as well."""
        page = self.journal.page
        page.beat_as_agent()
        if page.loop_beat != self._heard_beat:
            self._heard_beat = page.loop_beat
            self.service.beat(_loop.monotonic_ns())

    def surprise(self, harvested: int) -> Surprise | None:
        """What somebody else has written to what is managed, with ``harvested`` cores lent."""
        if not self.managed:
            return None
        idle_file, managed = self.elastic_side.idle_file, self.managed
        if self.order is not None:
            masks = zip(managed, self.order.masks, strict=True)
            managed, harvested = (
                [(file, effective, [now]) for (file, effective, _), now in masks],
                0,
            )
        found = find_surprise(self.tree.files, managed, harvested, idle_file)
        return None if found is None or self._is_the_guardians(found) else found

    def _is_the_guardians(self, surprise: Surprise) -> bool:
        """Whether it is what the guardian has left when the loop was silent for a moment."""
        minimum = dict(self.journal.minimum).get(surprise.written)
        shrunk = self.journal.page.shrinks > 0 and minimum is not None
        return shrunk and is_same("cpuset.cpus", surprise.found, minimum or "")

    def step_aside(self, surprise: Surprise) -> NoReturn:
        """Leaves somebody else what he has written. Raises ForeignWrite."""
        with contextlib.suppress(KeyError):  # the set in force is not ours to put back
            self.journal.replace_original(surprise.path, surprise.found)
        raise ForeignWrite(surprise.told(self.other_writers.last(surprise.written)))

    def foreign_pins(self) -> list[ForeignPin]:
        """What somebody else has given elastic threads that are moved one by one."""
        pins = self.elastic_side.foreign_pins()
        if not self.journal.page.shrinks:
            return pins
        return [pin for pin in pins if pin.found != frozenset(self.journal.minimum_cpus)]

    def step_aside_for(self, pins: Sequence[ForeignPin]) -> NoReturn:
        """Leaves somebody else the affinities he has set. Raises ForeignWrite."""
        for pin in pins:
            self.journal.replace_affinity(pin.tid, pin.start_time, sorted(pin.found))
        raise ForeignWrite(pins[0].told())

    def watch_writers(self) -> None:
        """Has the kernel tell who else writes what is managed, where it does."""
        if not self.settings.trace_writers or isinstance(self.tree.files, FakeKernel):
            return
        if self.managed:
            switch = filter(None, (self.elastic_side.idle_file,))
            self.other_writers.watch([*(path for path, _, _ in self.managed), *switch])

    def primary_threads(self) -> list[int]:
        """Thread ids of all primaries. Raises TargetVanished."""
        return [tid for primary in self.primaries for tid in primary.threads()]

    # --- building the loop -----------------------------------------------------------------------

    def make_loop(self) -> _loop.Loop:
        """A loop for the host as last surveyed."""
        try:
            builder = self._loop_builder()
            loop = builder.build()
        except FileNotFoundError as error:  # what was just looked at is gone
            raise TargetVanished(f"{error.filename}: {error.strerror}") from error
        except PermissionError as error:
            raise RightsError(f"{error.filename}: {error.strerror}; run as root") from error
        except ValueError as error:
            raise ConfigError(str(error)) from error
        self.managed, self.order = builder.managed, builder.order
        self.sensing = builder.sensing
        return loop

    @property
    def told_sensor(self) -> str | None:
        """The sensor that the user knows of."""
        return None if self.sensing is None else self.sensing.name

    def _loop_builder(self) -> LoopBuilder:
        return HostLoopBuilder(
            self.settings,
            self.survey,
            self.tree,
            journal=self.journal,
            elastic_side=self.elastic_side,
            primary_side=self.primary_side,
            failed=self.failed_sensors,
            told=self.told_sensor,
        )

    # --- running ---------------------------------------------------------------------------------

    @property
    def preempts(self) -> bool:
        """Whether the primary preempts the elastic group wherever they meet."""
        return self.settings.placement == "shared" and self.elastic_side.idle_file is not None

    def make_policy(self, spec: str | None = None) -> Policy:
        """The policy of the settings, or the one spelled ``spec``, for this host's cores."""
        settings = self.settings
        return choose_policy(
            settings, spec or settings.policy, self.capacity.total, preempts=self.preempts
        )

    def make_decider(self, policy: Policy) -> Decider | None:
        """What decides in the loop as ``policy`` would; None where only the agent can."""
        return decider_of(self.settings, policy, self.capacity.keep_idle)

    def stop(self) -> None:
        """Ends the run soon; may be called from a signal handler."""
        self.stopped = True

    def run(
        self,
        policy: Policy,
        *,
        seconds: float | None = None,
        started: Callable[[], None] = _nothing,
        finished: Callable[[], None] = _nothing,
        observe: Callable[[Window, Decision], None] = _nothing,
    ) -> Report:
        """Harvests until ``stop`` or for ``seconds``; everything is taken back when it returns.

        ``started`` and ``finished`` are called right after the first and before the last poll;
        ``observe`` gets every window with its decision. Raises TargetVanished, SensorError or
        WriteRefused if the host no longer allows it.
        """
        agent = Agent(
            policy,
            total=self.capacity.total,
            keep_idle=self.capacity.keep_idle,
            long_term=long_term_of(self.settings),
            label_kind=self.settings.label,
        )
        return Run(self, agent, observe).run(seconds, started, finished)


def _report_recovery(report: RecoveryReport) -> None:
    for line in report.restored:
        _log.warning("an earlier agent did not end well; put back: %s", line)
    for failure in [*report.failed, *report.damaged]:
        _log.warning("an earlier agent's journal: %s", failure)
