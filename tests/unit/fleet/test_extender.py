"""A scheduler gets an answer that is right, or one that holds nothing up."""

from __future__ import annotations

import copy
import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.errors import ConfigError, Unavailable
from smartharvest.fleet.extender import (
    HIGHEST,
    MIDDLE,
    NOTHING_KNOWN,
    BadRequest,
    filtered,
    parse,
    prioritized,
    quantity,
    requests_of,
)
from smartharvest.fleet.extender_server import ExtenderServer
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.placement import WAYS
from tests.commands import smartharvest_here

POD = {
    "metadata": {
        "name": "web-7d4b9c6f5-x2x9z",
        "namespace": "default",
        "uid": "3b0c0f5e-6f7e-4d55-9a43-1f5d8c3f7b11",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "web", "pod-template-hash": "7d4b9c6f5"},
    },
    "spec": {
        "containers": [
            {
                "name": "web",
                "image": "nginx",
                "resources": {
                    "limits": {"memory": "2Gi"},
                    "requests": {"cpu": "3500m", "memory": "2Gi"},
                },
                "imagePullPolicy": "Always",
            },
            {"name": "log", "image": "log", "resources": {"requests": {"cpu": "500m"}}},
        ],
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
    },
    "status": {"phase": "Pending", "qosClass": "Burstable"},
}
"""As kube-scheduler sends it: Go's ExtenderArgs has capital keys, the pod the API's own."""
NAMES = ["a", "b", "c"]
ARGS = {"Pod": POD, "Nodes": None, "NodeNames": NAMES}


def elastic_pod(cores: str, must: str | None = None) -> dict[str, Any]:
    pod = copy.deepcopy(POD)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"smartharvest.io/cores": cores}}  # type: ignore[index]
    if must is not None:
        pod["metadata"]["annotations"] = {"smartharvest.io/promised": must}  # type: ignore[index]
    return pod


def capacity(now: int, guaranteed: int, promised: int) -> dict[str, Any]:
    return {"cores": {"now": now, "guaranteed": guaranteed, "promised": promised}}


@pytest.fixture
def view() -> View:
    """a: 8 cores harvested for long; b: 8 harvested just now; c: nothing is known."""
    view = View(stale_s=100.0)
    for name in ("a", "b"):
        view.set_size(name, 16, 64)
    view.set_used({"a": (4, 16, 0), "b": (4, 16, 0)})
    view.hear("a", capacity(9, 1, 6), 0.0)
    view.hear("a", capacity(9, 1, 6), 90_000.0)
    view.hear("b", capacity(9, 1, 2), 90_000.0)
    view.renew(90_010.0)
    return view


def scores(body: Any, view: View, way: str = "least-harvested") -> dict[str, int]:
    answer = prioritized(parse(body), view.known, WAYS[way])
    assert [set(one) for one in answer] == [{"Host", "Score"}] * len(answer)
    return {one["Host"]: one["Score"] for one in answer}


def test_a_regular_pod_goes_where_least_is_lost(view: View) -> None:
    assert scores(ARGS, view) == {"a": 0, "b": HIGHEST, "c": MIDDLE}


@pytest.mark.parametrize("way", WAYS)
def test_any_score_ranks(view: View, way: str) -> None:
    view.set_used({"a": (4, 16, 0), "b": (8, 40, 0)})
    view.renew(90_010.0)
    found = scores(ARGS, view, way)
    assert sorted(found) == NAMES
    assert {found["a"], found["b"]} == {0, HIGHEST}


def test_an_elastic_pod_goes_where_most_is_promised(view: View) -> None:
    body = {**ARGS, "Pod": elastic_pod("4")}
    assert scores(body, view) == {"a": HIGHEST, "b": 0, "c": MIDDLE}


def test_only_a_pod_that_says_so_is_kept_from_nodes_that_promise_less(view: View) -> None:
    must = filtered(parse({**ARGS, "Pod": elastic_pod("4", "true")}), view.known)
    assert must["NodeNames"] == ["a", "c"]
    assert must["FailedNodes"] == {"b": "promises 2 harvested cores of 4"}
    for pod in (POD, elastic_pod("4"), elastic_pod("4", "false")):
        assert filtered(parse({**ARGS, "Pod": pod}), view.known)["NodeNames"] == NAMES


