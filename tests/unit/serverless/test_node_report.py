from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smartharvest.cluster.source import NoCapacity
from smartharvest.serverless import node_report
from smartharvest.serverless.node_report import (
    HarvestedReplica,
    NodeReporter,
    group_cpu_seconds,
)


class Node:
    """An agent, a group and clocks that the test sets."""

    def __init__(self, directory: Path) -> None:
        self.notice = directory / "notice"
        self.now_s, self.cpu_s = 100.0, 0.0
        self.cores: dict[str, int] | None = {"now": 4, "promised": 3, "guaranteed": 1}
        self.withdrawn: str | None = None
        self.reporter = NodeReporter(
            self._answer, str(self.notice), lambda: self.cpu_s, lambda: self.now_s, lambda: 5000.0
        )

    def _answer(self) -> dict[str, Any]:
        if self.cores is None:
            raise NoCapacity("No agent is running")
        return {"cores": self.cores, "withdrawn": self.withdrawn}

    def look(self, after_s: float = 0.25) -> dict[str, Any]:
        self.now_s += after_s
        self.reporter.look()
        return self.reporter.report()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_cores_are_the_mean_of_the_last_second(node: Node) -> None:
    for now in (0, 2, 4, 6, 8):
        node.cores = {"now": now, "promised": 1, "guaranteed": 1}
        report = node.look()
    assert report == {
        "seq": 5, "evict_in_s": None, "cores": 4.0, "guaranteed": 1, "load": 0.0, "age_s": 0.0
    }  # fmt: skip
    assert node.look(after_s=1.0)["cores"] == 8


def test_load_is_what_the_group_used_of_a_core(node: Node) -> None:
    node.look()
    for _ in range(8):
        node.cpu_s += 0.75
        report = node.look()
    assert report["load"] == pytest.approx(3.0)


def test_a_dead_agent_is_said_and_old_cores_are_not(node: Node) -> None:
    node.look()
    node.cores = None
    assert node.look() == {"seq": 2, "evict_in_s": None, "why": "No agent is running"}
    node.cores = {"now": 2, "promised": 1, "guaranteed": 1}
    assert node.look()["cores"] == 2


def test_a_report_says_how_old_it_is(node: Node) -> None:
    node.look()
    node.now_s += 7
    assert node.reporter.report()["age_s"] == 7


def test_a_file_is_a_notice_and_may_say_when(node: Node) -> None:
    node.notice.write_text("5012.5\n")
    assert node.look()["evict_in_s"] == 12.5
    node.notice.write_text("")
    os.utime(node.notice, (4990, 4990))
    assert node.look()["evict_in_s"] == 20
    node.notice.write_text("inf")
    os.utime(node.notice, (1000, 1000))
    assert node.look()["evict_in_s"] == 0
    node.notice.write_bytes(b"\xff\xfe")
    assert node.look()["evict_in_s"] is None
    node.notice.unlink()
    assert node.look()["evict_in_s"] is None


def test_an_eviction_that_has_come_is_a_notice_too(node: Node) -> None:
    node.withdrawn = "paused by the operator"
    assert node.look()["evict_in_s"] is None
    node.withdrawn = "evicted by the operator"
    assert node.look()["evict_in_s"] == 0


def test_the_load_is_read_from_the_group_that_the_replica_is_in(tmp_path: Path) -> None:
    (tmp_path / "batch").mkdir()
    (tmp_path / "batch" / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    own = tmp_path / "own"
    own.write_text("1:name=systemd:/x\n0::/batch\n")
    assert group_cpu_seconds(str(tmp_path), str(own)) == 2.5
    own.write_text("0::/\n")
    assert group_cpu_seconds(str(tmp_path), str(own)) is None
    own.write_text("0::/gone\n")
    assert group_cpu_seconds(str(tmp_path), str(own)) is None
    assert group_cpu_seconds(str(tmp_path), str(tmp_path / "none")) is None


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HarvestedReplica]:
    """A replica on a node without an agent."""
    monkeypatch.setenv(node_report.CAPACITY_VARIABLE, str(tmp_path))
    monkeypatch.setattr(NodeReporter, "watch", lambda _: None)
    node_report.reporter.cache_clear()
    yield HarvestedReplica()
    node_report.reporter.cache_clear()


def test_a_replica_without_an_agent_still_answers(alone: HarvestedReplica) -> None:
    assert alone.record_routing_stats()["smartharvest"]["why"].startswith("No agent is running")


@pytest.mark.parametrize(("most", "said"), [(3, 3), (-1, None), (None, None)])
def test_a_replica_says_how_many_models_it_keeps(
    alone: HarvestedReplica, most: int | None, said: int | None
) -> None:
    assert "models_most" not in alone.record_routing_stats()["smartharvest"]
    # As @serve.multiplexed does with the first model.
    setattr(alone, "__serve_multiplex_wrapper", SimpleNamespace(max_num_models_per_replica=most))
    assert alone.record_routing_stats()["smartharvest"].get("models_most") == said
