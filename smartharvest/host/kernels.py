"""Which feature Linux has from which release on (docs/reference/kernels.md shows the table).

The agent probes for the feature itself where it can, since distributions port features back to
earlier releases. ``found_by`` says how each is found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

Release = tuple[int, int]
_RELEASE = re.compile(r"(\d{1,6})\.(\d{1,6})")

LEAST: Release = (4, 14)


@dataclass(frozen=True)
class Feature:
    """A feature that some kernels lack."""

    name: str
    since: Release
    found_by: str
    """How the agent finds it; ``release`` where it is not visible."""
    without: str
    """What the agent does without it."""


CPU_IDLE = Feature(
    "`cpu.idle`", (5, 15), "the group's file", "the smallest weight instead, less protection"
)
CPUSET_V2 = Feature("cpusets in cgroup v2", (5, 0), "`cgroup.controllers`", "cgroup v1")
FREEZE_V2 = Feature("`cgroup.freeze`", (5, 2), "the group's file", "no `evict`, no `--park freeze`")
PIDFD = Feature("pidfd", (5, 3), "opening one", "no guardian (`--no-guardian`)")
BPF_TRACING = Feature(
    "BPF: `tp_btf` programs, mapped arrays", (5, 5), "loading it", "the perf sensor"
)
BPF_RINGBUF = Feature("BPF: ring buffer, task iterator", (5, 8), "loading it", "the perf sensor")
BPF_SYSCALL = Feature("BPF: `syscall` programs", (5, 14), "loading it", "the perf sensor")
BPF_LOOP = Feature("BPF: `bpf_loop`", (5, 17), "loading it", "the perf sensor")
USER_CPUS_PTR = Feature(
    "a shrunken cpuset keeps a task's own affinity",
    (6, 2),
    "release",
    "own affinities are overwritten, and read before for the journal",
)
EEVDF = Feature("EEVDF", (6, 6), "release", "CFS: the same protections, other tails")
VHOST_TASKS = Feature(
    "vhost workers are threads of the machine's process",
    (6, 4),
    "release",
    "kernel threads `vhost-PID` are looked for and counted as the machine's",
)
FAVORDYNMODS = Feature(
    "`favordynmods` cannot be switched off again", (6, 18), "release", "it is never switched on"
)
SCHED_DELAYED = Feature(
    "tasks that sleep but are still queued (`sched_delayed`)",
    (6, 12),
    "BTF",
    "every queued task is waiting",
)
OWN_SLICE = Feature(
    "a task may ask for a slice (`sched_setattr`)",
    (6, 12),
    "release",
    "a task that wakes may wait for the control plane's turn",
)
H_NR_RUNNABLE = Feature(
    "`h_nr_runnable` of a run queue (later 6.12, too)",
    (6, 14),
    "BTF",
    "`h_nr_running` less `h_nr_delayed`",
)
BYTE_ON_RQ = Feature(
    "a task's `on_rq` is a byte (met in 7.3)", (7, 3), "BTF", "it is read as wide as it is"
)
QUEUES_PER_CPU = Feature(
    "a task group's queues are a per-CPU variable (met in 7.3)",
    (7, 3),
    "BTF",
    "they are in an array",
)
EMPTIED_MASK = Feature(
    "a v2 mask may be emptied while its group has tasks (met in 7.3)",
    (7, 3),
    "trying",
    "it is left as what it meant",
)
PER_VM_HALT_POLL = Feature(
    "running machines follow KVM's `halt_poll_ns`",
    (6, 2),
    "release",
    "machines started before keep what it was then",
)

FEATURES = sorted(
    (one for one in list(globals().values()) if isinstance(one, Feature)), key=lambda one: one.since
)
"""In the order of their releases."""


def parse_release(text: str) -> Release | None:
    """The first two numbers of uname(2)'s release; None if it has none."""
    match = _RELEASE.match(text)
    return (int(match[1]), int(match[2])) if match else None


@cache
def running() -> Release:
    """The release of this host's kernel; (0, 0) if unknown."""
    with open("/proc/sys/kernel/osrelease") as file:
        return parse_release(file.read()) or (0, 0)


def has(feature: Feature, release: Release | None = None) -> bool:
    """Whether ``release``, or this host's kernel, is new enough for ``feature``."""
    return (release or running()) >= feature.since


def as_markdown() -> str:
    """The table in docs/reference/kernels.md."""
    lines = ["| what | from Linux | found by | without it |", "|---|---|---|---|"]
    lines += [
        f"| {one.name} | {one.since[0]}.{one.since[1]} | {one.found_by} | {one.without} |"
        for one in FEATURES
    ]
    return "\n".join(lines) + "\n"


_WAKES_ON_BUSY = re.compile(r"(?:^|\s)(sched_vcpu_pack=(?!0(?:\s|$))\S+)")


def wakes_on_busy_cpus(command_line: str) -> str | None:
    """The parameter by which a patched kernel wakes tasks on busy CPUs while others are idle.

    ``command_line`` is /proc/cmdline. None: it has no such parameter.
    """
    found = _WAKES_ON_BUSY.search(command_line)
    return found[1] if found else None
