"""Which replicas of a deployment run a request: what replicas report, as workers. Pure.

A worker is a node: its replicas share its cores. A function is a deployment, or a multiplexed
model of one. What a replica may run at a time (``max_ongoing_requests``) counts as the worker's
memory, so that a balancer sees a worker without a free slot as full.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from smartharvest.serverless.node_report import STATS_KEY
from smartharvest.serverless.view import NEVER_S, Caution, Function, Worker

ITSELF = ""
"""The function of a request without a model: warm on each replica."""
_UNSENT_S = 0.25
"""A choice that no request has followed within this time was given up."""
_WARMING_S = 2.0
"""For this long a model is assumed to be where it was sent, unless a report says so earlier."""


class Balancer(Protocol):
    def choose(
        self, function: Function, workers: Mapping[str, Worker], now_s: float
    ) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Replica:
    """A running replica as the engine shows it. ``handle`` is the engine's own object."""

    key: Hashable
    handle: Any
    node: str
    stats: Mapping[str, Any]
    models: Collection[str] = ()
    slots: int = 1


@dataclass(slots=True)
class _Node:
    worker: Worker
    replicas: list[Replica] = field(default_factory=list)
    seq: dict[Hashable, int] = field(default_factory=dict)
    """Of each replica's last report: so that what is new differs from what is repeated."""
    busy: float = 0.0
    """Cores that were busy as of the last report; 0 if it does not say."""
    in_flight: int = 0
    at_report: int = 0
    """``in_flight`` then."""
    unsent: int = 0
    """Chosen, but not sent yet."""
    warming: dict[str, float] = field(default_factory=dict)
    """Model -> when it was first sent here; no report has it yet."""
    why: str = "no report yet"

    def count(self) -> None:
        """Load is what this router sent, or what all others keep busy with it, if that is more."""
        since = max(0, self.in_flight - self.at_report)
        worker, sent = self.worker, self.in_flight + self.unsent
        worker.load = max(sent, self.busy + since + self.unsent)
        worker.busy_memory_mib = sent


