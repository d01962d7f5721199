"""What a policy may count on follows from what the kernel was seen to do."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from smartharvest.agent import deciders
from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.fallback import in_force, spare
from smartharvest.config.settings import Settings
from smartharvest.errors import ConfigError
from smartharvest.host.preemption import Preemption, unknown
from smartharvest.mechanism.base import Mechanism
from tests.unit.host.fake_trees import make_v2_tree

SEEN = Preemption("cpu.idle", "it left at once", gives_way=True)
DOUBT = unknown("too few wakes gave an answer")
REFUSED = Preemption("confinement", "it stayed", gives_way=False)


@pytest.mark.parametrize(
    ("found", "counts"), [(SEEN, True), (DOUBT, True), (REFUSED, False), (None, True)]
)
def test_a_policy_counts_on_preemption_unless_it_was_seen_to_fail(
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
        policy = deciders.choose_policy(Settings(), "everywhere", 4, preempts=True, found=DOUBT)
    assert policy.shared
    assert "everywhere relies on cpu.idle, and too few wakes gave an answer" in caplog.text


def test_with_exclusive_placement_adaptive_may_give_the_batch_a_set_of_its_own() -> None:
    ways = {}
    for placement in ("shared", "exclusive"):
        policy = deciders.choose_policy(
            Settings(placement=placement), "adaptive", 8, preempts=False, freezes=True
        )
        ways[placement] = in_force(policy).conditions["ways"]  # type: ignore[attr-defined]
    assert ways["shared"] == ["quiet", "minimum", "nothing"]
    assert ways["exclusive"] == ["quiet", "apart:4", "apart:6", "apart:7", "minimum", "nothing"]


def test_without_cpu_idle_it_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"not under cpu\.idle"):
        deciders.choose_policy(Settings(), "everywhere", 4, preempts=False, found=DOUBT)


def test_a_policy_of_idle_cpus_needs_a_kernel_that_keeps_them() -> None:
    with pytest.raises(ConfigError, match="use --mechanism strict"):
        deciders.choose_policy(Settings(), "spare:2", 4, preempts=True)
    policy = deciders.choose_policy(Settings(), "spare:2", 4, preempts=True, spares=(0, 1, 2))
    assert policy.shared
    assert spare(policy) == 2


def test_two_who_say_how_many_cpus_are_kept_idle_are_refused() -> None:
    settings = Settings(mechanism="strict", strict_spare=1)
    with pytest.raises(ConfigError, match="strict_spare = 1 both say how many"):
        deciders.choose_policy(settings, "spare:2", 4, preempts=True, spares=(1,))


@pytest.mark.parametrize(
    ("settings", "spares"),
    [
        (Settings(mechanism="strict"), (0, 1, 2, 3, 4)),
        (Settings(mechanism="strict", strict_spare=3), (3,)),
        (Settings(), ()),
    ],
)
def test_what_may_be_chosen_follows_from_mechanism_and_setting(
    tmp_path: Path, settings: Settings, spares: tuple[int, ...]
) -> None:
    tree, mechanism = make_v2_tree(tmp_path), Mechanism(settings, None)
    assert deciders.spares_for(settings, mechanism, tree, range(8)) == spares
