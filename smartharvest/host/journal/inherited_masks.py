"""Groups created below a narrowed one, with a copy of its mask (v1).

libvirt creates a group for a plugged-in vCPU, runc one for a container, and both copy the mask of
the group above (virCgroupV1CpusetInherit, cpusetCopyIfNeeded; mkdir under
``cgroup.clone_children``). They want all CPUs of that group, so its original mask goes back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.journal.contents import Entry, FileEntry, Ours, inode

MASK = "cpuset.cpus"
Masks = Collection[frozenset[int]]


def has_inherited(files: KernelFiles, directory: str, masks: Masks) -> bool:
    """Whether the group at ``directory`` has one of ``masks``."""
    return parse_cpulist(files.read(os.path.join(directory, MASK))) in masks


def narrow_children(
    entries: Iterable[Entry], files: KernelFiles, ours: Ours
) -> Iterator[tuple[str, str]]:
    """(mask file, mask to write) of child groups with an inherited mask and without an entry.

    Parents come first. Only below groups that have their originals again.
    """
    originals = {
        entry.path: entry
        for entry in entries
        if isinstance(entry, FileEntry) and os.path.basename(entry.path) == MASK
    }
    for path, entry in originals.items():
        directory, original = os.path.dirname(path), entry.original
        with contextlib.suppress(OSError, ValueError):  # it has gone
            whole = parse_cpulist(original)
            is_v1 = files.exists(os.path.join(directory, "tasks"))
            same = entry.inode in (0, inode(directory))
            if is_v1 and same and parse_cpulist(files.read(path)) == whole:
                masks = set(map(parse_cpulist, ours.get(path, ()))) - {whole}
                for child in _inheriting(files, directory, masks):
                    if f"{child}/{MASK}" not in originals:
                        yield f"{child}/{MASK}", original


def _inheriting(files: KernelFiles, top: str, masks: Masks) -> Iterator[str]:
    directories = [top]
    for directory in directories:  # which grows meanwhile
        with contextlib.suppress(OSError):  # it has gone
            for name in files.subdirectories(directory):
                child = os.path.join(directory, name)
                with contextlib.suppress(OSError, ValueError):
                    if has_inherited(files, child, masks):
                        yield child
                        directories.append(child)
