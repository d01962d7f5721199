"""The extender over HTTP on loopback, or over TLS; an answer never waits for the cluster."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from smartharvest.errors import ConfigError, Unavailable
from smartharvest.fleet.extender import BadRequest, filtered, parse, prioritized
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.extender_wire import decode, encode
from smartharvest.fleet.placement import Way

_log = logging.getLogger(__name__)
LONGEST_BODY = 64 << 20
"""Bytes: a thousand whole Node objects are some 15 MiB."""
READ_WITHIN_S = 2.0
MOST_AT_ONCE = 32


class ExtenderServer(ThreadingHTTPServer):
    """Answers /filter, /prioritize and /healthz with what ``view`` knows.

    Without ``tls`` it listens on loopback only. Raises ConfigError for another address, Unavailable
    if the address cannot be had.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, host: str, port: int, view: View, way: Way, tls: ssl.SSLContext | None = None
    ) -> None:
        if tls is None and not _is_loopback(host):
            raise ConfigError(
                f"--listen: {host} is not loopback; give --cert and --key, or listen on 127.0.0.1"
            )
        self.view, self.way, self._tls = view, way, tls
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise Unavailable(f"--listen: {host}:{port}: {error.strerror or error}") from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """One thread a request, of which there are few; the others are turned away at once."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The handshake is here, so that a silent peer holds up only its own thread."""
        try:
            request.settimeout(READ_WITHIN_S)
            if self._tls is not None:
                request = self._tls.wrap_socket(request, server_side=True)
            super().process_request_thread(request, client_address)
        except OSError:
            with contextlib.suppress(OSError):
                request.close()
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A peer that hangs up is not worth a message."""
        _log.debug("%s: broke off", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: ExtenderServer
    # One answer a connection. kube-scheduler would keep it for its next pod, and lose the request
    # that it sends while an idle connection is being closed here: Go does not send a POST twice.
    protocol_version = "HTTP/1.0"
    timeout = READ_WITHIN_S
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        if self.path == "/healthz":
            self._answer(200, {"nodes": len(self.server.view.known.at)})
        else:
            self._answer(404, {"Error": "there are /filter, /prioritize and /healthz"})

    def do_POST(self) -> None:
        verbs: dict[str, Callable[[Any], Any]] = {
            "filter": lambda body: filtered(parse(body), self.server.view.known),
            "prioritize": lambda body: prioritized(
                parse(body), self.server.view.known, self.server.way
            ),
        }
        answer = verbs.get(self.path.rstrip("/").rpartition("/")[2])
        try:
            body = self._body()
            if answer is None:
                self._answer(404, {"Error": "there are /filter, /prioritize and /healthz"})
            else:
                self._answer(200, answer(body))
        except BadRequest as error:
            _log.warning("%s: %s", self.path, error)
            self._answer(400, {"Error": str(error)})

    def _body(self) -> Any:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            raise BadRequest("the request has no Content-Length") from None
        if not 0 <= length <= LONGEST_BODY:
            raise BadRequest(f"the body is longer than {LONGEST_BODY} bytes")
        return decode(self.rfile.read(length))

    def _answer(self, status: int, document: Any) -> None:
        data = encode(document)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        _log.debug(format, *args)


def tls_context(cert: str, key: str, client_ca: str | None) -> ssl.SSLContext:
    """A server's context; with ``client_ca`` only clients that it has signed are answered.

    Raises ConfigError if a file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key)
        if client_ca is not None:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"--cert, --key, --client-ca: cannot be used: {error}") from None
    return context


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
