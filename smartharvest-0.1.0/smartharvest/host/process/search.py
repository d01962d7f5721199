"""The processes that somebody wants, found by looks at all of them that are spread over calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smartharvest.host.process import tasks
from smartharvest.host.spread import Spread

SHARE = 0.005
"""Of a core. Where some hundred processes run, a look a second takes less."""
PAUSE_NS = 500_000_000
MOST_NS = 10_000_000
MOST_FOUND = 256
"""Anybody can call a process what is wanted."""


class ProcessSearch:
    """The processes of the host below ``root`` that are ``wanted``: the first MOST_FOUND.

    The first call of ``look`` looks at all, the later ones go on within a share of the time; those
    that are wanted no more are left out at once.
    """

    def __init__(self, wanted: Callable[[int], bool], root: str = "/") -> None:
        self._wanted = wanted
        self._root = root
        self._found: list[int] = []
        self._begun = False
        self._spread = Spread(self._walk, share=SHARE, pause_ns=PAUSE_NS, most_ns=MOST_NS)

    def look(self) -> list[int]:
        """Their ids, ascending."""
        if not self._begun:
            self._begun = True
            self._spread.finish(lambda: None)
            return self._found
        self._spread.turn()
        return [pid for pid in self._found if self._wanted(pid)]

    def _walk(self) -> Iterator[None]:
        found: list[int] = []
        for pid in tasks.process_ids(self._root):
            if len(found) < MOST_FOUND and self._wanted(pid):
                found.append(pid)
            yield
        self._found = sorted(found)
