"""OpenMetrics on a loopback port, from a state of the agent less than two seconds old.

``/capacity`` has what the node can promise, ``/healthz`` whether the agent is alive.

Needs prometheus_client (the extra ``metrics``). The thread that answers scrapes has only a copy of
the state: the agent never waits for it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from smartharvest.config.addresses import split_address
from smartharvest.errors import ConfigError, Unavailable
from smartharvest.telemetry import groups, verdict
from smartharvest.telemetry.histogram import Histogram

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

    from prometheus_client.core import Metric

_log = logging.getLogger(__name__)

AGAIN_AFTER_S = 10.0
"""Between two looks whether the address is free."""
STALE_S = 5.0
"""An agent that has not published for this long is not healthy; it does so every second."""
NOT_INSTALLED = "metrics: prometheus_client is not installed; pip install 'smartharvest[metrics]'"


class Metrics:
    """Serves at ``listen`` until closed. Raises Unavailable if there is no such address here.

    Any user can take a port, and must not keep the agent from starting: it is tried again.
    """

    def __init__(self, listen: str) -> None:
        try:
            import prometheus_client  # noqa: F401
        except ImportError:
            raise ConfigError(NOT_INSTALLED) from None
        self._listen = listen
        self._server: Any = None
        self._next_try_s = 0.0
        self._state: Mapping[str, Any] | None = None
        self._capacity: Mapping[str, Any] | None = None
        self._published_s = float("-inf")
        try:
            self._serve()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise Unavailable(f"metrics: {listen}: {error.strerror}") from None
            _log.warning(
                "metrics: %s: %s; tried again every %.0f s", listen, error.strerror, AGAIN_AFTER_S
            )

    def _serve(self) -> None:
        """Raises OSError."""
        from prometheus_client import CollectorRegistry, start_http_server

        self._next_try_s = time.monotonic() + AGAIN_AFTER_S
        registry = CollectorRegistry()
        registry.register(self)
        host, port = split_address(self._listen)
        self._server, self._thread = start_http_server(port, addr=host, registry=registry)
        pages: Any = self._server.get_app()
        self._server.set_app(
            lambda environ, start: (
                self._answer_capacity(start)
                if environ.get("PATH_INFO") == "/capacity"
                else self._answer_health(start)
                if environ.get("PATH_INFO") == "/healthz"
                else pages(environ, start)
                if environ.get("PATH_INFO") == "/metrics"
                else _answer_unknown(start)
            )
        )

    def update(self, state: Mapping[str, Any], capacity: Mapping[str, Any]) -> None:
        """``state`` is that of telemetry/status.py, ``capacity`` that of agent/promise.py."""
        self._state, self._capacity = state, capacity
        self._published_s = time.monotonic()
        if self._server is None and self._published_s >= self._next_try_s:
            with contextlib.suppress(OSError):
                self._serve()
                _log.info("metrics: %s: is free now", self._listen)

    def _answer_health(self, start: StartResponse) -> list[bytes]:
        """200 while the agent publishes, 503 before it does and when it has stopped."""
        age_s = time.monotonic() - self._published_s
        if self._state is None or age_s > STALE_S:
            start("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"the agent does not answer\n"]
        start("200 OK", [("Content-Type", "text/plain")])
        return [f"{verdict.health(self._state).text}\n".encode()]

    def _answer_capacity(self, start: StartResponse) -> list[bytes]:
        if self._capacity is None:
            start("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"the agent is still starting\n"]
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(self._capacity).encode() + b"\n"]

    def close(self) -> None:
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=2.0)

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        return [] if self._state is None else families(self._state)


def _answer_unknown(start: StartResponse) -> list[bytes]:
    start("404 Not Found", [("Content-Type", "text/plain")])
    return [b"there are /metrics, /capacity and /healthz\n"]


def text(seen: Mapping[str, Any]) -> str:
    """The same metrics as OpenMetrics text. Raises ConfigError without prometheus_client."""
    try:
        from prometheus_client import CollectorRegistry
        from prometheus_client.openmetrics.exposition import generate_latest
    except ImportError:
        raise ConfigError(NOT_INSTALLED) from None
    registry = CollectorRegistry()
    registry.register(_State(seen))
    return str(generate_latest(registry), "utf-8")  # type: ignore[no-untyped-call]


class _State:
    def __init__(self, seen: Mapping[str, Any]) -> None:
        self._seen = seen

    def collect(self) -> Iterable[Metric]:
        return families(self._seen)


def families(seen: Mapping[str, Any]) -> list[Metric]:
    """The metrics of one state."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

    guards, loop = seen["safeguards"], seen["loop"]
    period = seen["waits"]["period"] or {}

    def counter(name: str, text: str, value: float) -> Metric:
        return CounterMetricFamily(f"smartharvest_{name}", text, value=value, unit=_unit(name))

    def gauge(name: str, text: str, value: float) -> Metric:
        return GaugeMetricFamily(f"smartharvest_{name}", text, value=value, unit=_unit(name))

    tripped = CounterMetricFamily(
        "smartharvest_safeguards", "Times a safeguard acted.", labels=["kind"]
    )
    tripped.add_metric(["short_term"], guards["short_term"])
    tripped.add_metric(["long_term"], guards["long_term"])
    doubts = CounterMetricFamily(
        "smartharvest_give_backs", "Times a safety check took all cores back.", labels=["reason"]
    )
    for reason, count in guards["give_backs"].items():
        doubts.add_metric([reason], count)
    info = InfoMetricFamily("smartharvest_agent", "What the agent runs with.")
    info.add_metric(
        [],
        {
            "version": seen["version"],
            "policy": seen["policy"]["name"],
            "sensor": seen["sensor"]["name"],
            "scheduling": str(loop["scheduling"]),
        },
    )
    limits = GaugeMetricFamily(
        "smartharvest_limited_by", "What keeps more from being lent: 1 for one of them.",
        labels=["reason"],
    )  # fmt: skip
    reason = verdict.why_not_more(seen).key
    for key in verdict.LIMITS:
        limits.add_metric([key], float(key == reason))
    complaints = verdict.complaints(seen)
    found = [
        info,
        limits,
        gauge("healthy", "0 while something is wrong with the agent itself.",
              float(not complaints)),
        gauge("complaints", "Things that are wrong with the agent itself.", len(complaints)),
        gauge("harm_budget_ratio", "Share of the dispatches that lending may make wait too long.",
              verdict.harm_budget(seen)),
        counter("run_seconds", "Time the agent has run.", seen["seconds"]),
        counter("harvested_core_seconds", "Core-seconds lent.",
                seen["harvested"]["core_seconds"]),
        counter("busy_core_seconds", "Core-seconds the primary used.",
                seen["busy"]["core_seconds"]),
        counter("demand_core_seconds", "Core-seconds the primary used or waited for.",
                seen["demand"]["core_seconds"]),
        gauge("total_cores", "Cores between primary and elastic.", seen["cores"]["total"]),
        gauge("harvested_cores", "Cores lent now.", seen["harvested"]["now"]),
        gauge("frozen", "1 while the policy has the elastic group frozen.",
              float(seen.get("mechanism", {}).get("frozen", False))),
        gauge("busy_cores_peak", "Peak of the last window.", seen["busy"]["peak"]),
        gauge("demand_cores_peak", "Peak of running and waiting tasks.", seen["demand"]["peak"]),
        gauge("lending", "0 while nothing may be lent.",
              float(guards["lends_nothing_because"] is None)),
        tripped,
        doubts,
        counter("under_predictions", "Windows in which the idle buffer ran out.",
                guards["short_term"]),
        counter("fallbacks", "Policies that failed and were replaced.",
                len(seen["policy"]["fallbacks"])),
        counter("windows", "Learning windows.", loop["windows"]),
        counter("lessons", "Windows learned from.", seen["policy"]["lessons"]),
        counter("reassignments", "Writes that moved cores.", loop["assignments"]),
        counter("polls", "Polls of the primary.", loop["polls"]),
        counter("missed_polls", "Polls that were missed.", loop["missed_polls"]),
        counter("cpu_seconds", "CPU time of the agent.", seen["agent"]["cpu_seconds"]),
        gauge("resident_bytes", "Memory of the agent.", seen["agent"]["rss_bytes"]),
    ]  # fmt: skip
    found += _groups(groups.rows(seen))
    if seen["decision"] is not None:
        granted = seen["decision"]["primary_cores"]
        found.append(gauge("granted_cores", "Cores decided for the primary.", granted))
    share = verdict.harm_share(seen)
    if share is not None:
        found.append(gauge("harm_ratio", "Share of the last period's dispatches that waited too "
                           "long, possibly by lending.", share))  # fmt: skip
    used, kept = verdict.budget_used(seen), verdict.kept_budget(seen)
    if used is not None:
        found.append(gauge("budget_used_ratio", "Part of the budget that harm has used lately; 1: "
                           "all of it.", used))  # fmt: skip
    if kept is not None:
        found += _spent(kept)
    if period:
        found += [
            gauge("period_dispatches", "Dispatches in the last period.", period["dispatches"]),
            gauge("period_long_waits", "Of these, how many waited too long.", period["long_waits"]),
        ]
    found += [
        _histogram(name, text, seen["histograms"][kept])
        for name, text, kept in (
            ("reassignment_seconds", "How long moving cores took.", "moves"),
            ("poll_lateness_seconds", "How late polls were.", "lateness"),
            ("wait_seconds", "Dispatch waits of the primary.", "waits"),
        )
        if seen["histograms"][kept] is not None
    ]
    return found + _harm(seen.get("harm"))


