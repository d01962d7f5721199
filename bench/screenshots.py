"""Makes docs/how-to/dashboard*.png: the page in a headless Chromium, with made-up agents.

The server, the page and the way to it are the real ones; only what the agents answer is made up,
so that the pictures show a busy host on any machine.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import time
from typing import Any

from PIL import Image

from bench.chromium import Chromium
from smartharvest.telemetry.web.app import make_app
from smartharvest.telemetry.web.hub import Hub
from smartharvest.telemetry.web.listening import listen
from smartharvest.telemetry.web.serving import run

SHOTS = (
    ("dashboard.png", 1200, 1400, False),
    ("dashboard-dark.png", 1200, 1400, True),
    ("dashboard-phone.png", 390, 2300, False),
)
SHOWN = (
    "Boolean(document.querySelector('#chart canvas') && document.querySelector('#decisions td'))"
)
TOTAL = 15


def _group(name: str, cores: int, mean: float, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "target": f"cgroup:{name}", "cores": cores, "mean_cores": mean, "due": cores,
        "min": 0, "max": None, "throughput": None, "throughput_by": None, "guarantee": None,
        "guarantee_met": None, "guarantee_violations": 0, "eviction": None, "memory_bytes": 1 << 29,
    } | more  # fmt: skip


GROUPS = [
    _group("training", 4, 3.62, min=2, throughput=412.5, throughput_by="heartbeats",
           guarantee="95 % of 400/s for 60 s", guarantee_met=True),
    _group("encoding", 3, 2.9, min=1, throughput=2.97, throughput_by="CPU time",
           guarantee="90 % of 3/s for 60 s", guarantee_met=False,
           eviction={"stage": "noticed", "left_s": 41.0,
                     "why": "the primaries need 1 core of the minima"}),
    _group("crawling", 0, 0.71, min=1,
           eviction={"stage": "evicted", "left_s": None,
                     "why": "the primaries need 1 core of the minima"}),
    _group("reports/the-nightly-one-with-a-long-name", 2, 1.07),
]  # fmt: skip


class MadeUp:
    """An agent on sixteen CPUs; ``ill`` has paused and warns, ``several`` has four groups."""

    def __init__(self, name: str, *, ill: bool = False, several: bool = False) -> None:
        self.name = name
        self._ill = ill
        self._several = several
        self._now_s = time.time()
        chance = random.Random(len(name))
        rows = []
        drift = 0.0
        for second in range(900):
            drift = 0.97 * drift + chance.gauss(0, 0.22)
            wave = 5 + 3 * math.sin(second / 110) + drift
            busy = max(1, min(TOTAL, round(wave)))
            demand = min(TOTAL + 3, busy + 3 * (chance.random() < 0.012))
            granted = min(TOTAL, busy + 1.5)
            paused = ill and second > 700
            lent = 0.0 if paused else max(0.0, min(9.0, TOTAL - granted))
            rows.append(
                (self._now_s - 900 + second, round(lent, 2), round(granted, 2), busy, demand)
            )
        self._rows = rows

    async def ask(self, command: str) -> Any:
        if command == "status":
            return self._status()
        if command == "capacity":
            return {
                "cores": {"now": 10, "guaranteed": 1, "promised": 7, "most": 16}, "hold_s": 10,
                "probability": 0.95, "learning": False, "calibration": {"kept": 0.956},
                "withdrawn": "paused by the operator" if self._ill else None,
            }  # fmt: skip
        names = ("t", "lent", "granted", "busy", "demand")
        columns = zip(*self._rows, strict=True)
        reasons = ("predicted", "predicted", "short-term safeguard", "predicted", "predicted")
        decisions = [
            {
                "since": self._now_s - 0.4 * n, "until": self._now_s - 0.4 * n + 0.3,
                "windows": 3 + 5 * n % 17, "reason": reasons[n % 5], "granted": 6 + n % 3,
                "harvest": TOTAL - 6 - n % 3, "busy": 4 + n % 3, "demand": 4 + n % 4,
                "held_by": "paused by the operator" if self._ill else None,
            }
            for n in range(8)
        ]  # fmt: skip
        return {
            "samples": {name: list(column) for name, column in zip(names, columns, strict=True)},
            "decisions": decisions,
        }

    def _status(self) -> dict[str, Any]:
        lent = 0 if self._ill else 9
        return {
            "version": "1", "pid": 1729 if self._ill else 2048 if self._several else 1207,
            "seconds": 93_784.0,
            "primary": ["cgroup:search"] if self._ill else ["cgroup:web"],
            "elastic": GROUPS if self._several else "cgroup:batch",
            "cores": {"pool": "0-15", "total": TOTAL, "elastic_min": 1, "max_harvest": 12,
                      "elastic_cpus": "15" if self._ill else "6-15",
                      "runs": {"primary": "0-3", "other": "15"} |
                              ({"idle": "4-14"} if self._ill else
                               {"idle": "4-6", "elastic": "7-14"})},
            "sensor": {"name": "bpf", "reason": "", "failed": []},
            "policy": {"name": "smartharvest", "lessons": 3_590_120, "fallbacks": []},
            "harvested": {"now": lent, "mean": 8.3}, "busy": {"peak": 4}, "demand": {"peak": 5},
            "decision": {"primary_cores": TOTAL - 9, "reason": "predicted"},
            "safeguards": {"short_term": 214, "long_term": 1, "resting_s": 0.0,
                           "lends_nothing_because":
                               "paused by the operator" if self._ill else None,
                           "give_backs": {"plan expired": 2}},
            "waits": {"period": {"dispatches": 18_412, "long_waits": 61, "blamed": 24,
                                 "p50_us": 4.0, "p99_us": 38.0, "max_us": 412.0},
                      "unreadable": None, "budget": 0.01},
            "loop": {"scheduling": "fifo", "missed_polls": 0, "lateness_us": {"p99": 11.0}},
            "agent": {"cpu": 0.009, "rss_bytes": 61 << 20},
            "guardian": {"lost": 0, "frozen_with": None},
            "overrides": {}, "warnings":
                [{"age_s": 80.0, "text": "no guardian watches the agent"}] if self._ill else [],
        }  # fmt: skip


def serve(address: str) -> None:
    agents = [MadeUp("one"), MadeUp("three", ill=True), MadeUp("several", several=True)]
    hub = Hub(lambda: agents)
    run(make_app(hub), listen(address, "screenshots"), hub.close)


def main(directory: str) -> None:
    address = "127.0.0.1:19473"
    server = subprocess.Popen([sys.executable, "-m", "bench.screenshots", "--serve", address])
    try:
        with Chromium() as browser:
            for name, width, height, dark in SHOTS:
                browser.look(width, height, dark=dark, phone=width < 500)
                browser.open(f"http://{address}/", SHOWN)
                path = os.path.join(directory, name)
                browser.picture(path)
                with Image.open(path) as picture:  # a third of the bytes
                    picture.convert("RGB").quantize(96).save(path, optimize=True)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        main(sys.argv[1])