def test_what_elastic_pods_have_already_is_no_longer_there(view: View) -> None:
    view.set_used({"a": (4, 16, 5), "b": (4, 16, 0)})
    view.renew(90_010.0)
    body = {**ARGS, "Pod": elastic_pod("2", "true")}
    assert scores(body, view) == {"a": 0, "b": HIGHEST, "c": MIDDLE}
    answer = filtered(parse(body), view.known)
    assert answer["NodeNames"] == ["b", "c"]
    assert answer["FailedNodes"] == {"a": "promises 1 harvested cores of 2"}


def test_an_agent_that_falls_silent_promises_nothing_and_blocks_nobody(view: View) -> None:
    view.renew(90_200.0)
    body = {**ARGS, "Pod": elastic_pod("4", "true")}
    assert filtered(parse(body), view.known)["NodeNames"] == NAMES
    assert set(scores(body, view).values()) == {MIDDLE}


def test_whole_nodes_come_back_as_they_came(view: View) -> None:
    nodes = [{"metadata": {"name": name}, "status": {"x": name}} for name in NAMES]
    body = {"Pod": elastic_pod("4", "true"), "Nodes": {"metadata": {}, "items": nodes}}
    answer = filtered(parse(body), view.known)
    assert answer["Nodes"]["items"] == [nodes[0], nodes[2]]
    assert "NodeNames" not in answer
    assert scores(body, view).keys() == set(NAMES)


def test_keys_may_be_spelled_in_any_case(view: View) -> None:
    body = {"pod": POD, "nodenames": NAMES}
    assert scores(body, view) == scores(ARGS, view)


@pytest.mark.parametrize(
    "body", [None, [], "x", {}, {"NodeNames": [1]}, {"NodeNames": "a"}, {"Nodes": {"items": [{}]}}]
)
def test_what_is_no_request_is_refused(body: Any) -> None:
    with pytest.raises(BadRequest):
        parse(body)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["spec", "containers", "resources", "requests", "cpu", "metadata"]), inner,
        max_size=3,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=20)
@given(pod=anything)
def test_whatever_the_pod_every_node_gets_an_answer(pod: Any) -> None:
    asked = parse({"Pod": pod, "NodeNames": NAMES})
    assert filtered(asked, NOTHING_KNOWN)["NodeNames"] == NAMES
    answer = prioritized(asked, NOTHING_KNOWN, WAYS["best-fit"])
    assert [one["Score"] for one in answer] == [MIDDLE] * 3


def test_quantities_are_kubernetes() -> None:
    expected = {"500m": 0.5, "2": 2, "1.5Gi": 1.5 * 2**30, "1e3": 1000, "3k": 3000, "100n": 1e-7,
                "": 0, "x": 0, "-1": 0, "nan": 0, "sNaN": 0, "1e999999": 0, "Ki": 0}  # fmt: skip
    assert {text: quantity(text) for text in expected} == pytest.approx(expected)


def container(cpu: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}}


def test_requests_count_as_the_scheduler_counts() -> None:
    pod = {
        "spec": {
            "containers": [container("1"), container("500m")],
            "initContainers": [container("2"), container("1")],
            "overhead": {"cpu": "250m"},
        }
    }
    assert requests_of(pod) == {"cpu": 2.25}


@pytest.mark.parametrize(
    ("init", "cores"),
    [
        (["2 always"], 3.5),  # it runs for as long as the others
        (["1 always", "3"], 4.0),  # and while those after it start
        (["3", "1 always"], 3.0),
    ],
)
def test_a_sidecar_counts_for_as_long_as_it_runs(init: list[str], cores: float) -> None:
    starting = [container(text.split()[0]) for text in init]
    for made, text in zip(starting, init, strict=True):
        if text.endswith("always"):
            made["restartPolicy"] = "Always"
    containers = [container("1"), container("500m")]
    spec = {"containers": containers, "initContainers": starting}
    assert requests_of({"spec": spec}) == {"cpu": cores}
    whole = container("8")["resources"]
    assert requests_of({"spec": spec | {"resources": whole}}) == {"cpu": 8.0}


