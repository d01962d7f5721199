"""A page of memory that an agent, its polling loop and its guardian share.

It is a file next to the journal (in /run, which is memory), so it outlives its writers. Every
word has 64 bits and one writer. The file's lock (flock(2)) orders what must not happen at the
same time: the agent's change of phase, and the guardian's shrinking, which holds in one phase only.
"""

from __future__ import annotations

import contextlib
import enum
import fcntl
import mmap
import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from smartharvest.trusted import open_trusted

T = TypeVar("T")
_NUDGED, _LOOP_BEAT, _AGENT_BEAT, _GUARDIAN_BEAT, _PHASE, _SHRINKS, _STARVED = range(7)
_WORDS = 8
_CHOICE_BYTES = 128
"""A set of CPUs: bit c of the little-endian number is CPU c (csrc/actuators/lend_order.h)."""
_CHOICES = 8 * _WORDS
_MORE_WORDS = _CHOICES + 2 * _CHOICE_BYTES
_BLOCKED, _HUNG, _FROZEN, _STANDSTILLS = (_MORE_WORDS // 8 + number for number in range(4))
_BYTES = _MORE_WORDS + 8 * 8
_SILENCES = {
    "starved": _STARVED,
    "blocked": _BLOCKED,
    "hung": _HUNG,
    "frozen": _FROZEN,
    "standstill": _STANDSTILLS,
}
_LOCK_TRY_S = 0.001


class Phase(enum.IntEnum):
    """What the agent is doing, as far as its guardian has to know."""

    ARRANGING = 0
    """It changes the host at its own pace and no loop runs."""
    RUNNING = 1
    """The loop runs: silence is short."""
    ENDING = 2
    """It puts everything back; the guardian must not write."""
    HANDING_OVER = 3
    """It replaces itself by a new program, which takes as long as a start."""


class SharedPage:
    """The page in the file at ``path``, created or opened. Times are CLOCK_MONOTONIC, nanoseconds.

    Raises OSError, also if there is no room for it.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        flags = os.O_RDWR | (os.O_CREAT | os.O_TRUNC if create else 0)
        self._fd = open_trusted(path, flags)
        try:
            if create or 0 < os.fstat(self._fd).st_size < _BYTES:  # an earlier program's is shorter
                # Writing to a hole allocates it, and without room that is SIGBUS.
                os.posix_fallocate(self._fd, 0, _BYTES)
            self._map = mmap.mmap(self._fd, _BYTES)
        except BaseException:
            os.close(self._fd)
            raise
        self._words = memoryview(self._map).cast("q")

    @property
    def nudge_slot(self) -> memoryview:
        """Four bytes for the id of the thread that the loop has pinned, 0 for none."""
        return memoryview(self._map)[8 * _NUDGED : 8 * _NUDGED + 4]

    @property
    def beat_slot(self) -> memoryview:
        """Eight bytes for the time of the loop's last poll."""
        return memoryview(self._map)[8 * _LOOP_BEAT : 8 * _LOOP_BEAT + 8]

    @property
    def vigil_slot(self) -> memoryview:
        """The beats, the guardian's own among them, and the phase (csrc/guardian/vigil.h)."""
        return memoryview(self._map)[8 * _LOOP_BEAT : 8 * (_PHASE + 1)]

    @property
    def choice_slots(self) -> memoryview:
        """Room for the two sets of CPUs last lent, where they are chosen as they come."""
        return memoryview(self._map)[_CHOICES:_MORE_WORDS]

    @property
    def choices(self) -> list[frozenset[int]]:
        """Those two, without empty ones."""
        return [
            frozenset(cpu for cpu in range(8 * _CHOICE_BYTES) if bits >> cpu & 1)
            for at in (_CHOICES, _CHOICES + _CHOICE_BYTES)
            if (bits := int.from_bytes(self._map[at : at + _CHOICE_BYTES], "little"))
        ]

    @property
    def loop_beat(self) -> int:
        return self._words[_LOOP_BEAT]

    @property
    def agent_beat(self) -> int:
        return self._words[_AGENT_BEAT]

    @property
    def guardian_beat(self) -> int:
        return self._words[_GUARDIAN_BEAT]

    def beat_as_agent(self) -> None:
        self._words[_AGENT_BEAT] = time.monotonic_ns()

    @property
    def phase(self) -> Phase:
        return Phase(self._words[_PHASE])

    @phase.setter
    def phase(self, phase: Phase) -> None:
        self._words[_PHASE] = phase

    @property
    def shrinks(self) -> int:
        """How often the guardian has taken the elastic side's cores back."""
        return self._words[_SHRINKS]

    def count_shrink(self) -> None:
        self._words[_SHRINKS] += 1

    @property
    def silences(self) -> dict[str, int]:
        """How often the guardian found the agent silent, by what it took for the cause."""
        return {name: self._words[word] for name, word in _SILENCES.items()}

    def count_silence(self, name: str) -> None:
        """``name`` is a key of ``silences``."""
        self._words[_SILENCES[name]] += 1

    @contextlib.contextmanager
    def locked(self, patience_s: float) -> Iterator[bool]:
        """Holds the page's lock; yields False, without the lock, after ``patience_s``."""
        deadline = time.monotonic() + patience_s
        while not (held := self._try_lock()) and time.monotonic() < deadline:
            time.sleep(_LOCK_TRY_S)
        try:
            yield held
        finally:
            if held:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Closes the file; the memory stays as long as a slot is in use."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read_choices(path: str) -> list[frozenset[int]]:
    """The sets of CPUs that a loop lent last, or was about to; from the page at ``path``."""
    return _read(path, lambda page: page.choices) or []


def read_agent_beat(path: str) -> int:
    """When the agent last decided, 0 if it never did; from the page at ``path``."""
    return _read(path, lambda page: page.agent_beat) or 0


def read_nudge(path: str) -> int:
    """The thread that a loop had pinned when it ended, 0 for none; from the page at ``path``."""
    return _read(path, lambda page: page.nudge_slot.cast("i")[0]) or 0


def _read(path: str, what: Callable[[SharedPage], T]) -> T | None:
    """None if there is no page."""
    try:
        page = SharedPage(path)
    except (FileNotFoundError, ValueError):  # ValueError: not yet as long as a page
        return None
    try:
        return what(page)
    finally:
        page.close()
