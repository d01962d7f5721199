"""Metrics as a file for node_exporter's textfile collector, of every agent on this host.

Needs prometheus_client (the extra ``metrics``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.telemetry.metrics import NOT_INSTALLED, families


def textfile(statuses: Sequence[Mapping[str, Any]], silent: int, orphans: int) -> str:
    """The text format of Prometheus; every series has the label ``primary``: the one that it is
    of, or all of the agent's.

    Raises ConfigError without prometheus_client.
    """
    try:
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.core import GaugeMetricFamily
    except ImportError:
        raise ConfigError(NOT_INSTALLED) from None
    found: dict[str, Any] = {}
    for seen in statuses:
        primary = ",".join(seen["primary"])
        for family in families(seen):
            family.samples = [
                sample._replace(labels={"primary": primary, **sample.labels})
                for sample in family.samples
            ]
            if family.name in found:
                found[family.name].samples += family.samples
            else:
                found[family.name] = family
    counts = (
        ("agents", "Agents that run and answer.", len(statuses)),
        ("silent_agents", "Agents that live and do not answer.", silent),
        ("orphans", "Journals of killed agents: their batch may still be confined.", orphans),
    )

    class _Families:
        def collect(self) -> Iterable[Any]:
            yield from found.values()
            for name, text, value in counts:
                yield GaugeMetricFamily(f"smartharvest_{name}", text, value=value)

    registry = CollectorRegistry()
    registry.register(_Families())
    return generate_latest(registry).decode()
