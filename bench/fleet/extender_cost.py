"""``python -m bench.fleet.extender_cost``: how long the scheduler extender takes to answer.

Over HTTP on loopback, by names (``nodeCacheCapable``) and with whole Node objects of some 15 KiB
each, of which 50 images are most. What the client needs to send and read them counts, too. Prints a
line of JSON.
"""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
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


@click.command()
@click.option("--nodes", default=1000, show_default=True)
@click.option("--rounds", default=15, show_default=True)
def main(nodes: int, rounds: int) -> None:
    """Asks in turns, and prints medians in milliseconds."""
    names = [f"node-{number:05}" for number in range(nodes)]
    view = View(stale_s=1e9)
    for number, name in enumerate(names):
        view.set_size(name, 16, 64)
        count = {"now": 9, "guaranteed": 1, "promised": number % 9}
        view.hear(name, {"cores": count}, 0.0)
    view.renew(1.0)
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
    server = ExtenderServer("127.0.0.1", 0, view, WAYS["least-harvested"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    took: dict[str, list[float]] = {}
    for _ in range(rounds):
        for verb in ("filter", "prioritize"):
            for kind, body in bodies.items():
                began_s = time.perf_counter()
                connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
                connection.request("POST", f"/{verb}", body)
                if connection.getresponse().read()[:1] not in b"{[":
                    raise SystemExit("extender: no answer")
                connection.close()
                took.setdefault(f"{verb}, {kind}", []).append(time.perf_counter() - began_s)
    medians = {name: round(1e3 * statistics.median(each), 1) for name, each in took.items()}
    least = {name: round(1e3 * min(each), 1) for name, each in took.items()}
    mib = {kind: round(len(body) / 2**20, 2) for kind, body in bodies.items()}
    print(json.dumps({"nodes": nodes, "mib": mib, "median_ms": medians, "least_ms": least}))


if __name__ == "__main__":
    main()
