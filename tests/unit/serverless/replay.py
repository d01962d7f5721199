"""A replay in virtual time of functions that do not all fit: three nodes with memory for three of
seven functions each, whose cores come and go, and one node that is evicted.

As Ray Serve has it: a replica loads one model at a time and drops the one that was used least
recently; routers hear of models 0.3 s later.
"""

from __future__ import annotations

import random
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from smartharvest.serverless.routing import Balancer, Nodes, Replica
from smartharvest.serverless.view import CAREFUL

TICK_S, HEARD_AFTER_S, REPORT_EACH_S = 0.02, 0.3, 1.0
WORK_S, COLD_S, WARM_MODELS, SLOTS = 0.25, 0.8, 3, 24
SECONDS, NOTICE_S, EVICTED_S, EVICTED = 50.0, 25.0, 33.0, "b"
CORES = {"a": ((20, 2.5), (999, 5.5)), "b": ((30, 2.5), (999, 5.5)),
         "c": ((15, 4.5), (30, 2.0), (999, 3.5))}  # fmt: skip
"""Node -> (until when, cores)."""
MODELS = tuple(f"f{number}" for number in range(7))


@dataclass
class Request:
    at_s: float
    model: str
    left_s: float
    cold: bool = False
    took_s: float = 0.0


@dataclass
class Node:
    name: str
    models: OrderedDict[str, None] = field(default_factory=OrderedDict)
    waits: deque[Request] = field(default_factory=deque)
    """For a model to be loaded."""
    loads: Request | None = None
    loading_s: float = 0.0
    runs: list[Request] = field(default_factory=list)

    def take(self, request: Request) -> None:
        if request.model in self.models:
            self.models.move_to_end(request.model)
            self.runs.append(request)
        else:
            self.waits.append(request)

    def tick(self, now_s: float) -> list[Request]:
        """Who ended."""
        while self.loads is None and self.waits:
            request = self.waits.popleft()
            if request.model in self.models:
                self.runs.append(request)
                continue
            if len(self.models) >= WARM_MODELS:
                self.models.popitem(last=False)
            self.loads, self.loading_s, request.cold = request, COLD_S, True
        busy = len(self.runs) + (self.loads is not None)
        share = TICK_S * min(1.0, self.cores(now_s) / max(1, busy))
        for one in self.runs:
            one.left_s -= share
        if self.loads is not None:
            self.loading_s -= share
            if self.loading_s <= 0:
                self.models[self.loads.model] = None
                self.runs.append(self.loads)
                self.loads = None
        ended = [one for one in self.runs if one.left_s <= 0]
        self.runs = [one for one in self.runs if one.left_s > 0]
        return ended

    def cores(self, now_s: float) -> float:
        return next(cores for until_s, cores in CORES[self.name] if now_s < until_s)

    def heard(self) -> frozenset[str]:
        waiting = {one.model for one in self.waits}
        loading = set() if self.loads is None else {self.loads.model}
        return frozenset(self.models) | waiting | loading


class Router(Protocol):
    def update(
        self, nodes: Sequence[Node], models: Mapping[str, frozenset[str]], now_s: float
    ) -> None: ...
    def choose(self, model: str, now_s: float) -> str | None: ...
    def ended(self, name: str) -> None: ...


