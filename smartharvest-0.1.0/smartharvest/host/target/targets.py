"""What ``--primary`` and ``--elastic`` name: a control group, a process or a virtual machine.

A kind of target is a file of its own and an entry here. A target is resolved once, at the start.
"""

from __future__ import annotations

from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.target import cgroup, guests, libvirt_domains, process, systemd
from smartharvest.host.target.base import Kind, Prepare, Target
from smartharvest.host.target.spec import TargetSpec

KINDS: dict[str, Kind] = {
    "cgroup": cgroup.KIND,
    "systemd": systemd.KIND,
    "pid": process.KIND,
    **guests.KINDS,
    "libvirt": libvirt_domains.KIND,
}


def _forms() -> str:
    plain = [kind.form for kind in KINDS.values() if not kind.is_machine]
    *machines, last = (kind.form for kind in KINDS.values() if kind.is_machine)
    return f"{', '.join(plain)}, or of a virtual machine {', '.join(machines)} or {last}"


FORMS = _forms()
"""How targets are written, for messages."""


def parse_target(text: str, key: str) -> TargetSpec:
    """The TargetSpec of ``text``; ConfigError, naming ``key``, if it is of no form."""
    name, colon, value = text.partition(":")
    kind = KINDS.get(name)
    if kind is None or not colon:
        raise ConfigError(f"{key}: {text!r} is no target; write {FORMS}")
    if not kind.names_one(value):
        raise ConfigError(f"{key}: {text!r} lacks {kind.named_by} after {name}:")
    kind.check(text, value, key)
    return TargetSpec(name, value)


def is_pattern(spec: TargetSpec) -> bool:
    """Whether it may stand for several targets, or for none until later.

    A systemd unit's group is made when the unit starts and removed when it stops; a virtual machine
    that is not named by its process may end and come back.
    """
    return KINDS[spec.kind].is_pattern(spec.value)


def expand(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The targets that ``spec`` stands for now, by path; ``spec`` itself if it is no pattern."""
    return KINDS[spec.kind].find(spec, tree) if is_pattern(spec) else [spec]


def claim_of(spec: TargetSpec, tree: CgroupTree) -> str:
    """What the journal calls the target of ``spec``, which is no pattern."""
    return KINDS[spec.kind].claim(spec, tree)


def _as_it_is(_group: object) -> None:
    """Nothing is made."""


def resolve_target(spec: TargetSpec, tree: CgroupTree, prepare: Prepare = _as_it_is) -> Target:
    """The target that ``spec``, which is no pattern, names on this host.

    ``prepare`` may make what a group lacks. Raises TargetError, naming the path or process, if it
    is missing, the group is no cpuset, or it is one without CPUs or memory nodes (v1).
    """
    resolve = KINDS[spec.kind].resolve
    assert resolve is not None
    return resolve(spec, tree, prepare)
