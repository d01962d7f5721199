"""The ``strict`` mechanism: ``merge``, with the batch in a class below every normal task.

A sched_ext scheduler in partial mode has the tasks of the elastic group (csrc/bpf/strict.bpf.c).
The cpuset, cpu.idle and the safeguards stay below it: where the scheduler ends, the tasks are the
fair class's again, under cpu.idle and on what is lent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence

from smartharvest.algorithm.policy.ways import usual_spare
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.process.family import Family
from smartharvest.host.sched_ext import state
from smartharvest.host.sched_ext.loader import Loaded, NoStrict, Shared, why_not
from smartharvest.host.target.base import Target
from smartharvest.host.topology import Topology, this_machine
from smartharvest.mechanism.cpuset import CpusetMechanism
from smartharvest.mechanism.group import LOOK_S, LOOK_SHARE
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)

REST_S = 10.0
"""How long nothing is lent after the scheduler has ended."""
LONGEST_REST_S = 600.0
SOON_S = 0.1
"""The least time between looks at who belongs in the class, where tasks keep leaving it."""
STARVED_S = 15.0
"""A batch that has not run for so long is given back, before the kernel's watchdog (30 s) ends the
scheduler for it."""


def caches_of(tree: CgroupTree, pool: Collection[int]) -> Sequence[frozenset[int]]:
    """The CPUs of ``pool``, by last-level caches."""
    known = this_machine(tree.online_cpus()) if tree.runs_tasks else Topology()
    return known.caches(pool)


class StrictMechanism(CpusetMechanism):
    """Falls back to ``merge`` where there is no sched_ext, unless ``required``."""

    required = True
    moves_threads = True
    """Not that: it has to be looked after often."""
    revocation: Shared | None = None
    """What all its schedulers share; the loop's thread gives everything back as one ends."""
    _active = True
    """Whether there is a scheduler, or will be after a rest."""
    _caches: Sequence[frozenset[int]] = ()
    """The CPUs that are shared, by last-level caches."""
    _loaded: Loaded | None = None
    _runs: memoryview | None = None
    _next_look_s = _soonest_look_s = 0.0
    _left = 0
    """Tasks that had left the class when it was last looked after."""
    _retake_s = 0.0
    _rest_s = REST_S
    _ran: tuple[int, float] = (0, 0.0)
    """CPU time of the batch, and when it was seen to grow."""
    ends = 0
    _chosen: int | None = None
    """How many CPUs of each cache are kept idle, if somebody has chosen."""

    @property
    def name(self) -> str:
        return "strict" if self._active else "merge"

    @property
    def keeps_spare(self) -> bool:
        return self._active

    # --- for a host as last seen ------------------------------------------------------------------

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        if self._writer.only_plans:
            self._plan(snapshot, primaries)
            return
        pool = snapshot.capacity.pool
        self._caches = caches_of(self._tree, pool)
        self._load()
        super().arrange(snapshot, primaries)
        if self._loaded is not None:
            self._take_in()
            self._start()

    def _plan(self, snapshot: HostSnapshot, primaries: Sequence[Target]) -> None:
        """Loads nothing. Raises NoStrict as far as files show it."""
        if (why := why_not()) is not None and self.required:
            raise NoStrict(f"mechanism: strict: {why}")
        super().arrange(snapshot, primaries)
        if why is None:
            self._writer.set_policies(self._group.path)

    def _load(self) -> None:
        """Before anything is written. Raises NoStrict if that is required and cannot be done."""
        try:
            self._loaded = Loaded(self.revocation)
        except NoStrict as error:
            if self.required:
                raise
            self._active = self.moves_threads = False
            _log.info("%s; using merge", error)
            return
        self.revocation = self._loaded.shared
        state.control(
            self._loaded.memory,
            slice_ns=self._settings.strict_slice_ns,
            keep_preempted=self._loaded.calls_back,
            spare={cpus: self._spare_of(cpus) for cpus in self._caches},
        )

    def _spare_of(self, cpus: frozenset[int]) -> int:
        for wanted in (self._settings.strict_spare, self._chosen):
            if wanted is not None:
                return wanted
        return usual_spare(len(cpus))

    def _start(self) -> None:
        assert self._loaded is not None
        self._loaded.attach()
        self._ran = (0, time.monotonic())

    def _take_in(self) -> None:
        """Puts who has come under SCHED_EXT; children inherit it."""
        began_s = time.monotonic()
        _, refused = self._writer.set_policies(self._group.path)
        if refused:
            _log.warning(
                "%s: %d threads stay in the normal class: %s",
                self._group, len(refused), refused[0].strerror,
            )  # fmt: skip
        took_s = time.monotonic() - began_s
        self._next_look_s = began_s + max(LOOK_S, took_s * LOOK_SHARE)
        self._soonest_look_s = began_s + max(SOON_S, took_s * LOOK_SHARE)

    @property
    def spare(self) -> int | None:
        return max(map(self._spare_of, self._caches), default=0) if self._active else None

    def keep_spare(self, count: int | None) -> None:
        """A store of a word for each CPU; the program obeys it at its next event."""
        if count == self._chosen:
            return
        self._chosen = count
        if self._loaded is not None:
            state.keep_spare(
                self._loaded.memory, {cpus: self._spare_of(cpus) for cpus in self._caches}
            )

    # --- while it runs ----------------------------------------------------------------------------

    def follow(self, _smallest: Sequence[int]) -> str | None:
        """Looks after the scheduler and takes along who has joined the group.

        Why nothing may be lent for a time, if the scheduler has ended.
        """
        if not self._active:
            return None
        now_s = time.monotonic()
        if self._loaded is not None:
            self._watch(self._loaded, now_s)
        if self._loaded is None and now_s >= self._retake_s:
            self._retake(now_s)
        if self._loaded is None:
            return "the sched_ext scheduler has ended; the batch rests"
        if any(self._loaded.shared.slot):
            return "the sched_ext scheduler is ending"
        if now_s >= self._next_look_s:
            self._take_in()
        return None

    def _watch(self, loaded: Loaded, now_s: float) -> None:
        ended = state.end(loaded.memory)
        if ended is not None:
            self._rest(now_s, f"was ended by the kernel: {ended.reason}")
            return
        counts = state.counts(loaded.memory)
        if counts.left != self._left:
            self._left = counts.left
            self._next_look_s = min(self._next_look_s, self._soonest_look_s)
        ran_ns, grew_s = self._ran
        if counts.ran_ns != ran_ns or not counts.runnable:
            self._ran = (counts.ran_ns, now_s)
        elif now_s - grew_s > STARVED_S:
            self._rest(now_s, f"had no CPU for {STARVED_S:.0f} s, since the primaries use all")

    def _rest(self, now_s: float, why: str) -> None:
        assert self._loaded is not None
        self._loaded.close()
        self._loaded = None
        self.ends += 1
        self._retake_s = now_s + self._rest_s
        _log.warning(
            "strict: the batch's scheduler %s; the batch is under cpu.idle and gets nothing for "
            "%.0f s", why, self._rest_s,
        )  # fmt: skip
        self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)

    def _retake(self, now_s: float) -> None:
        try:
            self._load()
            self._start()
        except NoStrict as error:
            self._close_scheduler()
            self._retake_s = now_s + self._rest_s
            _log.warning(
                "%s; nothing is lent, and another try follows in %.0f s", error, self._rest_s
            )
            self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)
            return
        _log.info("strict: the batch has its scheduler again")

    # --- leaving ----------------------------------------------------------------------------------

    def _close_scheduler(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    def close(self) -> None:
        self._close_scheduler()
        super().close()

    def hand_off(self) -> Family | None:
        """The successor loads another; until then the batch is under cpu.idle."""
        self._close_scheduler()
        return super().hand_off()


class AutoMechanism(StrictMechanism):
    """``strict`` where it works, else ``merge``."""

    required = False
