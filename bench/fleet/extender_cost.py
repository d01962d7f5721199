"""``python -m bench.fleet.extender_cost``: how long the scheduler extender takes to answer.

Over HTTP on loopback, by names (``nodeCacheCapable``) and with whole Node objects of some 15 KiB
each, of which 50 images are most. The server is a process of its own; each request has a connection
of its own, which counts, as does what the client needs to send and read. Prints a line of JSON:
wall-clock time, and the server's CPU time of the same answers.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import click

from smartharvest.fleet.extender_server import ExtenderServer
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.placement import WAYS

IMAGES = 50
"""That a kubelet reports at most."""


def _node(name: str) -> dict[str, Any]:
    images = [
        {
            "names": [
                f"registry.example.org/team-{n}/app-{n}@sha256:{n:064x}",
                f"registry.example.org/team-{n}/app-{n}:v1.{n}",
            ],
            "sizeBytes": 10_000_000 + n,
        }
        for n in range(IMAGES)
    ]
    labels = {f"label-{n}.example.org/key": f"value-{n}" for n in range(20)}
    fields: dict[str, Any] = {f"f:field-{n}": {".": {}} for n in range(150)}
    return {
        "metadata": {"name": name, "labels": labels, "managedFields": [{"fieldsV1": fields}]},
        "status": {"allocatable": {"cpu": "15500m", "memory": "64Gi"}, "images": images},
    }


def _serve(names: list[str], ready: Connection) -> None:
    """Answers until its parent ends it; says its port, and its CPU time whenever asked."""
    view = View(stale_s=1e9)
    for number, name in enumerate(names):
        view.set_size(name, 16, 64)
        count = {"now": 9, "guaranteed": 1, "promised": number % 9}
        view.hear(name, {"cores": count}, 0.0)
    view.renew(1.0)
    server = ExtenderServer("127.0.0.1", 0, view, WAYS["least-harvested"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ready.send(server.server_port)
    while ready.recv():
        ready.send(time.process_time())


@click.command()
@click.option("--nodes", default=1000, show_default=True)
@click.option("--rounds", default=15, show_default=True)
def main(nodes: int, rounds: int) -> None:
    """Asks in turns, and prints medians in milliseconds."""
    names = [f"node-{number:05}" for number in range(nodes)]
    asked = {"requests": {"smartharvest.io/cores": "4"}}
    pod = {
        "metadata": {"annotations": {"smartharvest.io/promised": "true"}},
        "spec": {"containers": [{"resources": asked}]},
    }
    whole = {"metadata": {}, "items": [_node(name) for name in names]}
    bodies = {
        "names": json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode(),
        "nodes": json.dumps({"Pod": pod, "Nodes": whole, "NodeNames": None}).encode(),
    }
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(names, theirs))
    process.start()
    connection = http.client.HTTPConnection("127.0.0.1", ours.recv())
    wall: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    for _ in range(rounds):
        for verb in ("filter", "prioritize"):
            for kind, body in bodies.items():
                used_s, began_s = _used(ours), time.perf_counter()
                connection.request("POST", f"/{verb}", body)
                if connection.getresponse().read()[:1] not in b"{[":
                    raise SystemExit("extender: no answer")
                wall.setdefault(f"{verb}, {kind}", []).append(time.perf_counter() - began_s)
                cpu.setdefault(f"{verb}, {kind}", []).append(_used(ours) - used_s)
    connection.close()
    ours.send(False)
    process.join()
    found = {
        "nodes": nodes,
        "mib": {kind: round(len(body) / 2**20, 2) for kind, body in bodies.items()},
        "median_ms": _ms(wall, statistics.median),
        "most_ms": _ms(wall, max),
        "cpu_ms": _ms(cpu, statistics.median),
    }
    print(json.dumps(found))


def _used(server: Connection) -> float:
    server.send(True)
    return float(server.recv())


def _ms(seconds: dict[str, list[float]], what: Callable[[list[float]], float]) -> dict[str, float]:
    return {name: round(1e3 * what(each), 1) for name, each in seconds.items()}


if __name__ == "__main__":
    main()
