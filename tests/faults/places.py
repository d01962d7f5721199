"""Where agents are struck: groups of this host, and fake trees that refuse some changes."""

from __future__ import annotations

import errno
import os
import random
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from smartharvest.config.elastic_groups import ElasticGroup, MemoryBounds, common_parent
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.fake_kernel import REFUSALS
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.target.spec import TargetSpec
from tests.commands import EMULATED
from tests.faults.agents import RUN_S
from tests.faults.disk import SmallDisk
from tests.faults.host_state import HostState, Pins, members, read_files, read_tasks
from tests.faults.population import Population, Stranger
from tests.integration.hosts import CONTROLLERS, Host
from tests.integration.processes import Processes, wait_until
from tests.integration.worlds import World, make_world

if TYPE_CHECKING:
    from tests.faults.faults import Scene

_REFUSED = (errno.EBUSY, errno.EINVAL, errno.EACCES, errno.ENOSPC)
_MOST_REFUSALS = 3
_BATCH_RATE, _WEB_RATE = (8, 2) if EMULATED else (40, 10)
"""Births a second."""
_BOUNDS = MemoryBounds(64 << 20, 512 << 20)
_MEMORY_RUN_S = 2.0
"""A limit of memory follows once a second."""
_CPUS = Path("/sys/devices/system/cpu")
GROUPS = ("one", "two", "three")


@dataclass(frozen=True)
class Ways:
    """Which of the ways to arrange a host are taken; all others by chance."""

    mechanism: str = "merge"
    order: str = "topology"
    placement: str | None = None
    threads: int = 20
    """Of the batch, that last."""

    def __str__(self) -> str:
        named = [self.mechanism, *(["dynamic order"] if self.order == "dynamic" else [])]
        return ", ".join([*named, *filter(None, [self.placement])])


class Place(Protocol):
    """Where agents are struck."""

    name: str
    is_real: bool
    """Of the kernel, with tasks that run."""
    has_own_disk: bool
    may_unplug: bool
    slowness: float
    """How much longer than elsewhere an agent takes to start."""
    run_s: float
    """How long an agent may have run when it is struck."""
    cage: str | None
    """The control group that agents and their guardians are in."""
    monitor: str
    """The socket at which a primary's monitor may be."""
    ancestors: tuple[int, ...]
    """The roots of the populations."""

    def settings(self, numbers: random.Random) -> Settings: ...

    def snapshot(self) -> HostState:
        """Everything an agent may change."""

    def at_rest(self) -> AbstractContextManager[None]:
        """Nobody is amid a change that a kernel would make in one go."""

    @property
    def files(self) -> KernelFiles: ...

    def refuse(self, numbers: random.Random) -> int:
        """Has some changes refused; how many."""

    def turn(self, now_s: float) -> None:
        """What strangers do all the while."""

    def let_strangers_in(self, *, active: bool) -> Pins:
        """Whether they do anything from now on; what they have pinned so far."""

    def frozen(self, scene: Scene) -> AbstractContextManager[None]:
        """The agent and its guardian stand still."""

    def fill_disk(self) -> None: ...

    def write_as_a_stranger(self, scene: Scene) -> None: ...

    def one_cpu_less(self) -> AbstractContextManager[None]: ...

    def repair(self) -> None:
        """Undoes what a fault has done to the machine."""

    def renew(self) -> None:
        """Makes all anew, after an agent has left something behind."""