@pytest.fixture
def server(view: View) -> Iterator[ExtenderServer]:
    made = ExtenderServer("127.0.0.1", 0, view, WAYS["least-harvested"])
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server: ExtenderServer, path: str, body: bytes | None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request("GET" if body is None else "POST", path, body)
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def test_it_answers_over_http(server: ExtenderServer) -> None:
    body = json.dumps(ARGS).encode()
    assert ask(server, "/filter", body) == (
        200,
        {"NodeNames": NAMES, "FailedNodes": {}, "Error": ""},
    )
    status, answer = ask(server, "/scheduler/prioritize", body)
    assert status == 200
    assert answer[1] == {"Host": "b", "Score": HIGHEST}
    assert ask(server, "/healthz", None) == (200, {"nodes": 2})
    assert ask(server, "/bind", body)[0] == 404
    assert ask(server, "/else", None)[0] == 404


def test_a_connection_ends_with_its_answer(server: ExtenderServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request("POST", "/filter", json.dumps(ARGS).encode(), {"Connection": "keep-alive"})
    answer = connection.getresponse()
    answer.read()
    assert answer.will_close
    connection.close()


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 5000])
def test_wrong_input_is_an_error_of_that_request_only(server: ExtenderServer, body: bytes) -> None:
    assert ask(server, "/filter", body)[0] == 400
    assert ask(server, "/filter", json.dumps(ARGS).encode())[0] == 200


def test_a_silent_peer_holds_up_nobody(server: ExtenderServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port)) as silent:
        silent.sendall(b"POST /filter HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        assert ask(server, "/filter", json.dumps(ARGS).encode())[0] == 200


def test_only_loopback_without_tls(view: View) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):
        with pytest.raises(ConfigError, match="is not loopback"):
            ExtenderServer(host, 0, view, WAYS["best-fit"])


def test_a_taken_address_is_unavailable(server: ExtenderServer, view: View) -> None:
    with pytest.raises(Unavailable):
        ExtenderServer("127.0.0.1", server.server_port, view, WAYS["best-fit"])


def test_the_schedulers_configuration_is_printed() -> None:
    outcome = smartharvest_here(
        "fleet", "extender", "--nodes", "2x8c16g", "--scheduler-configuration"
    )
    [extender] = json.loads(outcome.out)["extenders"]
    assert extender["ignorable"] is True
    assert extender["nodeCacheCapable"] is True
    assert extender["urlPrefix"] == "http://127.0.0.1:9445"
    assert extender["enableHTTPS"] is False
    assert "tlsConfig" not in extender


def test_the_schedulers_configuration_has_it_check_the_certificate() -> None:
    outcome = smartharvest_here(
        "fleet", "extender", "--kubeconfig", "s.conf", "--cert", "x.crt", "--key", "x.key",
        "--client-ca", "ca.crt", "--scheduler-configuration"
    )  # fmt: skip
    document = json.loads(outcome.out)
    assert document["clientConnection"] == {"kubeconfig": os.path.abspath("s.conf")}
    [extender] = document["extenders"]
    assert extender["urlPrefix"] == "https://127.0.0.1:9445"
    assert extender["enableHTTPS"] is True
    assert extender["tlsConfig"]["caFile"] == os.path.abspath("x.crt")
    assert extender["tlsConfig"].keys() == {"caFile", "certFile", "keyFile"}


@pytest.mark.parametrize(
    "arguments",
    [("--nodes", "2x8c8g", "--place", "luck"), ("--nodes", "2x8c8g", "--cert", "x"),
     ("--nodes", "2x8c8g", "--listen", "9445"), (), ("--nodes", "2x8c8g", "--capacity", "http://x"),
     ("--nodes", "2x8c8g", "--listen", "0.0.0.0:0")],
)  # fmt: skip
def test_wrong_options_are_one_line(arguments: tuple[str, ...]) -> None:
    outcome = smartharvest_here("fleet", "extender", *arguments)
    assert outcome.code == 2
    assert outcome.failure
