"""The routers of Ray Serve replayed in virtual time, on nodes whose cores come and go.

As Ray Serve has it: a replica loads one model at a time and drops the one that was used least
recently; what runs there and what is loaded share its cores; routers hear of models 0.3 s later and
of cores each second. No noise: the same scene gives the same figures on every machine.
"""

from __future__ import annotations

import bisect
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.routing import Balancer, Nodes, Replica
from smartharvest.serverless.view import CAREFUL

TICK_S, HEARD_AFTER_S, REPORT_EACH_S = 0.02, 0.3, 1.0
SLOTS = 24
"""``max_ongoing_requests`` of a replica."""
COLD_COST = 4.0
"""The same as ``ray_router.COLD_COST``. Importing that needs Ray, and a replay does not."""
AT_ONCE = 2
"""Requests that are routed at once, for each replica; others wait for them."""
MEAN_WORK_S = 0.25
MOST_CORES, CHANGE_EACH_S = 5, 10.0


@dataclass
class Request:
    at_s: float
    model: str
    left_s: float
    """Core seconds."""
    cold: bool = False
    """It came to a node that did not have the model."""
    node: str | None = None
    """Where it ended."""
    took_s: float = 0.0


@dataclass(frozen=True)
class Scene:
    """What happens, but for the routing."""

    cores: Mapping[str, Sequence[tuple[float, float]]]
    """Node -> (until when, cores), ascending; the last until for ever."""
    load: Callable[[], list[Request]]
    """Ascending in time, new ones at each call."""
    evicted: frozenset[str] = frozenset()
    notice_s: float = 0.0
    evicted_s: float = 0.0
    warm_models: int = 3
    """What a node has memory for."""
    cold_s: float = 0.8
    """Core seconds that loading takes."""

    def cores_of(self, name: str, now_s: float) -> float:
        found = self.cores[name]
        return found[min(len(found) - 1, bisect.bisect_right(found, now_s, key=_until))][1]


def _until(row: tuple[float, float]) -> float:
    return row[0]


@dataclass(frozen=True)
class Replayed:
    requests: list[Request]
    """In the order of their arrival."""
    loads: int
    """Models that were loaded."""

    @property
    def took_s(self) -> list[float]:
        """Of those that ended, ascending."""
        return sorted(one.took_s for one in self.requests if one.node is not None)

    @property
    def cold(self) -> int:
        """Requests that waited for a model, of those that ended."""
        return sum(one.cold for one in self.requests if one.node is not None)

    @property
    def lost(self) -> int:
        """Requests that were where a node was evicted."""
        return sum(one.node is None for one in self.requests)

    def quantile(self, q: float) -> float:
        found = self.took_s
        return found[min(len(found) - 1, int(q * len(found)))]


@dataclass
class Node:
    """One replica."""

    name: str
    scene: Scene
    models: OrderedDict[str, None] = field(default_factory=OrderedDict)
    waits: deque[Request] = field(default_factory=deque)
    """For a model to be loaded."""
    loads: Request | None = None
    loading_s: float = 0.0
    loaded: int = 0
    runs: list[Request] = field(default_factory=list)

    def take(self, request: Request) -> None:
        if request.model in self.models:
            self.models.move_to_end(request.model)
            self.runs.append(request)
        else:
            request.cold = True
            self.waits.append(request)

    def tick(self, now_s: float) -> list[Request]:
        """Who ended."""
        while self.loads is None and self.waits:
            request = self.waits.popleft()
            if request.model in self.models:
                self.runs.append(request)
                continue
            if len(self.models) >= self.scene.warm_models:
                self.models.popitem(last=False)
            self.loads, self.loading_s = request, self.scene.cold_s
            self.loaded += 1
        busy = len(self.runs) + (self.loads is not None)
        if not busy:
            return []
        share = TICK_S * min(1.0, self.scene.cores_of(self.name, now_s) / busy)
        for one in self.runs:
            one.left_s -= share
        if self.loads is not None:
            self.loading_s -= share
            if self.loading_s <= 0:
                self.models[self.loads.model] = None
                self.runs.append(self.loads)
                self.loads = None
        ended = [one for one in self.runs if one.left_s <= 0]
        if ended:
            self.runs = [one for one in self.runs if one.left_s > 0]
        return ended

    def holds(self) -> list[Request]:
        loading = [] if self.loads is None else [self.loads]
        return [*self.runs, *self.waits, *loading]

    def heard(self) -> frozenset[str]:
        waiting = {one.model for one in self.waits}
        loading = set() if self.loads is None else {self.loads.model}
        return frozenset(self.models) | waiting | loading


class Router(Protocol):
    def update(self, scene: Scene, models: Mapping[str, frozenset[str]], now_s: float) -> None: ...
    def choose(self, model: str, now_s: float) -> str | None: ...
    def ended(self, name: str) -> None: ...


