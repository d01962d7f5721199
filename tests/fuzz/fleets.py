"""Targets that clusters and groups write: reports, spot traces, whole nodes, heartbeats."""

from __future__ import annotations

import json
import os
from typing import Any

from smartharvest.errors import TraceError
from smartharvest.fleet.extender import BadRequest, parse
from smartharvest.fleet.extender_wire import decode, encode
from smartharvest.fleet.held import read_spot
from smartharvest.fleet.reports import read_reports
from smartharvest.telemetry.heartbeat import read_beats
from tests.fuzz.target import Target, put

_REPORT: dict[str, Any] = {
    "time_s": 1.5, "node": "a", "cores": 8, "memory_gib": 32, "used_cores": 2.5,
    "vms": [{"id": "v", "cores": 2, "memory_gib": 4, "steal": 0.1, "movable": False}],
}  # fmt: skip
_SPOT = {"metadata": {"gap_seconds": 60}, "data": [3, 2, 2.5, 0]}
_NODE = {"metadata": {"name": "a"}, "status": {"capacity": {"cpu": "8"}}}
_POD = {"metadata": {"name": "p"}, "spec": {"containers": []}}


def _extender(data: bytes) -> None:
    document = decode(data)
    parse(document)
    if isinstance(document, dict):
        encode({"NodeNames": document.get("NodeNames")})


def _beats(data: bytes) -> None:
    path = put("beats", data)
    os.chmod(path, 0o600)
    read_beats(path)


TARGETS = (
    Target("reports", lambda data: read_reports(put("reports.jsonl", data)), (TraceError,), (
        json.dumps(_REPORT).encode() + b"\n",
    )),
    Target("spot", lambda data: read_spot(put("spot.json", data)), (TraceError,), (
        json.dumps(_SPOT).encode(),
    )),
    Target("extender", _extender, (BadRequest,), (
        json.dumps({"Pod": _POD, "Nodes": {"items": [_NODE]}}).encode(),
        json.dumps({"Pod": _POD, "NodeNames": ["a", "b"]}).encode(),
    )),
    Target("beats", _beats, (), (bytes(8), (7).to_bytes(8, "little"), bytes(64), b"12\n")),
)  # fmt: skip
