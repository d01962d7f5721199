"""Features know no future, a model file runs nothing, and promises say what they have not seen."""

from __future__ import annotations

import io
import json
import math
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smartharvest.errors import ConfigError
from smartharvest.fleet.promises.clusters import divided
from smartharvest.fleet.promises.cohorts import Size
from smartharvest.fleet.promises.evaluation import evaluate, horizons_within
from smartharvest.fleet.promises.evidence import FEWEST
from smartharvest.fleet.promises.features import NAMES
from smartharvest.fleet.promises.forest import LEAF, Forest
from smartharvest.fleet.promises.learning import ask, edges_of
from smartharvest.fleet.promises.model import Learned, Model
from smartharvest.fleet.promises.model_file import read_model, write_model
from smartharvest.fleet.promises.occupancy import Occupancy, occupancy
from smartharvest.fleet.promises.prediction import predict, survivors
from smartharvest.fleet.promises.rivals import koordinator, persistence
from smartharvest.fleet.promises.views import HORIZONS_S, History, history
from tests.unit.fleet.promise_cases import HOUR_S, lively, nodes, of_free

SPANS = (HOUR_S, 6 * HOUR_S)


def stump(low: float, high: float) -> Forest:
    """One tree: nodes with room (column 9) at most a half say ``low``, more say ``high``."""
    return Forest(
        np.array([9, LEAF, LEAF], dtype=np.int16),
        np.array([0.5, 0, 0]),
        np.array([1, 0, 0], dtype=np.int32),
        np.array([2, 0, 0], dtype=np.int32),
        np.array([0, low, high], dtype=np.float32),
        np.array([0], dtype=np.int32),
    )


def made_model(view_rows: np.ndarray, step_s: float) -> Model:
    errors = np.linspace(-0.2, 0.1, 41)
    learned = {
        ("survival", SPANS[0]): Learned(stump(-0.1, 0.0), errors, 100.0, 1.0),
        ("survival", SPANS[1]): Learned(stump(-0.3, -0.1), errors, 100.0, 1.0),
        ("cores", SPANS[0]): Learned(stump(0.0, 0.0), errors, 100.0, 1.0),
        ("cores", SPANS[1]): Learned(stump(0.0, 0.0), errors, 100.0, 1.0),
    }
    lowest, highest = view_rows.min(axis=0), view_rows.max(axis=0)
    return Model(step_s, 8.0, 4, ((1.0, 0.0),), lowest, highest, learned)


@pytest.fixture(scope="module")
def seen() -> Occupancy:
    return occupancy(lively(), nodes(4), HOUR_S)


@pytest.fixture(scope="module")
def lived(seen: Occupancy) -> History:
    return history(seen, Size(1.0), SPANS)


@pytest.fixture(scope="module")
def model(lived: History) -> Model:
    return made_model(lived.views[SPANS[0]].rows, HOUR_S)


def test_no_feature_and_no_forecast_of_a_rival_looks_ahead(seen: Occupancy) -> None:
    now = 120
    kept: dict[str, Any] = {name: getattr(seen, name) for name in Occupancy.__slots__}
    shorter: dict[str, Any] = {
        name: value[:now] if isinstance(value, np.ndarray) and len(value) == seen.steps else value
        for name, value in kept.items()
    }
    cut = Occupancy(**shorter)
    whole, part = (history(one, Size(1.0), SPANS) for one in (seen, cut))
    for span in SPANS:
        assert np.array_equal(whole.views[span].rows[:now], part.views[span].rows)
        for target in ("survival", "cores"):
            assert np.array_equal(
                whole.views[span].base[target][:now], part.views[span].base[target]
            )
    for target, parts in koordinator(cut, Size(1.0)).items():
        for ahead, known in zip(koordinator(seen, Size(1.0))[target], parts, strict=True):
            assert np.array_equal(ahead[:now], known, equal_nan=True)


def test_every_feature_has_a_name(lived: History) -> None:
    assert lived.views[SPANS[0]].rows.shape == (lived.seen.steps, len(NAMES))
    assert np.isfinite(lived.views[SPANS[1]].rows).all()


def test_persistence_says_the_newest_outcome_that_is_known() -> None:
    outcome = np.array([0.1, 0.2, np.nan, 0.4, 0.5])
    said = persistence(outcome, 2, np.ones(5))
    assert said.tolist() == [1.0, 1.0, 0.1, 0.2, 0.2]


