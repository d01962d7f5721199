"""``smartharvest lab model show``: what has been learned, in figures."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bench.learning import random_window
from smartharvest.agent.model_store import model_shape
from smartharvest.algorithm.learning.base import Model
from smartharvest.algorithm.learning.learners import LEARNERS, make_learner
from smartharvest.algorithm.learning.model_file import write_model
from smartharvest.config.loading import load_settings
from tests.commands import smartharvest_here

TOTAL = 4


def saved(kind: str, tmp_path: Path) -> tuple[str, Model]:
    rng = random.Random(1)
    learner = make_learner(kind, cost="skewed", total=TOTAL)
    for _ in range(50):
        learner.learn(*random_window(rng, TOTAL))
    path = str(tmp_path / "web.model")
    settings = load_settings({"primary": ("cgroup:web",), "learner": kind})
    write_model(path, model_shape(settings, TOTAL), learner.lessons, learner.dump())
    return path, learner


def show(*arguments: str) -> str:
    outcome = smartharvest_here("lab", "model", "show", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def refusal(*arguments: str) -> str:
    outcome = smartharvest_here("lab", "model", "show", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    return outcome.err


@pytest.mark.parametrize("kind", LEARNERS)
def test_json_has_the_weights_and_what_is_predicted_after_a_window(
    kind: str, tmp_path: Path
) -> None:
    path, learner = saved(kind, tmp_path)
    told = json.loads(show(path, "--window", "0,3,1.5,0.75,1", "--json"))
    window = (0.0, 3.0, 1.5, 0.75, 1.0)
    assert told["weights"] == learner.weights()
    assert told["scores"] == learner.scores(window)
    assert told["prediction"] == learner.predict(window)
    assert (told["learner"], told["classes"], told["lessons"]) == (kind, TOTAL + 1, 50)


def test_the_predicted_class_is_marked_in_the_table(tmp_path: Path) -> None:
    path, learner = saved("native", tmp_path)
    lines = show(path, "--window", "0,3,1.5,0.75,1").splitlines()
    (marked,) = (line for line in lines if "<- predicted" in line)
    assert int(marked.split()[0]) == learner.predict((0.0, 3.0, 1.5, 0.75, 1.0))
    assert lines[0].startswith("native, 5 classes, skewed cost of the demand peak")
    assert "cgroup:web" in lines[1]


def test_without_a_window_nothing_is_predicted(tmp_path: Path) -> None:
    path, _ = saved("native", tmp_path)
    assert "predicted" not in show(path)


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "a,b,c,d,e", "3,1,2,0,2", "0,1,nan,0,0", "0,1,2,0,0"]
)
def test_what_is_no_window_is_refused(text: str, tmp_path: Path) -> None:
    path, _ = saved("native", tmp_path)
    assert "is no window; give min,max,mean,std,median" in refusal(path, "--window", text)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    assert "nowhere: cannot be read: No such file" in refusal(str(tmp_path / "nowhere"))
    (tmp_path / "text").write_text("hello")
    assert "text: is no saved model" in refusal(str(tmp_path / "text"))
    write_model(str(tmp_path / "odd"), {"learner": "native"}, 0, b"")
    assert "odd: is no model of this version" in refusal(str(tmp_path / "odd"))
