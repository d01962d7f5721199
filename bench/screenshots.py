"""Makes docs/how-to/{dashboard*,report,top}.png in a headless Chromium, with made-up agents.

The server, the page, the report and the view are the real ones; only what agents have answered and
logged is made up, so that the pictures show a busy host on any machine, and the same one each time.
"""

from __future__ import annotations

import io
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from rich.console import Console

from bench.chromium import Chromium
from smartharvest.algorithm.policy.ways import BUFFER_QUIET_NS, Way
from smartharvest.telemetry.day import read_day
from smartharvest.telemetry.day_page import page
from smartharvest.telemetry.top_history import History
from smartharvest.telemetry.view import draw
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
NOW_S = 1_777_636_800.0
"""Noon of a day in May, UTC."""
REPORT = (1000, 1330)
TOP = (100, 58)
"""Columns and lines."""
_TERMINAL = (
    "<!doctype html><meta charset='utf-8'><body style='margin:12px;background:#11151a'>"
    "<pre style='font:14px/1.25 \"DejaVu Sans Mono\",monospace;margin:0;color:#e8ecf1'>{code}</pre>"
)
_DRAWN = "Boolean(document.querySelector('h1, pre'))"


WAY = Way("buffer", buffer=1, quiet_ns=BUFFER_QUIET_NS)
SPENT = {"protect": 0.1, "p50": 0.004, "p95": 0.019, "p99": 0.032, "rests": 4, "by_rests": 0.021}


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
        self._now_s = NOW_S
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

    def at(self, busy: int, seconds: float) -> dict[str, Any]:
        """The status of the agent while the primary uses ``busy`` cores, for ``top``."""
        lent = TOTAL - busy - 2
        runs = {"primary": f"0-{busy - 1}", "idle": f"{busy}-{busy + 2}",
                "elastic": f"{busy + 3}-14", "other": "15"}  # fmt: skip
        seen = self._status()
        return seen | {
            "seconds": seconds,
            "cores": seen["cores"] | {"elastic_cpus": f"{15 - lent}-15", "runs": runs},
            "harvested": {"now": lent, "mean": 8.3},
            "busy": {"now": busy, "peak": busy, "mean": 4.61},
            "demand": {"peak": busy, "mean": 4.8},
            "decision": {"primary_cores": busy + 2, "reason": "predicted"},
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
            "policy": {"name": "adaptive", "lessons": 3_590_120, "fallbacks": [],
                       "explanation": f"{WAY.describe()} (median request +2% by 4 rests)"},
            "budget": None if self._ill else {"cgroup:web": SPENT},
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


def logged_day() -> Iterator[dict[str, Any]]:
    """The audit log of a day: an agent is killed at 5:20, another starts, and is paused once."""
    chance, spent = random.Random(7), random.Random(8)
    started = {
        "kind": "started", "policy": "adaptive", "primary": ["cgroup:web"],
        "elastic": "cgroup:batch", "pool": "0-15", "dry_run": False, "budget": 0.01,
    }  # fmt: skip
    drift = 0.0
    for tenth in range(8640):
        at_s = NOW_S - 86_400 + 10 * tenth
        if tenth in (0, 2160):
            yield started | {"t": at_s}
        if 1920 <= tenth < 2160:
            continue
        drift = 0.99 * drift + chance.gauss(0, 0.15)
        day = 5.5 - 3.5 * math.cos(2 * math.pi * tenth / 8640)
        mean = min(TOTAL - 1.0, max(0.6, day + drift))
        paused = 5400 <= tenth < 5520
        granted = min(TOTAL, mean + 2.5)
        lent = 0.0 if paused else TOTAL - granted
        ran_out = int(chance.random() < 0.08)
        why = {"predicted": 400 - 3 * ran_out} | ({"short-term safeguard": 3} if ran_out else {})
        yield {
            "t": at_s + 10, "kind": "span", "s": 10.0, "n": 400, "lent": lent,
            "most": min(TOTAL, math.ceil(lent + 1)) if lent else 0, "had": TOTAL - lent,
            "granted": granted, "busy": math.ceil(mean + 1), "mean": mean,
            "demand": math.ceil(mean + 2), "total": TOTAL, "ran_out": ran_out, "why": why,
            "held_by": "paused by the operator" if paused else None,
            "waits": [18_412, 40, 9 + 60 * ran_out],
        }  # fmt: skip
        if tenth % 6 == 0:
            used = {"cgroup:web": 60 * mean, "cgroup:batch": 57 * (lent + 1)}
            yield {"t": at_s + 10, "kind": "usage", "s": 60, "core_seconds": used}
            p99 = 0.0 if paused else spent.lognormvariate(math.log(0.03), 0.5)
            longer = {"p50": p99 / 8, "p95": p99 / 2, "p99": p99}
            yield {"t": at_s + 10, "kind": "budget", "primary": "cgroup:web"} | SPENT | longer
        if tenth == 5400:
            yield {"t": at_s, "kind": "warning", "text": "the sensor lost 12 events"}


def draw_report(browser: Chromium, directory: Path, picture: str) -> None:
    file = directory / "report.html"
    file.write_text(page(read_day(logged_day()), {}))
    browser.look(*REPORT)
    browser.open(file.as_uri(), _DRAWN)
    browser.picture(picture)


def draw_top(browser: Chromium, directory: Path, picture: str) -> None:
    columns, lines = TOP
    chance = random.Random(11)
    history, agent = History(), MadeUp("one")
    busy = 4
    for update in range(columns):
        busy = min(9, max(2, busy + chance.choice((-1, 0, 0, 0, 1))))
        seen = agent.at(busy, seconds=93_784 + update / 2)
        history.add(seen, update / 2)
    events = list(history.events)
    history.events = deque((NOW_S - len(events) + n, text) for n, (_, text) in enumerate(events))
    console = Console(
        record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="256"
    )
    drawn = draw(seen, history, columns, lines)
    for line in drawn:
        console.print(line, no_wrap=True)
    file = directory / "top.html"
    file.write_text(console.export_html(inline_styles=True, code_format=_TERMINAL))
    browser.look(24 + round(8.43 * columns), 24 + round(17.5 * len(drawn)))
    browser.open(file.as_uri(), _DRAWN)
    browser.picture(picture)


def serve(address: str) -> None:
    agents = [MadeUp("one"), MadeUp("three", ill=True), MadeUp("several", several=True)]
    hub = Hub(lambda: agents)
    run(make_app(hub), listen(address, "screenshots"), hub.close)


def _smaller(path: str) -> None:
    with Image.open(path) as picture:  # a third of the bytes
        picture.convert("RGB").quantize(96).save(path, optimize=True)


def main(directory: str) -> None:
    os.environ["TZ"] = "UTC"
    address = "127.0.0.1:19473"
    server = subprocess.Popen([sys.executable, "-m", "bench.screenshots", "--serve", address])
    try:
        with Chromium() as browser, tempfile.TemporaryDirectory() as made:
            for name, width, height, dark in SHOTS:
                browser.look(width, height, dark=dark, phone=width < 500)
                browser.open(f"http://{address}/", SHOWN)
                browser.picture(path := os.path.join(directory, name))
                _smaller(path)
            for name, make in (("report.png", draw_report), ("top.png", draw_top)):
                make(browser, Path(made), path := os.path.join(directory, name))
                _smaller(path)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        main(sys.argv[1])
