"""Workloads from TOML files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.workload_file import find_workload, load_workload
from smartharvest.lab.simulator.workloads import FOREVER_NS, Primary, Service
from tests.commands import smartharvest_here

GOOD = """
[[primary]]
cores = 8
rate_qps = 1200
arrivals = "mmpp"
mmpp = {multiplier = 4, on_ms = 5, off_ms = 20.5}
batch_mean = 1.5
service = {distribution = "lognormal", mean_us = 300, sigma = 0.7}
fork = [1, 4]

[[primary]]
cores = 2
schedule = [[60, 1000], [0.5, 0]]
service = {distribution = "erlang", mean_us = 40, sigma = 0.5}
"""
LEAST = 'cores = 2\nrate_qps = 10\nservice = {distribution = "exponential", mean_us = 40}\n'


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return os.fspath(path)


def test_every_key_is_read(tmp_path: Path) -> None:
    workload = load_workload(written(tmp_path, GOOD))
    assert workload.name == "mine"
    assert workload.cores == 10
    first, second = workload.primaries
    assert first == Primary(
        cores=8, service=Service("lognormal", 300e3, 0.7), schedule=((FOREVER_NS, 1200.0),),
        arrivals="mmpp", multiplier=4.0, on_ns=5e6, off_ns=20.5e6, batch_mean=1.5, fork=(1, 4),
    )  # fmt: skip
    assert second == Primary(
        cores=2, service=Service("erlang", 40e3, shape=4),
        schedule=((60 * 10**9, 1000.0), (500_000_000, 0.0)),
    )  # fmt: skip


def test_defaults_are_poisson_single_requests_of_one_thread(tmp_path: Path) -> None:
    (primary,) = load_workload(written(tmp_path, "[[primary]]\n" + LEAST)).primaries
    assert (primary.arrivals, primary.fork, primary.batch_mean) == ("poisson", (1, 1), 1.0)


WRONG = [
    ("", "primary: no primary given"),
    ("primary = 3", "primary: no primary given"),
    ("colour = 1\n[[primary]]\n" + LEAST, "colour: unknown key"),
    ("[[primary]]\nrate = 3\n" + LEAST, "primary[0].rate: unknown key; did you mean 'rate_qps'"),
    ("[[primary]]\n" + LEAST + "schedule = [[1, 2]]", "primary[0].rate_qps: give either"),
    ("[[primary]]\n" + LEAST.replace("rate_qps = 10", ""), "primary[0].rate_qps: give either"),
    ("[[primary]]\n" + LEAST.replace("cores = 2", ""), "primary[0].cores: is missing"),
    ("[[primary]]\n" + LEAST.replace("cores = 2", "cores = 0"), "primary[0].cores: 0 is not"),
    ("[[primary]]\n" + LEAST.replace("cores = 2", "cores = true"), "primary[0].cores: True is"),
    ("[[primary]]\n" + LEAST.replace("= 10", "= -1"), "primary[0].rate_qps: -1 must be above 0"),
    ("[[primary]]\n" + LEAST.replace("= 10", "= nan"), "primary[0].rate_qps: nan is not a number"),
    ("[[primary]]\n" + LEAST.replace("= 10", "= '10'"), "primary[0].rate_qps: '10' is not a"),
    ("[[primary]]\n" + LEAST + "arrivals = 'weird'", "primary[0].arrivals: 'weird' is unknown"),
    ("[[primary]]\n" + LEAST + "arrivals = 'mmpp'", "primary[0].mmpp: arrivals"),
    (
        "[[primary]]\n" + LEAST + "mmpp = {multiplier = 2, on_ms = 1, off_ms = 1}",
        "primary[0].mmpp: arrivals",
    ),
    (
        "[[primary]]\n" + LEAST + "arrivals = 'mmpp'\nmmpp = {multiplier = 2, on_ms = 1}",
        "primary[0].mmpp.off_ms: is missing",
    ),
    ("[[primary]]\n" + LEAST + "fork = 3", "primary[0].fork: 3 is no range"),
    ("[[primary]]\n" + LEAST + "fork = [4, 1]", "primary[0].fork: [4, 1] runs backwards"),
    ("[[primary]]\n" + LEAST + "fork = [0, 1]", "primary[0].fork: 0 is not a whole number"),
    ("[[primary]]\n" + LEAST + "batch_mean = 0.5", "primary[0].batch_mean: 0.5 is less than"),
    ("[[primary]]\n" + LEAST.replace("mean_us", "mean"), "primary[0].service.mean: unknown key"),
    (
        "[[primary]]\n" + LEAST.replace('"exponential"', '"lognormal"'),
        "primary[0].service.sigma: is missing",
    ),
    (
        "[[primary]]\n" + LEAST.replace("= 40", "= 40, sigma = 1"),
        "primary[0].service.sigma: exponential services have none",
    ),
    ("[[primary]]\n" + LEAST.replace("rate_qps = 10", "schedule = [3]"), "schedule: 3 is no entry"),
    ("[[primary]]\n" + LEAST.replace("rate_qps = 10", "schedule = []"), "schedule: [] is no sched"),
    ("[[primary", "is not valid TOML"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[words[:40] for _, words in WRONG])
def test_what_cannot_be_is_one_line_with_file_and_key(
    tmp_path: Path, text: str, words: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_workload(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert "\n" not in message


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"/nowhere/mine\.toml: cannot be read"):
        find_workload("/nowhere/mine.toml")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="'indexsrv' is unknown; use one of indexserve, "):
        find_workload("indexsrv")


def test_a_file_is_simulated(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    outcome = smartharvest_here(
        "simulate", "--workload", path, "--policy", "prev-peak", "--seconds", "2"
    )
    assert outcome.code == 0
    assert "harvested" in outcome.out
