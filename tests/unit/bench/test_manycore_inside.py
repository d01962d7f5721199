"""A slice in the guest, with nothing real around it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.manycore import inside
from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.lab.demo.groups import DemoGroups


class Peer:
    """Whom the slice talks with: the host, or the primary's server."""

    def __init__(self) -> None:
        self.calibrated: dict[str, float] = {}

    def say(self, what: dict[str, Any]) -> None:
        json.dumps(what)

    def tell(self, **what: Any) -> None:
        json.dumps(what)

    def hear(self) -> dict[str, Any]:
        return {"requests": ""}

    def line(self) -> bytes:
        return b"done\n"


class Groups:
    """Two groups, and an agent that lasts until the warm-up is over."""

    cpus = (0, 1)

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.slept_s = 0.0
        for role in ("primary", "elastic"):
            (directory / role).mkdir()
            (directory / role / "cpu.stat").write_text("usage_usec 5000\nuser_usec 0\n")

    def path(self, role: str) -> str:
        return str(self._directory / role)

    def place(self, role: str, pid: int) -> None: ...

    def enter_phase(self, name: str) -> None: ...

    def leave_phase(self) -> None: ...

    def run_agent(
        self,
        _policy: str,
        _seconds: float,
        started: Callable[[], None],
        finished: Callable[[], None],
        **_settings: object,
    ) -> AgentFigures:
        own = threading.get_ident()

        def count(length_s: float) -> None:
            self.slept_s += length_s if threading.get_ident() == own else 0.0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "sleep", count)
            started()
        for thread in threading.enumerate():
            if isinstance(thread, inside.Readings):
                thread.join(60)
        logging.getLogger("smartharvest.agent").info("lends %d", 1)
        finished()
        return AgentFigures(0.0, 0, 0, 0.0)


def test_an_agents_thread_is_its_own_while_it_warms_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = Groups(tmp_path)
    work = SimpleNamespace(pid=1, start=lambda: None, units=lambda: 7)
    monkeypatch.setattr(inside, "batch", lambda *_: nullcontext(work))
    asked: dict[str, Any] = {
        "experiment": "queue-30-compute",
        "condition": "adaptive",
        "batch": "compute",
        "warm_up_s": 0.2,
        "seconds": 1.0,
        "seed": 1,
    }
    host = cast(inside.Host, Peer())
    found = inside.measure(cast(DemoGroups, groups), host, cast(inside.Server, Peer()), asked)
    assert groups.slept_s < asked["warm_up_s"]
    assert found["warm_up_s"] == asked["warm_up_s"]
    assert found["seconds"] > 0
    assert [word for _, word in found["said"]] == ["lends 1"]