class RaysOwn:
    """Ray's rule: of two by chance that have the model, or else the fewest models, the shorter."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._queues: dict[str, int] = {}
        self._models: Mapping[str, frozenset[str]] = {}

    def update(
        self,
        nodes: Sequence[Node],
        models: Mapping[str, frozenset[str]],
        now_s: float,  # noqa: ARG002
    ) -> None:
        self._models = models
        self._queues = {node.name: self._queues.get(node.name, 0) for node in nodes}

    def choose(self, model: str, now_s: float) -> str | None:  # noqa: ARG002
        fewest = min(map(len, self._models.values()))
        some = [name for name in self._queues if model in self._models[name]] or [
            name for name in self._queues if len(self._models[name]) == fewest
        ]
        two = self._random.sample(some, min(2, len(some)))
        chosen = min(two, key=lambda name: self._queues[name])
        if self._queues[chosen] >= SLOTS:
            return None
        self._queues[chosen] += 1
        return chosen

    def ended(self, name: str) -> None:
        if name in self._queues:
            self._queues[name] -= 1


class Ours:
    """What ray_router.py does, without Ray."""

    def __init__(self, balancer: Balancer) -> None:
        self._nodes = Nodes(balancer, CAREFUL)
        self._seq = count()

    def update(
        self, nodes: Sequence[Node], models: Mapping[str, frozenset[str]], now_s: float
    ) -> None:
        made = []
        for node in nodes:
            notice = node.name == EVICTED and now_s >= NOTICE_S
            report = {"seq": next(self._seq), "cores": node.cores(now_s), "guaranteed": 1,
                      "evict_in_s": EVICTED_S - now_s if notice else None}  # fmt: skip
            stats = {"smartharvest": report}
            made.append(Replica(node.name, node.name, node.name, stats, models[node.name], SLOTS))
        self._nodes.update(made, {}, now_s)

    def choose(self, model: str, now_s: float) -> str | None:
        ranks = self._nodes.choose(model, now_s)
        if not ranks:
            return None
        chosen = str(ranks[0][0])
        self._nodes.sent(chosen)
        return chosen

    def ended(self, name: str) -> None:
        self._nodes.ended(name)


def load(rps: float, seed: int) -> list[Request]:
    """Poisson arrivals; the k-th function is asked for in proportion to 1/k."""
    draw, now_s, found = random.Random(seed), 0.0, []
    weights = [1 / (rank + 1) for rank in range(len(MODELS))]
    while (now_s := now_s + draw.expovariate(rps)) < SECONDS:
        [model] = draw.choices(MODELS, weights)
        found.append(Request(now_s, model, draw.expovariate(1 / WORK_S)))
    return found


def replay(router: Router, rps: float = 14.0, seed: int = 1) -> tuple[float, list[float], int]:
    """Share of cold starts, what the requests took (ascending), and how many were lost."""
    nodes, requests = [Node(name) for name in CORES], load(rps, seed)
    waiting: deque[Request] = deque()
    heard: deque[tuple[float, dict[str, frozenset[str]]]] = deque()
    known = {node.name: node.heard() for node in nodes}
    now_s, updated_s, sent, lost = 0.0, -REPORT_EACH_S, 0, 0
    ended: list[Request] = []
    while len(ended) + lost < len(requests):
        if now_s >= EVICTED_S and any(node.name == EVICTED for node in nodes):
            [gone] = [node for node in nodes if node.name == EVICTED]
            nodes.remove(gone)
            lost = len(gone.runs) + len(gone.waits) + (gone.loads is not None)
            updated_s = -REPORT_EACH_S
        heard.append((now_s, {node.name: node.heard() for node in nodes}))
        before = known
        while heard[0][0] <= now_s - HEARD_AFTER_S:
            known = heard.popleft()[1]
        if known != before or now_s - updated_s >= REPORT_EACH_S:
            updated_s = now_s
            router.update(nodes, {node.name: known[node.name] for node in nodes}, now_s)
        while sent < len(requests) and requests[sent].at_s <= now_s:
            waiting.append(requests[sent])
            sent += 1
        for _ in range(len(waiting)):
            request = waiting.popleft()
            name = router.choose(request.model, now_s)
            chosen = next((node for node in nodes if node.name == name), None)
            if chosen is None:
                waiting.append(request)
            else:
                chosen.take(request)
        for node in nodes:
            for request in node.tick(now_s):
                router.ended(node.name)
                request.took_s = now_s - request.at_s
                ended.append(request)
        now_s += TICK_S
    cold = sum(one.cold for one in ended) / len(ended)
    return cold, sorted(one.took_s for one in ended), lost
