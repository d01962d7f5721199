"""Who shares the cores: the primaries and the elastic group, as they come and go by their names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from smartharvest.config.settings import Settings
from smartharvest.errors import RightsError, TargetError, TargetVanished
from smartharvest.host.cgroup.counterparts import make_missing_cpuset
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.target.apart import check_apart
from smartharvest.host.target.base import Target
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import expand, is_pattern, resolve_target
from smartharvest.host.target.virtual_machines import check_idleness_shows

_log = logging.getLogger(__name__)


class TargetSet:
    """The targets of one session; ``resolve`` finds the one that a name stands for.

    ``patterns`` are the primaries' names, of which some may stand for any number of them.
    ``stop_polling`` has KVM stop the polling that makes idle guests look busy.
    """

    def __init__(
        self,
        tree: CgroupTree,
        patterns: Sequence[TargetSpec],
        resolve: Callable[[TargetSpec], Target],
        stop_polling: Callable[[str], None] | None = None,
    ) -> None:
        self._tree = tree
        self._patterns = patterns
        self._resolve = resolve
        self._stop_polling = stop_polling
        self._unusable: set[str] = set()
        self._asked_as: dict[str, str] = {}
        self.primaries: list[Target] = []
        self.elastic: Target | None = None

    @property
    def may_change(self) -> bool:
        """Whether primaries may come and go."""
        return any(map(is_pattern, self._patterns))

    def asked_as(self, name: str) -> str:
        """What the settings call the primary of that name: a unit or a pattern stands for it."""
        return self._asked_as.get(name, name)

    def all(self) -> list[Target]:
        """All there are now."""
        return [*self.primaries, *([] if self.elastic is None else [self.elastic])]

    def check_idleness_shows(self) -> None:
        """Raises TargetError for a primary that is a guest and never looks idle."""
        check_idleness_shows(self.primaries, stop_polling=self._stop_polling)

    def find_primaries(self) -> None:
        """Those there are now. Raises TargetError if one that is no pattern is not."""
        self.primaries = self._present()

    def find_elastic(self, pattern: TargetSpec) -> Target:
        """What the elastic target stands for, which is one group. Raises TargetError."""
        found = expand(pattern, self._tree)
        if len(found) != 1:
            names = ", ".join(str(spec) for spec in found[:3])
            what = f"stands for {len(found)} targets ({names} ...)" if found else "matches nothing"
            raise TargetError(f"{pattern}: {what}; the elastic target is one that exists")
        self.elastic = elastic = self._resolve(found[0])
        return elastic

    def follow(self, notice: Callable[[Sequence[Target]], None] = lambda _new: None) -> bool:
        """Takes in primaries that have appeared and lets go of the vanished; True if any has.

        ``notice`` gets those that have appeared before anything else is done for them.
        """
        if not self.may_change:
            return False
        try:
            now = self._present()
            if {str(target.spec) for target in now} != self._names_now():
                check_apart(now, self.elastic)
        except (TargetError, TargetVanished, RightsError) as error:
            if not self.primaries or any(target.alive() for target in self.primaries):
                return False
            _log.warning("%s; nothing is lent until one appears", error)
            self.primaries = []
            return True
        before = self._names_now()
        after = {str(target.spec) for target in now}
        if before == after:
            return False
        notice([target for target in now if str(target.spec) not in before])
        for spec in sorted(after - before):
            _log.info("%s has appeared", spec)
        for spec in sorted(before - after):
            _log.info("%s has vanished", spec)
        self.primaries = now
        return True

    def _names_now(self) -> set[str]:
        return {str(target.spec) for target in self.primaries}

    def _present(self) -> list[Target]:
        found, why = [], "is it running, and called so?"
        self._asked_as = {}
        for pattern in self._patterns:
            for spec in expand(pattern, self._tree):
                try:
                    found.append(self._resolve(spec))
                    self._asked_as.setdefault(str(spec), str(pattern))
                except TargetError as error:
                    if not is_pattern(pattern):
                        raise
                    why = f"{spec} is left out, see above"
                    if str(spec) not in self._unusable:
                        self._unusable.add(str(spec))
                        _log.warning("%s; it is left out until that changes", error)
        if not found:
            names = ", ".join(map(str, self._patterns))
            raise TargetError(f"{names}: matches nothing that could be a primary; {why}")
        return found


def open_targets(
    settings: Settings,
    tree: CgroupTree,
    elastic: TargetSpec | None,
    writer: HostWriter | None = None,
) -> TargetSet:
    """The primaries of ``settings`` and the ``elastic`` target, which are apart from each other.

    With a ``writer`` it makes the cpuset that a v1 group lacks, and stops KVM's polling if the
    settings say so. Without one it writes nothing, and does without an elastic target that is not
    there. Raises TargetError.
    """

    def prepare(group: Group) -> None:
        if writer is not None:
            make_missing_cpuset(group, writer)

    def stop_polling(path: str) -> None:
        assert writer is not None
        writer.set(path, "0")

    found = TargetSet(
        tree,
        settings.primary,
        lambda spec: resolve_target(spec, tree, prepare),
        stop_polling if writer is not None and settings.halt_poll == "off" else None,
    )
    found.find_primaries()
    if elastic is not None:
        try:
            found.find_elastic(elastic)
        except TargetError as error:
            if writer is not None:
                raise
            _log.info("%s; the dry run has no elastic group", error)
    check_apart(found.primaries, found.elastic)
    found.check_idleness_shows()
    return found


def may_come_back(settings: Settings) -> bool:
    """Whether only primaries can be missing that come and go: all others are there."""
    tree = CgroupTree.discover(settings.cgroup_root)
    lasting = [spec for spec in settings.primary if not is_pattern(spec)]
    if len(lasting) == len(settings.primary):
        return False
    try:
        for pattern in (*lasting, *([] if settings.elastic is None else [settings.elastic])):
            for spec in expand(pattern, tree) or [pattern]:
                resolve_target(spec, tree)
    except (TargetError, TargetVanished, RightsError):
        return False
    return True


def has_primaries(settings: Settings) -> bool:
    """Whether any of the names stands for a primary now."""
    tree = CgroupTree.discover(settings.cgroup_root)
    return any(expand(pattern, tree) for pattern in settings.primary)
