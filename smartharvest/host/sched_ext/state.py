"""The memory that the scheduler shares: ``struct sh_strict_state`` of csrc/bpf/strict_state.h."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

_CONTROL = struct.Struct("<QQ")
_END = struct.Struct("<IIq128s")
_COUNTS = struct.Struct("<7Q")
_GROUP = struct.Struct("<6Q")
_WORDS = 8
_MASK = struct.Struct(f"<{_WORDS}Q")
_CPU = struct.Struct(f"<8Q{_MASK.size}s")
_SLACK = struct.Struct("<Q")
_NEAR = struct.Struct(f"<Q{_MASK.size}s")
_GROUPS, _CPUS = 64, 64 * _WORDS
_END_AT = _CONTROL.size
_COUNTS_AT = _END_AT + _END.size
_GROUPS_AT = _COUNTS_AT + _COUNTS.size + 2 * 8 + 3 * _MASK.size
_CPUS_AT = _GROUPS_AT + _GROUPS * _GROUP.size
_NEAR_AT = _CPU.size - _NEAR.size
_ENDED = 2
MOST_SLACK = 2
"""More CPUs than are to be idle may be for a moment, and no more than a quarter of all."""


@dataclass(frozen=True)
class Counts:
    """Since the scheduler was loaded."""

    dispatched: int
    """Batch tasks that got a CPU."""
    ran_ns: int
    """CPU time of batch tasks."""
    runnable: int
    """Batch tasks that run or wait now."""
    stayed: int
    """Preempted batch tasks that waited on their CPU."""
    called_back: int
    """Of these: went on elsewhere."""
    let_go: int
    """CPUs that were made to let go, since too few were idle."""
    left: int
    """Tasks that got another policy and so left the class."""


@dataclass(frozen=True)
class End:
    """Why a scheduler ended: ``kind`` is an ``enum scx_exit_kind``."""

    kind: int
    code: int
    reason: str


def control(
    memory: memoryview,
    *,
    slice_ns: int,
    keep_preempted: bool,
    spare: Mapping[frozenset[int], int] | None = None,
) -> None:
    """Sets how long a slice is and whether a preempted task may wait on its CPU
    (``Loaded.calls_back``).

    ``spare``: CPUs that share a cache -> how many of them are kept idle for who wakes there. A CPU
    is in one set at most; in none, nothing is kept idle for it. Just after one had to let go of the
    batch some more may be idle: otherwise the batch would come and go with each of the primary's
    tasks.
    """
    _CONTROL.pack_into(memory, 0, slice_ns, int(keep_preempted))
    for cpus, count in (spare or {}).items():
        known = [cpu for cpu in cpus if cpu < _CPUS]
        near = sum(1 << cpu for cpu in known).to_bytes(_MASK.size, "little")
        slack = min(MOST_SLACK, len(known) // 4)
        for cpu in known:
            _SLACK.pack_into(memory, _spare_at(cpu) - _SLACK.size, slack)
            _NEAR.pack_into(memory, _spare_at(cpu), count, near)


def keep_spare(memory: memoryview, spare: Mapping[frozenset[int], int]) -> None:
    """Other numbers than those ``control`` was given, of the same sets, while the scheduler runs:
    each CPU's is stored at once."""
    words = memory.cast("B").cast("Q")
    for cpus, count in spare.items():
        for cpu in cpus:
            if cpu < _CPUS:
                words[_spare_at(cpu) // words.itemsize] = count


def spare(memory: memoryview, cpu: int) -> int:
    """How many of those that share ``cpu``'s cache are kept idle for who wakes."""
    return int.from_bytes(memory[_spare_at(cpu) : _spare_at(cpu) + 8], "little")


def slack(memory: memoryview, cpu: int) -> int:
    """How many more of them may be idle just after one had to let go."""
    return int.from_bytes(memory[_spare_at(cpu) - _SLACK.size : _spare_at(cpu)], "little")


def _spare_at(cpu: int) -> int:
    return _CPUS_AT + cpu * _CPU.size + _NEAR_AT


def counts(memory: memoryview) -> Counts:
    return Counts(*_COUNTS.unpack_from(memory, _COUNTS_AT))


def end(memory: memoryview) -> End | None:
    """How the scheduler has ended; None: it is in force, or was not yet."""
    stage, kind, code, reason = _END.unpack_from(memory, _END_AT)
    if stage != _ENDED:
        return None
    return End(kind, code, reason.partition(b"\0")[0].decode(errors="replace"))


def stage_slot(memory: memoryview) -> memoryview:
    """Four bytes: not 0 from when the scheduler begins to end, with all its tasks still in it."""
    return memory[_END_AT : _END_AT + 4]


def groups_end(count: int) -> int:
    """Where in the memory the first ``count`` groups end."""
    return _GROUPS_AT + count * _GROUP.size
