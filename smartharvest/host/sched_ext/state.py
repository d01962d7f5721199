"""The memory that the scheduler shares: ``struct sh_strict_state`` of csrc/bpf/strict_state.h."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_CONTROL = struct.Struct("<QQII")
_END = struct.Struct("<IIq128s")
_COUNTS = struct.Struct("<9Q")
_GROUP = struct.Struct("<6Q")
_END_AT = _CONTROL.size
_COUNTS_AT = _END_AT + _END.size
_GROUPS_AT = _COUNTS_AT + _COUNTS.size + 8 + 4 * 64
_GROUPS = 64
_ENDED = 2


@dataclass(frozen=True)
class Counts:
    """Since the scheduler was loaded."""

    dispatched: int
    """Batch tasks that got a CPU."""
    ran_ns: int
    """CPU time of batch tasks."""
    kicks: int
    """CPUs that were made to let go, since another task came to wait."""
    holds: int
    """CPUs that did not take a batch task, since another task waited."""
    pulled: int
    """Of both: the waiting task was gone from its queue in time."""
    given_up: int
    """It was not."""
    runnable: int
    """Batch tasks that run or wait now."""
    stayed: int
    """Preempted batch tasks that waited on their CPU."""
    called_back: int
    """Of these: went on elsewhere."""


@dataclass(frozen=True)
class End:
    """Why a scheduler ended: ``kind`` is an ``enum scx_exit_kind``."""

    kind: int
    code: int
    reason: str


def control(
    memory: memoryview, *, slice_ns: int, hold_ns: int, gate: bool, keep_preempted: bool
) -> None:
    """Sets how long a slice is, whether and how long a CPU is kept for a waiting task, and whether
    a preempted task may wait on its CPU (``Loaded.calls_back``)."""
    _CONTROL.pack_into(memory, 0, slice_ns, hold_ns, int(gate), int(keep_preempted))


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


def group_times(memory: memoryview) -> dict[int, int]:
    """Number of a cgroup -> CPU time of its batch tasks in ns."""
    groups = (_GROUP.unpack_from(memory, _GROUPS_AT + i * _GROUP.size) for i in range(_GROUPS))
    return {number: ran_ns for number, _, _, ran_ns, _, _ in groups if number}
