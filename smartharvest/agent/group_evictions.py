"""Elastic groups that lose their minimum after a notice: carries out algorithm/eviction.py.

A notice is a file (host/journal/notices.py), a part of the capacity document that adapters and
schedulers read, a line of the audit log and of the status. What is done after it goes through the
journaled writer, so that each restoration of the host thaws the group.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.algorithm.eviction import Change, Evictable, Evictions
from smartharvest.config.durations import format_duration
from smartharvest.config.elastic_groups import ElasticGroup, OnEviction
from smartharvest.config.settings import Settings
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.notices import remove_notice, remove_notices, write_notice
from smartharvest.mechanism.group_freezer import (
    GroupFreezer,
    frozen_values,
    is_frozen_by_us,
    planned_freeze_file,
)

_log = logging.getLogger(__name__)

_ACTS: dict[OnEviction, Callable[[GroupFreezer], object]] = {
    "freeze": GroupFreezer.freeze,
    "end": GroupFreezer.end,
}


def evictable(groups: Sequence[ElasticGroup]) -> Iterator[Evictable]:
    """The groups that get a notice before they lose their minimum."""
    for group in groups:
        if group.notice_ns is not None and group.min:
            yield Evictable(group.name, group.min, group.notice_ns, group.weight)


def eviction_writes(settings: Settings, tree: CgroupTree) -> Iterator[tuple[str, str]]:
    """(file, value and when) of what evictions would write."""
    for one in settings.elastic_groups:
        if one.notice_ns is None:
            continue
        group = tree.group(one.target.value)
        value = f"{frozen_values(group)[0]} (evicted, after {format_duration(one.notice_ns)})"
        yield planned_freeze_file(group), value


class GroupEvictions:
    """Of one run. ``audit`` gets a kind and details of what is done.

    A group that an earlier session of this journal has left frozen is thawed first: the need has to
    show again.
    """

    def __init__(self, arrangement: Arrangement, audit: Callable[..., None]) -> None:
        self._arrangement = arrangement
        self._audit = audit
        self._groups = {one.name: one for one in arrangement.settings.elastic_groups}
        self._decides = Evictions(evictable(arrangement.settings.elastic_groups))
        self._because: dict[str, str] = {}
        self._last: dict[str, str] = {}
        """Why a group was evicted last."""
        self._troubles: dict[str, str] = {}
        self._now_ns = 0
        undo = arrangement.undo
        if undo is None or not self._decides.cases:
            return
        remove_notices(undo.journal.path)
        for name in self._decides.cases:
            if not arrangement.evicted and is_frozen_by_us(self._place(name), undo.journal):
                self._try(name, GroupFreezer.thaw)

    def take_up(self, groups: Sequence[ElasticGroup]) -> None:
        """Goes on with other groups; those that are gone, or others now, are thawed."""
        ended = self._decides.take_up(evictable(groups))
        for change in ended:
            self._return(change)
        self._groups = {one.name: one for one in groups}

    def turn(self, now_ns: int, needed: int, emergency: str | None) -> None:
        """Once a second, with the cores of the minima that the primaries need.

        ``emergency`` is why there is no time for a notice.
        """
        self._now_ns = now_ns
        cores = "1 core" if needed == 1 else f"{needed} cores"
        why = emergency or f"the primaries need {cores} of the minima"
        for change in self._decides.turn(now_ns, needed, emergency is not None):
            if change.now == "noticed":
                self._notice(change, why)
            elif change.now == "evicted":
                self._evict(change, why)
            else:
                self._return(change)
        for name, case in self._decides.cases.items():
            if case.stage == "evicted":  # those too that have come since, and what was refused
                self._try(name, _ACTS[self._groups[name].on_eviction])

    def _notice(self, change: Change, why: str) -> None:
        name = change.name
        self._because[name] = why
        notice_s = self._decides.cases[name].group.notice_ns / 1e9
        _log.warning("group %s: is evicted in %g s: %s", name, notice_s, why)
        self._audit("eviction notice", group=name, notice_s=notice_s, why=why)
        self._write_notice(name, notice_s)

    def _evict(self, change: Change, why: str) -> None:
        name, how = change.name, self._groups[change.name].on_eviction
        if change.before == "kept" or change.at_once:
            self._because[name] = why
            self._write_notice(name, 0.0)
        self._last[name] = self._because[name]
        _log.warning("group %s: is evicted: %s", name, self._because[name])
        self._audit(
            "group evicted",
            group=name,
            how="ended" if how == "end" else "frozen",
            at_once=change.at_once,
            why=self._because[name],
        )

    def _return(self, change: Change) -> None:
        name, undo = change.name, self._arrangement.undo
        if change.before == "noticed":
            _log.info("group %s: its eviction notice is withdrawn", name)
            self._audit("eviction notice withdrawn", group=name)
        else:
            _log.info("group %s: has its minimum again", name)
            self._audit("group returned", group=name)
            if self._arrangement.held_groups.get(name) != "evicted":
                self._try(name, GroupFreezer.thaw)
        self._because.pop(name, None)
        if undo is not None:
            with contextlib.suppress(OSError):
                remove_notice(undo.journal.path, name)

    def _write_notice(self, name: str, in_s: float) -> None:
        undo = self._arrangement.undo
        if undo is None:
            return
        try:
            write_notice(undo.journal.path, name, time.time() + in_s)
        except OSError as error:
            _log.warning("the notice of group %s: %s: %s", name, error.filename, error.strerror)

    def _place(self, name: str) -> Group:
        return self._arrangement.tree.group(self._groups[name].target.value)

    def _try(self, name: str, act: Callable[[GroupFreezer], object]) -> None:
        """Freezes, thaws or ends; a refusal is reported once and tried again."""
        undo = self._arrangement.undo
        if undo is None or self._arrangement.evicted:
            return
        try:
            act(GroupFreezer(self._place(name), undo.writer))
            self._troubles.pop(name, None)
        except (SmartHarvestError, OSError) as error:
            if self._troubles.get(name) != str(error):
                self._troubles[name] = str(error)
                _log.warning("group %s: %s", name, error)

    # --- what is reported -------------------------------------------------------------------------

    def is_evicted(self, name: str) -> bool:
        case = self._decides.cases.get(name)
        return case is not None and case.stage == "evicted"

    @property
    def noticed_cores(self) -> int:
        """Cores of the minima that nobody should count on: their groups are noticed or evicted."""
        return self._decides.noticed_cores

    def describe(self, name: str) -> dict[str, Any] | None:
        """As ``status`` has it; None for a group without a notice."""
        case = self._decides.cases.get(name)
        if case is None:
            return None
        left_ns = case.left_ns(self._now_ns)
        return {
            "stage": case.stage,
            "left_s": None if left_ns is None else left_ns / 1e9,
            "why": self._because.get(name),
            "notice_s": case.group.notice_ns / 1e9,
            "on_eviction": self._groups[name].on_eviction,
            "notices": case.notices,
            "withdrawn": case.withdrawn,
            "evictions": case.evictions,
            "at_once": case.at_once,
            "last_why": self._last.get(name),
            "trouble": self._troubles.get(name),
        }

    def notices(self) -> list[dict[str, Any]]:
        """Of the groups that are not kept, as the capacity document has them."""
        return [
            {"group": name, "cores": case.group.cores} | (self.describe(name) or {})
            for name, case in self._decides.cases.items()
            if case.stage != "kept"
        ]
