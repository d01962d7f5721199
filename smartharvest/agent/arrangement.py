"""The host, arranged for lending: entered once, and restored whatever ends it.

Everything written goes through the HostWriter, which has journaled the original first. A dry run
has no journal and no writer, and its mechanism only remembers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from smartharvest.agent.foreign_writers import ForeignWriters
from smartharvest.agent.loop_builder import BuiltLoop, LoopBuilder
from smartharvest.agent.reexec import HandoffState, signals_held
from smartharvest.agent.undo import Undo, left_by_the_dead
from smartharvest.algorithm.division import Share
from smartharvest.config.settings import Settings, host_settings
from smartharvest.errors import (
    ConfigError,
    CpusLost,
    RightsError,
    SmartHarvestError,
    TargetError,
    TargetVanished,
    WriteRefused,
)
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal import registry
from smartharvest.host.journal.places import journal_path
from smartharvest.host.journal.recovery import RecoveryReport, recover
from smartharvest.host.journal.restoration import is_same
from smartharvest.host.journal.shared_page import Phase
from smartharvest.host.preemption import Preemption, probe_preemption, unknown
from smartharvest.host.target.base import Target
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import claim_of, expand
from smartharvest.mechanism.choice import MakeMechanism, make_mechanism, needs_of
from smartharvest.mechanism.exclusive import PrimarySide, make_primary_side
from smartharvest.mechanism.memory_bounds import check_memory
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.choice import PlacementChoice, why_shared
from smartharvest.placement.confinement import Confinement
from smartharvest.placement.snapshot import HostSnapshot, take_snapshot
from smartharvest.placement.target_set import open_targets
from smartharvest.sensor.choice import Sensing

_log = logging.getLogger(__name__)


_GAVE_NOTHING = "no way of sharing cores gave the batch anything"


def _ignore(_kind: str, **_details: Any) -> None:
    """Where there is no audit log."""


def _no_progress() -> None:
    """Where nobody waits for it."""


class Arrangement:
    """A context manager: inside it the host is arranged for lending, outside it is as before.

    ``left`` is what an earlier arrangement handed over; ``audit`` gets a kind and details of all
    that is done; ``make`` makes the mechanism; ``claimed`` is called once the targets are this
    agent's and before anything is written; ``apart``: sharing cores gave the batch nothing, so with
    placement auto the two are to meet nowhere. Entering raises ConfigError, RightsError,
    TargetError, WriteRefused or AlreadyManaged, or what ``claimed`` raises, with the host untouched
    or put back.
    """

    def __init__(
        self,
        settings: Settings,
        left: HandoffState | None = None,
        *,
        evicted: bool = False,
        held_groups: Mapping[str, str] | None = None,
        audit: Callable[..., None] = _ignore,
        claimed: Callable[[], None] = lambda: None,
        progress: Callable[[], None] = _no_progress,
        apart: bool = False,
        make: MakeMechanism = make_mechanism,
        probe: Callable[..., Preemption] = probe_preemption,
    ) -> None:
        # What an agent has handed over may show no more what the primaries had.
        was_exclusive = left is not None and left.arrangement.get("placement") == repr("exclusive")
        is_open = settings.placement == "auto" and not was_exclusive
        self._goes_apart = apart and is_open and left is not None and left.fits(settings)
        """Whether what is left of a shared arrangement becomes an exclusive one."""
        exclusive = was_exclusive or self._goes_apart
        self._placement = PlacementChoice(settings, "exclusive" if exclusive else None)
        self._left = left
        self._audit = audit
        self._claimed, self._was_claimed = claimed, False
        self._progress = progress
        self._apart = apart
        self._make_mechanism = make
        self._probe = probe
        self.preemption = unknown("not tried yet")
        """Whether the kernel keeps what cpu.idle promises, and so what is relied on."""
        self.generation = 0 if left is None else left.generation + 1
        self.cpus_come_and_go = left is not None
        """Whether chosen CPUs may be missing for a time."""
        self.evicted = evicted or (left is not None and left.evicted)
        """Whether even the elastic minimum is taken back."""
        self.held_groups = dict((held_groups if left is None else left.held_groups) or {})
        """The groups that the operator has ``paused`` or ``evicted``, by name."""
        self.undo: Undo | None = None
        """None in a dry run."""
        self.built: BuiltLoop | None = None
        """The loop made last, and what it moves."""
        self.exclusive: PrimarySide | None = None
        self.confinement: Confinement | None = None
        """Who is confined to CPUs that could be lent."""
        self._heard_beat = 0
        self._without_nobodys: list[tuple[str, str]] = []
        """Masks that leave the elastic side without what is nobody's, until they are written."""

    @property
    def settings(self) -> Settings:
        """Those in force, with the placement that was chosen."""
        return self._placement.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._placement.take(settings)

    # --- entering ---------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._goes_apart:
            self._arrange_apart(_GAVE_NOTHING)
        else:
            self._arrange()
        if self.settings.placement == "auto":
            if self.preemption.gives_way is False:
                self._choose_placement(self.preemption.reason)
            elif self._apart:
                self._choose_placement(_GAVE_NOTHING)
        self._left = None
        self.cpus_come_and_go = True
        self._report()
        return self

    def may_set_apart(self) -> bool:
        """Whether exclusive placement may be chosen that was not before; the log has once why it
        may not."""
        if self.undo is None or self.settings.placement != "auto":
            return False
        why = why_shared(self.settings, self.targets, self.capacity)
        if why is not None:
            self._stay_shared(why)
        return why is None

    def _stay_shared(self, why: object) -> None:
        _log.warning("Placement: shared all the same: %s", why)
        self._placement.make("shared")

    def _choose_placement(self, because: str) -> None:
        """Begins again with exclusive placement, unless something speaks against it."""
        why = why_shared(self.settings, self.targets, self.capacity)
        if why is not None:
            self._stay_shared(why)
            return
        found, self._left = self.preemption, None
        self.restore()
        del self.mechanism  # which is closed
        self._placement.make("exclusive")
        if self._arrange_apart(because):
            self.preemption = found

    def _arrange_apart(self, because: str) -> bool:
        """With exclusive placement, which is chosen by now; False: that was refused, and placement
        is shared."""
        try:
            self._arrange()
        except (ConfigError, TargetError, WriteRefused) as error:
            self._left, self._goes_apart = None, False  # the host has been given back
            self._stay_shared(error)
            self._arrange()
            return False
        self._audit("placement", placement="exclusive", why=because)
        _log.warning(
            "Placement: exclusive: a lent core is taken out of the primary's cpuset, so that the "
            "two meet nowhere; --placement shared never writes it"
        )
        return True

    def _arrange(self) -> None:
        settings = self.settings
        # The /proc sensor keeps one descriptor for each thread of the primary.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        if settings.dry_run and not settings.primary:
            raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
        elastic = settings.elastic if settings.dry_run else settings.require_targets()
        self.tree = CgroupTree.discover(settings.cgroup_root)
        self._placement.know_freezer(is_there="freezer" in self.tree.hierarchies)
        settings = self.settings
        check_memory(settings, self.tree)
        left = self._left
        if not settings.dry_run:
            assert elastic is not None
            left = self._open_undo(elastic)
            settings = self.settings
        self.others = ForeignWriters(self.tree, None if self.undo is None else self.undo.journal)
        try:
            if not self._was_claimed:
                self._claimed()
            self._was_claimed = True
            if self.undo is not None:
                self.undo.start_guardian(left)
                if left is not None:
                    self.enter_phase(Phase.ARRANGING)
                    self.undo.journal.note_arrangement(host_settings(settings))
            writer = None if self.undo is None else self.undo.writer
            self.targets = open_targets(settings, self.tree, elastic, writer)
            self.mechanism = self._make_mechanism(
                settings,
                self.tree,
                self.elastic,
                writer,
                may_nudge=None if left is None else left.may_nudge,
            )
            self.confinement = self._look_for_confined()
            if writer is not None and self.elastic is not None:
                had = None if left is None or self._goes_apart else left.primary_cpus
                self.exclusive = make_primary_side(
                    settings,
                    self.tree,
                    self.primaries,
                    writer,
                    self.confinement,
                    had,
                )
            self.snapshot = self._first_look()
            self._arrange_primaries(self.snapshot)
            self.mechanism.arrange(self.snapshot, self.primaries)
            self._try_kernel()
            if self.evicted:
                self.freeze()
            elif self.undo is not None:
                self.mechanism.thaw_left(self.undo.journal)
        except BaseException:
            self.restore()
            raise

    def _try_kernel(self) -> None:
        """Finds out whether the kernel keeps what cpu.idle promises, where that is relied on."""
        undo, mechanism = self.undo, self.mechanism
        if mechanism.name == "strict":
            self.preemption = Preemption("strict", "the batch has a scheduler of its own")
        elif not mechanism.preempts:
            self.preemption = unknown("the batch is not under cpu.idle where it meets the primary")
        elif undo is None or not self.tree.runs_tasks or not self.settings.probe_preemption:
            self.preemption = Preemption("cpu.idle", "taken for granted: nothing was tried")
        else:
            self.preemption = found = self._probe(self.tree, undo.writer, self.capacity.lendable)
            self._audit("preemption", **found.describe())
            level = logging.WARNING if found.gives_way is False else logging.INFO
            may_help = found.gives_way is False and not self._placement.is_open
            hint = "; with --placement auto or exclusive the two meet nowhere" if may_help else ""
            _log.log(level, "Defence: %s: %s%s", found.defence, found.reason, hint)

    def _first_look(self) -> HostSnapshot:
        """The host as it is, with the rest of the primaries if some vanish meanwhile."""
        while True:
            try:
                return self.poll_what_is_left() if self.cpus_come_and_go else self.poll()
            except TargetVanished:
                if self.exclusive is not None or not self.targets.follow() or not self.primaries:
                    raise

    def _look_for_confined(self) -> Confinement | None:
        """Who is confined where now; None where that says nothing about the CPUs to lend."""
        if self.elastic is None or not self.tree.runs_tasks:
            return None
        found = Confinement(lambda: self.primaries, lambda: self.elastic, self.mechanism.members)
        found.finish(self.show_life)
        return found

    def _open_undo(self, elastic: TargetSpec) -> HandoffState | None:
        """What an earlier arrangement handed over, or left, if this one goes on with it."""

        def claims() -> list[str]:
            return [
                claim_of(spec, self.tree)
                for pattern in (*self.settings.primary, elastic)
                for spec in expand(pattern, self.tree)
            ]

        left = self._left
        if left is None:
            left = left_by_the_dead(self.settings, self.tree, claims)
        try:
            _report_recovery(recover(self.tree.files, self.settings.state_dir))
        except BaseException:
            if left is not None and self._left is None:
                left.give_back()
            raise
        if left is not None and not (self._goes_apart or left.fits(self.settings)):
            _log.info("Targets or arrangement changed: starting from the originals")
            left.give_back()
            left = self._left = None
            self._placement.make(None)

        def note_write(path: str, before: str, value: str) -> None:
            self._audit("write", path=path, before=before, value=value)

        self.undo = Undo(self.settings, self.tree, claims, left, note_write, self._progress)
        return left

    def _arrange_primaries(self, seen: HostSnapshot) -> None:
        """Journals the primaries' masks, if they are to be written."""
        if self.exclusive is not None:
            self.exclusive.arrange(seen)

    def _report(self) -> None:
        capacity = self.capacity
        if self.undo is None:
            with contextlib.suppress(OSError):  # without it there is no status
                os.makedirs(self.settings.state_dir, 0o700, exist_ok=True)
            if self.tree.runs_tasks:
                registry.note(journal_path(self.settings.state_dir, os.getpid()))
            _log.info("Dry run: nothing is written to the host")
        elif not self.tree.runs_tasks:
            _log.info("%s is no cgroup filesystem: only plain files change", self.tree.root)
        _log.info(
            "Pool %s: %d cores between primary and elastic, elastic minimum %d, at most %d lent",
            format_cpulist(capacity.pool),
            capacity.total,
            capacity.elastic_min,
            capacity.max_harvest,
        )
        for remark in capacity.remarks:
            _log.info("Order of lending: %s", remark)
        for note in capacity.notes:
            _log.warning("%s", note)
        if capacity.max_shared == 0:
            _log.warning("The limits leave no core to lend; the agent only watches")
        elif capacity.max_harvest == 0:
            _log.warning("The limits leave no core to move; a policy can only share what there is")

    # --- leaving ----------------------------------------------------------------------------------

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """Puts the host back as it was; harmless when that is done."""
        self.others.close()
        undo, self.undo = self.undo, None
        if undo is not None:
            undo.restore(before=self._close_mechanism)

    def _close_mechanism(self) -> None:
        if hasattr(self, "mechanism"):
            self.mechanism.close()

    def hand_off(self, *, paused: str | None) -> HandoffState | None:
        """Leaves all but the lent cores as it is for a successor; None in a dry run."""
        self.others.close()
        undo = self.undo
        if undo is None:
            return None
        try:
            with signals_held():
                family = self.mechanism.hand_off()
        except BaseException:
            self.restore()
            raise
        self.undo = None
        return HandoffState(
            journal=undo.journal,
            keeper=undo.guardian,
            guardian=None,
            primary_cpus=() if self.exclusive is None else self.exclusive.had,
            may_nudge=self.mechanism.may_nudge,
            root=self.settings.cgroup_root,
            arrangement=host_settings(self.settings),
            paused=paused,
            evicted=self.evicted,
            held_groups=dict(self.held_groups),
            generation=self.generation,
            family=family,
        )

    # --- the host as it is ------------------------------------------------------------------------

    @property
    def capacity(self) -> Capacity:
        return self.snapshot.capacity

    @property
    def smallest(self) -> int:
        """Cores of the smallest set to be lent to a group that has none of its own; 0: it has."""
        settings, capacity = self.settings, self.capacity
        parks = settings.park == "freeze" and capacity.elastic_min == 0
        if settings.placement != "exclusive" or not parks:
            return 0
        return min((number for number in capacity.whole if number), default=1)

    @property
    def primaries(self) -> list[Target]:
        """Those there are now."""
        return self.targets.primaries

    @property
    def elastic(self) -> Target | None:
        """None only in a dry run, whose elastic target may be missing."""
        return self.targets.elastic

    def primary_threads(self) -> list[int]:
        """Thread ids of all primaries. Raises TargetVanished."""
        return [tid for primary in self.primaries for tid in primary.threads()]

    def poll(self) -> HostSnapshot:
        """The host as it is now, as far as the loop depends on it. Reads only."""
        if not self.primaries:  # those of a pattern are all gone: the cores stay as they are
            ids = tuple(one for one in self.snapshot.kernel_ids if one[2] < 0)
            return replace(self.snapshot, sources=(), kernel_ids=ids)
        online = self.tree.online_cpus()
        settings = self.settings
        if self.cpus_come_and_go and settings.cores:
            settings = replace(settings, cores=settings.cores & online or settings.cores)
        return take_snapshot(
            settings,
            self.tree,
            self.primaries,
            self.elastic,
            self.confinement,
            () if self.exclusive is None else self.exclusive.held(online),
            needs_of(settings),
        )

    def poll_what_is_left(self) -> HostSnapshot:
        """The same, after CPUs were lost. Raises CpusLost if that is impossible to share."""
        try:
            return self.poll()
        except (TargetError, ConfigError) as error:
            raise CpusLost(str(error)) from error

    def poll_targets(self, stop_loop: Callable[[], None]) -> bool:
        """Takes in primaries that have appeared and drops those that have vanished.

        True if the host has to be arranged from its originals for that. First of all a new one has
        the CPUs that were lent as nobody's: ``stop_loop`` is called for that, and the loop must not
        go on with these masks.
        """
        noticed_s = time.time()
        free_s: float | None = None

        def notice(new: Sequence[Target]) -> None:
            nonlocal noticed_s, free_s
            noticed_s = time.time()
            if self._may_use_nobodys(new):
                free_s = self._free_nobodys(stop_loop)

        if not self.targets.follow(notice):
            return False
        now = sorted(str(target.spec) for target in self.primaries)
        free = {} if free_s is None else {"free": round(free_s, 6)}
        self._audit("primaries", now=now, noticed=round(noticed_s, 6), **free)
        if not self.primaries:
            return False
        try:
            self.targets.check_idleness_shows()
        except TargetError as error:  # it only looks busier than it is
            _log.warning("%s", error)
        return self.exclusive is not None  # which knows those from before

    def _may_use_nobodys(self, new: Sequence[Target]) -> bool:
        """Whether a primary that has appeared may run on CPUs that are lent as nobody's."""
        lent = frozenset(self.snapshot.capacity.unallocated)
        if not lent or self.exclusive is not None:  # which moves the primaries' masks, too
            return False
        try:
            return any(lent & target.cpus() for target in new)
        except (OSError, SmartHarvestError):
            return False  # a look at the whole host says what follows

    def _free_nobodys(self, stop_loop: Callable[[], None]) -> float | None:
        """While the loop may run, whose end may have to wait for a CPU; the time when it was done.

        The loop may write meanwhile, or be refused to: what it has left is written once it ended.
        """
        free_s, masks = None, self._without_nobodys
        if self.undo is not None:
            with contextlib.suppress(OSError, SmartHarvestError):
                free_s = self.undo.writer.set_known(masks)
        stop_loop()
        if free_s is not None and self._are_written(masks):
            self._without_nobodys = []
            return free_s
        return self._take_nobodys_back()

    def _are_written(self, masks: Sequence[tuple[str, str]]) -> bool:
        """Whether each file holds what is written there last."""
        assert self.undo is not None
        read = self.undo.writer.read
        try:
            return all(is_same(path, read(path), mask) for path, mask in dict(masks).items())
        except (OSError, SmartHarvestError):
            return False

    def _take_nobodys_back(self) -> float | None:
        """By masks that are in the journal already, so that no disk is waited for."""
        masks, self._without_nobodys = self._without_nobodys, []
        try:
            return None if self.undo is None else self.undo.writer.set_known(masks)
        except (OSError, SmartHarvestError) as error:
            _log.warning("%s; the next arrangement tries it again", error)
            return None

    def was_remade(self, seen: HostSnapshot) -> bool:
        """Whether a group that is written to is another one by the name of the journaled one."""
        written = range(-1, len(self.primaries) if self.exclusive is not None else 0)
        before, now = (
            {one for one in snapshot.kernel_ids if one[2] in written}
            for snapshot in (self.snapshot, seen)
        )
        return before != now

    def rearrange(self, seen: HostSnapshot) -> None:
        """Arranges both sides for a host that has changed."""
        self.snapshot = seen
        self._arrange_primaries(seen)
        self.mechanism.make_room(seen)

    def leave_what_it_may_have(self, seen: HostSnapshot) -> None:
        """Takes from the elastic side what it may no longer have on the host as ``seen``.

        Before another loop or arrangement is made for that host, which takes long. First all that
        is nobody's. No loop may run.
        """
        smallest, now = (set(one.capacity.elastic_cpus(0)) for one in (seen, self.snapshot))
        if now <= smallest or self.exclusive is not None:  # which moves the primaries' masks too
            return
        self._take_nobodys_back()
        try:
            self.mechanism.make_room(seen)
            self._builder(set(), None, seen).leave_smallest()
        except (OSError, SmartHarvestError) as error:
            _log.warning("%s; the next arrangement tries it again", error)

    def divide(self, shares: Sequence[Share], together: Collection[str] = ()) -> bool:
        """Divides what is lent among groups; True if the loop has to take up other masks.

        The groups of ``together`` share by time what they own.
        """
        try:
            return self.mechanism.divide(self.snapshot, shares, together)
        except SmartHarvestError as error:  # what they have is not more than is lent
            _log.warning("%s; the groups keep what they have", error)
            return False

    def regroup(self, settings: Settings, shares: Sequence[Share]) -> None:
        """Goes on with other groups; a refused mask is written at the next division."""
        try:
            self.mechanism.regroup(settings, self.snapshot, shares)
        except SmartHarvestError as error:
            _log.warning("%s; it is tried again", error)

    def freeze(self) -> None:
        """Stops the elastic side. Raises TargetError or WriteRefused where that is impossible."""
        self.mechanism.freeze()
        self.evicted = True

    def thaw(self) -> None:
        """Undoes ``freeze``."""
        self.mechanism.thaw()
        self.evicted = False

    # --- the guardian -----------------------------------------------------------------------------

    def enter_phase(self, phase: Phase) -> None:
        """Announces the phase to the guardian, if there is anything to guard."""
        if self.undo is not None:
            self.undo.enter_phase(phase)

    def show_life(self) -> None:
        """Shows the guardian that the agent lives, amid something that takes long."""
        if self.undo is not None:
            self.undo.journal.page.beat_as_agent()

    def beat(self) -> None:
        """Shows the guardian that the agent lives."""
        if self.undo is not None:
            self.undo.journal.page.beat_as_agent()

    def hears_loop(self) -> bool:
        """Whether the loop has beaten since the last call."""
        if self.undo is None:
            return False
        page = self.undo.journal.page
        heard, self._heard_beat = self._heard_beat, page.loop_beat
        return heard != self._heard_beat

    def check_guardian(self) -> str | None:
        """Why nothing may be lent for want of a guardian; None if all is well.

        Raises RightsError if guardian after guardian dies.
        """
        guardian = None if self.undo is None else self.undo.guardian
        return None if guardian is None else guardian.check()

    def describe_guardian(self) -> dict[str, Any] | None:
        """Who guards this agent, and which group's freezing would stop both; None: nobody does."""
        guardian = None if self.undo is None else self.undo.guardian
        if guardian is None:
            return None
        return {"pid": guardian.pid, "lost": guardian.lost, "frozen_with": guardian.frozen_with}

    def guardian_counts(self) -> dict[str, int]:
        """How often the guardian took the cores back, by reason."""
        return {} if self.undo is None else self.undo.guardian_counts()

    # --- the loop ---------------------------------------------------------------------------------

    def make_loop(self, failed_sensors: set[str], known_sensor: str | None) -> BuiltLoop:
        """A polling loop for the host as last seen."""
        with _host_errors():
            self.built = self._builder(failed_sensors, known_sensor).build()
        self._loop_was_made()
        return self.built

    def can_keep_loop(self, seen: HostSnapshot) -> bool:
        """Whether the loop made last can go on with other cores, its sensor with it."""
        return self.built is not None and self.built.fits(self.snapshot, seen)

    def sense_otherwise(self, seen: HostSnapshot, failed_sensors: set[str]) -> Sensing | None:
        """Another sensor for the loop made last, if the settings have come to need one.

        That loop may go on meanwhile.
        """
        built = self.built
        assert built is not None
        with _host_errors():
            return self._builder(failed_sensors, built.sensing.name, seen).sense_otherwise(built)

    def can_sense_by(self, other: Sensing) -> bool:
        """Whether the loop made last can go on with that sensor, once it is stopped."""
        return self.built is not None and self.built.can_sense_by(other)

    def change_loop(self, other: Sensing | None = None) -> BuiltLoop:
        """Has the loop made last, which is stopped, move the cores of the host as last seen.

        ``other`` is what it senses by from then on, if not as before.
        """
        assert self.built is not None
        with _host_errors():
            self.built = self._builder(set(), None).change(self.built, other)
        self._loop_was_made()
        return self.built

    def _loop_was_made(self) -> None:
        self._without_nobodys = self.mechanism.without_nobodys(self.snapshot)
        assert self.built is not None
        self.others.watch(self.mechanism, self.built)

    def _builder(
        self, failed_sensors: set[str], known_sensor: str | None, seen: HostSnapshot | None = None
    ) -> LoopBuilder:
        return LoopBuilder(
            self.settings,
            seen or self.snapshot,
            self.tree,
            self.mechanism,
            journal=None if self.undo is None else self.undo.journal,
            exclusive=self.exclusive,
            failed_sensors=failed_sensors,
            known_sensor=known_sensor,
        )


@contextlib.contextmanager
def _host_errors() -> Iterator[None]:
    """Turns what the host refuses into errors for the user."""
    try:
        yield
    except FileNotFoundError as error:  # what was just looked at is gone
        raise TargetVanished(f"{error.filename}: {error.strerror}") from error
    except PermissionError as error:
        raise RightsError(f"{error.filename}: {error.strerror}; run as root") from error
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _report_recovery(report: RecoveryReport) -> None:
    for line in report.restored:
        _log.warning("An earlier agent did not end well; restored: %s", line)
    for failure in [*report.failed, *report.damaged]:
        _log.warning("An earlier agent's journal: %s", failure)
