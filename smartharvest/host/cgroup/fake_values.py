"""What the kernel makes of a value that concerns the group alone: CPU weight, quota and memory."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping

from smartharvest.host.cgroup.fake_files import first_line, store, whole_text
from smartharvest.host.cgroup.fake_numbers import kstrto, refusal

_PAGE = 4096
_UNLIMITED = 2**63 - _PAGE
"""PAGE_COUNTER_MAX, in bytes."""


# --- CPU weight and quota: kernel/sched/core.c and fair.c -----------------------------------------


def _write_idle(path: str, value: str, root: bool) -> None:
    directory = os.path.dirname(path)
    idle = kstrto(path, value)
    if root or idle not in (0, 1):  # sched_group_set_idle()
        raise refusal(errno.EINVAL, path)
    if idle != int(first_line(directory, "cpu.idle") or "0"):
        # An idle group weighs 3; switching back gives the default and not the old weight.
        # (cpu.weight counts in hundredths of it, at least 1: sched_weight_to_cgroup().)
        weights = {"cpu.shares": ("1024", "3"), "cpu.weight": ("100", "1")}
        for name, values in weights.items():
            if os.path.exists(os.path.join(directory, name)):
                store(os.path.join(directory, name), values[idle])
    store(path, str(idle))


def _write_shares(path: str, value: str, root: bool) -> None:
    shares = kstrto(path, value)
    if shares < 0:
        raise refusal(errno.EINVAL, path)
    _refuse_weight_of_idle(path, root)
    store(path, str(min(max(shares, 2), 1 << 18)))  # __sched_group_set_shares()


def _write_weight(path: str, value: str, root: bool) -> None:
    weight = kstrto(path, value)
    if not 1 <= weight <= 10_000:  # cpu_weight_write_u64()
        raise refusal(errno.ERANGE, path)
    _refuse_weight_of_idle(path, root)
    store(path, str(weight))


def _refuse_weight_of_idle(path: str, root: bool) -> None:
    if root or first_line(os.path.dirname(path), "cpu.idle") == "1":
        raise refusal(errno.EINVAL, path)  # sched_group_set_shares()


def _write_quota(path: str, value: str, _root: bool) -> None:
    quota_us = kstrto(path, value)
    if 0 <= quota_us < 1_000:  # tg_set_cfs_bandwidth(): at least 1 ms
        raise refusal(errno.EINVAL, path)
    store(path, str(max(quota_us, -1)))


def _write_max(path: str, value: str, _root: bool) -> None:
    words = value.split()
    if not words or not (words[0] == "max" or words[0].isdigit()):  # cpu_period_quota_parse()
        raise refusal(errno.EINVAL, path)
    period = words[1] if len(words) > 1 else (first_line(os.path.dirname(path), "cpu.max") or "")
    period = period.split()[-1] if period else "100000"
    if words[0] != "max" and int(words[0]) < 1_000:
        raise refusal(errno.EINVAL, path)
    store(path, f"{words[0]} {period}")


# --- memory: mm/memcontrol.c ----------------------------------------------------------------------


def _write_high(path: str, value: str, _root: bool) -> None:
    _write_limit(path, value, "max", "max")


def _write_soft_limit(path: str, value: str, _root: bool) -> None:
    _write_limit(path, value, "-1", str(_UNLIMITED))


def _write_limit(path: str, value: str, none: str, stored: str) -> None:
    text = value.strip()
    if text == none:
        store(path, stored)
    elif text.isdigit():  # page_counter_memparse(): whole pages
        store(path, str(min(int(text) // _PAGE * _PAGE, _UNLIMITED)))
    else:
        raise refusal(errno.EINVAL, path)


def _write_reclaim(path: str, value: str, _root: bool) -> None:
    """Everything but what memory.stat calls unevictable can be taken."""
    directory = os.path.dirname(path)
    if not value.strip().isdigit():
        raise refusal(errno.EINVAL, path)
    used = int(first_line(directory, "memory.current") or 0)
    kept = re.search(r"^unevictable (\d+)$", whole_text(directory, "memory.stat"), re.MULTILINE)
    left = max(used - int(value), int(kept[1]) if kept else 0)
    store(os.path.join(directory, "memory.current"), str(min(used, left)))
    if used - left < int(value.strip()):  # user_proactive_reclaim()
        raise refusal(errno.EAGAIN, path)


# --- switches: kernel/cgroup/cgroup.c and cpuset-v1.c ---------------------------------------------


def _write_freeze(path: str, value: str, _root: bool) -> None:
    number = kstrto(path, value)
    if number not in (0, 1):
        raise refusal(errno.ERANGE, path)  # cgroup_freeze_write()
    store(path, str(number))


def _write_clone_children(path: str, value: str, _root: bool) -> None:
    store(path, "1" if kstrto(path, value) else "0")


VALUES: Mapping[str, Callable[[str, str, bool], None]] = {
    "cpu.idle": _write_idle,
    "cpu.shares": _write_shares,
    "cpu.weight": _write_weight,
    "cpu.cfs_quota_us": _write_quota,
    "cpu.max": _write_max,
    "memory.high": _write_high,
    "memory.soft_limit_in_bytes": _write_soft_limit,
    "memory.reclaim": _write_reclaim,
    "cgroup.freeze": _write_freeze,
    "cgroup.clone_children": _write_clone_children,
}
"""File -> what a write of it does: the path, the value, and whether its group is the root."""