def test_koordinator_takes_a_tenth_more_than_the_percentile_and_waits_a_day() -> None:
    said = koordinator(of_free([4.0] * 48, [8.0] * 48), Size(4))
    cores, lower, upper = said["cores"]
    assert lower[23] == 0.0
    assert cores[47] == pytest.approx((8 - 1.1 * 0.51 * 8 + 8 - 1.1 * 0.01 * 8) / 2)
    assert upper[47] == 8
    assert said["survival"][0][47] == 0.5  # of the first node too little would be left


def test_a_forest_is_asked_as_it_was_grown() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble", reason="scikit-learn is not installed")
    from smartharvest.fleet.promises.forest import grow

    assert ensemble
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(300, 5))
    targets = np.where(rows[:, 1] > 0.3, 2.0, rows[:, 0])
    forest = grow(rows, targets, 1)
    said, spread = forest.predict(rows)
    assert np.corrcoef(said, targets)[0, 1] > 0.9
    assert (spread >= 0).all()
    assert np.array_equal(said, grow(rows, targets, 1).predict(rows)[0])


def test_no_forest_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from smartharvest.fleet.promises.forest import grow

    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(ConfigError, match=r"smartharvest\[fleet\]"):
        grow(np.zeros((60, 3)), np.zeros(60), 1)


def test_promises_are_scored_beside_their_rivals_split_by_time() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    parts = divided(lively(6.0), nodes(4), 2, 1)
    histories = [history(occupancy(*part, 2 * HOUR_S), Size(1.0), [2 * HOUR_S]) for part in parts]
    results = evaluate(histories, 0.6, 0.0, 1)
    assert [one.target for one in results] == ["survival", "cores"]
    for one in results:
        document = one.document()
        assert {"n", "coverage", "width", "mean_error", "horizon_s"} <= document.keys()
        assert set(one.rivals) == {"persistence", "koordinator", "survival-curve"}
        for series in one.series:
            first = round(len(series.outcome) * 0.6)
            assert np.isnan(series.lower[:first]).all()


def test_clusters_of_a_trace_share_nothing() -> None:
    table = lively(4.0)
    parts = divided(table, nodes(7), 3, 1)
    names = [name for part, _ in parts for name in part.ids]
    assert sorted(names) == sorted(table.ids)
    assert sorted(len(cluster) for _, cluster in parts) == [2, 2, 3]
    with pytest.raises(ConfigError, match="--clusters"):
        divided(table, nodes(2), 3, 1)


def test_horizons_that_the_trace_does_not_know_are_refused() -> None:
    assert horizons_within(200, HOUR_S, 0.6, None) == [HOUR_S, 6 * HOUR_S, 24 * HOUR_S]
    with pytest.raises(ConfigError, match="longer than what the trace knows"):
        horizons_within(200, HOUR_S, 0.6, [90 * 24 * HOUR_S])
    with pytest.raises(ConfigError, match="--split"):
        horizons_within(50, HOUR_S, 0.9, None)
    assert HORIZONS_S[-1] == 30 * 24 * HOUR_S


def test_a_forest_learns_again_from_what_is_over_by_then() -> None:
    assert edges_of(1000, 0.6, 150) == [150, 300, 450, 600, 750, 900, 1000]
    assert edges_of(1000, 0.6, 0) == [150, 300, 450, 600, 1000]


def test_a_model_comes_back_as_it_was_written(tmp_path: Path, model: Model) -> None:
    path = str(tmp_path / "promises.model")
    write_model(path, model)
    back = read_model(path)
    rows = np.tile(model.lowest, (2, 1))
    for key, learned in model.learned.items():
        assert np.array_equal(back.learned[key].forest.predict(rows), learned.forest.predict(rows))
        assert np.array_equal(back.learned[key].errors, learned.errors)
    assert (back.step_s, back.sizes, back.nodes) == (model.step_s, model.sizes, model.nodes)


class Trap:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('it ran')",)


def changed(path: str, name: str, array: np.ndarray) -> bytes:
    """The model at ``path`` with another array in it."""
    with np.load(path) as loaded:
        arrays = {**{each: loaded[each] for each in loaded.files}, name: array}
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()


