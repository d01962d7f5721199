"""Whether two targets overlap by their names alone, before anything is looked up on a host."""

from __future__ import annotations

import fnmatch
import os

from smartharvest.host.target.spec import TargetSpec

_USUAL_ROOT = "/sys/fs/cgroup"


def overlap(primary: TargetSpec, elastic: TargetSpec, cgroup_root: str | None) -> str | None:
    """How the two overlap, in words; None if their names do not show it.

    Links and other spellings are found when the targets are opened (``host.target.apart``).
    """
    if primary.kind != elastic.kind:
        return None
    if primary.kind != "cgroup":
        same = fnmatch.fnmatchcase(elastic.value, primary.value)
        return f"{elastic} is a primary, too" if same else None
    one, other = (_parts(spec.value, cgroup_root) for spec in (primary, elastic))
    if not all(map(fnmatch.fnmatchcase, other, one)):
        return None
    if len(one) == len(other):
        return f"{elastic} is a primary, too"
    inner, outer = (elastic, primary) if len(one) < len(other) else (primary, elastic)
    return f"{inner} lies in {outer}"


def _parts(path: str, cgroup_root: str | None) -> list[str]:
    """The names of the groups on the way to ``path``; absolute ones from the root of the tree."""
    if not os.path.isabs(path):
        return os.path.normpath(path).split("/")
    for root in filter(None, (cgroup_root, _USUAL_ROOT)):
        if path.startswith(f"{root}/"):
            return os.path.relpath(path, root).split("/")
    return path.split("/")
