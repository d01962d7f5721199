"""What a policy may count on follows from what the kernel was seen to do."""

from __future__ import annotations

import logging

import pytest

from smartharvest.agent import deciders
from smartharvest.algorithm.policy import make_policy
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.host.preemption import Preemption, unknown

SEEN = Preemption("cpu.idle", "it left at once", gives_way=True)
DOUBT = unknown("too few wakes gave an answer")


@pytest.mark.parametrize(("found", "counts"), [(SEEN, True), (DOUBT, False), (None, True)])
def test_a_policy_counts_on_preemption_where_that_was_seen(
    monkeypatch: pytest.MonkeyPatch, found: Preemption | None, counts: bool
) -> None:
    told: list[bool] = []

    def noted(*args: object, preempts: bool, **more: object) -> object:
        told.append(preempts)
        return make_policy(*args, preempts=preempts, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("smartharvest.agent.deciders.make_policy", noted)
    deciders.choose_policy(Settings(), "adaptive", 4, preempts=True, found=found)
    assert set(told) == {counts}


def test_one_that_always_counts_on_it_warns(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        policy = deciders.choose_policy(Settings(), "idle-first", 4, preempts=True, found=DOUBT)
    assert policy.shared
    assert "idle-first relies on cpu.idle, and too few wakes gave an answer" in caplog.text


def test_without_cpu_idle_it_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"not under cpu\.idle"):
        deciders.choose_policy(Settings(), "idle-first", 4, preempts=False, found=DOUBT)