class RaysOwn:
    """Ray's rule: of two by chance that have the model the shorter; with those full or none, of two
    by chance with the fewest models."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._queues: dict[str, int] = {}
        self._models: Mapping[str, frozenset[str]] = {}

    def update(
        self,
        scene: Scene,  # noqa: ARG002
        models: Mapping[str, frozenset[str]],
        now_s: float,  # noqa: ARG002
    ) -> None:
        self._models = models
        self._queues = {name: self._queues.get(name, 0) for name in models}

    def choose(self, model: str, now_s: float) -> str | None:  # noqa: ARG002
        with_model = [name for name, models in self._models.items() if model in models]
        fewest = min(map(len, self._models.values()))
        emptiest = [name for name, models in self._models.items() if len(models) == fewest]
        for some in (with_model, emptiest):
            two = self._random.sample(some, min(2, len(some)))
            chosen = min(two, key=lambda name: self._queues[name], default=None)
            if chosen is not None and self._queues[chosen] < SLOTS:
                self._queues[chosen] += 1
                return chosen
        return None

    def ended(self, name: str) -> None:
        if name in self._queues:
            self._queues[name] -= 1


class Ours:
    """What ray_router.py does, without Ray."""

    def __init__(self, balancer: Balancer, *, says_memory: bool = True) -> None:
        """``says_memory``: replicas report for how many models they have it."""
        self._says_memory = says_memory
        self._nodes = Nodes(balancer, CAREFUL)
        self._seq = count()
        self._queues: dict[str, int] = {}

    def update(self, scene: Scene, models: Mapping[str, frozenset[str]], now_s: float) -> None:
        made = []
        for name in models:
            notice = name in scene.evicted and now_s >= scene.notice_s
            report = {"seq": next(self._seq), "cores": scene.cores_of(name, now_s), "guaranteed": 1,
                      "evict_in_s": scene.evicted_s - now_s if notice else None,
                      "models_most": scene.warm_models if self._says_memory else None}  # fmt: skip
            stats = {"smartharvest": report}
            made.append(Replica(name, name, name, stats, models[name], SLOTS))
        self._queues = {name: self._queues.get(name, 0) for name in models}
        self._nodes.update(made, {}, now_s)

    def choose(self, model: str, now_s: float) -> str | None:
        for rank in self._nodes.choose(model, now_s) or []:
            chosen = min(map(str, rank), key=self._queues.__getitem__)
            if self._queues[chosen] < SLOTS:
                self._queues[chosen] += 1
                self._nodes.sent(chosen)
                return chosen
        return None

    def ended(self, name: str) -> None:
        if name in self._queues:
            self._queues[name] -= 1
        self._nodes.ended(name)


def min_worker_set(cold_cost: float = COLD_COST) -> Router:
    return Ours(MinWorkerSet(cold_cost=cold_cost))


def shortest_queue(cold_cost: float = COLD_COST) -> Router:
    return Ours(ShortestQueue(random.Random(1).randrange, cold_cost=cold_cost))


def poisson(models: int, rps: float, seconds: float, seed: int) -> list[Request]:
    """Poisson arrivals; the k-th model is asked for in proportion to 1/k."""
    draw, now_s, found = random.Random(seed), 0.0, []
    names = [f"f{number}" for number in range(models)]
    weights = [1 / (rank + 1) for rank in range(models)]
    while (now_s := now_s + draw.expovariate(rps)) < seconds:
        [model] = draw.choices(names, weights)
        found.append(Request(now_s, model, draw.expovariate(1 / MEAN_WORK_S)))
    return found


def made_scene(
    *,
    nodes: int,
    models: int,
    seed: int,
    used: float = 0.5,
    evicted: float = 0.0,
    warm_models: int = 3,
    cold_s: float = 0.8,
    seconds: float = 60.0,
) -> Scene:
    """Nodes of one to five cores, which change every ten seconds or so.

    ``used`` is the share of the mean cores that the requests need, warm; ``evicted`` that of the
    nodes which get a notice in the middle and go 8 s later.
    """
    draw, cores = random.Random(1000 + seed), {}
    for number in range(nodes):
        rows, at_s = [], 0.0
        while at_s < seconds:
            at_s += max(1.0, draw.expovariate(1 / CHANGE_EACH_S))
            rows.append((at_s, float(draw.randint(1, MOST_CORES))))
        cores[f"n{number:03}"] = rows
    rps = used * nodes * (1 + MOST_CORES) / 2 / MEAN_WORK_S
    return Scene(
        cores,
        lambda: poisson(models, rps, seconds, seed),
        frozenset(list(cores)[: round(evicted * nodes)]),
        seconds / 2,
        seconds / 2 + 8.0,
        warm_models,
        cold_s,
    )


def replay(scene: Scene, router: Router) -> Replayed:
    nodes, requests = [Node(name, scene) for name in scene.cores], scene.load()
    everyone = list(nodes)
    waiting: deque[Request] = deque()
    heard: deque[tuple[float, dict[str, frozenset[str]]]] = deque()
    known = {node.name: node.heard() for node in nodes}
    now_s, updated_s, sent, over = 0.0, -REPORT_EACH_S, 0, 0
    while over < len(requests):
        if now_s >= scene.evicted_s and any(node.name in scene.evicted for node in nodes):
            over += sum(len(node.holds()) for node in nodes if node.name in scene.evicted)
            nodes = [node for node in nodes if node.name not in scene.evicted]
            updated_s = -REPORT_EACH_S
        heard.append((now_s, {node.name: node.heard() for node in nodes}))
        before = known
        while heard[0][0] <= now_s - HEARD_AFTER_S:
            known = heard.popleft()[1]
        if known != before or now_s - updated_s >= REPORT_EACH_S:
            updated_s = now_s
            router.update(scene, {node.name: known[node.name] for node in nodes}, now_s)
        while sent < len(requests) and requests[sent].at_s <= now_s:
            waiting.append(requests[sent])
            sent += 1
        by_name = {node.name: node for node in nodes}
        kept = []
        for _ in range(min(len(waiting), AT_ONCE * len(nodes))):
            request = waiting.popleft()
            name = router.choose(request.model, now_s)
            if name is None:
                kept.append(request)
            else:
                by_name[name].take(request)
        waiting.extendleft(reversed(kept))
        for node in nodes:
            for request in node.tick(now_s):
                router.ended(node.name)
                request.node, request.took_s = node.name, now_s - request.at_s
                over += 1
        now_s += TICK_S
    return Replayed(requests, sum(node.loaded for node in everyone))
