"""Strikes agents at random moments and looks whether the host is as it was, and how soon."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smartharvest.config.settings import Settings
from smartharvest.host import kernels
from smartharvest.host.journal.recovery import recover
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import sockets
from tests.faults.agents import LIFE_S, Blackboard, Moment, start_agent
from tests.faults.cores import CoresBack
from tests.faults.faults import FAULTS, LOOK_S, Fault, Scene, children_of, send
from tests.faults.host_state import HostState, differences
from tests.faults.places import Place

LONGEST_S = 60.0
"""How long anything may take before the campaign calls it stuck."""
_AWAY_S = 0.1
"""Of a longer time between two looks no more counts: the campaign may have been stopped itself."""
_CHANGES = 30
"""An agent makes about so many in its moment; learned from those that ended by themselves."""
_SPARED_RUN_S = 600.0
_LONG_RUN_S = 10.0
"""Of what is struck while it runs."""
_STRANGERS_SHARE = 0.5
_DYING_S = 0.01
"""What ends is no member of any group for a moment, and then gone."""
_MOST_FAILURES = 100
_LONGEST_FAILURE = 1500
_LINES = 6


@dataclass
class Tally:
    """What a campaign has seen."""

    place: str
    agents: int = 0
    struck: Counter[str] = field(default_factory=Counter)
    """Agents that were struck, by fault; the others ended before."""
    failed: Counter[str] = field(default_factory=Counter)
    """Those of them after which something was not as it has to be."""
    placements: Counter[str] = field(default_factory=Counter)
    """Of those that were struck."""
    points: Counter[str] = field(default_factory=Counter)
    refusals: int = 0
    strangers: int = 0
    """Tasks that somebody else pinned meanwhile."""
    born: int = 0
    """Tasks that were there afterwards and not before."""
    errors: Counter[str] = field(default_factory=Counter)
    """What agents said last that were not struck and said anything."""
    changes: int = _CHANGES
    life_s: float = 0.0
    """The longest life of an agent that ended well and by itself; 0 until one has."""
    restored_by: Counter[str] = field(default_factory=Counter)
    cores_ms: dict[str, list[float]] = field(default_factory=dict)
    """From the strike until the primary had its cores, where some were lent."""
    restored_ms: dict[str, list[float]] = field(default_factory=dict)
    """From the strike until everything was back and the journal gone."""
    failures: list[str] = field(default_factory=list)

    _ended_early: int = 0

    def learn_changes(self, count: int) -> None:
        """An agent has ended by itself after so many changes."""
        self._ended_early = max(self._ended_early, count)
        self.changes = self._ended_early or self.changes

    def learn_life(self, seconds: float) -> None:
        """An agent has ended well and by itself after so long."""
        self.life_s = max(self.life_s, seconds)

    @property
    def kills(self) -> int:
        return sum(self.struck.values())

    def document(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "agents": self.agents,
            "kills": self.kills,
            "struck": dict(self.struck),
            "failed": dict(self.failed),
            "placements": dict(self.placements),
            "points": dict(self.points.most_common()),
            "refusals": self.refusals,
            "pinned_by_strangers": self.strangers,
            "born_meanwhile": self.born,
            "errors": dict(self.errors.most_common(20)),
            "restored_by": dict(self.restored_by),
            "cores_back_ms": _rounded(self.cores_ms),
            "restored_ms": _rounded(self.restored_ms),
            "failures": self.failures,
        }


def _rounded(values: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    return {kind: [round(took, 2) for took in sorted(all_of)] for kind, all_of in values.items()}


def quantiles(values: Sequence[float]) -> Mapping[str, float]:
    """``n``, P50, P99 and the largest; ``values`` is not empty."""
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
    only: Collection[str] = (),
    goes_on: bool = False,
    progress: Callable[[Tally], None] = lambda _tally: None,
) -> Tally:
    """Strikes agents until ``kills`` were, by the faults in ``only`` if there are any.

    Ends at the first failure, or ``goes_on`` with a place made anew. The caller has called
    ``adopt_orphans``.
    """
    numbers, tally = random.Random(seed), Tally(place.name)
    possible = [
        name for name, fault in FAULTS.items()
        if fault.possible(place) and (not only or name in only)
    ]  # fmt: skip
    if not possible:
        return tally
    with tempfile.TemporaryDirectory() as directory:
        board = Blackboard(Path(directory))
        while tally.kills < kills and (goes_on or not tally.failures):
            (name,) = numbers.choices(possible, [FAULTS[one].share for one in possible])
            try:
                found = _Strike(place, name, numbers, tally, board).run()
            except TimeoutError as error:
                found = [str(error)]
            if found:
                tally.failed[name] += 1
                place.renew()
            progress(tally)
    return tally


class _Strike:
    """One agent from its start to the look at the host after its end."""

    def __init__(
        self, place: Place, name: str, numbers: random.Random, tally: Tally, board: Blackboard
    ) -> None:
        self._place, self._name, self._numbers = place, name, numbers
        self._tally, self._board = tally, board
        self._fault: Fault = FAULTS[name]
        self._moment = self._choose_moment()
        self._others = children_of(os.getpid())
        self._statuses: dict[int, int] = {}
        self._cores: CoresBack | None = None
        self._point = "any time"

    def _choose_moment(self) -> Moment:
        numbers, fault = self._numbers, self._fault
        if fault.spares:
            return Moment(None, runs=True, delay_s=self._delay_s(), run_s=_SPARED_RUN_S)
        how = numbers.choice(("change", "start", "run") if fault.at_changes else ("start", "run"))
        if how == "change":
            afterwards = numbers.random() < 0.5
            return Moment(numbers.randrange(self._tally.changes), afterwards=afterwards)
        if how == "start":
            life_s = self._tally.life_s or LIFE_S * self._place.slowness
            return Moment(None, delay_s=numbers.uniform(0, life_s))
        return Moment(None, runs=True, delay_s=self._delay_s(), run_s=_LONG_RUN_S)

    def _delay_s(self) -> float:
        return self._numbers.uniform(0, self._place.run_s)

    def run(self) -> list[str]:
        """What was not as it has to be; also in the tally."""
        place, tally, fault = self._place, self._tally, self._fault
        before = place.snapshot()
        settings = fault.prepare(place.settings(self._numbers), place)
        self._state_dir = settings.state_dir
        tally.refusals += place.refuse(self._numbers)
        place.let_strangers_in(active=self._numbers.random() < _STRANGERS_SHARE)
        self._board.clear()
        self._log = os.memfd_create("log")
        seed = self._numbers.randrange(2**32)
        self._agent = start_agent(settings, self._moment, self._board, seed, self._log, place.cage)
        tally.agents += 1
        scene = self._scene = Scene(
            place, self._agent, self._state_dir, self._board, self._numbers, self._look
        )
        scene.allowed.pins_may_be_lost = _pins_may_be_lost(settings)
        found: list[str] = []
        try:
            self._strike(settings)
            found = self._check(before)
        except TimeoutError as error:
            found = [str(error)]
        finally:
            scene.close()
            place.let_strangers_in(active=False)
            self._let_go()
            if found and len(tally.failures) < _MOST_FAILURES:
                tally.failures.append(self._describe(found, settings))
            os.close(self._log)
        return found

    def _describe(self, found: Sequence[str], settings: Settings) -> str:
        more = [f"and {len(found) - _LINES} more"] if len(found) > _LINES else []
        what = "; ".join([*found[:_LINES], *more])
        text = f"{self._name} ({self._point}; {settings.placement}): {what}; said: {self._said()}"
        return text[:_LONGEST_FAILURE]

    # --- the strike -------------------------------------------------------------------------------

    def _strike(self, settings: Settings) -> None:
        tally, scene = self._tally, self._scene
        if self._comes_to_the_moment():
            tally.struck[self._name] += 1
            tally.placements[settings.placement] += 1
            tally.points[self._point] += 1
            self._cores = CoresBack(self._place.files, self._state_dir)
            self._fault.strike(scene)
            scene.begin()
            self._board.release()
            if self._fault.spares:
                send(self._agent, signal.SIGTERM)
        else:
            self._board.release()
            if self._moment.operation is not None:
                tally.learn_changes(self._board.changes)
        if self._fault.spares and not scene.began_ns:
            send(self._agent, signal.SIGTERM)
        self._wait_for_its_end()
        self._board.unblock_syncs()
        if not scene.began_ns and (said := self._said().splitlines()):
            tally.errors[said[-1]] += 1
        self._wait_for_the_host()

    def _comes_to_the_moment(self) -> bool:
        moment = self._moment

        def ended() -> bool:
            return self._ended(self._agent)

        if moment.operation is not None:
            self._wait(lambda: bool(self._board.struck_ns) or ended(), "neither struck nor ended")
            self._point = self._board.where or "before that"
            return bool(self._board.struck_ns)
        if moment.runs:
            self._point = "while it runs"
            self._wait(lambda: bool(sockets(self._state_dir)) or ended(), "has not come to run")
        began_s = time.monotonic()
        self._wait(lambda: time.monotonic() > began_s + moment.delay_s or ended(), "")
        if not ended():
            return True
        if not moment.runs and self._statuses.get(self._agent) == 0:
            self._tally.learn_life(time.monotonic() - began_s)
        return False

    def _look(self) -> None:
        self._place.turn(time.monotonic())
        if self._cores is not None:
            self._cores.look()

    # --- afterwards -------------------------------------------------------------------------------

    def _wait_for_its_end(self) -> None:
        """Lets a stopped agent go on that nobody will kill: it had given everything back before."""

        def over() -> bool:
            guarded = any(tasks.state(pid) != "Z" for pid in children_of(self._agent))
            if tasks.state(self._agent) == "T" and not guarded and not self._journals():
                send(self._agent, signal.SIGCONT)
            return self._ended(self._agent)

        self._wait(over, "the agent has not ended")

    def _wait_for_the_host(self) -> None:
        """Restores as an operator would where no guardian is left."""
        self._wait(
            lambda: not self._journals() or not self._at_work(), "a guardian is at it all the time"
        )
        scene, tally, by = self._scene, self._tally, "guardian"
        for _ in range(8):  # what is refused once is done the next time
            if not self._journals():
                break
            by = "restore"
            if recover(self._place.files, self._state_dir).live:
                # A guardian stopped before it was one, between fork and exec, holds the agent's
                # lock. Nothing had been changed then.
                for pid in children_of(os.getpid()) - self._others:
                    send(pid, signal.SIGCONT)
        else:
            if self._journals():
                raise TimeoutError(f"journals are left: {self._journals()}")
        if not scene.began_ns:
            return
        now_ns = time.monotonic_ns()
        tally.restored_by[by] += 1
        if by == "guardian" and not self._fault.spares:
            took = tally.restored_ms.setdefault(self._name, [])
            took.append((now_ns - scene.began_ns) / 1e6)
        if self._cores is not None and not self._fault.lets_lend:
            back_ns = self._cores.end()
            if back_ns >= scene.began_ns and by == "guardian":
                tally.cores_ms.setdefault(self._name, []).append((back_ns - scene.began_ns) / 1e6)

    def _check(self, before: HostState) -> list[str]:
        place, allowed = self._place, self._scene.allowed
        allowed.pinned = place.let_strangers_in(active=False)
        self._tally.strangers += len(allowed.pinned)
        found = []
        status = self._statuses.get(self._agent, 0)
        if self._fault.spares and os.WIFSIGNALED(status):
            found.append(f"the agent was killed by signal {os.WTERMSIG(status)}")
        self._scene.close()
        after = place.snapshot()
        # What strangers have left would hide what the agent has left.
        for path, values in allowed.files.items():
            was, now = before.files.get(path), after.files.get(path)
            if was is not None and now is not None and was != now and now in values:
                with contextlib.suppress(OSError):
                    place.files.write(path, was.decode())
        if allowed.files:
            allowed.files, after = {}, place.snapshot()
        left = list(differences(before, after, place.ancestors, allowed))
        if left:
            time.sleep(_DYING_S)
            after = place.snapshot()
            still = set(differences(before, after, place.ancestors, allowed))
            left = [line for line in left if line in still]
        self._tally.born += len(after.tasks.keys() - before.tasks.keys())
        self._let_go()
        if not left and (late := place.snapshot()).files != after.files:
            found.append("a guardian wrote late")
            left = list(differences(before, late, place.ancestors, allowed))
        return found + left

    def _let_go(self) -> None:
        """Lets stopped guardians go on, which then find nothing to do, and waits for all."""
        patience = _Patience()
        while left := children_of(os.getpid()) - self._others:
            at_end = patience.is_at_end()
            for pid in left:
                send(pid, signal.SIGKILL if at_end else signal.SIGCONT)
                self._ended(pid)
            time.sleep(LOOK_S)

    # --- helpers ----------------------------------------------------------------------------------

    def _journals(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._state_dir) if name != "filling"]
        except FileNotFoundError:  # struck before there was one
            return []

    def _at_work(self) -> bool:
        """Whether a guardian is there that has not been stopped."""
        there = children_of(os.getpid()) - self._others
        return any(tasks.state(pid) not in ("T", "Z", "") for pid in there)

    def _ended(self, pid: int) -> bool:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # it was waited for before
            return True
        if ended == pid:
            self._statuses[pid] = status
        return ended == pid

    def _wait(self, what: Callable[[], bool], otherwise: str) -> None:
        patience = _Patience()
        while not what():
            if patience.is_at_end():
                raise TimeoutError(otherwise)
            self._look()
            time.sleep(LOOK_S)

    def _said(self) -> str:
        return os.pread(self._log, 4000, 0).decode(errors="replace")


def _pins_may_be_lost(settings: Settings) -> bool:
    one_by_one = settings.elastic is not None and settings.elastic.kind == "pid"
    return one_by_one or settings.mechanism == "affinity" or not kernels.has(kernels.USER_CPUS_PTR)


class _Patience:
    """At its end after LONGEST_S in which somebody kept asking."""

    def __init__(self) -> None:
        self._left_s, self._asked_s = LONGEST_S, time.monotonic()

    def is_at_end(self) -> bool:
        now_s = time.monotonic()
        self._left_s -= min(now_s - self._asked_s, _AWAY_S)
        self._asked_s = now_s
        return self._left_s < 0


def difference(before: object, after: object) -> str:
    """What has changed between two snapshots."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{before} -> {after}"
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return "; ".join(f"{key}: {before.get(key)!r} -> {after.get(key)!r}" for key in sorted(changed))
