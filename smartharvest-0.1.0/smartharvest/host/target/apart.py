"""Targets must not overlap: what is lent would be taken from itself."""

from __future__ import annotations

import os
from collections.abc import Sequence

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target


def check_apart(primaries: Sequence[Target], elastic: Target | None) -> None:
    """Raises TargetError if the elastic target overlaps a primary, or two primaries overlap.

    Groups overlap if they are equal or one contains the other; a process overlaps the group it
    is in, and itself; an elastic one also what it has started, which is confined with it. The
    elastic target may not be a root group, which nothing can confine, nor have started us.
    """
    if elastic is not None and elastic.group is not None and elastic.group.parent is None:
        raise TargetError(f"{elastic.spec}: the root group cannot be confined; name a group in it")
    if elastic is not None and elastic.pid is not None:
        _check_family_apart(primaries, elastic, elastic.pid)
    everyone = [*primaries, elastic] if elastic is not None else list(primaries)
    for position, one in enumerate(everyone):
        for other in everyone[:position]:
            reason = _overlap(other, one)
            if reason:
                raise TargetError(f"{other.spec} and {one.spec}: {reason}; name separate targets")


def _check_family_apart(primaries: Sequence[Target], elastic: Target, pid: int) -> None:
    family = {*tasks.descendants(pid)}
    advice = "which would be confined with it; name a process that works for the batch alone"
    if os.getpid() in family:
        raise TargetError(f"{elastic.spec}: has started this agent, {advice}")
    theirs = {tid for child in family for tid in tasks.process_threads(child)}
    for primary in primaries:
        try:
            shared = theirs.intersection(primary.threads())
        except TargetVanished:
            continue  # reported where the target is used
        if shared:
            raise TargetError(
                f"{elastic.spec}: has started {tasks.name(min(shared))} ({min(shared)}) of "
                f"{primary.spec}, {advice}"
            )


def _overlap(one: Target, other: Target) -> str | None:
    if one.group is not None and other.group is not None:
        if one.group == other.group:
            return "they are the same group"
        if one.group.contains(other.group):
            return f"{other.group} lies in {one.group}"
        if other.group.contains(one.group):
            return f"{one.group} lies in {other.group}"
        return None
    try:
        shared = set(one.threads()) & set(other.threads())
    except TargetVanished:
        return None  # reported where the target is used
    return f"both have thread {min(shared)}" if shared else None
