"""Kills agents at random points and looks whether the host is as it was, byte for byte."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.recovery import recover
from smartharvest.host.process import tasks
from tests.faults.agents import KINDS, LIFE_S, Blackboard, Fault, Kind, start_agent

LONGEST_S = 60.0
"""How long anything may take before the campaign calls it stuck."""
_AWAY_S = 0.1
"""Of a longer time between two looks no more counts: the campaign may have been stopped itself."""
_STOP_SHARE = 0.08
"""Of the kills: a hang takes the guardian's full second."""
_CHANGES = 30
"""An agent makes about so many in its moment; learned from those that ended by themselves."""
_LOOK_S = 0.0002


class Place(Protocol):
    """Where agents are struck: this host or a fake tree."""

    name: str

    def settings(self, numbers: random.Random) -> Settings: ...

    def snapshot(self) -> object:
        """Everything an agent may change. Compared with ==."""

    def at_rest(self) -> AbstractContextManager[None]:
        """Nobody is amid a change that a kernel would make in one go."""

    @property
    def files(self) -> KernelFiles: ...

    def refuse(self, numbers: random.Random) -> int:
        """Has some changes refused; how many."""


@dataclass
class Tally:
    """What a campaign has seen."""

    place: str
    agents: int = 0
    struck: Counter[str] = field(default_factory=Counter)
    """Agents that were struck, by kind; the others ended before."""
    placements: Counter[str] = field(default_factory=Counter)
    """Of those that were struck."""
    points: Counter[str] = field(default_factory=Counter)
    refusals: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """What agents said last that were not struck and said anything."""
    changes: int = _CHANGES
    restored_by: Counter[str] = field(default_factory=Counter)
    restored_ms: dict[str, list[float]] = field(default_factory=dict)
    """From the death, or the stop, until everything was back and the journal gone."""
    failures: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return sum(self.struck.values())

    def document(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "agents": self.agents,
            "kills": self.kills,
            "struck": dict(self.struck),
            "placements": dict(self.placements),
            "points": dict(self.points.most_common()),
            "refusals": self.refusals,
            "errors": dict(self.errors.most_common(20)),
            "restored_by": dict(self.restored_by),
            "death_to_restored_ms": {
                kind: quantiles(took) for kind, took in self.restored_ms.items() if took
            },
            "failures": self.failures,
        }


def quantiles(values: list[float]) -> Mapping[str, float]:
    ordered = sorted(values)
    return {
        "n": len(ordered),
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 2),
        "max": round(ordered[-1], 2),
    }


def run_campaign(
    place: Place,
    *,
    kills: int,
    seed: int,
    progress: Callable[[Tally], None] = lambda _tally: None,
) -> Tally:
    """Strikes agents until ``kills`` were; ends early at the first failure.

    The caller has called ``adopt_orphans``.
    """
    numbers = random.Random(seed)
    tally, board = Tally(place.name), Blackboard()
    others = _children_of(os.getpid())
    while tally.kills < kills and not tally.failures:
        _strike_one(place, numbers, tally, board, others)
        progress(tally)
    return tally


def _choose(numbers: random.Random, changes: int) -> Fault:
    kind: Kind = (
        "stop"
        if numbers.random() < _STOP_SHARE
        else numbers.choice([kind for kind in KINDS if kind != "stop"])
    )
    by_count = numbers.random() < 0.5 and kind != "kill after its guardian"
    return Fault(
        kind,
        numbers.randrange(changes) if by_count else None,
        numbers.random() < 0.5,
        numbers.uniform(0, LIFE_S),
    )


def _strike_one(
    place: Place, numbers: random.Random, tally: Tally, board: Blackboard, others: set[int]
) -> None:
    before = place.snapshot()
    settings, fault = place.settings(numbers), _choose(numbers, tally.changes)
    tally.refusals += place.refuse(numbers)
    board.clear()
    log = os.memfd_create("log")
    agent = start_agent(settings, fault, board, numbers.randrange(2**32), log)
    tally.agents += 1
    try:
        struck_ns, point = _strike_in_time(place, agent, fault, board)
        if struck_ns:
            tally.struck[fault.kind] += 1
            tally.placements[settings.placement] += 1
            tally.points[point] += 1
        else:
            tally.changes = max(tally.changes, board.changes)
        _wait_for_its_end(agent, settings.state_dir)
        if not struck_ns and (said := _said(log).splitlines()):
            tally.errors[said[-1]] += 1
        by, done_ns = _wait_for_the_host(place, settings.state_dir, others)
        if struck_ns:
            tally.restored_by[by] += 1
            if by == "guardian":
                took = tally.restored_ms.setdefault(fault.kind, [])
                took.append((done_ns - struck_ns) / 1e6)
        after = place.snapshot()
        if after != before:
            tally.failures.append(
                f"{fault} ({point}): {difference(before, after)}; said: {_said(log)}"
            )
        _let_go(others)
        if place.snapshot() != after:
            tally.failures.append(f"{fault} ({point}): a guardian wrote late; said: {_said(log)}")
    except TimeoutError as error:
        tally.failures.append(f"{fault}: {error}; said: {_said(log)}")
    finally:
        _let_go(others)
        os.close(log)


