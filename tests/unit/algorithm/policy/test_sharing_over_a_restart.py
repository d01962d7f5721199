"""What the policy that moves between ways of sharing keeps over a restart."""

from __future__ import annotations

import json

import pytest

from tests.unit.algorithm.policy.sharing_host import (
    ALL,
    AWFUL,
    USUAL,
    Harm,
    Host,
    harmless,
    hurt_by,
)


def restarted(host: Host, *harms: Harm) -> Host:
    after = Host(*(harms or host.harms))
    after.policy.load(host.policy.dump())
    after.policy.learner = host.policy.learner  # it is kept, too
    return after


@pytest.mark.parametrize("harmful", [[], ["everywhere"], ["everywhere", "wait"], ALL])
def test_after_a_restart_it_holds_at_once_what_it_held(harmful: list[str]) -> None:
    host = Host(hurt_by(*harmful))
    held = host.run(60).replace("asleep", "nothing")
    after = restarted(host)
    after.run(0.5)
    assert [one.replace("asleep", "nothing") for one in after.periods] == ["nothing", *[held] * 4]


def test_a_prediction_whose_model_is_lost_is_not_held_again() -> None:
    host = Host(hurt_by("everywhere", "wait", "buffer"))
    assert host.run(60) == "prediction"
    after = Host(harmless)
    after.policy.load(host.policy.dump())
    after.run(0.4)
    assert set(after.periods) == {"nothing"}


def test_after_a_restart_it_does_not_try_again_what_was_harmful() -> None:
    host = Host(hurt_by("everywhere", "wait", how=AWFUL))
    host.run(60)
    after = restarted(host)
    after.run(5)
    assert not {"everywhere", "wait:100us"} & set(after.periods)


def test_after_a_restart_it_knows_what_failed_by_little_in_a_row() -> None:
    longer = tuple((round(ns * 1.15), count) for ns, count in USUAL)
    host = Host(lambda way: longer if way.kind == "everywhere" else USUAL, total=2)
    host.run(60)
    after = Host(*host.harms, total=2)
    after.policy.load(host.policy.dump())
    before, now = (json.loads(one.policy.dump())["records"][0] for one in (host, after))
    assert before[3] > 1
    assert now == before


def test_what_has_become_harmful_over_a_restart_is_left_at_once() -> None:
    host = Host(harmless)
    assert host.run(60) == "everywhere"
    after = restarted(host, hurt_by("everywhere", how=AWFUL))
    after.run(1)
    assert after.periods.count("everywhere") <= 2


def test_evidence_of_another_number_of_primaries_is_forgotten() -> None:
    host = Host(harmless)
    host.run(60)
    after = restarted(host, harmless, harmless)
    after.run(0.3)
    assert set(after.periods) == {"nothing"}


def test_evidence_goes_on_over_many_restarts() -> None:
    host = Host(hurt_by("everywhere"))
    held = host.run(60)
    for _ in range(5):
        host = restarted(host)
        host.run(1)
    assert host.run(1) == held


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("held",), 99),
        (("held",), None),
        (("records",), []),
        (("records", 0, 1), 1e300),
        (("records", 0, 0), -1),
        (("records", 0, 3), -1),
        (("records", 0, 3), 99),
        (("primaries",), 0),
        (("primaries",), []),
        (("slowdowns",), []),
        (("slowdowns", 0), [[0, 5, float("nan"), 0.0]]),
        (("slowdowns", 0), [[0, 5, 0.1, -1.0]]),
        (("slowdowns", 0), [[99, 5, 0.1, 0.0]]),
        (("slowdowns", 0), [[0, 1e9, 0.1, 0.0]]),
        (("slowdowns", 0), 7),
    ],
)
def test_evidence_that_cannot_be_is_refused(path: tuple[object, ...], wrong: object) -> None:
    host = Host(harmless)
    host.run(10)
    kept = json.loads(host.policy.dump())
    at = kept
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = wrong
    policy = Host(harmless).policy
    with pytest.raises(ValueError, match=r"\w"):
        policy.load(json.dumps(kept).encode())
    assert json.loads(policy.dump())["primaries"] == 0
