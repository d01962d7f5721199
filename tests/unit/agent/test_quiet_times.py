"""What an agent leaves alone while nobody asks for windows, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from smartharvest.agent.control_loop import LOOK_MS, QUIET_MS
from smartharvest.agent.host_watch import HostWatch, Resets
from smartharvest.core.timeouts import LEAST_PERMIT_NS
from smartharvest.guardian.verdict import Limits
from smartharvest.host.target import libvirt_domains


def test_who_lends_looks_before_its_permit_ends() -> None:
    assert LOOK_MS * 1_000_000 < LEAST_PERMIT_NS


def test_who_lends_nothing_beats_before_it_is_missed() -> None:
    assert Limits().agent_due > QUIET_MS * 1_000_000


def test_news_of_libvirt_have_the_host_looked_at_however_often_that_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    news = [False, True, False, False]
    monkeypatch.setattr(libvirt_domains, "changed", lambda: news.pop(0))
    arrangement: Any = SimpleNamespace(
        settings=SimpleNamespace(window_ns=25_000_000),
        others=SimpleNamespace(taken_back=lambda: 0),
    )
    watch = HostWatch(arrangement, Resets(), lambda: None)
    assert [watch.is_due() for _ in range(4)] == [False, True, True, True]
