"""Who else has had the machine, moment by moment, and when nobody had: what belongs to no row.

On cgroup v1 this process joins a cpuacct group of its own, which everything it starts inherits:
what the root has used in user mode and this group has not is somebody else's. Time in the kernel
does not count: its threads work for a batch as well, and a row must not get rid of what it causes.
The kernel counts these by ticks. What the hypervisor withheld is theirs, too, in clock ticks.
Elsewhere only the latter is seen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.machine import steal_s
from bench.series import recorded
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.lab.demo.standstill import Interval

UNDER_WAY_NS = 20_000_000
"""Few requests take longer."""
EVERY_S = 0.1
USAGE = "cpuacct.usage_user"

Series = NDArray[np.int64]
"""A row a moment: monotonic ns, and ns of CPU time that others have had so far."""


class Foreign:
    """Tells what others have had; made by ``watching``."""

    def __init__(self, own: Path | None) -> None:
        self._usages: tuple[Path, ...] = ()
        if own is not None:
            self._usages = (own.parent / USAGE, own / USAGE)

    @property
    def seen(self) -> bool:
        """Whether other processes are; otherwise only the hypervisor is."""
        return bool(self._usages)

    def used_ns(self) -> int:
        stolen_ns = int(steal_s() * 1e9)
        if not self._usages:
            return stolen_ns
        # The whole after the part: what is ours in between does not count as theirs.
        own_ns = int(self._usages[1].read_text())
        return int(self._usages[0].read_text()) - own_ns + stolen_ns

    def series(self) -> AbstractContextManager[list[tuple[int, int]]]:
        """That, moment by moment: a look takes 0.4 ms of what is measured."""
        return recorded(self.used_ns, EVERY_S)


@contextmanager
def watching() -> Iterator[Foreign]:
    """Everything that is started inside counts as ours."""
    tree = CgroupTree.discover()
    root = tree.hierarchies.get("cpuacct")
    if tree.version != 1 or root is None:
        yield Foreign(None)
        return
    own = Path(root, f"smartharvest-bench-{os.getpid()}")
    try:
        own.mkdir()
        before = _group_of_this_process()
        Path(own, "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        with suppress(OSError):
            own.rmdir()
        yield Foreign(None)
        return
    try:
        yield Foreign(own)
    finally:
        Path(root, before.lstrip("/"), "cgroup.procs").write_text(str(os.getpid()))
        for _ in range(100):  # what was killed takes a moment to leave
            with suppress(OSError):
                own.rmdir()
                break
            time.sleep(0.02)


def _group_of_this_process() -> str:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(","):
            return path
    raise OSError("no cpuacct group")


def stood_still(
    standstills: Sequence[Interval], start_ns: int, blocks: int, block_ns: int
) -> Series:
    """Numbers of the blocks, from ``start_ns`` on, that standstills of the machine touched.

    So do those with requests that were under way, and with what had piled up meanwhile.
    """
    found: set[int] = set()
    for from_ns, until_ns in standstills:
        first = (from_ns - UNDER_WAY_NS - start_ns) // block_ns
        last = (2 * until_ns - from_ns - start_ns) // block_ns
        found.update(range(max(0, first), min(blocks, last + 1)))
    return np.array(sorted(found), dtype=np.int64)


def disturbed(rows: Series, start_ns: int, blocks: int, block_ns: int, most_ns: int) -> Series:
    """Numbers of the blocks, from ``start_ns`` on, in which others had more than ``most_ns``."""
    edges = start_ns + np.arange(blocks + 1) * block_ns
    at = np.interp(edges - rows[0, 0], rows[:, 0] - rows[0, 0], rows[:, 1] - rows[0, 1])
    return np.flatnonzero(np.diff(at) > most_ns).astype(np.int64)