def _settings(numbers: random.Random, ways: Ways, **more: object) -> Settings:
    """With windows short enough for many decisions."""
    values: dict[str, object] = {
        "window_ns": 50_000_000 if EMULATED else 5_000_000,
        "poll_ns": 5_000_000 if EMULATED else 500_000,
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
    """Groups of this host whose primary spins and sleeps; both sides have a population.

    ``target`` is what the agent is given as the elastic side: the ``group``, the ``process`` that
    is the root of its population, a group that is a ``cpuset`` only (v1), one that exists in all
    hierarchies, with its tasks in its ``half`` that is a cpuset (v1), three ``groups`` in it, or a
    group whose ``memory`` is lent as well.
    """

    is_real = True

    def __init__(self, ways: Ways, directory: Path, target: str = "group") -> None:
        if target == "process":  # which has no mask of its own to be written
            ways = replace(ways, placement="shared")
        self._ways, self._target = ways, target
        self.name = f"this host, {'' if target == 'group' else target + ', '}{ways}"
        self.slowness = (8.0 if EMULATED else 1.0) + ways.threads / 500
        self.run_s = _MEMORY_RUN_S if target == "memory" else RUN_S
        self.monitor = str(directory / "monitor")
        self._state = directory / "small"
        self._state.mkdir()
        self._at_end = ExitStack()
        self._disk: SmallDisk | None = None
        with suppress(PermissionError):
            self._disk = SmallDisk(self._state)
        self.has_own_disk = self._disk is not None
        self._stranger = Stranger(random.Random(ways.threads))
        self._populate()
        # Only in a guest, and with v1 a CPU that goes is lost to every mask.
        self.may_unplug = EMULATED and self._host.tree.version == 2

    def _populate(self) -> None:
        self._processes = Processes()
        self._host = host = Host(self._processes, self._state / "state")
        controllers = {
            "cpuset": ("cpuset",),
            "memory": (*CONTROLLERS, "memory"),
        }.get(self._target, CONTROLLERS)
        with ExitStack() as failed:
            failed.callback(self._remove)
            if self._target == "memory" and host.tree.version == 2:
                self._switch_memory_on()
            host.populate(controllers)
            wait_until(lambda: all(map(_is_nice, (host.spinner, host.worker))))
            self._parts = self._make_parts() if self._target == "groups" else []
            self._batch = self._start(
                self._parts[0] if self._parts else host.batch,
                self._ways.threads,
                _BATCH_RATE,
                pins=True,
                controllers=("cpuset",) if self._target == "half" else controllers,
            )
            web = self._start(host.web, 4, _WEB_RATE, pins=False)  # a pinned one's core is not lent
            self.ancestors = (self._batch.root, web.root)
            freezer = host.tree.hierarchies["freezer"]
            self.cage = f"{freezer}/smartharvest-struck-{os.getpid()}"
            os.makedirs(self.cage, exist_ok=True)
            failed.pop_all()

    def _switch_memory_on(self) -> None:
        """For the groups of the root, until the place is closed."""
        files, switch = self._host.tree.files, self._root_switch
        if "memory" not in files.read(switch).split():
            files.write(switch, "+memory")
            self._at_end.callback(files.write, switch, "-memory")

    def _make_parts(self) -> list[Group]:
        """Three groups below the batch's, which keeps no task of its own."""
        host = self._host
        host.place(host.worker, host.web)
        if host.tree.version == 2:
            host.tree.files.write(f"{host.batch.path}/cgroup.subtree_control", "+cpuset +cpu")
        parts = [host.make(f"batch/{name}") for name in GROUPS]
        host.place(host.worker, parts[1])
        host.place(self._processes.busy(), parts[2])
        return parts

    def _start(
        self,
        group: Group,
        threads: int,
        rate: int,
        *,
        pins: bool,
        controllers: tuple[str, ...] = CONTROLLERS,
    ) -> Population:
        population = Population(self._processes, threads, rate, pins=pins)
        self._host.place(population.root, group, controllers)
        population.begin()
        return population

    def _remove(self) -> None:
        self._processes.end()
        self._host.remove()

    def close(self) -> None:
        self._remove()
        if self.cage is not None:
            os.rmdir(self.cage)
        if self._disk is not None:
            self._disk.unmount()
        self._at_end.close()

    def renew(self) -> None:
        self._remove()
        for left in (self._state / "state").glob("*"):  # a journal of groups that are gone
            left.unlink()
        self._populate()

    @property
    def files(self) -> KernelFiles:
        return self._host.tree.files

    def settings(self, numbers: random.Random) -> Settings:
        host = self._host
        # Where the primary is idle, more is lent.
        os.kill(host.spinner, numbers.choice((signal.SIGSTOP, signal.SIGCONT)))
        elastic = TargetSpec("cgroup", str(host.batch))
        more: dict[str, object] = {}
        if self._target == "process":
            elastic = TargetSpec("pid", str(self._batch.root))
            more = {"park": "idle"}
        if self._target == "memory":
            more = {"elastic_groups": (ElasticGroup("batch", elastic, memory=_BOUNDS),)}
        if self._parts:
            share = numbers.choice(("fair", "weight", "throughput"))
            elastic, more = several(list(map(str, self._parts)), {"share": share})
        return _settings(
            numbers,
            self._ways,
            sensor="bpf" if self._ways.order == "dynamic" else "proc",  # which tells cores apart
            primary=(TargetSpec("cgroup", str(host.web)),),
            elastic=elastic,
            state_dir=str(host.state_dir),
            **more,
        )

    def snapshot(self) -> HostState:
        """Files byte for byte, groups, and of each member where and how it may run."""
        mounts, name = self._mounts, self._host.name
        tids = members(mounts, name)
        return HostState(read_files(mounts, name, [self._root_switch]), read_tasks(tids))

    @property
    def _root_switch(self) -> str:
        """Which controllers the groups of the root have (v2)."""
        return f"{self._host.tree.hierarchies['cpuset']}/cgroup.subtree_control"

    @property
    def _mounts(self) -> set[str]:
        hierarchies = self._host.tree.hierarchies
        return {hierarchies[c] for c in (*CONTROLLERS, "cpuacct", "memory") if c in hierarchies}

    def at_rest(self) -> AbstractContextManager[None]:
        return nullcontext()  # the kernel's changes are whole

    def refuse(self, _numbers: random.Random) -> int:
        return 0

    def turn(self, now_s: float) -> None:
        self._stranger.turn(now_s, self._batch.root)

    def let_strangers_in(self, *, active: bool) -> Pins:
        pinned = self._stranger.rest()
        self._stranger.active = active
        return pinned

    @contextmanager
    def frozen(self, scene: Scene) -> Iterator[None]:
        switch, on, off = "cgroup.freeze", "1", "0"
        if self._host.tree.version == 1:
            switch, on, off = "freezer.state", "FROZEN", "THAWED"
        path = Path(f"{self.cage}/{switch}")
        scene.begin()
        path.write_text(on)
        try:
            yield
        finally:
            path.write_text(off)

    def fill_disk(self) -> None:
        if self._disk is not None:
            self._disk.fill()

    def write_as_a_stranger(self, scene: Scene) -> None:
        batch, numbers = self._host.batch, scene.numbers
        every = sorted(self._host.tree.online_cpus())
        left = frozenset({numbers.choice(every)})
        mask = format_cpulist(left) + "\n"
        wanted = [(batch.cpus_file, mask), (batch.idle_file, "1\n"), (batch.weight_file, "77\n")]
        path, value = numbers.choice([(p, v) for p, v in wanted if p is not None])
        try:
            self.files.write(path, value)
        except OSError:  # an idle group has no weight
            return
        scene.allowed.files.setdefault(path, set()).add(value.encode())
        if path == batch.cpus_file:
            scene.allowed.narrowed.add(left)
        if path == batch.idle_file:  # which drops the weight, and nobody else knows it
            # Put back in this order: a nice value is a rounded weight.
            for file in ("cpu.shares", "cpu.weight.nice", "cpu.weight"):
                weights = {b"2\n", b"3\n", b"1\n", b"0\n", b"1024\n", b"100\n", b"19\n"}
                scene.allowed.files[f"{os.path.dirname(path)}/{file}"] = weights

    @contextmanager
    def one_cpu_less(self) -> Iterator[None]:
        switch = _CPUS / f"cpu{max(self._host.tree.online_cpus())}" / "online"
        switch.write_text("0")
        try:
            yield
        finally:
            switch.write_text("1")

    def repair(self) -> None:
        if self._disk is not None:
            self._disk.free()


_MEMORY = "MemTotal: 1048576 kB\nMemAvailable: 900000 kB\nSwapFree: 1048576 kB\n"


class MadePlace:
    """A fake tree, v1 or v2. ``elastic`` are the processes, real ones, that it names."""

    is_real = has_own_disk = may_unplug = False
    slowness = 1.0
    run_s = RUN_S
    cage = None
    ancestors = ()

    def __init__(self, version: int, ways: Ways, directory: Path, *, groups: bool = False) -> None:
        self._groups = groups
        self._processes = Processes()
        self._elastic = () if groups else (self._processes.asleep(), self._processes.asleep())
        # What has an affinity can only have CPUs that there are.
        real = format_cpulist(os.sched_getaffinity(0))
        cpus = real if ways.mechanism == "affinity" else "0-7"
        self._directory, self._version, self._cpus = directory, version, cpus
        self._ways, self._number = ways, 0
        self.monitor = str(directory / "monitor")
        self.renew()
        self.name = f"made v{version} tree, {'three groups, ' if groups else ''}{ways}"

    def renew(self) -> None:
        self._number += 1
        directory = self._directory / str(self._number)
        self._world: World = make_world(
            directory, self._version, cpus=self._cpus, elastic=self._elastic
        )
        if self._world.tree.version == 2:
            root = self._world.tree.root
            self._world.kernel.write(f"{root}/cgroup.subtree_control", "+memory")
            Path(root, ".meminfo").write_text(_MEMORY)
        if self._groups:
            if self._world.tree.version == 2:
                above = self._world.elastic.path
                self._world.kernel.write(f"{above}/cgroup.subtree_control", "+cpuset +cpu +memory")
            for name in GROUPS:
                self._world.add_group(f"batch/{name}", self._cpus)
        elif self._world.tree.version == 1 and self._ways.mechanism == "merge":
            self._world.add_group("batch/job", "4-7")

    def close(self) -> None:
        self._processes.end()

    @property
    def files(self) -> KernelFiles:
        return self._world.kernel

    def settings(self, numbers: random.Random) -> Settings:
        elastic = TargetSpec("cgroup", "batch")
        bounds = None if self._version == 1 else MemoryBounds(64 << 20, 512 << 20)
        alone = ElasticGroup("batch", elastic, memory=bounds)
        more: dict[str, object] = {"elastic_groups": (alone,) if bounds else ()}
        if self._groups:
            elastic, more = several([f"batch/{name}" for name in GROUPS], {}, bounds)
        return _settings(
            numbers,
            self._ways,
            **more,
            primary=(TargetSpec("cgroup", "web"),),
            elastic=elastic,
            cgroup_root=self._world.tree.root,
            state_dir=str(self._world.state_dir),
        )

    def snapshot(self) -> HostState:
        files = {path: text for path, text in self._world.files().items() if path != REFUSALS}
        return HostState(files, read_tasks(self._elastic))

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

    def turn(self, now_s: float) -> None:
        pass

    def let_strangers_in(self, *, active: bool) -> Pins:  # noqa: ARG002
        return {}

    def frozen(self, scene: Scene) -> AbstractContextManager[None]:
        raise NotImplementedError

    def fill_disk(self) -> None:
        raise NotImplementedError

    def write_as_a_stranger(self, scene: Scene) -> None:
        raise NotImplementedError

    def one_cpu_less(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def repair(self) -> None:
        pass


def several(
    paths: list[str], more: dict[str, object], memory: MemoryBounds | None = None
) -> tuple[TargetSpec, dict[str, object]]:
    """The elastic side of an agent that lends to the groups at ``paths``, and its settings."""
    groups = tuple(
        ElasticGroup(name, TargetSpec("cgroup", path), weight=float(number), memory=memory)
        for number, (name, path) in enumerate(zip(GROUPS, paths, strict=True), 1)
    )
    above = common_parent(groups)
    assert above is not None
    return above, {"elastic_groups": groups, "elastic_min": None, **more}


def _is_nice(pid: int) -> bool:
    """Whether it has come so far as to lower its priority."""
    return os.getpriority(os.PRIO_PROCESS, pid) > 0


def _is_written(path: str) -> bool:
    name = os.path.basename(path)
    return "batch" in path and name in (
        *("cpuset.cpus", "cpu.idle", "cpu.shares", "cpu.weight", "freezer.state", "cgroup.freeze"),
        "memory.high",
    )
