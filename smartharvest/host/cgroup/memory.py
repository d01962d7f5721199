"""Memory of groups and of the host, by the files of each version of cgroups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from smartharvest.host.cgroup.tree import CgroupTree, Group

_USAGE = {1: "memory.usage_in_bytes", 2: "memory.current"}
_LIMIT = {1: "memory.soft_limit_in_bytes", 2: "memory.high"}
"""Of v1 the soft one: at its hard limit a group that cannot give pages back is killed."""
_MAX = {1: "memory.limit_in_bytes", 2: "memory.max"}
_IN_FILES = {1: ("total_inactive_file", "total_active_file"), 2: ("inactive_file", "active_file")}
UNLIMITED = 1 << 60
"""Bytes. Version 1 has the largest number that it can count where there is no limit."""
_ZRAM_SHARE = 0.5
"""What of free swap counts that is in memory itself, compressed."""


def memory_bytes(group: Group) -> int | None:
    """What is charged to the group; None where that is not known, as without the controller."""
    return _number(group, _USAGE[group.tree.version])


def held_bytes(group: Group) -> int | None:
    """What of that is in no file, so that only swap takes it; None where that is not known."""
    used, text = memory_bytes(group), _text(group, "memory.stat")
    if used is None or text is None:
        return None
    values = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
    try:
        in_files = sum(int(values.get(name, 0)) for name in _IN_FILES[group.tree.version])
    except ValueError:
        return None
    return max(0, used - in_files)


def limit_file(group: Group) -> str | None:
    """The file of the limit that slows and kills nobody; None without the controller."""
    return _existing(group, _LIMIT[group.tree.version])


def reclaim_file(group: Group) -> str | None:
    """Where reclaim is asked for; None with cgroup v1 and before Linux 5.19."""
    return _existing(group, "memory.reclaim") if group.tree.version == 2 else None


def size_of(text: str) -> int:
    """Bytes of a limit as the kernel spells it; UNLIMITED for none. Raises ValueError."""
    text = text.strip()
    return UNLIMITED if text == "max" else min(UNLIMITED, int(text))


def allocated_bytes(group: Group) -> int | None:
    """What the group may use at most, by its own limit and those above; None: all there is."""
    most = min((_limit(one, _MAX[group.tree.version]) for one in _upwards(group)), default=None)
    return None if most is None or most >= UNLIMITED else most


def swap_room(group: Group) -> int:
    """Bytes that the group may still put into swap, as far as its limits say; UNLIMITED for none.

    Version 1 says so by its swappiness only.
    """
    if group.tree.version == 1:
        return 0 if (_text(group, "memory.swappiness") or "").strip() == "0" else UNLIMITED
    rooms = [UNLIMITED]
    for one in _upwards(group):
        most, now = _limit(one, "memory.swap.max"), _number(one, "memory.swap.current")
        if most < UNLIMITED:
            rooms.append(max(0, most - (now or 0)))
    return min(rooms)


def stalled_us(group: Group) -> int | None:
    """How long some task of the group has stood still for want of memory (PSI); None with v1."""
    if group.tree.version == 1:
        return None
    return some_total_us(_text(group, "memory.pressure"))


def some_total_us(text: str | None) -> int | None:
    """``total`` of a pressure file's line ``some`` (proc_pressure(5)); None if there is none."""
    for line in (text or "").splitlines():
        kind, *fields = line.split() or [""]
        if kind == "some":
            with suppress(ValueError):
                return int(dict(field.partition("=")[::2] for field in fields).get("total", ""))
    return None


def host_bytes(tree: CgroupTree) -> dict[str, int]:
    """``total``, ``available`` and ``swap_free`` of the host. Raises OSError or ValueError.

    A fake tree may have a machine of its own, in a file ``.meminfo`` of its root.
    """
    text = _of_host(tree, ".meminfo", "/proc/meminfo")
    kib = {
        name: int(rest.split()[0])
        for name, _, rest in (line.partition(":") for line in text.splitlines())
        if rest.split()
    }
    try:
        found = {
            "total": kib["MemTotal"] << 10,
            "available": kib["MemAvailable"] << 10,
            "swap_free": kib.get("SwapFree", 0) << 10,
        }
    except KeyError as error:
        raise ValueError(f"meminfo has no {error}") from error
    if tree.runs_tasks:
        found["swap_free"] = max(0, found["swap_free"] - int(_zram_free() * (1 - _ZRAM_SHARE)))
    return found


def host_stalled_us(tree: CgroupTree) -> int | None:
    """The same as ``stalled_us`` of the whole host; None without PSI."""
    try:
        return some_total_us(_of_host(tree, ".pressure", "/proc/pressure/memory"))
    except OSError:
        return None


def _of_host(tree: CgroupTree, own: str, real: str) -> str:
    path = os.path.join(tree.root, own)
    if tree.runs_tasks or not os.path.exists(path):
        path = real
    with open(path) as file:
        return file.read()


def _zram_free() -> int:
    """Bytes of free swap that lie in memory, compressed."""
    try:
        with open("/proc/swaps") as file:
            rows = [line.split() for line in file.read().splitlines()[1:]]
        return sum(int(row[2]) - int(row[3]) << 10 for row in rows if "/zram" in row[0])
    except (OSError, ValueError, IndexError):
        return 0


def _upwards(group: Group) -> Iterator[Group]:
    """The group and those above it but for the root, which has no limits."""
    one: Group | None = group
    while one is not None and one.relative:
        yield one
        one = one.parent


def _limit(group: Group, name: str) -> int:
    text = _text(group, name)
    try:
        return UNLIMITED if text is None else size_of(text)
    except ValueError:
        return UNLIMITED


def _number(group: Group, name: str) -> int | None:
    text = _text(group, name)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _text(group: Group, name: str) -> str | None:
    directory = group.directory("memory")
    if directory is None:
        return None
    try:
        return group.tree.files.read(f"{directory}/{name}")
    except (OSError, ValueError):
        return None


def _existing(group: Group, name: str) -> str | None:
    directory = group.directory("memory")
    path = f"{directory}/{name}"
    return path if directory is not None and group.tree.files.exists(path) else None
