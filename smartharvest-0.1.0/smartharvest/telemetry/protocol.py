"""Requests and answers on an agent's socket: one JSON object a line, in both directions.

    -> {"v": 1, "command": "status", "arguments": {}}
    <- {"v": 1, "ok": true, "result": {...}}
    <- {"v": 1, "ok": false, "error": "unknown command 'stats'; known are status"}

``v`` is VERSION; the answer to a request of another version names it. A connection may carry
several requests. A line longer than LONGEST_REQUEST closes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1
LONGEST_REQUEST = 64 * 1024
LONGEST_ANSWER = 4 * 1024 * 1024
"""Bytes, with the newline."""


class ProtocolError(Exception):
    """The other side sent no valid line, or refuses."""


@dataclass(frozen=True)
class Request:
    command: str
    arguments: Mapping[str, Any]


def format_request(command: str, arguments: Mapping[str, Any]) -> bytes:
    return _line({"v": VERSION, "command": command, "arguments": dict(arguments)})


def format_result(result: Any) -> bytes:
    """Raises ProtocolError if the line is longer than LONGEST_ANSWER."""
    line = _line({"v": VERSION, "ok": True, "result": result})
    if len(line) > LONGEST_ANSWER:
        raise ProtocolError("the answer is too long")
    return line


def format_error(message: str) -> bytes:
    return _line({"v": VERSION, "ok": False, "error": message})


def parse_request(line: bytes) -> Request:
    """Raises ProtocolError, with the text for the other side."""
    document = _object(line)
    _check_version(document)
    command, arguments = document.get("command"), document.get("arguments", {})
    if not isinstance(command, str) or not isinstance(arguments, dict):
        raise ProtocolError("a request needs a command and an object of arguments")
    return Request(command, arguments)


def parse_answer(line: bytes) -> Any:
    """The result. Raises ProtocolError with the other side's error, or with what is wrong."""
    document = _object(line)
    if document.get("ok") is False:
        raise ProtocolError(str(document.get("error", "refused without a reason")))
    _check_version(document)
    if document.get("ok") is not True or "result" not in document:
        raise ProtocolError("neither a result nor an error")
    return document["result"]


def _line(document: Mapping[str, Any]) -> bytes:
    # JSON has no infinity and no NaN.
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        raise ProtocolError("the line is no JSON") from None
    if not isinstance(document, dict):
        raise ProtocolError("the line is no JSON object")
    return document


def _check_version(document: Mapping[str, Any]) -> None:
    if document.get("v") != VERSION:
        raise ProtocolError(f"version {document.get('v')!r} is unknown; this is {VERSION}")
