"""Rounds in a guest that answers at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.manycore import campaign as module
from bench.manycore.campaign import Bench, Campaign, run
from bench.manycore.guest import Guest, Shape
from bench.manycore.plan import CONDITIONS, EXPERIMENTS, Step
from tests.lab.kernels import Kernel

ALONE, ADAPTIVE = (
    next(one for one in CONDITIONS if one.name == name) for name in ("alone", "adaptive")
)


class Answers:
    """A guest that has measured before it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def slow_down(self) -> None: ...

    def say(self, line: str) -> None:
        self.asked.append(json.loads(line))

    def lines(self, _longest_s: float) -> Iterator[dict[str, Any]]:
        result = {"said": [[-1.5, "adaptive: lends nothing"]]}
        yield {"ready": True, "steps_per_ms": 1, "result": result}


def bench_of(guest: Answers) -> Bench:
    return Bench(cast(Guest, guest), 1.0)


def campaign_of(out: Path) -> Campaign:
    kernel = cast(Kernel, SimpleNamespace(name="6.12", release="6.12.1"))
    return Campaign(
        kernel, Shape(), EXPERIMENTS[:1], (ALONE, ADAPTIVE), 2.0, budget_s=0.0, seed=1, out=out
    )


def test_an_agent_that_remembers_learns_each_experiment_once_in_a_guest() -> None:
    guest, said = Answers(), list[str]()
    bench = bench_of(guest)
    first, other = (Step(one, ADAPTIVE, 0, 7) for one in EXPERIMENTS[:2])
    for step in (first, first, other, Step(EXPERIMENTS[0], ALONE, 0, 7)):
        bench.learn(step, said.append)
    assert [one["experiment"] for one in guest.asked] == [one.name for one in EXPERIMENTS[:2]]
    assert {one["warm_up_s"] for one in guest.asked} == {ADAPTIVE.learns_s}
    assert all(one["seed"] != first.seed for one in guest.asked)
    assert said[1] == "  28.5 s: adaptive: lends nothing"


def test_what_is_yet_to_be_learned_counts_as_time() -> None:
    campaign, bench = campaign_of(Path()), bench_of(Answers())
    bench.learn(Step(EXPERIMENTS[0], ADAPTIVE, 0, 7), lambda _: None)
    left = [bench.unlearned(one, campaign.conditions) for one in EXPERIMENTS[:2]]
    assert left == [[], [ADAPTIVE]]
    assert campaign.learning_s(left[1]) == ADAPTIVE.learns_s * campaign.shape.dilation


def test_a_round_begins_with_learning_and_its_slices_with_a_short_warm_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest, out = Answers(), tmp_path / "samples"
    monkeypatch.setattr(module, "bench", lambda _: nullcontext(bench_of(guest)))
    assert run(campaign_of(out), lambda _: None) == 1
    assert [one["warm_up_s"] for one in guest.asked[:1]] == [ADAPTIVE.learns_s]
    assert {one["condition"]: one["warm_up_s"] for one in guest.asked[1:]} == {
        "alone": 0.0,
        "adaptive": ADAPTIVE.warm_up_s,
    }
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {one["condition"]: one["learned_s"] for one in rows} == {
        "alone": 0.0,
        "adaptive": ADAPTIVE.learns_s,
    }
    assert all(one["load_ns"] > 0 and one["host_python_ms"] > 0 for one in rows)


class Refuses(Answers):
    """A guest that can do nothing that it is asked for."""

    def lines(self, _longest_s: float) -> Iterator[dict[str, Any]]:
        yield {"ready": True, "steps_per_ms": 1, "failed": "OSError: no"}


def test_a_guest_that_refuses_everything_ends_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest, said = Refuses(), list[str]()
    monkeypatch.setattr(module, "bench", lambda _: nullcontext(bench_of(guest)))
    campaign = replace(campaign_of(tmp_path / "samples"), budget_s=60.0)
    assert run(campaign, said.append) == 0
    assert len(guest.asked) == len(campaign.conditions)
    assert sum("OSError: no" in one for one in said) == len(campaign.conditions)
