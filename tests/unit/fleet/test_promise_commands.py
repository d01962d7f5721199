"""``fleet train``, ``predict`` and ``evaluate``: what is wrong is said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.csv_tables import write_table
from smartharvest.fleet.promises.cohorts import Size
from smartharvest.fleet.promises.model_file import write_model
from smartharvest.fleet.promises.occupancy import occupancy
from smartharvest.fleet.promises.views import history
from tests.commands import smartharvest_here
from tests.unit.fleet.promise_cases import HOUR_S, lively, nodes
from tests.unit.fleet.test_promises import SPANS, made_model


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("trace") / "lively.csv.gz")
    write_table(path, lively())
    return f"table:{path}"


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = str(tmp_path / "promises.model")
    seen = occupancy(lively(), nodes(4), HOUR_S)
    write_model(path, made_model(history(seen, Size(1.0), SPANS).views[HOUR_S].rows, HOUR_S))
    return path


def test_predict_promises_and_names_what_is_new(trace: str, model: str) -> None:
    asked = ("--model", model, "--trace", trace, "--nodes", "4x8c32g", "--machines", "2")
    outcome = smartharvest_here("fleet", "predict", *asked, "--day", "5", "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert [one["horizon_s"] for one in found["results"]] == list(SPANS)
    for one in found["results"]:
        assert one["survival"]["low"] <= one["survival"]["mean"] <= one["survival"]["high"]
    outcome = smartharvest_here("fleet", "predict", *asked, "--min", "3", "--day", "5")
    assert "survive" in outcome.out
    assert "careful, the model has not seen this:\n" in outcome.err
    assert "\n  minimum: 3 cores" in outcome.err


@pytest.mark.parametrize(
    ("options", "why", "code"),
    [(("--horizon", "90d"), "longer than what the trace knows", ConfigError.exit_code),
     (("--horizon", "soon"), "is not a duration", ConfigError.exit_code),
     (("--horizon", "1min"), "shorter than a step", ConfigError.exit_code),
     (("--split", "1"), "--split", ConfigError.exit_code),
     (("--split", "0.999"), "--split", ConfigError.exit_code),
     (("--clusters", "9"), "--clusters", ConfigError.exit_code),
     (("--nodes", "4x1c32g"), "no node has that", TraceError.exit_code),
     (("--nodes", "0x8c32g"), "at least one", TraceError.exit_code),
     (("--place", "somewhere"), "--place", ConfigError.exit_code),
     (("--model", "/dev/null"), "--model", ConfigError.exit_code),
     (("--trace", "table:/nowhere.csv"), "cannot be read", TraceError.exit_code)],
)  # fmt: skip
def test_evaluate_says_in_a_line_what_is_wrong(
    trace: str, options: tuple[str, ...], why: str, code: int
) -> None:
    asked = ("--trace", trace, "--nodes", "4x8c32g", *options)
    outcome = smartharvest_here("fleet", "evaluate", *asked)
    assert why in outcome.failure
    assert outcome.code == code


def test_evaluate_asks_a_model_without_learning(trace: str, model: str) -> None:
    asked = ("--trace", trace, "--nodes", "4x8c32g", "--model", model, "--json")
    outcome = smartharvest_here("fleet", "evaluate", *asked)
    assert outcome.code == 0, outcome.err
    results = json.loads(outcome.out)["results"]
    assert [(one["target"], one["horizon_s"]) for one in results] == [
        (target, span) for target in ("survival", "cores") for span in SPANS
    ]
    for one in results:
        assert 0 <= one["coverage"] <= 1
        assert {"persistence", "koordinator", "survival-curve"} == set(one["rivals"])


def test_train_wants_the_nodes_of_each_trace_and_writes_nothing_otherwise(
    trace: str, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    outcome = smartharvest_here(
        "fleet",
        "train",
        "--trace",
        trace,
        "--trace",
        trace,
        "--nodes",
        "4x8c32g",
        "--out",
        str(out),
    )
    assert "give one of each" in outcome.failure
    assert not out.exists()


def test_train_writes_a_small_model_that_predict_reads(trace: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    out = str(tmp_path / "model")
    shape = ("--trace", trace, "--nodes", "4x8c32g")
    asked = (*shape, "--horizon", "1h", "--min", "1", "--out", out)
    outcome = smartharvest_here("fleet", "train", *asked)
    assert outcome.code == 0, outcome.err
    assert Path(out).stat().st_size < 1 << 20
    outcome = smartharvest_here("fleet", "predict", "--model", out, *shape, "--machines", "2")
    assert "survive" in outcome.out
