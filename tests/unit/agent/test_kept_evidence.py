"""What a policy has found out survives a restart, or is left alone."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from smartharvest.agent import model_store
from smartharvest.agent.model_store import (
    MOST_AGE_S,
    SAVE_PERIOD_NS,
    PolicyStores,
    evidence_path,
    open_evidence_store,
)
from smartharvest.algorithm.policy import Policy, make_policy
from smartharvest.algorithm.policy.adaptive import Adaptive
from smartharvest.algorithm.policy.base import Dispatches, Spans
from smartharvest.config.loading import load_settings
from smartharvest.config.settings import Settings

TOTAL = 4
USUAL = ((100_000, 900), (200_000, 95), (400_000, 5))


def settings(tmp_path: Path, **more: object) -> Settings:
    chosen = {"primary": ("cgroup:web",), "policy": "adaptive", "model": str(tmp_path / "m")}
    return load_settings({**chosen, **more})


def policy(protect: float = 0.1, total: int = TOTAL) -> Adaptive:
    made = make_policy("adaptive", total=total, learner="native", preempts=True, protect=protect)
    assert isinstance(made, Adaptive)
    return made


def taught() -> Adaptive:
    made = policy()
    teach(made)
    return made


def teach(made: Adaptive) -> None:
    for number in range(100):
        lent = made.way.kind != "nothing"
        spans = Spans(USUAL, (), USUAL) if lent else Spans((), USUAL)
        made.observe_dispatches(
            Dispatches(100_000_000 * number, USUAL, USUAL, lent=lent, spans=(spans,))
        )


def kept(tmp_path: Path) -> None:
    """Keeps what one has found out."""
    known = taught()
    store = open_evidence_store(settings(tmp_path), known)
    assert store is not None
    store.save()


def knows(tmp_path: Path, made: Policy | None = None, more: Mapping[str, object] = {}) -> bool:
    """Whether one that starts now begins with what was kept."""
    made = made or policy()
    open_evidence_store(settings(tmp_path, **more), made)
    assert isinstance(made, Adaptive)
    return b'"primaries": 0' not in made.dump()


def test_what_was_found_out_is_there_after_a_restart(tmp_path: Path) -> None:
    assert not knows(tmp_path)
    kept(tmp_path)
    assert knows(tmp_path)
    assert os.stat(tmp_path / "m.evidence").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "change",
    [{"primary": ("cgroup:db",)}, {"elastic": "cgroup:other"}, {"window": "50ms"}],
)
def test_evidence_of_others_is_not_used(
    change: dict[str, object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(tmp_path)
    assert not knows(tmp_path, more=change)
    assert "evidence not used" in caplog.text


def test_of_each_placement_it_is_kept_for_itself(tmp_path: Path) -> None:
    kept(tmp_path)
    assert not knows(tmp_path, more={"placement": "exclusive"})
    assert knows(tmp_path)


def test_evidence_under_other_conditions_is_not_used(tmp_path: Path) -> None:
    kept(tmp_path)
    assert not knows(tmp_path, policy(protect=0.5))
    assert not knows(tmp_path, policy(total=TOTAL + 1))


def test_evidence_of_another_machine_or_kernel_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path)
    (tmp_path / "id").write_text("another\n")
    monkeypatch.setattr(model_store, "MACHINE_ID", str(tmp_path / "id"))
    assert not knows(tmp_path)
    kept(tmp_path)
    assert knows(tmp_path)
    release = os.uname_result(("Linux", "host", "9.9.9", "#1", "x86_64"))
    monkeypatch.setattr(os, "uname", lambda: release)
    assert not knows(tmp_path)


@pytest.mark.parametrize("later_s", [MOST_AGE_S + 60, -60.0])
def test_evidence_that_is_old_or_from_the_future_is_not_used(
    later_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path)
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s + later_s)
    assert not knows(tmp_path)


def test_evidence_that_others_may_write_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(tmp_path)
    os.chmod(tmp_path / "m.evidence", 0o666)
    assert not knows(tmp_path)
    assert "evidence not used" in caplog.text


def test_damaged_evidence_is_not_used(tmp_path: Path) -> None:
    kept(tmp_path)
    whole = (tmp_path / "m.evidence").read_bytes()
    (tmp_path / "m.evidence").write_bytes(whole.replace(b'"held"', b'"hold"'))
    assert not knows(tmp_path)


def test_a_policy_that_finds_out_nothing_keeps_nothing(tmp_path: Path) -> None:
    made = make_policy("everywhere", total=TOTAL, preempts=True)
    assert open_evidence_store(settings(tmp_path), made) is None


def test_without_a_model_file_nothing_is_kept(tmp_path: Path) -> None:
    off = settings(tmp_path, model="off")
    assert evidence_path(off) is None
    assert open_evidence_store(off, policy()) is None


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written in the background is there at once."""

    def has_ended(thread: threading.Thread) -> bool:
        thread.start()
        thread.join()
        return True

    monkeypatch.setattr(model_store, "has_started", has_ended)


def found(made: Policy) -> int:
    """Of how many primaries it knows something."""
    assert isinstance(made, Adaptive)
    return int(json.loads(made.dump())["primaries"])


