"""What each group used, for the audit log: once a minute, by the kernel's own accounts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from smartharvest.host.process.cpu_usage import ReadCpuUsage
from smartharvest.host.target.base import Target

EVERY_S = 60.0

Note = Callable[..., None]
"""Notes an event with its details."""


CoreSeconds = Mapping[str, Mapping[str, float]]
"""By the name of an elastic group what it ``had`` and ``used`` so far, in core-seconds."""


class UsageMeter:
    """Of the targets that ``targets`` names; ``note`` gets what each used since the last time.

    So it does of what ``groups`` says of elastic groups.
    """

    def __init__(
        self,
        targets: Callable[[], Sequence[Target]],
        note: Note,
        clock: Callable[[], float] = time.monotonic,
        groups: Callable[[], CoreSeconds] = dict,
    ) -> None:
        self._targets = targets
        self._groups = groups
        self._groups_before: CoreSeconds = {}
        self._note = note
        self._clock = clock
        self._readers: dict[str, ReadCpuUsage] = {}
        self._before: Mapping[str, int] = {}
        self._read_s = clock()
        self._read()

    def look(self) -> None:
        """Notes what was used, if a minute has passed."""
        if self._clock() - self._read_s >= EVERY_S:
            self.close()

    def close(self) -> None:
        """Notes what was used since the last time."""
        before, before_s = self._before, self._read_s
        groups_before = self._groups_before
        self._read()
        used = {
            name: round(max(0, now - before[name]) / 1e9, 3)
            for name, now in self._before.items()
            if name in before
        }
        groups = {
            name: {
                what: round(max(0.0, now - groups_before.get(name, {}).get(what, 0.0)), 3)
                for what, now in sums.items()
            }
            for name, sums in self._groups_before.items()
        }
        more = {"groups": groups} if groups else {}
        if used or more:
            self._note("usage", s=round(self._read_s - before_s, 3), core_seconds=used, **more)

    def _read(self) -> None:
        targets = {str(target.spec): target for target in self._targets()}
        self._readers = {
            name: self._readers.get(name) or target.read_cpu_usage()
            for name, target in targets.items()
        }
        found = {name: reader() for name, reader in self._readers.items()}
        self._before = {name: used for name, used in found.items() if used is not None}
        self._groups_before = {name: dict(sums) for name, sums in self._groups().items()}
        self._read_s = self._clock()