def _spent(spent: Mapping[str, Mapping[str, Any]]) -> list[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    budget = GaugeMetricFamily(
        "smartharvest_protect_ratio",
        "By what part of its time lending may make what a primary does longer.",
        labels=["primary"], unit="ratio",
    )  # fmt: skip
    family = GaugeMetricFamily(
        "smartharvest_longer_ratio",
        "By what part of its time lending made what a primary does longer in the last minute.",
        labels=["primary", "quantile"], unit="ratio",
    )  # fmt: skip
    for name, one in spent.items():
        budget.add_metric([name], one["protect"])
        for key, quantile in verdict.QUANTILES.items():
            if one.get(key) is not None:
                family.add_metric([name, quantile], one[key])
    return [budget, family]


def _harm(harm: Mapping[str, Any] | None) -> list[Metric]:
    """What lending costs each primary, where the sensor tells."""
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

    if harm is None:
        return []
    sides = [
        ((name, side), one[side], one["histograms"][side])
        for name, one in harm["primaries"].items()
        for side in ("lent", "not_lent")
    ]
    labels = ["primary", "lending"]
    found: list[Metric] = []
    for name, text, key in (
        ("long_waits", "Dispatches that waited more than 200 us.", "long_waits"),
        ("behind_elastic", "Of these, behind elastic tasks while no CPU was idle.",
         "behind_elastic"),
        ("behind_elastic_here", "Of these, behind elastic tasks on their own CPU.",
         "behind_elastic_here"),
    ):  # fmt: skip
        counter = CounterMetricFamily(f"smartharvest_harm_{name}", text, labels=labels)
        for values, side, _ in sides:
            counter.add_metric(list(values), side[key])
        found.append(counter)
    for name, text, key in (
        ("wait_seconds", "Dispatch waits of a primary.", "wait"),
        ("wake_to_sleep_seconds", "From waking up to the next sleep.", "wake_to_sleep"),
    ):
        family = HistogramMetricFamily(f"smartharvest_harm_{name}", text, labels=labels)
        for values, _, kept in sides:
            family.add_metric(list(values), _buckets(kept[key]), kept[key]["sum_ns"] / 1e9)
        found.append(family)
    return found


def _unit(name: str) -> str:
    """As the end of the name says it: OpenMetrics has it besides the name, too."""
    last = name.rpartition("_")[2]
    return last if last in ("seconds", "bytes", "cores", "ratio") else ""


def _groups(rows: list[groups.Row]) -> list[Metric]:
    """What each elastic group has, by its name; a value that is not known is left out."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    rows = [
        row
        | {
            "memory_limit_bytes": (row.get("memory") or {}).get("limit_bytes"),
            "memory_taken_back_bytes": (row.get("memory") or {}).get("taken_back_bytes"),
        }
        for row in rows
    ]
    found: list[Metric] = []
    for kind, key, name, text in (
        (GaugeMetricFamily, "cores", "group_cores", "Cores that the elastic group has now."),
        (GaugeMetricFamily, "due", "group_due_cores",
         "Cores that the elastic group is due of what is lent."),
        (GaugeMetricFamily, "min", "group_min_cores", "Minimum of the elastic group."),
        (GaugeMetricFamily, "max", "group_max_cores", "Maximum of the elastic group, if any."),
        (GaugeMetricFamily, "promised", "group_promised_cores",
         "Cores that are to be there for the hold of a promise."),
        (CounterMetricFamily, "core_seconds", "group_core_seconds",
         "Core-seconds that the elastic group had."),
        (CounterMetricFamily, "cpu_seconds", "group_cpu_seconds",
         "CPU time that the elastic group used."),
        (GaugeMetricFamily, "throughput", "group_throughput",
         "What the elastic group has done in the last second."),
        (GaugeMetricFamily, "guarantee_met", "group_guarantee_met",
         "1 while the group's guarantee is met."),
        (CounterMetricFamily, "guarantee_violations", "group_guarantee_violations",
         "Times the group's guarantee was violated."),
        (GaugeMetricFamily, "memory_bytes", "group_memory_bytes",
         "Memory charged to the elastic group."),
        (GaugeMetricFamily, "memory_limit_bytes", "group_memory_limit_bytes",
         "Memory that the elastic group may hold now."),
        (CounterMetricFamily, "memory_taken_back_bytes", "group_memory_taken_back_bytes",
         "Memory that was taken back from the elastic group."),
    ):  # fmt: skip
        known = [row for row in rows if row.get(key) is not None]
        if key == "guarantee_violations":
            known = [row for row in known if row.get("guarantee") is not None]
        family = kind(f"smartharvest_{name}", text, labels=["group"], unit=_unit(name))
        for row in known:
            family.add_metric([row["name"]], float(row[key]))
        if known:
            found.append(family)
    for counted, text in (
        ("notices", "Eviction notices that the elastic group was given."),
        ("evictions", "Times the elastic group was evicted, also by the operator."),
    ):
        seen = [(row["name"], groups.evictions(row)) for row in rows]
        family = CounterMetricFamily(f"smartharvest_group_{counted}", text, labels=["group"])
        for name, counts in seen:
            if counts is not None:
                family.add_metric([name], float(counts[counted]))
        if family.samples:
            found.append(family)
    held = [row for row in rows if "held" in row]
    if held:
        family = GaugeMetricFamily(
            "smartharvest_group_held",
            "1 while the operator has paused or evicted the elastic group.",
            labels=["group"],
        )
        for row in held:
            family.add_metric([row["name"]], float(row["held"] is not None))
        found.append(family)
    return found


def _histogram(name: str, text: str, kept: Histogram) -> Metric:
    """Over all polling loops of a run, as the counters are."""
    from prometheus_client.core import HistogramMetricFamily

    return HistogramMetricFamily(
        f"smartharvest_{name}", text, buckets=_buckets(kept),
        sum_value=kept["sum_ns"] / 1e9, unit="seconds",
    )  # fmt: skip


def _buckets(kept: Histogram) -> list[tuple[str, float]]:
    bounds = [*(str(bound_ns / 1e9) for bound_ns in kept["bounds_ns"]), "+Inf"]
    return list(zip(bounds, [*kept["counts"], kept["count"]], strict=True))