class Nodes:
    """The nodes of one deployment as one router sees them. Times are seconds of one clock."""

    def __init__(self, balancer: Balancer, caution: Caution) -> None:
        self._balancer, self._caution = balancer, caution
        self._nodes: dict[str, _Node] = {}
        self._workers: dict[str, Worker] = {}
        self._of: dict[Hashable, _Node] = {}
        self._in_flight: dict[Hashable, int] = defaultdict(int)
        self._functions: dict[str, Function] = {}
        self._unsent_s = -math.inf
        self._others: dict[str, list[Any]] = {}

    @property
    def workers(self) -> Mapping[str, Worker]:
        return self._workers

    def update(
        self, replicas: Iterable[Replica], in_flight: Mapping[Hashable, int], now_s: float
    ) -> None:
        """Takes the replicas that there are now, in a stable order.

        ``in_flight`` has what the engine knows of requests at each replica; for others the own
        count stays.
        """
        before, self._nodes, self._of = self._nodes, {}, {}
        found: dict[str, list[Replica]] = defaultdict(list)
        for replica in replicas:
            found[replica.node].append(replica)
        there = {replica.key for group in found.values() for replica in group}
        counts = self._in_flight
        self._in_flight = defaultdict(int, {key: counts[key] for key in there if key in counts})
        self._in_flight.update((key, count) for key, count in in_flight.items() if key in there)
        for name in sorted(found):
            node = before.get(name) or _Node(Worker(name, cores=1.0, min_cores=1.0))
            node.replicas, node.unsent = found[name], 0
            self._nodes[name] = node
            for replica in node.replicas:
                self._of[replica.key] = node
            node.in_flight = sum(self._in_flight[replica.key] for replica in node.replicas)
            self._read(node, now_s)
            node.count()
        self._workers = {name: node.worker for name, node in self._nodes.items()}
        self._others = {}

    def _read(self, node: _Node, now_s: float) -> None:
        worker = node.worker
        worker.memory_mib = sum(replica.slots for replica in node.replicas)
        warm = {model for replica in node.replicas for model in replica.models}
        node.warming = {
            model: sent_s
            for model, sent_s in node.warming.items()
            if model not in warm and now_s - sent_s < _WARMING_S
        }
        worker.warm = warm | node.warming.keys() | {ITSELF}
        worker.most_warm = 1.0 + sum(_models_most(replica) for replica in node.replicas)
        node.seq = {r.key: node.seq[r.key] for r in node.replicas if r.key in node.seq}
        for replica in node.replicas:
            report = replica.stats.get(STATS_KEY)
            if not isinstance(report, Mapping):
                continue
            seq = report.get("seq")
            if isinstance(seq, int) and node.seq.get(replica.key) != seq:
                node.seq[replica.key] = seq
                _take(node, report, now_s)

    def sent(self, key: Hashable) -> None:
        """A request went to that replica."""
        node = self._of.get(key)
        if node is not None:
            node.unsent = max(0, node.unsent - 1)
            self._change(node, key, 1)

    def ended(self, key: Hashable) -> None:
        node = self._of.get(key)
        if node is not None and self._in_flight[key] > 0:
            self._change(node, key, -1)

    def counted(self, key: Hashable, in_flight: int) -> None:
        """The replica said how many requests it has, of this router and others."""
        node = self._of.get(key)
        if node is not None:
            self._change(node, key, in_flight - self._in_flight[key])

    def _change(self, node: _Node, key: Hashable, by: int) -> None:
        self._in_flight[key] += by
        node.in_flight += by
        node.count()

    def blind(self, now_s: float) -> str | None:
        """Why nothing is known of any node; None if something is."""
        why = "there is no replica"
        for node in self._nodes.values():
            if now_s - node.worker.reported_s < self._caution.lost_s:
                return None
            why = node.why
            if node.worker.reported_s != NEVER_S:
                why = f"the last report is {now_s - node.worker.reported_s:.0f} s old"
        return why

    def choose(self, model: str, now_s: float) -> list[list[Any]] | None:
        """Ranked groups of replicas' handles for a request; None if no node should have it.

        First those of the chosen node that have the model, then its others, then those of other
        nodes without a notice.
        """
        if now_s - self._unsent_s > _UNSENT_S:
            self._unsent_s = now_s
            for node in self._nodes.values():
                if node.unsent:
                    node.unsent = 0
                    node.count()
        function = self._functions.get(model)
        if function is None:
            if len(self._functions) > 100_000:  # models come and go
                self._functions.clear()
            function = self._functions[model] = Function(model, memory_mib=1.0)
        name = self._balancer.choose(function, self._workers, now_s)
        if name is None:
            return None
        node = self._nodes[name]
        if model not in node.worker.warm:
            node.warming[model] = now_s
            node.worker.warm = {*node.worker.warm, model}
        node.unsent += 1
        node.count()
        ranks = [[replica.handle for replica in node.replicas]]
        if model and len(node.replicas) > 1:
            with_model = [r.handle for r in node.replicas if model in r.models]
            without = [r.handle for r in node.replicas if model not in r.models]
            ranks = [rank for rank in (with_model, without) if rank]
        others = self._others.get(name)
        if others is None:
            others = self._others[name] = [
                replica.handle
                for other in self._nodes.values()
                if other is not node and other.worker.eviction_s is None
                for replica in other.replicas
            ]
        if others:
            ranks.append(others)
        return ranks


def _take(node: _Node, report: Mapping[str, Any], now_s: float) -> None:
    """One new report of the node; what is malformed counts as none."""
    worker = node.worker
    evict_in_s = _number(report.get("evict_in_s"))
    worker.eviction_s = None if evict_in_s is None else now_s + evict_in_s
    cores, least = _number(report.get("cores")), _number(report.get("guaranteed"))
    if cores is None or least is None:
        node.why = str(report.get("why", "the report has no cores"))[:200]
        worker.reported_s = NEVER_S
        node.busy = 0.0
        return
    worker.cores, worker.min_cores = cores, least
    worker.reported_s = now_s - (_number(report.get("age_s")) or 0.0)
    node.busy = _number(report.get("load")) or 0.0
    node.at_report = node.in_flight


def _models_most(replica: Replica) -> float:
    """Models that it keeps; infinite if it does not say, as before it has loaded its first."""
    report = replica.stats.get(STATS_KEY)
    most = _number(report.get("models_most")) if isinstance(report, Mapping) else None
    return math.inf if most is None else most


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None
