"""The decider in C against the agent in Python: decision for decision."""

from __future__ import annotations

import itertools
import random

import pytest

from smartharvest.algorithm.algorithm1 import Algorithm1
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.policy.smartharvest import SmartHarvest, make_smartharvest
from smartharvest.core._actuators import FakeActuator
from smartharvest.core._learner import Decider
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.core.window import Window
from smartharvest.lab.simulator.machine import LoopSettings
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.run import Experiment, run_policy
from smartharvest.lab.simulator.workload_file import find_workload
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
POLL_NS = 50_000


def made_windows(count: int) -> list[Window]:
    """Steps, bursts, broken and stale windows, of uneven lengths."""
    rng, now_ns, windows = random.Random(7), 0, []
    for number in range(count):
        now_ns += rng.choice((25_000_000, 25_000_000, 3_000_000, 400_000_000))
        mean = 2 + 5 * (number // 400 % 2)
        busy = [max(0, round(rng.gauss(mean, 1.5))) for _ in range(12)]
        cores = rng.randint(0, TOTAL)
        exhausted = cores < TOTAL and max(busy) >= cores
        windows.append(
            window(
                busy, primary_cores=cores, exhausted=exhausted, stale=rng.random() < 0.01,
                end_ns=now_ns,
            )
        )  # fmt: skip
    return windows


def simulated_windows(workload: str) -> list[Window]:
    seen: list[Window] = []
    experiment = Experiment(
        find_workload(workload), make_mechanism("linux"), seconds=8.0, loop=LoopSettings(5_000_000)
    )
    run_policy(experiment, learner="native", observe=lambda one, _: seen.append(one))
    return seen


CHOICES = list(
    itertools.product(
        ("conservative", "aggressive"), ("busy", "demand"), ("kept", "broken"),
        ("skipped", "trained"),
    )
)  # fmt: skip


def agree(windows: list[Window], safeguard: str, label: str, features: str, trained: str) -> None:
    options = LearningOptions(
        label=label,  # type: ignore[arg-type]
        features_after_exhaustion=features,  # type: ignore[arg-type]
        exhausted_windows=trained,  # type: ignore[arg-type]
    )

    def policy() -> SmartHarvest:
        return make_smartharvest(
            PolicySettings(TOTAL, safeguard=safeguard, learner="native", options=options)
        )

    agent = Algorithm1(policy(), total=TOTAL, label_kind=label)
    learner = policy().learner
    assert isinstance(learner, NativeCsoaa)
    decider = Decider(
        learner,
        label_demand=label == "demand",
        aggressive=safeguard == "aggressive",
        train_exhausted=trained == "trained",
        broken_features=features == "broken",
    )
    for one in windows:
        ours = agent.decide(one)
        assert decider.decide(one) == (ours.primary_cores, ours.safe_cores, ours.label)
    assert agent.policy.learner.dump() == learner.dump()  # type: ignore[attr-defined]


@pytest.mark.parametrize("choices", CHOICES, ids=" ".join)
def test_it_decides_and_learns_what_the_agent_does(choices: tuple[str, str, str, str]) -> None:
    agree(made_windows(2_000), *choices)


@pytest.mark.parametrize("workload", ["memcached", "mmpp"])
def test_and_so_on_simulated_servers(workload: str) -> None:
    windows = simulated_windows(workload)
    assert any(one.exhausted for one in windows)
    agree(windows, *CHOICES[0])


def make_loop(busy: list[int]) -> tuple[Loop, NativeCsoaa]:
    loop = Loop(
        sensor=FakeSensor(busy),
        actuator=FakeActuator(),
        total=TOTAL,
        window_ns=10 * POLL_NS,
        poll_ns=POLL_NS,
    )
    learner = make_smartharvest(PolicySettings(TOTAL, learner="native")).learner
    assert isinstance(learner, NativeCsoaa)
    loop.decide_with(Decider(learner))
    return loop, learner


def poll(loop: Loop, times: int) -> None:
    for _ in range(times):
        now_ns = (loop.counters()["polls"] + 1) * POLL_NS
        assert loop.step(now_ns, now_ns) == 0


def test_a_loop_with_a_decider_lends_without_anybody_else() -> None:
    loop, learner = make_loop([2, 3, 2])
    loop.permit(1 << 60)
    poll(loop, 600)
    assert learner.lessons > 20
    assert loop.harvested > 0
    taken = loop.take_answered()
    assert taken is not None
    _, answer = taken
    assert answer == (TOTAL, TOTAL, None)  # nothing was known of the first window


def test_it_lends_only_while_somebody_permits_it() -> None:
    loop, _ = make_loop([2, 3, 2])
    poll(loop, 600)
    assert loop.harvested == 0
    loop.permit(1_000 * POLL_NS)
    poll(loop, 300)
    assert loop.harvested > 0
    poll(loop, 120)
    assert loop.harvested == 0


def test_only_a_learner_of_the_five_features_can_decide() -> None:
    import numpy as np

    with pytest.raises(ValueError, match="five features"):
        Decider(NativeCsoaa(np.zeros((3, 3), np.float32), 0.1, 7))
