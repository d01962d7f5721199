"""Where agents are struck: groups of this host, and fake trees that refuse some changes."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.fake_kernel import REFUSALS
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.target.spec import TargetSpec
from tests.integration.hosts import Host
from tests.integration.worlds import World

_REFUSED = (errno.EBUSY, errno.EINVAL, errno.EACCES, errno.ENOSPC)
_MOST_REFUSALS = 3


@dataclass(frozen=True)
class Ways:
    """Which of the ways to arrange a host are taken; all others by chance."""

    mechanism: str = "merge"
    order: str = "topology"
    placement: str | None = None

    def __str__(self) -> str:
        named = [self.mechanism, *(["dynamic order"] if self.order == "dynamic" else [])]
        return ", ".join([*named, *filter(None, [self.placement])])


def _settings(numbers: random.Random, ways: Ways, **more: object) -> Settings:
    """With windows short enough for many decisions."""
    values: dict[str, object] = {
        "window_ns": 5_000_000,
        "poll_ns": 500_000,
        "sensor": "proc",
        "long_term": "off",
        "lend_shared": True,  # others may be pinned on this host
        "elastic_min": numbers.choice((0, 1)),
        "park": numbers.choice(("idle", "freeze")),
        **more,
    }
    exclusive = numbers.random() < 0.5
    if ways.placement is not None:
        exclusive = ways.placement == "exclusive"
    if ways.mechanism != "merge":
        values |= {"mechanism": ways.mechanism, "park": "idle"}
    elif ways.order == "dynamic":
        values |= {"order": "dynamic"}
    elif exclusive:  # the primary keeps a core of its own
        values |= {"placement": "exclusive", "elastic_min": 0, "max_harvest": 1}
    return Settings(**values)  # type: ignore[arg-type]


class HostPlace:
    """The groups of a ``Host``: the primary spins and sleeps, the batch spins."""

    def __init__(self, host: Host, ways: Ways) -> None:
        self.name = f"this host, {ways}"
        self._host = host
        self._ways = ways

    @property
    def files(self) -> KernelFiles:
        return self._host.tree.files

    def settings(self, numbers: random.Random) -> Settings:
        host = self._host
        return _settings(
            numbers,
            self._ways,
            sensor="bpf" if self._ways.order == "dynamic" else "proc",  # which tells cores apart
            primary=(TargetSpec("cgroup", str(host.web)),),
            elastic=TargetSpec("cgroup", str(host.batch)),
            state_dir=str(host.state_dir),
        )

    def snapshot(self) -> object:
        """Files byte for byte, groups, where the tasks are, and where they may run."""
        found: dict[str, object] = dict(self._host.files())
        for pid in (self._host.spinner, self._host.worker):
            found[f"affinity of {pid}"] = os.sched_getaffinity(pid)
            found[f"groups of {pid}"] = Path(f"/proc/{pid}/cgroup").read_text()
        return found

    def at_rest(self) -> AbstractContextManager[None]:
        return nullcontext()  # the kernel's changes are whole

    def refuse(self, _numbers: random.Random) -> int:
        return 0


class MadePlace:
    """A fake tree, v1 or v2. ``elastic`` are the processes, real ones, that it names."""

    def __init__(self, world: World, ways: Ways, elastic: Sequence[int]) -> None:
        self.name = f"made v{world.tree.version} tree, {ways}"
        self._world = world
        self._ways = ways
        self._elastic = elastic

    @property
    def files(self) -> KernelFiles:
        return self._world.kernel

    def settings(self, numbers: random.Random) -> Settings:
        return _settings(
            numbers,
            self._ways,
            primary=(TargetSpec("cgroup", "web"),),
            elastic=TargetSpec("cgroup", "batch"),
            cgroup_root=self._world.tree.root,
            state_dir=str(self._world.state_dir),
        )

    def snapshot(self) -> object:
        found: dict[str, object] = {
            path: text for path, text in self._world.files().items() if path != REFUSALS
        }
        return found | {f"affinity of {pid}": os.sched_getaffinity(pid) for pid in self._elastic}

    def at_rest(self) -> AbstractContextManager[None]:
        return self._world.kernel.at_rest()

    def refuse(self, numbers: random.Random) -> int:
        """Some changes are refused, whoever makes them: agent, guardian or restore."""
        files = [path for path in self._world.files() if _is_written(path)]
        refused = [
            f"{numbers.choice(files)} {numbers.choice(_REFUSED)}\n"
            for _ in range(numbers.choice((0, 0, 1, _MOST_REFUSALS)))
        ]
        Path(self._world.tree.root, REFUSALS).write_text("".join(refused))
        return len(refused)


def _is_written(path: str) -> bool:
    name = os.path.basename(path)
    return "batch" in path and name in (
        *("cpuset.cpus", "cpu.idle", "cpu.shares", "cpu.weight", "freezer.state", "cgroup.freeze"),
    )
