"""The scale subresource, against a double of the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError, EngineError
from smartharvest.serverless.kubernetes_pool import KubernetesPool
from tests.kubernetes_api import SCALE, ApiServer, write_kubeconfig

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")


def node(
    name: str, cores: str | None, *, ready: str = "True", cordoned: bool = False
) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "allocatable": {"smartharvest.io/cores": cores} if cores is not None else {},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer().serving() as made:
        yield made


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> str:
    return write_kubeconfig(tmp_path / "config", server.server_port)


def test_the_scale_is_read_and_set(server: ApiServer, kubeconfig: str) -> None:
    pool = KubernetesPool(SCALE, "pool=harvest", kubeconfig)
    assert pool.asked() == 3
    pool.ask(5)
    assert server.scale == {"replicas": 5}
    assert pool.asked() == 5
    server.scale.clear()  # as the API writes a zero
    assert pool.asked() == 0
    server.broken = True
    with pytest.raises(EngineError, match="500"):
        pool.asked()
    pool.close()


def test_promises_are_read_page_by_page_and_a_node_that_is_not_ready_has_none(
    server: ApiServer, kubeconfig: str
) -> None:
    server.nodes = [
        node("n1", "3"),
        node("n2", "4", ready="Unknown"),
        node("n3", None),
        node("n4", "2", cordoned=True),
        node("n5", "0"),
    ]
    pool = KubernetesPool(SCALE, "pool=harvest", kubeconfig)
    assert pool.nodes() == {"n1": 3, "n2": None, "n3": None, "n4": 0, "n5": 0}
    assert server.selectors == {"pool=harvest"}
    pool.close()


def test_a_scale_that_is_written_wrongly_or_does_not_exist_is_refused(kubeconfig: str) -> None:
    with pytest.raises(ConfigError, match="write GROUP/VERSION/PLURAL/NAMESPACE/NAME"):
        KubernetesPool("machinedeployments/harvest", "a=b", kubeconfig)
    with pytest.raises(ConfigError, match="not found, or without a scale"):
        KubernetesPool("apps/v1/deployments/default/web", "a=b", kubeconfig)
