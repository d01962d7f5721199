"""The primaries under exclusive placement: their sets are what the elastic side has not.

With shared placement the primary's cpuset is never written, and nothing of this is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.target.base import Target
from smartharvest.mechanism.levels import Levels, group_levels, make_room, mask_files
from smartharvest.placement.capacity import Capacity, PrimaryCpus
from smartharvest.placement.confinement import Confinement
from smartharvest.placement.snapshot import HostSnapshot, look_at_primaries


class PrimarySide:
    """The primaries of one session. Everything it changes goes through ``writer``.

    ``had`` is what each primary could use before anything was taken from it; ``online`` tells the
    CPUs there are. Raises ConfigError for a primary that is no group.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        had: Sequence[PrimaryCpus],
        writer: HostWriter,
        online: Callable[[], Collection[int]],
        *,
        was_arranged: bool = False,
    ) -> None:
        self._groups: list[Group] = []
        for target in targets:
            if target.group is None:
                raise ConfigError(
                    f"placement: exclusive needs groups, and {target.spec} is a process; "
                    "use --placement shared"
                )
            self._groups.append(target.group)
        self._writer = writer
        self._online = online
        self._was_arranged = was_arranged
        self.had = tuple(had)

    def held(self, online: Collection[int]) -> tuple[PrimaryCpus, ...]:
        """What each primary could use now if nothing had been taken from it."""
        present = frozenset(online)
        return tuple(one._replace(cpus=present.intersection(one.cpus)) for one in self.had)

    def arrange(self, snapshot: HostSnapshot) -> None:
        """Journals the masks that the loop is going to write, and widens those below (v1).

        Raises TargetError if some primary would be left without a CPU.
        """
        for group in snapshot.primary_groups if self._was_arranged else ():
            self._writer.adopt_inherited_mask(group)
        for family in self._levels(snapshot):
            path, levels = next(iter(family.items()))
            if not levels[-1]:
                raise TargetError(
                    f"{path}: lending {snapshot.capacity.max_harvest} cores would leave it no CPU; "
                    "lower --max-harvest or --elastic-min, or use --placement shared"
                )
            if not self._was_arranged:
                own = next(group for group in self._groups if group.path == path)
                self._writer.adopt_pins(own.tasks(), own.effective_cpus())
            self._writer.adopt(f"{path}/cpuset.cpus")
            if len(family) > 1:
                make_room(family, self._writer)
        self._was_arranged = True

    def files(self, snapshot: HostSnapshot) -> list[ManagedFile]:
        """``CpusetActuator``'s primary files."""
        files: list[ManagedFile] = []
        for group, family in zip(self._groups, self._levels(snapshot), strict=True):
            files += mask_files(family, group.path, group.effective_cpus_file)
        return files

    def maximum(self, snapshot: HostSnapshot) -> Minimum:
        """What the guardian has to write, before the elastic minimum: parents first."""
        return tuple((file, masks[0]) for file, _, masks in self.files(snapshot))

    def _levels(self, snapshot: HostSnapshot) -> list[Levels]:
        taken = [
            _taken(snapshot.capacity, level) for level in range(snapshot.capacity.max_harvest + 1)
        ]
        return [
            group_levels(
                group.path,
                [frozenset(held.cpus) - cpus for cpus in taken],
                [path for path in snapshot.primary_groups if _is_below(path, group.path)],
                lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
            )
            for group, held in zip(self._groups, self.held(self._online()), strict=True)
        ]


def make_primary_side(
    settings: Settings,
    tree: CgroupTree,
    primaries: Sequence[Target],
    writer: HostWriter,
    confinement: Confinement | None,
    had: Sequence[PrimaryCpus] | None = None,
) -> PrimarySide | None:
    """The primaries' side of the settings' placement; None with a shared one.

    ``confinement`` knows who is confined where; ``had`` is what an earlier session has found before
    it took any of it. Raises ConfigError for primaries that are no groups.
    """
    if settings.placement != "exclusive":
        return None
    found = look_at_primaries(primaries, confinement) if had is None else had
    return PrimarySide(primaries, found, writer, tree.online_cpus, was_arranged=had is not None)


def _taken(capacity: Capacity, harvested: int) -> frozenset[int]:
    """The CPUs that are not the primaries' then; a parked elastic group has none of its own."""
    if capacity.is_parked(harvested):
        return frozenset()
    return frozenset(capacity.elastic_cpus(harvested))


def _is_below(path: str, group: str) -> bool:
    return path.startswith(f"{group}/")
