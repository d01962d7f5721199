"""Pods that come and go become a table of allocations, also from a live API server."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import TraceError
from smartharvest.fleet.csv_tables import read_nodes, read_table, write_table
from smartharvest.fleet.recording import Recording
from smartharvest.fleet.tables import EVICTABLE, REGULAR, Constraints
from tests.commands import LONGEST_S, as_command, smartharvest_here
from tests.kubernetes_api import ApiServer, write_kubeconfig

BEGAN_S = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
NODES = [
    {"metadata": {"name": "a", "labels": {"zone": "x"}}, "status": {"allocatable": {"cpu": "8"}}},
    {"metadata": {"name": "control"}, "spec": {"unschedulable": True},
     "status": {"allocatable": {"cpu": "8"}}},
]  # fmt: skip


def pod(name: str, cpu: str = "1", start_s: float = 0.0, **more: Any) -> dict[str, Any]:
    """Started ``start_s`` after the recording began; ``more`` is of its spec."""
    asked = {"cpu": cpu, "memory": "2Gi"} if cpu else {}
    started = datetime.fromtimestamp(BEGAN_S + start_s, UTC)
    spec = {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": asked}}]}
    return {
        "metadata": {"name": name, "namespace": "web", "uid": f"{name}-0123456789", "labels": {}},
        "spec": spec | more,
        "status": {"phase": "Running", "startTime": started},
    }


def over(one: dict[str, Any], end_s: float) -> dict[str, Any]:
    finished = datetime.fromtimestamp(BEGAN_S + end_s, UTC)
    states = [{"state": {"terminated": {"finishedAt": finished}}}]
    return one | {"status": one["status"] | {"phase": "Succeeded", "containerStatuses": states}}


def recorded(*looks: tuple[float, list[dict[str, Any]]]) -> Recording:
    recording = Recording(BEGAN_S)
    for at_s, pods in looks:
        recording.look(BEGAN_S + at_s, NODES, pods)
    return recording


def test_pods_come_go_and_stay() -> None:
    early, stays, goes, done = (
        pod("early", start_s=-500.0), pod("stays", "500m", 5.0), pod("goes", start_s=12.0),
        pod("done", start_s=13.0),
    )  # fmt: skip
    table = recorded(
        (0, [early]), (10, [early, stays]), (20, [early, stays, goes, done]),
        (30, [stays, over(done, 21.0)]), (40, [stays]),
    ).allocations(BEGAN_S + 45)  # fmt: skip
    assert list(table.ids) == [
        "web/early/early-01", "web/stays/stays-01", "web/goes/goes-012", "web/done/done-012",
    ]  # fmt: skip
    assert table.start_s.tolist() == [0, 5, 12, 13]
    assert table.end_s.tolist() == [30, math.inf, 30, 21]
    assert table.cores.tolist() == [1, 0.5, 1, 1]
    assert table.memory_gib.tolist() == [2, 2, 2, 2]
    assert table.until_s == 45


def test_what_ended_before_waits_asks_for_nothing_or_is_elsewhere_is_left_out() -> None:
    waits = pod("waits")
    del waits["spec"]["nodeName"]
    recording = recorded(
        (1, [over(pod("before", start_s=-9.0), -1.0), waits, pod("idle", ""), pod("kept"),
             pod("system", nodeName="control")]),
    )  # fmt: skip
    assert [name.split("/")[1] for name in recording.allocations(BEGAN_S + 2).ids] == ["kept"]
    assert recording.best_effort == 1
    assert list(recording.nodes().ids) == ["a"]


def test_harvested_cores_and_low_priorities_are_evictable() -> None:
    elastic = pod("elastic", "")
    elastic["spec"]["containers"][0]["resources"]["requests"] = {"smartharvest.io/cores": "3"}
    table = recorded((1, [pod("cheap", priority=-10), pod("dear", priority=10), elastic]))
    found = table.allocations(BEGAN_S + 2)
    assert found.priority.tolist() == [EVICTABLE, REGULAR, EVICTABLE]
    assert found.cores.tolist() == [1, 1, 3]


def test_selectors_and_affinities_to_the_node_are_kept_with_the_labels_they_ask_for() -> None:
    def terms(key: str, **selector: Any) -> dict[str, Any]:
        term = {"topologyKey": key, "labelSelector": selector}
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}

    there = pod("there")
    there["metadata"]["labels"] = {"app": "web", "hash": "1"}
    apart = pod(
        "apart",
        nodeSelector={"zone": "x"},
        affinity={
            "podAntiAffinity": terms("kubernetes.io/hostname", matchLabels={"app": "web"}),
            "podAffinity": terms("topology.kubernetes.io/zone", matchLabels={"app": "db"}),
        },
    )
    table = recorded((1, [there, apart])).allocations(BEGAN_S + 2)
    assert table.constraints == {
        0: Constraints(selector={"zone": "x"}, anti_affinity={"app": "web"}),
        1: Constraints(labels={"app": "web"}),
    }


def test_a_recording_is_read_back_with_its_end(tmp_path: Path) -> None:
    table = recorded((1, [pod("a"), pod("b", nodeSelector={"zone": "x"})]))
    path = str(tmp_path / "pods.csv.gz")
    write_table(path, table.allocations(BEGAN_S + 3600))
    again = read_table(path)
    assert again.until_s == 3600
    assert again.censored.all()
    assert again.constraints == {1: Constraints(selector={"zone": "x"})}


def test_an_empty_cluster_is_no_trace() -> None:
    with pytest.raises(TraceError, match="no allocations"):
        recorded((1, [])).allocations(BEGAN_S + 2)
    with pytest.raises(TraceError, match="no nodes"):
        Recording(BEGAN_S).nodes()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ApiServer]:
    pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")
    made = ApiServer()
    made.nodes = NODES
    for name in ("one", "two", "three"):
        document = pod(name)
        document["status"]["startTime"] = "2026-01-01T00:00:00Z"
        made.pods[name] = document
    with made.serving():
        write_kubeconfig(tmp_path / "config", made.server_port)
        yield made


def arguments(tmp_path: Path) -> tuple[str, ...]:
    files = ("config", "pods.csv", "nodes.csv")
    config, pods, nodes = (str(tmp_path / name) for name in files)
    given = ("--kubeconfig", config, "--out", pods, "--nodes-out", nodes, "--every", "0.1")
    return ("fleet", "record", *given)


@pytest.mark.usefixtures("server")
def test_a_live_cluster_is_recorded_and_nothing_is_overwritten(tmp_path: Path) -> None:
    done = smartharvest_here(*arguments(tmp_path), "--seconds", "0.2")
    assert (done.code, done.err) == (0, "")
    assert "3 pods over 0.0 h" in done.out
    table = read_table(str(tmp_path / "pods.csv"))
    assert sorted(name.split("/")[1] for name in table.ids) == ["one", "three", "two"]
    assert table.censored.all()
    nodes = read_nodes(str(tmp_path / "nodes.csv"))
    assert (list(nodes.ids), nodes.labels) == (["a"], [{"zone": "x"}])
    before = (tmp_path / "pods.csv").read_bytes()
    again = smartharvest_here(*arguments(tmp_path), "--seconds", "0.1")
    assert again.code == 2
    assert "exists" in again.failure
    assert (tmp_path / "pods.csv").read_bytes() == before


def test_a_signal_ends_it_with_both_files_and_an_outage_does_not_end_it(
    server: ApiServer, tmp_path: Path
) -> None:
    with subprocess.Popen(
        as_command((*arguments(tmp_path), "--save", "0.1")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            ends_s = time.monotonic() + LONGEST_S
            while not (tmp_path / "pods.csv").exists() and time.monotonic() < ends_s:
                time.sleep(0.02)
            del server.pods["two"]
            while not _ended(tmp_path) and time.monotonic() < ends_s:
                time.sleep(0.02)
            server.broken = True
            time.sleep(0.3)
            running.send_signal(signal.SIGTERM)
            out, err = running.communicate(timeout=LONGEST_S)
        finally:
            if running.poll() is None:
                running.kill()
    assert (running.returncode, out.count("3 pods")) == (0, 1), err
    assert "recording goes on" in err
    assert _ended(tmp_path) == ["two"]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".new")]


def _ended(tmp_path: Path) -> list[str]:
    table = read_table(str(tmp_path / "pods.csv"))
    ends = zip(table.ids, table.end_s, strict=True)
    return [name.split("/")[1] for name, end in ends if math.isfinite(end)]


def test_an_api_server_that_refuses_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")
    made = ApiServer()
    made.broken = True
    with made.serving():
        write_kubeconfig(tmp_path / "config", made.server_port)
        outcome = smartharvest_here(*arguments(tmp_path), "--seconds", "0.2")
    assert "500" in outcome.failure
    assert sorted(os.listdir(tmp_path)) == ["config"]