def test_a_policy_that_takes_over_live_goes_on_from_what_the_one_before_knows(
    tmp_path: Path,
) -> None:
    chosen, stores = settings(tmp_path), PolicyStores(TOTAL, TOTAL)
    stores.follow(taught(), chosen)  # nothing of it is on the disk
    second = policy()
    stores.follow(second, chosen)
    assert found(second) == 1
    stores.save()
    assert knows(tmp_path)


def test_what_is_found_with_another_budget_is_kept_for_itself(tmp_path: Path) -> None:
    chosen, other = settings(tmp_path), settings(tmp_path, protect="50%")
    stores = PolicyStores(TOTAL, TOTAL)
    stores.follow(taught(), chosen)
    later = policy(protect=0.5)
    stores.follow(later, other)
    assert found(later) == 0
    teach(later)
    again = policy()
    stores.follow(again, chosen)
    assert found(again) == 1
    stores.save()
    assert knows(tmp_path)
    assert knows(tmp_path, policy(protect=0.5), {"protect": "50%"})


def test_what_is_found_with_a_budget_for_one_primary_is_kept_for_itself(tmp_path: Path) -> None:
    plain, other = settings(tmp_path), settings(tmp_path, protect_of=("cgroup:web=5%",))
    assert evidence_path(plain) != evidence_path(other)


def test_after_a_change_that_is_taken_back_the_policy_before_is_kept(tmp_path: Path) -> None:
    chosen, stores = settings(tmp_path), PolicyStores(TOTAL, TOTAL)
    first, refused = policy(), policy()
    stores.follow(first, chosen)
    stores.follow(refused, chosen)
    stores.follow(first, chosen)
    teach(first)
    stores.save()
    assert knows(tmp_path)


def test_what_was_left_too_long_ago_is_not_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, stores = settings(tmp_path), PolicyStores(TOTAL, TOTAL)
    stores.follow(taught(), chosen)
    plain = make_policy("everywhere", total=TOTAL, preempts=True)
    for passed_s in (0.0, 0.6 * MOST_AGE_S, 1.2 * MOST_AGE_S):
        now_s = time.monotonic() + passed_s
        with monkeypatch.context() as patched:
            patched.setattr(time, "monotonic", lambda now_s=now_s: now_s)
            stores.follow(plain, settings(tmp_path, policy="everywhere"))
            again = policy()
            if passed_s > MOST_AGE_S:
                stores.follow(again, chosen)
    assert found(again) == 0


def test_what_a_policy_found_is_kept_when_one_without_evidence_takes_over(tmp_path: Path) -> None:
    chosen, stores = settings(tmp_path), PolicyStores(TOTAL, TOTAL)
    stores.follow(taught(), chosen)
    plain = make_policy("everywhere", total=TOTAL, preempts=True)
    stores.follow(plain, settings(tmp_path, policy="everywhere"))
    again = policy()
    stores.follow(again, chosen)
    assert found(again) == 1
    plain = make_policy("everywhere", total=TOTAL, preempts=True)
    stores.follow(plain, settings(tmp_path, policy="everywhere"))
    stores.save()
    assert knows(tmp_path)


@pytest.mark.usefixtures("quick_disk")
def test_of_the_policy_in_force_it_is_saved_every_minute(tmp_path: Path) -> None:
    chosen, stores = settings(tmp_path), PolicyStores(TOTAL, TOTAL)
    stores.follow(make_policy("everywhere", total=TOTAL, preempts=True), chosen)
    stores.save_if_due(0)
    stores.follow(taught(), chosen)
    stores.save_if_due(0)
    stores.save_if_due(SAVE_PERIOD_NS - 1)
    assert not os.path.exists(tmp_path / "m.evidence")
    stores.save_if_due(SAVE_PERIOD_NS)
    assert knows(tmp_path)


def test_what_is_found_with_fewer_cores_leaves_alone_what_was_found_with_all(
    tmp_path: Path,
) -> None:
    kept(tmp_path)
    fewer = PolicyStores(TOTAL - 1, TOTAL)
    few = policy(total=TOTAL - 1)
    fewer.follow(few, settings(tmp_path))
    assert found(few) == 0
    teach(few)
    fewer.save()
    assert knows(tmp_path)
    again = policy(total=TOTAL - 1)
    PolicyStores(TOTAL - 1, TOTAL).follow(again, settings(tmp_path))
    assert found(again) == 1


@pytest.mark.parametrize("between", [False, True])
def test_a_learner_that_moves_to_another_policy_stays_as_it_is(
    between: bool, tmp_path: Path
) -> None:
    chosen, stores = settings(tmp_path, policy="smartharvest"), PolicyStores(TOTAL, TOTAL)
    first = make_policy("smartharvest", total=TOTAL, learner="native")
    stores.follow(first, chosen)
    for lesson in range(50):
        if lesson == 10:
            stores.save()
        first.learner.learn((0.0, 3.0, 1.25, 0.5, 1.0), 4)  # type: ignore[attr-defined]
    if between:
        stores.follow(make_policy("no-harvest", total=TOTAL), chosen)
    second = make_policy("smartharvest", total=TOTAL, learner="native")
    second.learner = first.learner  # type: ignore[attr-defined]  # as Controller.change_policy does
    stores.follow(second, chosen)
    assert second.learner.lessons == 50  # type: ignore[attr-defined]
    stores.save()
    third = make_policy("smartharvest", total=TOTAL, learner="native")
    PolicyStores(TOTAL, TOTAL).follow(third, chosen)
    assert third.learner.lessons == 50  # type: ignore[attr-defined]
