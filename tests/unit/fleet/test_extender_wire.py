"""What the extender reads and writes: whole nodes pass through it as they came, also over TLS."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError
from smartharvest.fleet import extender_wire
from smartharvest.fleet.extender import NOTHING_KNOWN, BadRequest, filtered, parse
from smartharvest.fleet.extender_server import ExtenderServer, tls_context
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.extender_wire import decode, encode
from smartharvest.fleet.placement import WAYS

READERS = ("sparing", "whole")
NODES: list[dict[str, Any]] = [
    {"metadata": {"name": "a", "labels": {"x": '\u00fc"}]'}}, "status": {"images": [1.5, None]}},
    {"metadata": {"labels": {"name": "not this"}, "name": "b.example.org"}, "spec": {}},
    {"status": {"metadata": {"name": "nor this"}}, "metadata": {"name": "c\u002d1"}},
]
NAMES = ["a", "b.example.org", "c-1"]


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With msgspec, and as without."""
    if request.param == "sparing":
        pytest.importorskip("msgspec", reason="msgspec is not installed")
    else:
        monkeypatch.setattr(extender_wire, "_sparing", None)
        monkeypatch.setattr(extender_wire, "_encode", extender_wire._dumped)
    return str(request.param)


def body(**more: Any) -> dict[str, Any]:
    return {"Pod": {"spec": {}}, "Nodes": {"metadata": {}, "items": NODES}, **more}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("separators", [(",", ":"), (" , ", " : ")])
def test_whole_nodes_come_back_as_they_came(separators: tuple[str, str]) -> None:
    data = json.dumps(body(NodeNames=None), separators=separators).encode()
    asked = parse(decode(data))
    assert asked.names == NAMES
    answer = json.loads(encode(filtered(asked, NOTHING_KNOWN)))
    assert answer == {"FailedNodes": {}, "Error": "", "Nodes": {"items": NODES}}


def test_nodes_are_not_parsed_if_they_can_be_passed_on() -> None:
    pytest.importorskip("msgspec", reason="msgspec is not installed")
    asked = parse(decode(json.dumps(body()).encode()))
    assert asked.nodes is not None
    assert [bytes(node.document) for node in asked.nodes] == [
        json.dumps(node).encode() for node in NODES
    ]


@pytest.mark.usefixtures("reader")
def test_names_win_over_nodes_and_keys_may_be_spelled_in_any_case() -> None:
    assert parse(decode(json.dumps(body(NodeNames=["z"])).encode())).names == ["z"]
    spelled = {"pod": {}, "nodes": {"Items": NODES}}
    assert parse(decode(json.dumps(spelled).encode())).names == NAMES


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"Nodes": 1}', b'{"Nodes": {"items": 1}}',
        b'{"Nodes": {"items": [1]}}', b'{"Nodes": {"items": [{"metadata": {"name": 1}}]}}',
        b'{"Nodes": {"items": [{"metadata": {}}]}}', b'{"NodeNames": [null]}',
        b'{"NodeNames": ["a"]} x', b'{"Nodes": {"items": [{"metadata": {"name": "a"}]}}',
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_by_either_reader(data: bytes) -> None:
    with pytest.raises(BadRequest):
        parse(decode(data))


@contextmanager
def serving(tls: ssl.SSLContext) -> Iterator[int]:
    server = ExtenderServer("127.0.0.1", 0, View(60.0), WAYS["best-fit"], tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(port: int, context: ssl.SSLContext) -> int:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    try:
        connection.request("POST", "/filter", json.dumps({"Pod": {}, "NodeNames": ["a"]}))
        answer = connection.getresponse()
        assert json.loads(answer.read())["NodeNames"] == ["a"]
        return answer.status
    finally:
        connection.close()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """cert.pem and key.pem of the server, client.pem and client.key of a client; self-signed."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    directory = tmp_path_factory.mktemp("tls")
    for cert, key, extra in (
        ("cert.pem", "key.pem", "subjectAltName=IP:127.0.0.1"),
        ("client.pem", "client.key", "extendedKeyUsage=clientAuth"),
    ):
        made = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", "/CN=made", "-addext", extra,
                "-keyout", str(directory / key), "-out", str(directory / cert)]  # fmt: skip
        done = subprocess.run(made, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            pytest.skip(f"openssl makes no certificate: {done.stderr.decode()[-200:]}")
    return directory


def trusting(keys: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(keys / "cert.pem"))


def test_with_a_certificate_it_answers_over_tls_and_only_so(keys: Path) -> None:
    with serving(tls_context(str(keys / "cert.pem"), str(keys / "key.pem"), None)) as port:
        assert ask(port, trusting(keys)) == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            ask(port, ssl.create_default_context())
        plain = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        plain.request("GET", "/healthz")
        with pytest.raises((http.client.HTTPException, OSError)):
            plain.getresponse()
        plain.close()
        assert ask(port, trusting(keys)) == 200


def test_a_peer_that_does_not_shake_hands_holds_up_nobody(keys: Path) -> None:
    with (
        serving(tls_context(str(keys / "cert.pem"), str(keys / "key.pem"), None)) as port,
        socket.create_connection(("127.0.0.1", port)),
    ):
        assert ask(port, trusting(keys)) == 200


def test_with_a_client_ca_only_clients_that_it_has_signed_are_answered(keys: Path) -> None:
    server = tls_context(*(str(keys / name) for name in ("cert.pem", "key.pem", "client.pem")))
    with serving(server) as port:
        with pytest.raises((ssl.SSLError, http.client.HTTPException, OSError)):
            ask(port, trusting(keys))
        known = trusting(keys)
        known.load_cert_chain(keys / "client.pem", keys / "client.key")
        assert ask(port, known) == 200


def test_a_certificate_that_cannot_be_used_is_one_line(keys: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    for cert in (tmp_path / "none", tmp_path / "empty", keys / "client.pem"):
        with pytest.raises(ConfigError, match="--cert") as caught:
            tls_context(str(cert), str(keys / "key.pem"), None)
        assert "\n" not in str(caught.value)
