"""The paper's prices come out of its parameters, and others of a simulated cluster."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.errors import ConfigError
from smartharvest.fleet.cost import Terms, cost, of_simulation, overhead
from tests.commands import smartharvest_here

CLUSTERS = (2.1 + 13.6 * (np.arange(25) / 24) ** (5 / 3)).tolist()
"""25 made-up clusters with the published mean (7.2 cores), range of savings (34 to 47 %) and price
at α = 0; the paper's own are not published."""


@pytest.mark.parametrize(
    ("alpha", "dollars", "below_evictable", "below_regular"),
    [(0.0, 0.003, 0.84, None), (0.5, 0.011, 0.42, 0.91), (1.0, None, 0.0, 0.85)],
)
def test_the_papers_figures_come_out_of_clusters_like_its_own(
    alpha: float, dollars: float | None, below_evictable: float, below_regular: float | None
) -> None:
    assert np.mean(CLUSTERS) == pytest.approx(7.2, abs=0.1)
    result = cost(Terms(alpha), CLUSTERS)
    if dollars is not None:
        assert round(result["price_per_useful_core"], 3) == dollars
    assert result["saving_vs_evictable"] == pytest.approx(below_evictable, abs=0.01)
    if below_regular is not None:
        assert round(result["saving_vs_regular"], 2) == below_regular
    if alpha == 0.5:
        assert result["saving_vs_evictable_range"] == pytest.approx([0.34, 0.47], abs=0.01)


def test_its_mean_of_cores_alone_gives_almost_the_same() -> None:
    result = cost(Terms(0.5), [7.2])
    assert result["price_per_useful_core"] == pytest.approx(
        0.0193 * (1 + 7.2 * 0.5) / 8.2 / (1 - 0.0013)
    )
    assert round(result["price_per_useful_core"], 3) == 0.011
    assert result["saving_vs_evictable"] == pytest.approx(0.438, abs=0.001)
    assert round(result["saving_vs_regular"], 2) == 0.91
    assert round(cost(Terms(1.0), [7.2])["saving_vs_regular"], 2) == 0.85


@given(
    extra=st.lists(st.floats(0, 60), min_size=1, max_size=8),
    alphas=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_cheaper_additional_cores_never_cost_more(
    extra: list[float], alphas: tuple[float, float]
) -> None:
    low, high = (cost(Terms(a), extra) for a in sorted(alphas))
    assert low["price_per_useful_core"] <= high["price_per_useful_core"] + 1e-12
    assert low["saving_vs_regular"] >= high["saving_vs_regular"] - 1e-12


@pytest.mark.parametrize(
    ("terms", "extra", "name"),
    [(Terms(alpha=1.5), [7], "alpha"), (Terms(evictable_price=0), [7], "evictable-price"),
     (Terms(recovery_overhead=1), [7], "recovery-overhead"), (Terms(), [], "extra-cores"),
     (Terms(), [-1], "extra-cores"), (Terms(alpha=float("nan")), [7], "alpha")],
)  # fmt: skip
def test_impossible_terms_are_refused(terms: Terms, extra: list[float], name: str) -> None:
    with pytest.raises(ConfigError, match=f"--{name}"):
        cost(terms, extra)


def test_evictions_cost_their_recovery() -> None:
    assert overhead(10, 1000, 360) == pytest.approx(0.001)
    assert overhead(10, 0, 360) == 0
    document = {
        "harvest": {"minimum_cores": 2, "mean_extra_cores": 3, "evictions": 1, "vm_hours": 100},
        "spot": {"evictions": 50, "vm_hours": 1000},
    }
    found = of_simulation(document, 36.0, "here")
    assert (found.minimum, found.extra_cores) == (2, 3)
    assert found.recovery_overhead == pytest.approx(1e-4)
    assert found.evictable_overhead == pytest.approx(5e-4)
    with pytest.raises(ConfigError, match="no result of fleet simulate"):
        of_simulation({"spot": []}, 36.0, "here")


def test_the_command_prints_the_document(tmp_path: Path) -> None:
    outcome = smartharvest_here("fleet", "cost", "--alpha", "0.5", "--extra-cores", "7.2", "--json")
    document = json.loads(outcome.out)
    assert outcome.code == 0
    assert {"price_per_useful_core", "saving_vs_evictable", "saving_vs_regular"} <= document.keys()
    outcome = smartharvest_here("fleet", "cost", "--extra-cores", "2,12")
    assert "on evictable VMs 0.0193: 40% are saved" in outcome.out
    assert outcome.out.count("\n") == 3
    path = tmp_path / "one.json"
    path.write_text("[]")
    outcome = smartharvest_here("fleet", "cost", "--simulated", str(path))
    assert (outcome.code, outcome.out) == (2, "")
    assert "no result of fleet simulate" in outcome.failure


def simulated(directory: Path, name: str, minimum: float) -> str:
    path = directory / name
    spot = {"evictions": 0, "vm_hours": 1}
    harvest = spot | {"minimum_cores": minimum, "mean_extra_cores": 4}
    path.write_text(json.dumps({"harvest": harvest, "spot": spot}))
    return str(path)


def test_a_simulated_minimum_is_what_is_paid_for(tmp_path: Path) -> None:
    four = simulated(tmp_path, "four.json", 4)
    outcome = smartharvest_here("fleet", "cost", "--alpha", "0", "--simulated", four, "--json")
    assert json.loads(outcome.out)["saving_vs_evictable"] == pytest.approx(0.5)
    one = simulated(tmp_path, "one.json", 1)
    outcome = smartharvest_here("fleet", "cost", "--simulated", four, "--simulated", one)
    assert (outcome.code, outcome.out) == (2, "")
    assert "1, 4 cores at least" in outcome.failure


def test_no_saving_is_said_as_such() -> None:
    at_alpha = ("fleet", "cost", "--alpha", "1")
    assert "on evictable VMs 0.0193: 0% are saved" in smartharvest_here(*at_alpha).out
    dear = smartharvest_here(*at_alpha, "--evictable-price", "0.252").out
    assert "on regular VMs 0.1260: it is 100% more" in dear
