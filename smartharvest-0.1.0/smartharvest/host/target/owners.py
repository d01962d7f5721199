"""Whose processes are taken for virtual machines: anybody can name a process as a machine is.

Taken are those of root, of the caller, of libvirt's user, and of the user whom the operator has
named (``qemu:web,user=alice``), if they run a program that nobody else can write.
"""

from __future__ import annotations

import functools
import os
import pwd
import re
import stat

from smartharvest.trusted import user_name

MANAGERS = ("libvirt-qemu", "qemu")
"""Users that libvirt runs machines as: Debian's, Fedora's."""
_USER = ",user="
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def split_user(value: str) -> tuple[str, str | None]:
    """``web,user=alice`` as (``web``, ``alice``)."""
    name, found, user = value.rpartition(_USER)
    return (name, user) if found else (value, None)


@functools.cache
def user_id(user: str) -> int | None:
    """Of a name or number; None if this host has no such user."""
    if user.isdecimal():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def trusted_uids(user: str | None) -> frozenset[int]:
    """Whose processes may be machines; ``user`` is the one that the operator has named."""
    named = [user_id(name) for name in (*MANAGERS, *([user] if user else []))]
    return frozenset({0, os.geteuid(), *(uid for uid in named if uid is not None)})


def why_not(pid: int, program: str, user: str | None, root: str = "/") -> str | None:
    """Why the process is not taken for a machine that ``program`` runs; None if it is."""
    directory = os.path.join(root, "proc", str(pid))
    trusted = trusted_uids(user)
    uids = _uids(directory)
    if uids is None:
        return "it has ended"
    if strangers := uids - trusted:
        return f"it belongs to {user_name(min(strangers))}"
    try:
        name = os.path.basename(os.readlink(f"{directory}/exe"))
        status = os.stat(f"{directory}/exe")
    except PermissionError:
        return None  # its owner has to be enough for an agent with few rights
    except OSError:
        return "it has no program"
    if not name.startswith(program):
        return f"its program is {name!r}"
    if status.st_uid not in trusted or status.st_mode & _OTHERS_WRITE:
        return "somebody else can write its program"
    return None


def _uids(directory: str) -> frozenset[int] | None:
    """Real, effective, saved and file system's."""
    try:
        with open(f"{directory}/status", errors="replace") as file:
            found = re.search(r"^Uid:((?:\s+\d+){4})$", file.read(), re.MULTILINE)
    except OSError:
        return None
    return frozenset(map(int, found[1].split())) if found else None
