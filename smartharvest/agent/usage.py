"""What each group used, for the audit log: once a minute, by the kernel's own accounts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from smartharvest.host.process.cpu_usage import ReadCpuUsage
from smartharvest.host.target.base import Target

EVERY_S = 60.0

Note = Callable[..., None]
"""Notes an event with its details."""


class UsageMeter:
    """Of the targets that ``targets`` names; ``note`` gets what each used since the last time."""

    def __init__(
        self,
        targets: Callable[[], Sequence[Target]],
        note: Note,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._targets = targets
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
        self._read()
        used = {
            name: round(max(0, now - before[name]) / 1e9, 3)
            for name, now in self._before.items()
            if name in before
        }
        if used:
            self._note("usage", s=round(self._read_s - before_s, 3), core_seconds=used)

    def _read(self) -> None:
        targets = {str(target.spec): target for target in self._targets()}
        self._readers = {
            name: self._readers.get(name) or target.read_cpu_usage()
            for name, target in targets.items()
        }
        found = {name: reader() for name, reader in self._readers.items()}
        self._before = {name: used for name, used in found.items() if used is not None}
        self._read_s = self._clock()
