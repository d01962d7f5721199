"""What has been learned survives a restart, or is left alone; it never misleads."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

import pytest

from bench.learning import random_window
from smartharvest.agent import model_store
from smartharvest.agent.model_store import (
    SAVE_PERIOD_NS,
    ModelStore,
    model_path,
    model_shape,
    open_model_store,
)
from smartharvest.algorithm.learning.base import Model
from smartharvest.algorithm.learning.learners import LEARNERS, make_learner
from smartharvest.algorithm.learning.model_file import DamagedModel, read_model, write_model
from smartharvest.algorithm.policy import make_policy
from smartharvest.config.loading import load_settings
from smartharvest.config.settings import Settings

TOTAL = 10


def taught(kind: str, lessons: int = 100, seed: int = 1) -> Model:
    import random

    rng = random.Random(seed)
    learner = make_learner(kind, cost="skewed", total=TOTAL)
    for _ in range(lessons):
        learner.learn(*random_window(rng, TOTAL))
    return learner


def settings(tmp_path: Path, **more: object) -> Settings:
    return load_settings({"primary": ("cgroup:web",), "model": str(tmp_path / "m"), **more})


def keeper(learner: Model, chosen: Settings) -> ModelStore:
    path = model_path(chosen)
    assert path is not None
    return ModelStore(learner, path, model_shape(chosen, TOTAL))


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_learner_that_was_saved_goes_on_as_if_it_had_never_stopped(
    kind: str, tmp_path: Path
) -> None:
    chosen = settings(tmp_path, learner=kind)
    before = taught(kind)
    keeper(before, chosen).save()
    after = make_learner(kind, cost="skewed", total=TOTAL)
    keeper(after, chosen).load()
    assert after.lessons == 100
    for learner in (before, after):
        learner.learn((0.0, 3.0, 1.25, 0.5, 1.0), 4)
    assert after.weights() == before.weights()


def test_adaptive_goes_on_from_a_model_of_its_own(tmp_path: Path) -> None:
    chosen = settings(tmp_path, learner="vw")
    keeper(taught("vw"), chosen).save()
    for lessons in (0, 50):
        policy = make_policy("adaptive", total=TOTAL, learner="vw", preempts=True)
        kept = open_model_store(chosen, TOTAL, policy)
        assert kept is not None
        learner = policy.learner  # type: ignore[attr-defined]
        assert learner.lessons == lessons
        for _ in range(50):
            learner.learn((0.0, 3.0, 1.25, 0.5, 1.0), 4)
        kept.save()
    again = make_policy("smartharvest", total=TOTAL, learner="vw")
    open_model_store(chosen, TOTAL, again)
    assert again.learner.lessons == 100  # type: ignore[attr-defined]


def test_the_policy_goes_on_from_the_saved_model(tmp_path: Path) -> None:
    chosen = settings(tmp_path, learner="native")
    keeper(taught("native"), chosen).save()
    policy = make_policy("smartharvest", total=TOTAL, learner="native")
    kept = open_model_store(chosen, TOTAL, policy)
    assert kept is not None
    assert policy.learner.lessons == 100  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("key", "value"),
    [("learner", "vw"), ("cost", "hinged"), ("label", "busy"), ("window", "50ms")],
)
def test_a_model_of_another_shape_is_refused_with_the_difference(
    key: str, value: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keeper(taught("native"), settings(tmp_path, learner="native")).save()
    chosen = settings(tmp_path, **{"learner": "native", key: value})
    fresh = make_learner(chosen.learner, cost=chosen.cost, total=TOTAL)
    keeper(fresh, chosen).load()
    assert fresh.lessons == 0
    assert f"{tmp_path}/m: {key}" in caplog.text
    assert "a fresh one is begun" in caplog.text


def test_a_model_for_other_cores_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = settings(tmp_path, learner="native")
    keeper(taught("native"), chosen).save()
    fresh = make_learner("native", cost="skewed", total=3)
    ModelStore(fresh, str(tmp_path / "m"), model_shape(chosen, 3)).load()
    assert fresh.lessons == 0
    assert "classes is 11 there and 4 here" in caplog.text


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_file_with_any_byte_changed_or_missing_is_refused(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = settings(tmp_path, learner=kind)
    keeper(taught(kind), chosen).save()
    whole = (tmp_path / "m").read_bytes()
    middle = len(whole) // 2
    for damaged in (
        b"",
        b"something else",
        whole[:-1],
        whole[:middle],
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        whole + b"x",
    ):
        (tmp_path / "m").write_bytes(damaged)
        caplog.clear()
        fresh = make_learner(kind, cost="skewed", total=TOTAL)
        keeper(fresh, chosen).load()
        assert fresh.lessons == 0
        assert "a fresh one is begun" in caplog.text


def test_weights_no_model_has_are_refused_even_with_a_right_checksum(tmp_path: Path) -> None:
    chosen = settings(tmp_path, learner="native")
    dumped = taught("native").dump()
    payload = dumped[:16] + b"\xff" * (len(dumped) - 16)  # not-a-numbers
    write_model(str(tmp_path / "m"), model_shape(chosen, TOTAL), 100, payload)
    fresh = make_learner("native", cost="skewed", total=TOTAL)
    keeper(fresh, chosen).load()
    assert fresh.lessons == 0
    assert fresh.predict((0.0, 1.0, 0.5, 0.5, 0.0)) == 0


def test_a_write_that_fails_leaves_the_old_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = settings(tmp_path, learner="native")
    keeper(taught("native"), chosen).save()
    before = (tmp_path / "m").read_bytes()

    def no_space(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    again = keeper(taught("native", 200), chosen)
    again.save()
    again.save()
    assert (tmp_path / "m").read_bytes() == before
    assert caplog.text.count("model cannot be kept") == 1


def test_only_its_owner_may_read_a_model(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "m")
    write_model(path, {}, 0, b"")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_it_is_saved_once_a_minute_and_only_if_there_is_something_new(tmp_path: Path) -> None:
    chosen = settings(tmp_path, learner="native")
    learner = taught("native", 5)
    kept = keeper(learner, chosen)

    def saved_at(now_ns: int) -> bool:
        kept.save_if_due(now_ns)
        if kept._writing is not None:
            kept._writing.join()
        found = os.path.exists(tmp_path / "m")
        if found:
            os.unlink(tmp_path / "m")
        return found

    assert not saved_at(0)
    assert not saved_at(SAVE_PERIOD_NS - 1)
    assert saved_at(SAVE_PERIOD_NS)
    assert not saved_at(2 * SAVE_PERIOD_NS)
    learner.learn((0.0, 1.0, 0.5, 0.5, 0.0), 1)
    assert not saved_at(2 * SAVE_PERIOD_NS + 1)
    assert saved_at(3 * SAVE_PERIOD_NS)


def test_nothing_is_said_where_there_is_no_model_yet(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    keeper(taught("native"), settings(tmp_path, learner="native")).load()
    assert caplog.text == ""


def test_each_set_of_primaries_has_a_file_of_its_own() -> None:
    def path(**flags: object) -> str | None:
        return model_path(load_settings(flags))

    web = path(primary=("cgroup:web",))
    assert web is not None
    assert web.startswith("/var/lib/smartharvest/")
    assert web != path(primary=("cgroup:db",))
    both = ("cgroup:web", "cgroup:db")
    assert path(primary=both) == path(primary=both[::-1])
    beside = path(primary=("cgroup:web",), state_dir="/s")
    assert beside is not None
    assert beside.startswith("/s/models/")
    assert path(model="off") is None


def test_a_policy_that_does_not_learn_has_no_model(tmp_path: Path) -> None:
    assert (
        open_model_store(settings(tmp_path), TOTAL, make_policy("prev-peak", total=TOTAL)) is None
    )


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    write_model(path, {"classes": 3}, 7, b"\n\x00weights")
    assert read_model(path) == ({"classes": 3}, 7, b"\n\x00weights")


def test_a_head_that_says_nothing_is_damage(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    write_model(path, {}, 0, b"")
    content = (tmp_path / "m").read_bytes()
    import hashlib

    for body in (b"[]\n", b"no json\n", b"{}\n", b'{"lessons": "many"}\n'):
        checksum = hashlib.sha256(body).hexdigest().encode()
        (tmp_path / "m").write_bytes(content[:21] + checksum + b"\n" + body)
        with pytest.raises(DamagedModel, match="does not say what it is"):
            read_model(path)


def test_a_disk_that_does_not_answer_keeps_nobody_from_ending(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(model_store, "SAVE_TAKES_S", 0.01)
    monkeypatch.setattr(model_store, "write_model", lambda *_: answers.wait(60))
    keeper(taught("native"), settings(tmp_path, learner="native")).save()
    answers.set()
    assert "model cannot be kept" in caplog.text
    assert "no answer from its disk" in caplog.text
