"""The Spark adapter against a master's page that says anything, without Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster import spark_node
from smartharvest.cluster.spark_node import SparkNode
from smartharvest.errors import ConfigError, EngineError

MASTER = "spark://127.0.0.1:7077"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark whose workers are sleeping shells."""
    program = tmp_path / "spark" / "bin" / "spark-class"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/bash\ntrap : PWR\n: > "$SPARK_HOME/$$"\nwhile :; do sleep 0.02; done\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    return tmp_path


def says(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any]) -> None:
    monkeypatch.setattr(spark_node, "ask_json", lambda _url, _engine: answer())


def test_workers_start_and_end_with_the_cores(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: dict[int, int] = {}
    made: list[SparkNode] = []

    def answer() -> Any:
        ports = [port for _, port, _ in made[0]._processes()] if made else []
        return {
            "workers": [
                {
                    "host": "127.0.0.1",
                    "port": port,
                    "state": "ALIVE",
                    "coresused": used.get(port, 0),
                }
                for port in ports
            ]
        }

    says(monkeypatch, answer)
    node = SparkNode(MASTER, "http://127.0.0.1:1", str(home / "work"))
    made.append(node)
    try:
        node.advertise(3)
        ports = sorted(port for _, port, _ in node._processes())
        while not all((home / "spark" / str(pid)).exists() for pid, _, _ in node._processes()):
            time.sleep(0.001)  # before its trap is set a signal ends it
        assert (len(ports), node.verify(), node.in_use()) == (3, 3, 0)
        node.advertise(3)
        assert len(node._processes()) == 3
        used.update(dict.fromkeys(ports, 1))
        node.shed(1, grace_s=5.0)
        assert (node.verify(), node.in_use(), len(node._processes())) == (1, 3, 3)
        node.shed(1, grace_s=0.0)
        while len(node._processes()) > 1:
            time.sleep(0.001)  # what is killed lives for a moment
        assert (node.verify(), node.in_use(), len(node._processes())) == (1, 1, 1)
        other = SparkNode(MASTER, "http://127.0.0.1:1", str(home / "work"))
        assert other.in_use() == 1  # the next adapter finds the worker
    finally:
        for pid, _, _ in node._processes():
            os.killpg(pid, 9)


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"workers": {}}, {"workers": [1]}, {"workers": [{"port": "x"}]},
     {"workers": [{"host": "h", "port": 1, "state": "ALIVE", "coresused": -1}]}],
)  # fmt: skip
def test_what_is_no_state_of_a_master_is_an_error_in_one_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, document: Any
) -> None:
    says(monkeypatch, lambda: document)
    with pytest.raises(EngineError):
        SparkNode(MASTER, "http://127.0.0.1:1", str(home / "work"))


@pytest.mark.parametrize(
    ("options", "named"),
    [({"master": "127.0.0.1:7077"}, "--master"), ({"memory": "lots"}, "--memory"),
     ({"within": "no-such-command-there"}, "--within"), ({"within": "'"}, "--within"),
     ({"directory": "/proc/nowhere"}, "--directory")],
)  # fmt: skip
def test_a_wrong_value_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], named: str
) -> None:
    says(monkeypatch, lambda: {"workers": []})
    given = {"master": MASTER, "page": "http://x", "directory": str(home / "work"), **options}
    with pytest.raises(ConfigError, match=named):
        SparkNode(**given)


def test_no_spark_is_a_wrong_setting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(home))
    with pytest.raises(ConfigError, match="SPARK_HOME"):
        SparkNode(MASTER, "http://x", str(home / "work"))
