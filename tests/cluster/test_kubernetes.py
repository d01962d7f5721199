"""The Kubernetes adapter against a double of the API server that enforces what it enforces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster.kubernetes_node import RESOURCE, KubernetesNode
from smartharvest.errors import ConfigError, EngineError
from tests.cluster.journey import travel
from tests.kubernetes_api import ApiServer, Handler, write_kubeconfig

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")

MANIFEST = Path(__file__).parents[2] / "packaging" / "kubernetes" / "adapter.yaml"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer().serving() as made:
        yield made


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> str:
    return write_kubeconfig(tmp_path / "config", server.server_port)


@pytest.fixture
def node(kubeconfig: str) -> Iterator[KubernetesNode]:
    made = KubernetesNode("n1", kubeconfig)
    yield made
    made.close()


def test_capacity_and_allocatable_are_told_and_read_back(
    server: ApiServer, node: KubernetesNode
) -> None:
    assert node.verify() is None
    node.advertise(3)
    assert server.status == {"capacity": {RESOURCE: "3"}, "allocatable": {RESOURCE: "3"}}
    assert node.verify() == 3
    server.status["allocatable"][RESOURCE] = "0"  # a kubelet that restarted
    assert node.verify() is None


def test_pods_count_by_what_they_ask_for_until_they_have_ended(
    server: ApiServer, node: KubernetesNode
) -> None:
    server.add_pod("two", 2, created=1)
    server.add_pod("none", 0, created=2)
    server.add_pod("done", 4, created=3, phase="Succeeded")
    assert node.in_use() == 2


def test_the_youngest_pods_are_evicted_after_the_grace_and_only_as_many_as_needed(
    server: ApiServer, node: KubernetesNode
) -> None:
    for number in range(4):
        server.add_pod(f"p{number}", 1, created=number)
    node.shed(2, grace_s=1.0)
    node.shed(2, grace_s=0.0)
    node.shed(2, grace_s=0.0)  # those that end already need no second eviction
    going = {name for name, pod in server.pods.items() if "deletionTimestamp" in pod["metadata"]}
    assert going == {"p2", "p3"}


def test_a_disruption_budget_holds_and_is_told(server: ApiServer, node: KubernetesNode) -> None:
    server.add_pod("guarded", 1, created=1)
    server.budgets.add("guarded")
    with pytest.raises(EngineError, match="pod batch/guarded: may not be evicted now"):
        node.shed(0, grace_s=0.0)


def test_a_pod_of_another_node_is_not_ended_whatever_the_adapter_believes(
    server: ApiServer, node: KubernetesNode
) -> None:
    server.add_pod("elsewhere", 1, created=1, node="n2")
    server.listed_wrongly.append(server.pods["elsewhere"])
    with pytest.raises(EngineError, match="pod batch/elsewhere: 403"):
        node.shed(0, grace_s=0.0)
    assert "deletionTimestamp" not in server.pods["elsewhere"]["metadata"]


def test_another_pod_of_the_same_name_is_not_ended(server: ApiServer, node: KubernetesNode) -> None:
    server.add_pod("web-0", 1, created=1)
    before = json.loads(json.dumps(server.pods["web-0"]))
    before["metadata"]["uid"] = "of the one before"
    server.pods["web-0"]["spec"]["nodeName"] = "n2"
    server.listed_wrongly.append(before)
    node.shed(0, grace_s=0.0)
    assert "deletionTimestamp" not in server.pods["web-0"]["metadata"]


def test_a_guarded_pod_does_not_keep_others_from_being_evicted(
    server: ApiServer, node: KubernetesNode
) -> None:
    for number in range(4):
        server.add_pod(f"p{number}", 1, created=number)
    server.budgets.add("p3")  # the youngest
    node.shed(2, grace_s=0.0)
    going = {name for name, pod in server.pods.items() if "deletionTimestamp" in pod["metadata"]}
    assert going == {"p1", "p2"}


@pytest.mark.parametrize("amount", ["x", "1e99", "-1", "NaN"])
def test_a_quantity_that_is_no_number_of_cores_is_told(
    server: ApiServer, node: KubernetesNode, amount: str
) -> None:
    server.status = {part: {RESOURCE: amount} for part in ("capacity", "allocatable")}
    with pytest.raises(EngineError, match="is no number of cores"):
        node.verify()


def test_quantities_have_suffixes(server: ApiServer, node: KubernetesNode) -> None:
    server.status = {part: {RESOURCE: "1k"} for part in ("capacity", "allocatable")}
    assert node.verify() == 1000


def test_a_node_that_is_not_there_is_a_wrong_setting(kubeconfig: str) -> None:
    with pytest.raises(ConfigError, match="there is no node n2"):
        KubernetesNode("n2", kubeconfig)


def test_a_server_that_does_not_answer_is_tried_again(
    server: ApiServer, node: KubernetesNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "status", None)
    monkeypatch.setattr(Handler, "do_GET", lambda self: self.connection.close())
    with pytest.raises(EngineError, match="does not answer"):
        node.in_use()


def test_without_a_configuration_it_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give --kubeconfig FILE"):
        KubernetesNode("n1", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="or run it as a pod"):
        KubernetesNode("n1", None)


@pytest.mark.parametrize("version", ["1.32", "1.37"])
def test_the_shipped_manifest_is_one_to_the_letter(version: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="not installed")
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all(MANIFEST.read_text()))
    for document in documents:
        kubernetes_validate.validate(document, version, strict=True)
    assert [document["kind"] for document in documents].count("DaemonSet") == 1


def test_the_shipped_role_allows_what_the_adapter_asks_for_and_no_more() -> None:
    yaml = pytest.importorskip("yaml")
    documents = yaml.safe_load_all(MANIFEST.read_text())
    (role,) = (document for document in documents if document["kind"] == "ClusterRole")
    allowed = {(*rule["resources"], *rule["verbs"]) for rule in role["rules"]}
    assert allowed == {
        ("nodes", "get"),
        ("nodes/status", "patch"),
        ("pods", "list", "delete"),
        ("pods/eviction", "create"),
    }


def test_every_right_to_change_something_is_restricted_to_the_node() -> None:
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all(MANIFEST.read_text()))
    policies = [one for one in documents if one["kind"] == "ValidatingAdmissionPolicy"]
    bound = {
        one["spec"]["policyName"]: one["spec"]["validationActions"]
        for one in documents
        if one["kind"] == "ValidatingAdmissionPolicyBinding"
    }
    restricted = set()
    for policy in policies:
        assert bound[policy["metadata"]["name"]] == ["Deny"]
        assert policy["spec"]["failurePolicy"] == "Fail"
        (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
        restricted.add((*rule["resources"], *rule["operations"]))
        words = " ".join(one["expression"] for one in policy["spec"]["validations"])
        assert "node-name" in words or "request.dryRun" in words
    assert restricted == {
        ("nodes/status", "UPDATE"),
        ("pods", "DELETE"),
        ("pods/eviction", "CREATE"),
    }


def allows(policy: str, **request: Any) -> bool:
    """What the expressions of the shipped policy say to a request."""
    celpy = pytest.importorskip("celpy", reason="cel-python is not installed")
    yaml = pytest.importorskip("yaml")
    documents = yaml.safe_load_all(MANIFEST.read_text())
    (found,) = (
        one["spec"]["validations"]
        for one in documents
        if (one["kind"], one["metadata"]["name"]) == ("ValidatingAdmissionPolicy", policy)
    )
    language = celpy.Environment()
    asked = celpy.json_to_cel(request)
    return all(
        language.program(language.compile(one["expression"])).evaluate(asked) for one in found
    )


def by_adapter(node: str | None = "n1") -> dict[str, Any]:
    extra = {} if node is None else {"authentication.kubernetes.io/node-name": [node]}
    return {"userInfo": {"extra": extra}}


ASKS = {"resources": {"requests": {RESOURCE: "1"}}}
PODS = {
    "of this node": ({"nodeName": "n1", "containers": [ASKS]}, True),
    "asking at its start only": (
        {"nodeName": "n1", "containers": [{}], "initContainers": [ASKS]}, True,
    ),
    "of another node": ({"nodeName": "n2", "containers": [ASKS]}, False),
    "of no node yet": ({"containers": [ASKS]}, False),
    "that asks for no lent core": ({"nodeName": "n1", "containers": [{}]}, False),
}  # fmt: skip


@pytest.mark.parametrize("pod", PODS)
def test_the_policy_lets_the_adapter_end_only_pods_of_its_node(pod: str) -> None:
    spec, may = PODS[pod]
    policy = "smartharvest-adapter-pods"
    assert allows(policy, request=by_adapter(), oldObject={"spec": spec}) is may
    assert not allows(policy, request=by_adapter(None), oldObject={"spec": spec})


def test_the_policies_allow_its_own_nodes_number_and_questions() -> None:
    for node, may in (("n1", True), ("n2", False)):
        named = {"metadata": {"name": node}}
        assert allows("smartharvest-adapter", request=by_adapter(), object=named) is may
    for request, may in (({"dryRun": True}, True), ({"dryRun": False}, False), ({}, False)):
        assert allows("smartharvest-adapter-evictions", request=request) is may


def test_the_pod_is_nobody_and_reaches_only_the_socket_that_tells() -> None:
    yaml = pytest.importorskip("yaml")
    documents = yaml.safe_load_all(MANIFEST.read_text())
    (pods,) = (one for one in documents if one["kind"] == "DaemonSet")
    spec = pods["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert [volume["hostPath"]["path"] for volume in spec["volumes"]] == [
        "/run/smartharvest/status"
    ]
    (container,) = spec["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.cluster
def test_pods_follow_through_deaths(
    server: ApiServer, node: KubernetesNode, kubeconfig: str, tmp_path: Path
) -> None:
    server.replicas = 8
    node.advertise(1)
    travel(node, ("kubernetes", "--node", "n1", "--kubeconfig", kubeconfig), str(tmp_path))
    assert len(server.pods) == 1