def test_a_foreign_file_is_refused_in_a_line_and_nothing_in_it_runs(
    tmp_path: Path, model: Model
) -> None:
    good = str(tmp_path / "good")
    write_model(good, model)
    content = Path(good).read_bytes()
    pickled = io.BytesIO()
    np.savez(pickled, header=np.array([Trap()], dtype=object))
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("readme", "no model")
    circle = changed(good, "0.left", np.array([0, 0, 0], dtype=np.int32))
    beyond = changed(good, "0.feature", np.array([999, -1, -1], dtype=np.int16))
    other = changed(good, "0.value", np.array([0.0, 1, 2]))
    infinite = changed(good, "0.threshold", np.array([np.nan, 0, 0]))
    version = changed(good, "header", np.frombuffer(
        b'{"format": "smartharvest-fleet-model", "version": 2}', dtype=np.uint8))  # fmt: skip
    with np.load(good) as loaded:
        header = json.loads(loaded["header"].tobytes())
    header["learned"][0][2] = math.nan
    unsure = changed(good, "header", np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    for number, bad in enumerate((
        b"", b"text", pickle.dumps(Trap()), pickled.getvalue(), empty.getvalue(), content[:-100],
        content[:500], circle, beyond, other, infinite, version, unsure,
    )):  # fmt: skip
        path = tmp_path / f"bad-{number}"
        path.write_bytes(bad)
        with pytest.raises(ConfigError, match="is no model of fleet train") as raised:
            read_model(str(path))
        assert "\n" not in str(raised.value)
    with pytest.raises(ConfigError, match="--model"):
        read_model(str(tmp_path / "nowhere"))


def test_a_promise_has_intervals_and_says_what_is_new_to_it(lived: History, model: Model) -> None:
    promised: Any = predict(model, lived, 2, [SPANS[0], 3 * HOUR_S, SPANS[1]])
    assert promised["beyond"] == []
    shares = [one["survival"] for one in promised["results"]]
    for one in shares:
        assert 0 <= one["low"] <= one["mean"] <= one["high"] <= 1
    assert shares[0]["mean"] >= shares[1]["mean"] >= shares[2]["mean"]
    assert 0 < promised["results"][0]["cores"]["mean"] <= 8
    more: Any = predict(model, lived, 1000, [SPANS[0]])
    assert "1000" in more["beyond"][0]
    large = history(occupancy(lively(), nodes(9, 32.0), HOUR_S), Size(2.0), SPANS)
    found: Any = predict(model, large, 1, [SPANS[0]])
    assert {one.split(":")[0] for one in found["beyond"]} >= {"nodes", "node cores", "minimum"}
    with pytest.raises(ConfigError, match="--horizon"):
        predict(model, lived, 2, [30 * 24 * HOUR_S])


def test_too_few_independent_outcomes_promise_nothing(lived: History, model: Model) -> None:
    few = {
        key: replace(one, independent=FEWEST - 1.0) if key[1] == SPANS[1] else one
        for key, one in model.learned.items()
    }
    found = predict(replace(model, learned=few), lived, 2, SPANS)["results"]
    assert isinstance(found, list)
    assert [one["declined"] for one in found] == [False, True]
    assert (found[1]["survival"]["low"], found[1]["survival"]["high"]) == (0.0, 1.0)
    assert (found[1]["cores"]["low"], found[1]["cores"]["high"]) == (0.0, lived.most["cores"])
    assert found[0]["cores"]["high"] - found[0]["cores"]["low"] < lived.most["cores"]


def test_a_learned_share_moves_the_forecast_from_persistence_to_the_forest(
    lived: History, model: Model
) -> None:
    view, last = lived.views[SPANS[0]], lived.seen.steps
    one = model.learned["survival", SPANS[0]]
    at = (view, "survival", last - 1, last)
    newest = view.newest["survival"][last - 1]
    forest = ask(one.forest, *at)[0]
    assert replace(one, share=0.0).say(*at)[0] == newest
    assert replace(one, share=1.0).say(*at)[0] == pytest.approx(forest)
    assert replace(one, share=0.5).say(*at)[0] == pytest.approx((forest + newest) / 2)


def test_fewer_machines_have_a_wider_interval() -> None:
    rates = np.full(100, 0.8)
    low, high = survivors(rates, 10)
    assert (low, high) == (0.5, 1.0)  # of 10 with 0.8 each, 5 or more survive in 97 of 100 times
    low, high = survivors(rates, 1000)
    assert 0.77 < low < 0.78
    assert list(survivors(rates, 100_000)) == pytest.approx([0.8, 0.8])
