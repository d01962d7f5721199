"""The descendants of one process, as they start and end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from smartharvest.errors import RightsError
from smartharvest.host.process import tasks
from smartharvest.host.process.events import MOST_PER_TURN, Birth, EventsLost, ProcessEvents
from smartharvest.host.spread import Spread

_log = logging.getLogger(__name__)

RESCAN_S = 1.0
RESCAN_SHARE = 0.01
"""Of a core, for listing all processes."""
RESCAN_MOST_NS = 20_000_000
"""... at once."""


@dataclass
class Births:
    """How new processes are noticed, and what may have been missed."""

    source: str
    """``connector`` (the kernel reports each) or ``rescans`` (once a second)."""
    reason: str
    followed: int = 0
    """Processes alive now, the first one not counted."""
    events: int = 0
    overflows: int = 0
    rescans: int = 0
    blind_seconds: float = 0.0
    """From an overflow to the rescan after it; without the connector, between rescans."""

    def describe(self) -> dict[str, object]:
        return asdict(self)


class Family:
    """The descendants of ``root``. ``turn`` takes in what has happened and returns the new ones.

    The process connector misses only children of processes it missed. Without it, or after an
    overflow, all processes are listed; one whose parent has ended by then is not found.
    """

    def __init__(
        self,
        root: int,
        *,
        open_events: Callable[[], ProcessEvents] = ProcessEvents,
        clock: Callable[[], float] = time.monotonic,
        spent_ns: Callable[[], int] = time.thread_time_ns,
        beat: Callable[[], object] = lambda: None,
        known: Iterable[int] | None = None,
        leaving: Iterable[int] = (),
    ) -> None:
        """Looks for those there are already, and calls ``beat`` meanwhile.

        ``known`` are the members when the events, which go on, were last read, ``leaving`` those of
        them that had begun to end: nobody is looked for then.
        """
        self.root = root
        self.members: dict[int, int | None] = {}
        """Process -> its parent; None if a rescan found it."""
        self._clock = clock
        self.leaving: set[int] = set(leaving)
        """Members that have begun to end."""
        self._events: ProcessEvents | None = None
        self.behind = False
        """Whether the last turn left events unread."""
        try:
            self._events = open_events()
            self.births = Births("connector", "the kernel reports each")
        except RightsError as error:
            self.births = Births("rescans", str(error))
        self._blind_since_s: float | None = None
        self._overflowed = False
        """Whether events were lost after the rescan under way began."""
        self._found: list[int] = []
        """By a rescan, and not reported yet."""
        self._rescans = Spread(
            self._rescan,
            share=RESCAN_SHARE,
            pause_ns=int(RESCAN_S * 1e9),
            most_ns=RESCAN_MOST_NS,
            now_ns=lambda: int(clock() * 1e9),
            spent_ns=spent_ns,
        )
        if known is not None:
            self.members = dict.fromkeys(known)
            return
        self._rescans.finish(beat)
        self._take_found()

    def turn(self) -> list[int]:
        """The new processes, parents first; never waits."""
        new: list[int] = []
        if self._events is not None:
            new += self._read(self._events)
        elif self._blind_since_s is None:
            self._blind_since_s = self._clock()
        if self._blind_since_s is not None:
            if self._rescans.turn() and not self._overflowed:
                self.births.blind_seconds += self._clock() - self._blind_since_s
                self._blind_since_s = None
            new += self._take_found()
        self._forget([pid for pid in self.leaving if not tasks.alive(pid)])
        self.births.followed = len(self.members)
        return [pid for pid in new if pid in self.members]

    def _rescan(self) -> Iterator[None]:
        """Looks at all processes, one a step, until there is no new one."""
        self._overflowed = False
        self.births.rescans += 1
        for pid in list(self.members):
            if not tasks.alive(pid):
                self._forget([pid])
            yield
        found = True
        while found:  # a child may be listed before its parent
            found = False
            for pid in tasks.process_ids():
                yield
                if self._is_ours(pid):
                    continue
                parent = tasks.parent_of(pid)
                if parent is not None and self._is_ours(parent) and tasks.alive(pid):
                    self.members[pid] = None
                    self._found.append(pid)
                    found = True

    def _take_found(self) -> list[int]:
        found, self._found = self._found, []
        self.births.followed = len(self.members)
        return found

    def _read(self, events: ProcessEvents) -> list[int]:
        new: list[int] = []
        before = events.read_count
        try:
            for event in events.read():
                if isinstance(event, Birth):
                    if event.tid == event.pid and self._is_ours(event.parent_pid):
                        self.members[event.pid] = event.parent_pid
                        new.append(event.pid)
                elif event.tid == event.pid and event.pid in self.members:
                    self.leaving.add(event.pid)  # the event comes when it begins to end
        except EventsLost:
            self.births.overflows += 1
            self._overflowed = True
            if self._blind_since_s is None:
                self._blind_since_s = self._clock()
                _log.info("process events were lost: listing all processes")
        self.births.events = events.read_count
        self.behind = events.read_count - before >= MOST_PER_TURN
        return new

    def _is_ours(self, pid: int) -> bool:
        return pid == self.root or pid in self.members

    def _forget(self, pids: list[int]) -> None:
        for pid in pids:
            self.members.pop(pid, None)
            self.leaving.discard(pid)

    @property
    def hears_all(self) -> bool:
        """Whether the kernel reports every birth, and none was lost that is still looked for."""
        return self._events is not None and self._blind_since_s is None

    @property
    def descriptor(self) -> int | None:
        """Of the events, for a successor; None without the connector."""
        return None if self._events is None else self._events.fileno()

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None