def _strike_in_time(place: Place, agent: int, fault: Fault, board: Blackboard) -> tuple[int, str]:
    """(when the agent was struck, or 0; where): by itself, or by us after the delay."""
    if fault.operation is not None:
        _wait(lambda: bool(board.struck_ns) or _ended(agent), "neither struck nor ended")
        return board.struck_ns, board.where
    time.sleep(fault.delay_s)
    first = {
        "kill after its guardian": signal.SIGKILL,
        "kill both": signal.SIGKILL,
        "kill beside a stopped guardian": signal.SIGSTOP,
    }
    for guardian in _children_of(agent) if fault.kind in first else ():
        with place.at_rest():
            _send(guardian, first[fault.kind])
    if fault.kind == "kill after its guardian":
        time.sleep(fault.delay_s / 10)  # some of them while the next is being started
    if _ended(agent):
        return 0, ""
    with place.at_rest():
        now_ns = time.monotonic_ns()
        stops = fault.kind == "stop" and bool(_children_of(agent))
        _send(agent, signal.SIGSTOP if stops else signal.SIGKILL)
    return now_ns, "any time"


def _wait_for_its_end(agent: int, state_dir: str) -> None:
    """Lets a stopped agent go on that nobody will kill: it had given everything back before."""

    def over() -> bool:
        guarded = any(tasks.state(pid) != "Z" for pid in _children_of(agent))
        if tasks.state(agent) == "T" and not guarded and not _journals(state_dir):
            _send(agent, signal.SIGCONT)
        return _ended(agent)

    _wait(over, "the agent has not ended")


def _wait_for_the_host(place: Place, state_dir: str, others: set[int]) -> tuple[str, int]:
    """Who restored, and when no journal was left."""
    _wait(
        lambda: not _journals(state_dir) or not _at_work(others),
        "a guardian is at it all the time",
    )
    if not _journals(state_dir):
        return "guardian", time.monotonic_ns()
    for _ in range(8):  # what is refused once is done the next time
        if recover(place.files, state_dir).live:
            # A guardian stopped before it was one, between fork and exec, holds the agent's lock.
            # Nothing had been changed then.
            for pid in _children_of(os.getpid()) - others:
                _send(pid, signal.SIGCONT)
        if not _journals(state_dir):
            return "restore", time.monotonic_ns()
    raise TimeoutError(f"journals are left: {_journals(state_dir)}")


def _journals(state_dir: str) -> list[str]:
    try:
        return os.listdir(state_dir)
    except FileNotFoundError:  # struck before there was one
        return []


def _at_work(others: set[int]) -> bool:
    """Whether a guardian is there that has not been stopped."""
    return any(tasks.state(pid) not in ("T", "Z", "") for pid in _children_of(os.getpid()) - others)


def _let_go(others: set[int]) -> None:
    """Lets stopped guardians go on, which then find nothing to do, and waits for all."""
    patience = _Patience()
    while left := _children_of(os.getpid()) - others:
        at_end = patience.is_at_end()
        for pid in left:
            _send(pid, signal.SIGKILL if at_end else signal.SIGCONT)
            _ended(pid)
        time.sleep(_LOOK_S)


def _children_of(pid: int) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()


def _ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it was waited for before
        return True


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class _Patience:
    """At its end after LONGEST_S in which somebody kept asking."""

    def __init__(self) -> None:
        self._left_s, self._asked_s = LONGEST_S, time.monotonic()

    def is_at_end(self) -> bool:
        now_s = time.monotonic()
        self._left_s -= min(now_s - self._asked_s, _AWAY_S)
        self._asked_s = now_s
        return self._left_s < 0


def _wait(what: Callable[[], bool], otherwise: str) -> None:
    patience = _Patience()
    while not what():
        if patience.is_at_end():
            raise TimeoutError(otherwise)
        time.sleep(_LOOK_S)


def _said(log: int) -> str:
    return os.pread(log, 4000, 0).decode(errors="replace")


def difference(before: object, after: object) -> str:
    """What has changed between two snapshots."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{before} -> {after}"
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return "; ".join(f"{key}: {before.get(key)!r} -> {after.get(key)!r}" for key in sorted(changed))
