"""Who is confined to CPUs that could be lent: threads of the primaries, and tasks of others.

Both are looked at all the time, a few tasks in each turn of the agent, so that the cost has a bound
however many there are. What changes is seen once a look has come round.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from smartharvest.errors import TargetVanished
from smartharvest.host.foreign.confined import ConfinedTasks, Ours
from smartharvest.host.process import tasks
from smartharvest.host.spread import Spread
from smartharvest.host.target.base import Target

OWN_THREADS = ("sh-loop", "sh-core-hold", "sh-rescue", "sh-standstill")
"""What agents and benches call theirs that stay on some CPUs (loop.c, core_hold.c, rescue.c and
standstill.c)."""
SETTLED_S = 10.0
"""A task of somebody else keeps a core from being lent once it has lived so long. One that is soon
gone is not worth moving cores for: under cpu.idle it preempts the batch in any case."""
SHARE = 0.004
"""Of a core, for either look."""
OTHERS_PAUSE_NS = 2_000_000_000
"""From one look at the tasks of others to the next: on a host with some hundred of them it is most
of what the agent does beyond its decisions, and counts what has lived for SETTLED_S."""


class Confinement:
    """What the looks have found so far. ``finish`` makes the first ones, ``turn`` all others.

    ``primaries`` and ``elastic`` return the targets, ``followed`` the processes that an elastic
    process has started.
    """

    def __init__(
        self,
        primaries: Callable[[], Sequence[Target]],
        elastic: Callable[[], Target | None],
        followed: Callable[[], Collection[int]],
    ) -> None:
        self._primaries = primaries
        self._elastic = elastic
        self._followed = followed
        self._others = ConfinedTasks(self._ours, OWN_THREADS, SETTLED_S)
        self._pinned: dict[str, frozenset[int]] = {}
        self._looks = [
            Spread(self._walk_primaries, share=SHARE),
            Spread(self._others.walk, share=SHARE, pause_ns=OTHERS_PAUSE_NS),
        ]

    def turn(self, rest: Callable[[], object]) -> None:
        """Goes on looking, for a bounded time; calls ``rest`` (``Spread.turn``)."""
        for look in self._looks:
            look.turn(rest)

    def finish(self, beat: Callable[[], object]) -> None:
        """Looks at everything; calls ``beat`` now and then."""
        for look in self._looks:
            look.finish(beat)

    @property
    def foreign(self) -> Mapping[int, str]:
        """CPU -> a task of somebody else that is confined to it, as ``comm (tid)``."""
        return self._others.cpus

    def pinned(self, primary: Target, cpus: Collection[int]) -> frozenset[int]:
        """Those of ``cpus``, which the primary has, that some of its threads are pinned to."""
        found = self._pinned.get(str(primary.spec))
        if found is None:
            found = tasks.pinned_cpus(primary.threads(), cpus)
            self._pinned[str(primary.spec)] = found
        return found & frozenset(cpus)

    def _walk_primaries(self) -> Iterator[None]:
        primaries = list(self._primaries())
        now = {str(primary.spec) for primary in primaries}
        for gone in self._pinned.keys() - now:
            del self._pinned[gone]
        for primary in primaries:
            try:
                cpus = frozenset(primary.cpus())
                pinned: set[int] = set()
                for tid in _threads_of(primary):
                    own = tasks.affinity(tid) & cpus
                    if own != cpus:
                        pinned |= own
                    yield
            except TargetVanished:  # reported where the target is used
                continue
            self._pinned[str(primary.spec)] = frozenset(pinned)

    def _ours(self) -> Ours:
        elastic = self._elastic()
        targets = [*self._primaries(), *([] if elastic is None else [elastic])]
        processes, threads = {os.getpid()}, set[int]()
        family = set[int]()
        for target in targets:
            if target.pid is not None:
                processes.add(target.pid)
            else:
                with contextlib.suppress(TargetVanished):  # reported where the target is used
                    threads.update(target.threads())
        if elastic is not None and elastic.pid is not None:
            family = {elastic.pid, *self._followed()}
        return Ours(processes, family, threads)


def _threads_of(target: Target) -> Iterator[int]:
    if target.pid is None:
        return iter(target.threads())
    return tasks.threads_of((target.pid,))
