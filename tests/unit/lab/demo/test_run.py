"""The whole demo on a bench without groups: plain processes, shortened."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Literal

import pytest

from smartharvest.errors import ConfigError, SensorError
from smartharvest.lab.demo import phases, run
from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.lab.demo.phases import PHASES
from smartharvest.lab.demo.run import run_demo, without_standstills
from smartharvest.lab.demo.standstill import Standstills


class PlainBench:
    """Records what it is asked for; an agent named in ``failing`` fails after its start."""

    cpus = (0, 1)
    elastic_min = 0
    park = "idle"

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.calls: list[str] = []
        self.children: dict[str, int] = {}

    def place(self, role: Literal["primary", "elastic"], pid: int) -> None:
        assert len(os.listdir(f"/proc/{pid}/task")) == 1
        self.children[role] = pid

    def enter_phase(self, name: str) -> None:
        self.calls.append(f"enter {name}")
        if self.failing == f"enter {name}":
            raise SensorError("no sensor")

    def run_agent(
        self,
        policy: str,
        seconds: float,
        started: Callable[[], None],
        finished: Callable[[], None],
    ) -> AgentFigures:
        self.calls.append(f"agent {policy}")
        started()
        if self.failing == f"agent {policy}":
            raise SensorError("no sensor")
        time.sleep(seconds)
        finished()
        return AgentFigures(harvested_cores=0.5, short=2, long=1, agent_cpu_seconds=0.0)

    def leave_phase(self) -> None:
        self.calls.append("leave")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "MINIMUM_SECONDS", 0.0)
    monkeypatch.setattr(phases, "ROUNDS", (1, 1))
    monkeypatch.setattr(phases, "SLICE_MINIMUM_S", 0.25)
    monkeypatch.setattr(run, "SETTLE_S", 0.01)


def gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


@pytest.mark.timing
@pytest.mark.usefixtures("short")
def test_all_phases_replay_one_traffic_and_nothing_is_left() -> None:
    bench, lines = PlainBench(), list[str]()
    document = run_demo(bench, Standstills([]), seconds=3.0, seed=3, progress=lines.append)
    json.dumps(document, allow_nan=False)
    figures = document["phases"]
    assert [one["name"] for one in figures] == [phase.name for phase in PHASES]
    assert len({one["requests"] for one in figures}) == 1
    assert figures[0]["requests"] > 0
    learners = [phase.name for phase in PHASES if phase.learns_s]
    assert [line.split()[0] for line in lines[:2]] == learners  # before the first round
    assert len(lines) == len(PHASES) + len(learners)
    assert [call.split()[0] for call in bench.calls].count("leave") == len(lines)
    assert list(document["learning_s"]) == learners
    assert all(gone(pid) for pid in bench.children.values())
    assert document["rounds"] == 1
    assert document["load_generator_group"] == "primary"


@pytest.mark.timing
@pytest.mark.usefixtures("short")
def test_the_bully_sleeps_where_the_elastic_minimum_is_none_and_works_elsewhere() -> None:
    document = run_demo(PlainBench(), Standstills([]), seconds=1.0, seed=3, progress=lambda _: None)
    work = {one["name"]: one["batch_work"] or 0.0 for one in document["phases"]}
    assert work["cpu-idle"] > 0
    assert work["smartharvest"] > 0
    # At most the unit that each of its threads was at when it was paused.
    elapsed_s = 0.25
    assert work["no-harvest"] * elapsed_s <= (os.cpu_count() or 1)
    assert work["sensing-only"] * elapsed_s <= (os.cpu_count() or 1)


@pytest.mark.timing
@pytest.mark.usefixtures("short")
def test_a_failing_agent_leaves_its_phase_and_no_children() -> None:
    bench = PlainBench(failing="agent smartharvest")
    with pytest.raises(SensorError):
        run_demo(bench, Standstills([]), seconds=1.0, seed=3, progress=lambda _: None)
    assert bench.calls[-2:] == ["agent smartharvest", "leave"]
    assert all(gone(pid) for pid in bench.children.values())


@pytest.mark.timing
@pytest.mark.usefixtures("short")
def test_a_phase_that_cannot_be_entered_is_not_left() -> None:
    bench = PlainBench(failing="enter no-harvest")
    with pytest.raises(SensorError):
        run_demo(bench, Standstills([]), seconds=1.0, seed=3, progress=lambda _: None)
    assert bench.calls[-1] == "enter no-harvest"
    assert all(gone(pid) for pid in bench.children.values())


def test_too_few_seconds_are_refused_before_anything_is_started() -> None:
    bench = PlainBench()
    with pytest.raises(ConfigError, match="--seconds"):
        run_demo(bench, Standstills([]), seconds=5.0, seed=1, progress=lambda _: None)
    assert bench.children == {}


def test_requests_that_a_standstill_touched_are_left_out_with_its_aftermath() -> None:
    arrivals_ns, latencies_ns = [0, 10, 95, 120, 139, 141, 200], [5, 95, 3, 4, 5, 6, 7]
    kept = without_standstills(1000, arrivals_ns, latencies_ns, [(1100, 1120)])
    assert kept == [5, 3, 6, 7]


def test_a_slice_that_stood_still_all_the_time_is_kept() -> None:
    assert without_standstills(0, [1, 2], [7, 8], [(0, 50)]) == [7, 8]
