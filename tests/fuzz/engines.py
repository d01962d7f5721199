"""Targets that are what cluster engines say: JSON and the output of commands."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from unittest import mock

from smartharvest.cluster import htcondor_node, slurm_node
from smartharvest.cluster.htcondor_node import HTCondorNode
from smartharvest.cluster.kubernetes_node import KubernetesNode
from smartharvest.cluster.refusals import Refusals
from smartharvest.cluster.slurm_node import SlurmNode
from smartharvest.errors import EngineError
from tests.fuzz.target import Target, check_message, scratch, text


def _use(node: Any) -> None:
    """All that an adapter asks of an engine in a turn, at the end of the grace."""
    for ask in (node.verify, node.in_use, lambda: node.shed(0, 0.0)):
        try:
            ask()
        except EngineError as error:
            check_message(str(error))


def _slurm(data: bytes) -> None:
    said = text(data)

    def run(*command: str, package: str) -> tuple[str, str | None]:
        del package
        return ("", None) if command[1] in ("update", "requeue") else (said, None)

    node = object.__new__(SlurmNode)
    node.__dict__.update(_made_slurm())
    with mock.patch.object(slurm_node, "run_command", run):
        _use(node)


def _made_slurm() -> dict[str, Any]:
    def run(*_command: str, package: str) -> tuple[str, str | None]:
        del package
        return "NodeName=n PartitionName=p MaxCPUsPerNode=3 Gres=harvest:3", None

    with mock.patch.object(slurm_node, "run_command", run):
        return vars(SlurmNode("n", "p", "harvest"))


def _condor(data: bytes) -> None:
    def run(*command: str, package: str) -> tuple[str, str | None]:
        del package
        return ("<127.0.0.1:1>", None) if "-af" in command else (text(data), None)

    with mock.patch.object(htcondor_node, "run_command", run):
        _use(HTCondorNode("m", f"{scratch()}/advertisement"))


def _object(value: Any) -> Any:
    """As the client makes objects of what the API server says: what is missing is None."""
    if isinstance(value, dict):
        return _Lenient(**{str(key): _object(one) for key, one in value.items()})
    return [_object(one) for one in value] if isinstance(value, list) else value


class _Lenient(SimpleNamespace):
    def __getattr__(self, _name: str) -> None:
        return None


class _Api:
    """The API server: its node and its pods are what it is told."""

    def __init__(self, said: Any) -> None:
        self._said = said

    def read_node(self, *_: Any, **__: Any) -> Any:
        amount = {"smartharvest.io/cores": self._said.get("amount")}
        return _Lenient(status=_Lenient(capacity=amount, allocatable=amount))

    def list_pod_for_all_namespaces(self, **_: Any) -> Any:
        def pod(asked: Any) -> Any:
            resources = _Lenient(requests={"smartharvest.io/cores": asked})
            return _Lenient(
                metadata=_Lenient(name="p", namespace="n", creation_timestamp=1),
                spec=_Lenient(containers=[_Lenient(resources=resources)]),
                status=_Lenient(phase="Running"),
            )

        asked = self._said.get("pods")
        return _Lenient(items=[pod(one) for one in asked] if isinstance(asked, list) else [])

    def patch_node_status(self, *_: Any, **__: Any) -> None: ...

    def create_namespaced_pod_eviction(self, *_: Any, **__: Any) -> None: ...

    def delete_namespaced_pod(self, *_: Any, **__: Any) -> None: ...


def _kubernetes(data: bytes) -> None:
    """Quantities, which are texts in any of a dozen spellings."""
    from kubernetes import client

    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    amounts = [said.get("amount"), *(said["pods"] if isinstance(said.get("pods"), list) else [])]
    if not all(one is None or isinstance(one, str) for one in amounts):
        return  # the client's own types
    node = object.__new__(KubernetesNode)
    node.__dict__.update(
        _client=client, _name="n", _resource="smartharvest.io/cores", _api=_Api(said),
        _refusals=Refusals("pod", "evicted"),
    )  # fmt: skip
    _use(node)


_ADS = json.dumps([
    {"Name": "slot1@m", "SlotType": "Partitionable", "Cpus": 4, "HarvestedCores": 3,
     "HarvestTold": 1_700_000_000},
    {"Name": "slot1_1@m", "SlotType": "Dynamic", "Cpus": 2, "JobStart": 1_700_000_000},
])  # fmt: skip

TARGETS = (
    Target("slurm", _slurm, (), (
        b"12|2|1|2026-01-01T00:00:00\n13|4|2|2026-01-01T00:00:01\n",
        b"PartitionName=p MaxCPUsPerNode=3 Gres=harvest:3,gpu:1\n",
    )),
    Target("htcondor", _condor, (), (_ADS.encode(), b"", b"[]")),
    Target("kubernetes", _kubernetes, (), (b'{"amount": "3", "pods": ["1", "2"]}',)),
)  # fmt: skip
