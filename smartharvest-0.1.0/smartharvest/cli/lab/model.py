"""``smartharvest lab model``: what an agent has learned."""

from __future__ import annotations

import json
import os

import click

from smartharvest.algorithm.learning.base import FEATURE_NAMES, Features, Model
from smartharvest.algorithm.learning.learners import make_learner
from smartharvest.algorithm.learning.model_file import DamagedModel, Shape, read_model
from smartharvest.cli.command_group import CommandGroup
from smartharvest.errors import ConfigError
from smartharvest.printable import counted


@click.group(cls=CommandGroup)
def model() -> None:
    """Show what an agent has learned."""


@model.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--window",
    metavar="MIN,MAX,MEAN,STD,MEDIAN",
    help="Busy cores of a window, to see the prediction after it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def show(file: str, window: str | None, as_json: bool) -> None:
    """Print the weights of each class, and its predicted cost after a given window."""
    shape, lessons, learner = open_model(file)
    features = None if window is None else parse_window(window)
    scores = None if features is None else learner.scores(features)
    prediction = None if features is None else learner.predict(features)
    if as_json:
        document = {"file": os.path.abspath(file), **shape, "lessons": lessons}
        document |= {"weights": learner.weights(), "scores": scores, "prediction": prediction}
        click.echo(json.dumps(document))
    else:
        click.echo(format_model(shape, lessons, learner, scores, prediction))


def open_model(file: str) -> tuple[Shape, int, Model]:
    """The model in ``file``, ready to predict. Raises ConfigError, which names the file."""
    try:
        shape, lessons, payload = read_model(file)
        learner = make_learner(
            shape["learner"],
            cost=shape["cost"],
            total=int(shape["classes"]) - 1,
            learning_rate=float(shape["learning_rate"]),
        )
        learner.load(payload)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None
    except DamagedModel as error:
        raise ConfigError(str(error)) from None
    except (KeyError, ValueError, TypeError) as error:
        raise ConfigError(f"{file}: is no model of this version: {error}") from None
    return shape, lessons, learner


def parse_window(text: str) -> Features:
    """The five features. Raises ConfigError."""
    try:
        low, high, mean, std, median = (float(part) for part in text.split(","))
        ok = 0 <= low <= mean <= high < 1e6 and low <= median <= high and 0 <= std < 1e6
    except ValueError:
        ok = False
    if not ok:
        raise ConfigError(
            f"--window: {text!r} is no window; give {','.join(FEATURE_NAMES)} in cores, "
            "such as 0,4,1.5,0.9,1"
        )
    return low, high, mean, std, median


def format_model(
    shape: Shape,
    lessons: int,
    learner: Model,
    scores: list[float] | None,
    prediction: int | None,
) -> str:
    """A line per class: the weights, and the predicted cost if there is a window."""
    lines = [
        f"{shape['learner']}, {shape['classes']} classes, {shape['cost']} cost of the "
        f"{shape['label']} peak, learning rate {shape['learning_rate']}, "
        f"windows of {shape['window_ns'] / 1e6:g} ms, {counted(lessons, 'lesson')}",
        "of " + ", ".join(shape["primary"]),
        "",
    ]
    titles = [*shape["features"], "bias", *(["cost"] if scores is not None else [])]
    lines.append("cores " + "".join(f"{title:>10}" for title in titles))
    for index, weights in enumerate(learner.weights()):
        figures = [*weights, *([scores[index]] if scores is not None else [])]
        mark = "  <- predicted" if index == prediction else ""
        lines.append(f"{index:5d} " + "".join(f"{value:10.4f}" for value in figures) + mark)
    return "\n".join(lines)
