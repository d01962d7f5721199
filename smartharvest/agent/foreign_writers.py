"""Who else writes what an arrangement manages, and what is left to them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from smartharvest.agent.loop_builder import BuiltLoop
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.foreign.pins import ForeignPin
from smartharvest.host.foreign.writer_trace import OtherWriters
from smartharvest.host.foreign.writes import ForeignWrite, Surprise, find_surprise
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.restoration import is_same
from smartharvest.mechanism.base import Mechanism


class ForeignWriters:
    """Compares what the loop has written with what is there; without a ``journal`` it writes
    nothing, and nobody is foreign."""

    def __init__(self, tree: CgroupTree, journal: Journal | None) -> None:
        self._tree = tree
        self._journal = journal
        self._trace = OtherWriters()

    def watch(self, mechanism: Mechanism, built: BuiltLoop) -> None:
        """Looks after what ``built`` writes from now on; the kernel says who else writes it, where
        the rights allow that."""
        self._mechanism, self._built = mechanism, built
        if self._tree.runs_tasks and built.managed:
            switch = filter(None, (mechanism.idle_file,))
            self._trace.watch([*(path for path, _, _ in built.managed), *switch])

    def have_written(self) -> bool:
        """Whether somebody else has written since the last call, as far as the kernel says it."""
        return self._trace.look()

    def last(self, path: str) -> str | None:
        """Who else wrote that file last, if that is known."""
        return self._trace.last(path)

    def close(self) -> None:
        self._trace.close()

    def surprise(self, harvested: int) -> Surprise | None:
        """What somebody else has written to what is managed, with ``harvested`` cores lent."""
        managed, order = self._built.managed, self._built.order
        if self._journal is None or not managed:
            return None
        if order is not None:
            masks = zip(managed, order.masks, strict=True)
            managed = [(file, effective, [now]) for (file, effective, _), now in masks]
            harvested = 0
        found = find_surprise(self._tree.files, managed, harvested, self._mechanism.idle_file)
        return None if found is None or _is_the_guardians(self._journal, found) else found

    def taken_back(self) -> int:
        """How often the guardian has taken cores back since the loop was silent for a moment."""
        return 0 if self._journal is None else self._journal.page.shrinks

    def reset_by(self, surprise: Surprise) -> str | None:
        """The service manager, if it has only written again what was there before the agent.

        systemd does so to every unit at a daemon-reload; nobody wants it otherwise than before.
        None: somebody else, nobody knows who, or another value.
        """
        assert self._journal is not None
        path, writer = surprise.written, self.last(surprise.written)
        original = self._journal.original(path)
        if writer is None or not writer.endswith("(pid 1)") or original is None:
            return None
        return writer if is_same(path, self._tree.files.read(path).strip(), original) else None

    def concede(self, surprise: Surprise) -> ForeignWrite:
        """Leaves somebody else what it has written; the error that says so."""
        assert self._journal is not None
        with contextlib.suppress(KeyError):  # the set in force is not ours to put back
            self._journal.replace_original(surprise.path, surprise.found)
        return ForeignWrite(surprise.describe(self.last(surprise.written)))

    def pins(self) -> list[ForeignPin]:
        """What somebody else has given elastic threads that are moved one by one."""
        pins = self._mechanism.foreign_pins()
        if self._journal is None or not self._journal.page.shrinks:
            return pins
        return [pin for pin in pins if pin.found != frozenset(self._journal.minimum_cpus)]

    def concede_pins(self, pins: Sequence[ForeignPin]) -> ForeignWrite:
        """Leaves somebody else the affinities it has set; the error that says so."""
        assert self._journal is not None
        for pin in pins:
            self._journal.replace_affinity(pin.tid, pin.start_time, sorted(pin.found))
        return ForeignWrite(pins[0].describe())


def _is_the_guardians(journal: Journal, surprise: Surprise) -> bool:
    """Whether it is what the guardian has left when the loop was silent for a moment."""
    minimum = dict(journal.minimum).get(surprise.written)
    shrunk = journal.page.shrinks > 0 and minimum is not None
    return shrunk and is_same("cpuset.cpus", surprise.found, minimum or "")
