"""The pages themselves: three files, a stream of events, and a word for health checks."""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from http.cookies import SimpleCookie

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from smartharvest.telemetry.web.hub import MOST_VIEWERS, Hub

STATIC = os.path.join(os.path.dirname(__file__), "static")
COOKIE = "smartharvest_token"
TYPES = {
    "page.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "uPlot.iife.min.js": "text/javascript; charset=utf-8",
    "uPlot.min.css": "text/css; charset=utf-8",
    "uPlot.LICENSE": "text/plain; charset=utf-8",
}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(hub: Hub, token: str | None = None) -> Starlette:
    """Serves what ``hub`` has. Without ``token`` only requests to a loopback name are answered.

    All files are read now: nothing is opened later.
    """
    files = {}
    for name in TYPES:
        with open(os.path.join(STATIC, name), "rb") as file:
            files[name] = file.read()

    def serve(name: str) -> Endpoint:
        async def answer(_request: Request) -> Response:
            return Response(files[name], media_type=TYPES[name])

        return answer

    async def events(_request: Request) -> Response:
        if hub.viewers >= MOST_VIEWERS:
            return PlainTextResponse("too many look already; try again later\n", 503)
        return StreamingResponse(_stream(hub), media_type="text/event-stream")

    async def healthz(_request: Request) -> Response:
        return PlainTextResponse("the page is served\n")

    routes = [
        Route("/", serve("page.html")),
        Route("/events", events),
        Route("/healthz", healthz),
        *(Route(f"/{name}", serve(name)) for name in TYPES if name != "page.html"),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(_Guard, token=token)
    return app


async def _stream(hub: Hub) -> AsyncIterator[str]:
    async for text in hub.watch():
        yield text


class _Guard:
    """Lets in who may look, and adds the headers that keep a browser from doing more.

    With a token: who has it, in a cookie, an Authorization header, or once in ``/?token=``.
    Without: who asks for a loopback name, so that no other site's name can be made to lead here.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(Request(scope))
        await (answer or self._app)(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """What is answered instead; None if nothing is."""
        if self._token is None:
            if _is_loopback(request.headers.get("host", "")):
                return None
            return PlainTextResponse("ask for 127.0.0.1, [::1] or localhost\n", 421)
        if request.url.path == "/healthz":
            return None
        given = request.query_params.get("token")
        if given is not None and _same(given, self._token):
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
            return answer
        if _same(_token_of(request.headers), self._token):
            return None
        return PlainTextResponse(
            "a token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN\n",
            401,
            {"www-authenticate": "Bearer"},
        )


def _token_of(headers: Headers) -> str:
    kind, _, given = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return given.strip()
    cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    return "" if cookie is None else cookie.value


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _is_loopback(host: str) -> bool:
    """Whether the Host header names this machine by loopback, with a port or without."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    name = name.strip("[]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
