"""Agents of other hosts on the page, by what their metrics say: no CPUs, no decisions.

Needs prometheus_client (the extra ``metrics``).
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.telemetry.verdict import QUANTILES
from smartharvest.telemetry.web.sources import ANSWER_WITHIN_S, Silent

_LONGEST = 4 << 20
Values = dict[tuple[str, str], float]


class ByMetrics:
    """The agent whose metrics are at ``url``, such as http://host:9464/metrics."""

    def __init__(self, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"--from: {url!r} is no address; write it as http://HOST:9464/metrics"
            )
        self.name = url

    async def ask(self, command: str) -> Any:
        """As the agent's socket answers, as far as metrics can. Raises Silent."""
        try:
            return await asyncio.to_thread(self._ask, command)
        except (OSError, ValueError, urllib.error.URLError) as error:
            raise Silent(f"{type(error).__name__}: {error}") from None

    def _ask(self, command: str) -> Any:
        if command == "capacity":
            return json.loads(_fetch(self.name.removesuffix("/metrics") + "/capacity"))
        values, info = read(_fetch(self.name).decode())
        status = status_of(self.name, values, info)
        if command == "status":
            return status
        sample = (
            ("t", time.time()),
            ("lent", status["harvested"]["now"]),
            ("granted", status["decision"]["primary_cores"]),
            ("busy", status["busy"]["peak"]),
            ("demand", status["demand"]["peak"]),
        )
        return {"samples": {name: [value] for name, value in sample}, "decisions": []}


_ASK = "its own status says why"
_OF_EACH = ("longer_ratio", "protect_ratio")
"""Metrics of which each primary has its own."""


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=ANSWER_WITHIN_S) as answer:
        data: bytes = answer.read(_LONGEST)
        return data


def read(text: str) -> tuple[Values, dict[str, str]]:
    """({(name without prefix, its one label or ""): value}, what the agent runs with).

    Raises ValueError for what are no metrics.
    """
    from prometheus_client.parser import text_string_to_metric_families

    values: Values = {}
    info: dict[str, str] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = sample.name.removeprefix("smartharvest_")
            labels = {key: value for key, value in sample.labels.items() if key != "primary"}
            if name == "agent_info":
                info = dict(sample.labels)
            elif sample.name != name and len(labels) < 2 and "le" not in labels:
                label = next(iter(labels.values()), "")
                if name in _OF_EACH:
                    label = f"{sample.labels.get('primary', '')}\n{label}"
                values[name, label] = float(sample.value)
    return values, info


def status_of(name: str, values: Values, info: dict[str, str]) -> dict[str, Any]:
    """A status of what metrics have. Raises ValueError if they are no agent's."""

    def value(key: str, label: str = "", otherwise: float = 0.0) -> float:
        return values.get((key, label), otherwise)

    if ("total_cores", "") not in values:
        raise ValueError("these are no metrics of an agent")
    seconds, total = max(1e-9, value("run_seconds_total")), int(value("total_cores"))
    dispatches = int(value("period_dispatches"))
    share = values.get(("harm_ratio", ""))
    period = {
        "dispatches": dispatches,
        "long_waits": int(value("period_long_waits")),
        "blamed": round((share or 0.0) * dispatches),
    }
    held = None if value("lending", otherwise=1.0) else _ASK
    limit = next((key for (metric, key), on in values.items() if metric == "limited_by" and on), "")
    ill = int(value("complaints"))
    return {
        "version": info.get("version", "?"), "pid": 0, "seconds": seconds,
        "primary": [info.get("primary", name)],
        "elastic": _elastic(values) or "its elastic group",
        "cores": {"pool": "", "elastic_cpus": "", "runs": None, "total": total, "elastic_min": 0,
                  "max_harvest": int(value("harvested_cores")) if limit == "limit" else total},
        "sensor": {"name": info.get("sensor", "?"), "failed": []},
        "policy": {"name": info.get("policy", "?"), "fallbacks": [],
                   "lessons": int(value("lessons_total")),
                   "explanation": _ASK if limit == "policy" else ""},
        "harvested": {"now": int(value("harvested_cores")),
                      "mean": value("harvested_core_seconds_total") / seconds},
        "busy": {"peak": int(value("busy_cores_peak"))},
        "demand": {"peak": int(value("demand_cores_peak"))},
        "decision": {"primary_cores": int(value("granted_cores", otherwise=total)),
                     "reason": "short-term safeguard" if limit == "short-term" else "predicted"},
        "safeguards": {"short_term": int(value("safeguards_total", "short_term")),
                       "long_term": int(value("safeguards_total", "long_term")),
                       "resting_s": 0.0, "lends_nothing_because": held,
                       "give_backs": {label: int(count) for (metric, label), count
                                      in values.items() if metric == "give_backs_total"}},
        "waits": {"period": None if share is None else period, "unreadable": None,
                  "budget": value("harm_budget_ratio", otherwise=0.01)},
        "budget": _budget(values),
        "loop": {"scheduling": info.get("scheduling", "None"), "lateness_us": {"p99": 0.0},
                 "missed_polls": int(value("missed_polls_total"))},
        "agent": {"cpu": value("cpu_seconds_total") / seconds,
                  "rss_bytes": value("resident_bytes")},
        "overrides": {}, "warnings":
            [{"age_s": 0.0, "text": "its own status lists what is wrong"}] if ill else [],
    }  # fmt: skip


def _budget(values: Values) -> dict[str, Any] | None:
    """The budgets that the policy keeps, by primary; None: it keeps none."""
    budgets = {
        label.partition("\n")[0]: share
        for (metric, label), share in values.items()
        if metric == "protect_ratio"
    }
    return {
        name: {
            "protect": share,
            **{key: values.get(("longer_ratio", f"{name}\n{q}")) for key, q in QUANTILES.items()},
        }
        for name, share in budgets.items()
    } or None


_OF_GROUPS = {
    "group_cores": "cores", "group_due_cores": "due", "group_min_cores": "min",
    "group_throughput": "throughput", "group_memory_bytes": "memory_bytes",
}  # fmt: skip


def _elastic(values: Values) -> list[dict[str, Any]]:
    """The elastic groups, as far as metrics have them; none of an earlier release."""
    names = [label for metric, label in values if metric == "group_cores" and label]
    rows: list[dict[str, Any]] = []
    for name in names:
        row: dict[str, Any] = {"name": name}
        row |= {
            key: values[metric, name]
            for metric, key in _OF_GROUPS.items()
            if (metric, name) in values
        }
        whole = float(row["cores"]).is_integer()
        row["cores"] = int(row["cores"]) if whole else float(row["cores"])
        if ("group_guarantee_met", name) in values:
            row["guarantee_met"] = bool(values["group_guarantee_met", name])
        if values.get(("group_evictions_total", name)):
            row["operator_evictions"] = int(values["group_evictions_total", name])
        if ("group_core_seconds_total", name) in values:
            core_s = values["group_core_seconds_total", name]
            row["mean_cores"] = core_s / max(1e-9, values.get(("run_seconds_total", ""), 0.0))
        rows.append(row)
    return rows
