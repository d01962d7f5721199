"""A target as a user writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from smartharvest.errors import ConfigError

Kind = Literal["cgroup", "systemd", "pid", "qemu", "firecracker", "cloud-hypervisor", "libvirt"]

PROCESS_ID = re.compile(r"[0-9]{1,10}")
UNITS = (".service", ".scope", ".slice")
FORMS = (
    "cgroup:PATH, systemd:UNIT, pid:N, or of a virtual machine qemu:NAME|SOCKET|PID, "
    "firecracker:ID|PID, cloud-hypervisor:SOCKET|PID or libvirt:DOMAIN"
)
_WANTED: dict[str, str] = {
    "cgroup": "a path",
    "systemd": "a unit",
    "pid": "a process id",
    "qemu": "the guest's name, its QMP socket or its process id",
    "firecracker": "the machine's --id or its process id",
    "libvirt": "the domain's name",
    "cloud-hypervisor": "the path of its API socket or its process id",
}


@dataclass(frozen=True)
class TargetSpec:
    """A target as the user wrote it, such as ``cgroup:PATH`` or ``pid:N``.

    Paths and units may be patterns (patterns.py); machines are found by guests.py.
    """

    kind: Kind
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse_target(text: str, key: str) -> TargetSpec:
    """The TargetSpec of ``text``; ConfigError, naming ``key``, if it is of no form."""
    kind, colon, value = text.partition(":")
    if kind not in _WANTED or not colon:
        raise ConfigError(f"{key}: {text!r} is no target; write {FORMS}")
    if kind == "systemd" and value and ("/" in value or not value.endswith(UNITS)):
        raise ConfigError(
            f"{key}: {text!r} names no unit that has processes; write {', '.join(UNITS)} "
            "at its end, such as systemd:nginx.service"
        )
    is_process = kind not in ("cgroup", "systemd")
    number = PROCESS_ID.fullmatch(value) if is_process else None
    lacks = not number if kind == "pid" else not value
    if lacks or (number and int(value) == 0):
        raise ConfigError(f"{key}: {text!r} lacks {_WANTED[kind]} after {kind}:")
    return TargetSpec(cast(Kind, kind), value)
