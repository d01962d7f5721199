"""Domains of libvirt as targets: the group that holds a domain's emulator and vCPUs now.

With systemd it is ``machine.slice/machine-qemu\\x2dID\\x2dNAME.scope``, without
``machine/qemu-ID-NAME.libvirt-qemu``. From 7.1 on, under cgroup v2, libvirt works in ``libvirt``
below it, and leaves the scope itself to systemd; so do we. Below are ``emulator``, ``vcpuN`` and
``iothreadN`` (src/util/vircgroup.c, src/util/vircgroupv2.c). The id changes with each start, so a
domain that ended or moved away and came back has another group.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

from smartharvest.errors import ConfigError, RightsError
from smartharvest.host.cgroup import CgroupTree
from smartharvest.host.target_spec import TargetSpec

_SCOPE = re.compile(r"machine-qemu\\x2d([0-9]+)\\x2d.*\.scope|qemu-([0-9]+)-.*\.libvirt-qemu")
PLACES = ("machine.slice", "machine")
INNER = "libvirt"
_connections: dict[str | None, Any] = {}
"""By URI. Kept: one is made in 5 ms, asked in 0.2."""


def find(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The group of the domain that ``spec`` names; none if it does not run here.

    Raises ConfigError without libvirt's Python package and RightsError if libvirt does not answer.
    """
    number = running_id(spec.value)
    if number is None:
        return []
    groups = {
        path for mount in set(tree.hierarchies.values()) for path in _groups(tree, mount, number)
    }
    return [TargetSpec("cgroup", path) for path in sorted(groups)]


def running_id(name: str, uri: str | None = None) -> int | None:
    """The id under which the domain runs now; None if it is not known or does not run."""
    try:
        import libvirt
    except ImportError:
        raise ConfigError(
            f"libvirt:{name}: needs libvirt's Python package; pip install 'smartharvest[libvirt]'"
        ) from None
    libvirt.registerErrorHandler(lambda _context, _error: None, None)  # it prints them otherwise
    try:
        if uri not in _connections or not _connections[uri].isAlive():
            _connections[uri] = libvirt.openReadOnly(uri)
        domain = _connections[uri].lookupByName(name)
        return int(domain.ID()) if domain.isActive() else None
    except libvirt.libvirtError as error:
        if error.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
            return None
        with contextlib.suppress(KeyError):
            del _connections[uri]
        raise RightsError(f"libvirt:{name}: libvirt does not answer: {error}") from None


def _groups(tree: CgroupTree, mount: str, number: int) -> list[str]:
    found = []
    for place in PLACES:
        try:
            names = tree.files.subdirectories(os.path.join(mount, place))
        except OSError:
            continue
        for name in names:
            match = _SCOPE.fullmatch(name)
            if match is None or int(match[1] or match[2]) != number:
                continue
            inner = os.path.join(place, name, INNER)
            is_there = tree.files.exists(os.path.join(mount, inner))
            found.append(inner if is_there else os.path.join(place, name))
    return found
