"""Min-Worker-Set: a function stays on the few workers that ran it, while they have room.

That saves cold starts, and few evictions meet a function. Faster and Cheaper Serverless Computing
on Harvested Resources (SOSP'21), section 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from smartharvest.serverless.view import (
    CAREFUL,
    Caution,
    Function,
    Worker,
    Workers,
    cold_starts,
    has_memory,
    home_hash,
    trusted_cores,
)

_NOBODY: Mapping[str, float] = {}


class MinWorkerSet:
    """Keeps for each function the workers that it runs on, the longest-serving first."""

    def __init__(
        self,
        *,
        caution: Caution = CAREFUL,
        fill: float = 1.0,
        grow_at: float = 1.0,
        forget_s: float = 300.0,
        cold_cost: float = 0.0,
    ) -> None:
        """``fill``: invocations a core up to which a worker has room.

        ``grow_at``: with every worker full, the set grows if another has this many invocations a
        core less. ``forget_s``: a member that is not needed for this long leaves the set.
        ``cold_cost``: what a cold start costs, in invocations. Above 0 a worker where the function
        is cold is taken only if it is so much less crowded than those where it is warm, with those
        counted that wait there or are displaced: without memory for every function, each cold start
        is paid again by the one it displaces.
        """
        if cold_cost < 0.0:
            raise ValueError(f"cold_cost is {cold_cost:g}; it must be 0 or more")
        self._caution = caution
        self._fill = fill
        self._grow_at = grow_at
        self._forget_s = forget_s
        self._cold_cost = cold_cost
        self._sets: dict[str, dict[str, float]] = {}

    def members(self, function: str) -> Mapping[str, float]:
        """Worker -> when it was chosen last, the longest-serving first."""
        return self._sets.get(function, _NOBODY)

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """The first member with room, if possible where the function is warm.

        Without one the set grows by a worker with room: one that is warm, or the least crowded.
        With every worker full it is the least crowded member, unless another is much emptier.
        """
        members = self._sets.setdefault(function.name, {})
        chosen = self._member(function, members, workers, now_s)
        if chosen is None:
            otherwise = self._least_costly if self._cold_cost > 0.0 else self._outside
            chosen = otherwise(function, members, workers, now_s)
        if chosen is None:
            if not members:
                del self._sets[function.name]
            return None
        members[chosen] = now_s
        return chosen

    def _room(self, worker: Worker, function: Function, cores: float) -> bool:
        most = self._fill * cores
        # One invocation is not too much for a core, however careful ``fill`` is.
        fits = worker.load + 1.0 <= most or (worker.load == 0.0 and cores >= 1.0)
        return fits and has_memory(worker, function)

    def _member(
        self, function: Function, members: dict[str, float], workers: Workers, now_s: float
    ) -> str | None:
        """A member with room; those who went, have notice or were not needed leave the set."""
        with_room: str | None = None
        gone: list[str] = []
        for name, used_s in members.items():
            worker = workers.get(name)
            if worker is None or worker.eviction_s is not None or now_s - used_s > self._forget_s:
                gone.append(name)
                continue
            if with_room is not None and function.name not in worker.warm:
                continue
            if not self._room(worker, function, trusted_cores(worker, now_s, self._caution)):
                continue
            if function.name in worker.warm:
                with_room = name
                break
            if self._cold_cost == 0.0:
                with_room = name
        for name in gone:
            del members[name]
        return with_room

    def _outside(
        self, function: Function, members: dict[str, float], workers: Workers, now_s: float
    ) -> str | None:
        """No member has room: the best of all workers, from the function's home on."""
        all_of_them = list(workers.values())
        if not all_of_them:
            return None
        home = home_hash(function.name) % len(all_of_them)
        caution, fresh_s, fill = self._caution, self._caution.fresh_s, self._fill
        # The helpers of the view, written out: a router asks for each request.
        best: Worker | None = None
        best_cold, best_length = True, math.inf
        emptiest: Worker | None = None
        least, least_member, member = math.inf, math.inf, None
        for worker in (*all_of_them[home:], *all_of_them[:home]):
            if worker.eviction_s is not None:
                continue
            cores = worker.cores
            if now_s - worker.reported_s > fresh_s:
                cores = trusted_cores(worker, now_s, caution)
            length = (worker.load + 1.0) / cores if cores > 0.0 else math.inf
            if emptiest is None or length < least:
                emptiest, least = worker, length
            if worker.name in members:
                if member is None or length < least_member:
                    member, least_member = worker, length
            elif worker.load + 1.0 > fill * cores and (worker.load > 0.0 or cores < 1.0):
                continue
            elif has_memory(worker, function):
                cold = function.name not in worker.warm
                if best is None or (cold, length) < (best_cold, best_length):
                    best, best_cold, best_length = worker, cold, length
        if best is not None:
            return best.name
        # Without cores anywhere the difference is no number: nothing is gained by growing.
        if member is not None and not least_member - least >= self._grow_at:
            return member.name
        return emptiest.name if emptiest is not None else None

    def _least_costly(
        self, function: Function, members: dict[str, float], workers: Workers, now_s: float
    ) -> str | None:
        """No warm member has room: where an invocation ends first, a cold start included.

        Of equal ones that with the fewest warm functions: least is displaced there.
        """
        all_of_them = list(workers.values())
        if not all_of_them:
            return None
        home = home_hash(function.name) % len(all_of_them)
        fresh_s = self._caution.fresh_s
        best: str | None = None
        least, least_warm, with_memory = math.inf, 0, False
        for worker in (*all_of_them[home:], *all_of_them[:home]):
            if worker.eviction_s is not None:
                continue
            fits = has_memory(worker, function)
            if with_memory and not fits:
                continue
            cores = worker.cores
            if now_s - worker.reported_s > fresh_s:
                cores = trusted_cores(worker, now_s, self._caution)
            length = (worker.load + 1.0) / cores if cores > 0.0 else math.inf
            cost = max(1.0, length)
            if members and length > self._fill and worker.name not in members:
                cost += self._grow_at
            if function.name not in worker.warm:
                cost *= 1.0 + self._cold_cost * cold_starts(worker)
            warm = len(worker.warm)
            if (
                best is None
                or fits > with_memory
                or cost < least
                or (cost == least and warm < least_warm)
            ):
                best, least, least_warm, with_memory = worker.name, cost, warm, fits
        return best
