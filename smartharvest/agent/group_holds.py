"""Single elastic groups that the operator has paused or evicted.

A paused group keeps its minimum and has nothing beyond it; an evicted one is frozen and has not
even that. What it had goes to the other groups. Both hold until the group is resumed, also across
restarts in place. The freezer is written through the journaled writer, so that each restoration of
the host thaws the group.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.algorithm.division import Share
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import Group
from smartharvest.mechanism.group_freezer import GroupFreezer

_log = logging.getLogger(__name__)


class GroupHolds:
    """Of one run, with the places of its groups by name; ``audit`` gets a kind and details."""

    def __init__(
        self, arrangement: Arrangement, places: Mapping[str, Group], audit: Callable[..., None]
    ) -> None:
        self._arrangement = arrangement
        self._places = dict(places)
        self._audit = audit
        self._counts: dict[tuple[str, str], int] = {}
        self._troubles: dict[str, str] = {}
        for name in self._held.keys() - self._places.keys():
            del self._held[name]
        self.turn()

    @property
    def _held(self) -> dict[str, str]:
        return self._arrangement.held_groups

    def take_up(self, places: Mapping[str, Group]) -> None:
        """Goes on with other groups; those that are gone, or lie elsewhere, are thawed.

        Of the latter another is held by the same name.
        """
        for name, how in sorted(self._held.items()):
            stays = name in places and places[name].path == self._places[name].path
            if how == "evicted" and not stays:
                self._try(name, GroupFreezer.thaw)
            if name not in places:
                self._let_go(name)
        self._places = dict(places)

    def hold(self, name: str, how: str) -> None:
        """``how`` is ``paused`` or ``evicted``. Raises TargetError or WriteRefused, undone then."""
        before = self._held.get(name)
        if how == "evicted":
            self._act(name, GroupFreezer.freeze)
        elif before == "evicted":
            self._act(name, GroupFreezer.thaw)
        if before != how:
            self._held[name] = how
            self._counts[name, how] = self._counts.get((name, how), 0) + 1
            _log.info("group %s: %s by the operator", name, how)
            self._audit(f"group {how} by the operator", group=name)

    def resume(self, name: str) -> bool:
        """Whether the group was held. Raises WriteRefused."""
        how = self._held.get(name)
        if how is None:
            return False
        if how == "evicted":
            self._act(name, GroupFreezer.thaw)
        self._let_go(name)
        return True

    def _let_go(self, name: str) -> None:
        del self._held[name]
        self._troubles.pop(name, None)
        _log.info("group %s: resumed by the operator", name)
        self._audit("group resumed by the operator", group=name)

    def resume_all(self) -> list[str]:
        """The names of those that were held."""
        return [name for name in sorted(self._held) if self.resume(name)]

    def turn(self) -> None:
        """Once a second: tasks that have come since, and groups that were made again, freeze too.

        A refusal is reported once and tried again.
        """
        for name, how in self._held.items():
            if how == "evicted" and not self._arrangement.evicted:
                self._try(name, GroupFreezer.freeze)

    def _try(self, name: str, act: Callable[[GroupFreezer], None]) -> None:
        try:
            self._act(name, act)
            self._troubles.pop(name, None)
        except (SmartHarvestError, OSError) as error:
            if self._troubles.get(name) != str(error):
                self._troubles[name] = str(error)
                _log.warning("group %s: %s", name, error)

    def _act(self, name: str, act: Callable[[GroupFreezer], None]) -> None:
        undo = self._arrangement.undo
        if undo is not None:  # else a dry run, which only counts
            act(GroupFreezer(self._places[name], undo.writer))

    def is_held(self, name: str) -> bool:
        return name in self._held

    def is_evicted(self, name: str) -> bool:
        return self._held.get(name) == "evicted"

    def bound(self, share: Share) -> Share:
        """What is left of ``share`` while the operator holds its group."""
        how = self._held.get(share.name)
        if how is None:
            return share
        least = int(share.min) if how == "paused" else 0
        return replace(share, min=least, max=least, demand=least)

    def describe(self, name: str) -> dict[str, Any]:
        """As ``status`` has it."""
        return {
            "held": self._held.get(name),
            "pauses": self._counts.get((name, "paused"), 0),
            "operator_evictions": self._counts.get((name, "evicted"), 0),
        }
