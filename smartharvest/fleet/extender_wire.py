"""ExtenderArgs from bytes and answers to bytes; whole nodes pass through without being parsed.

A thousand whole Node objects are some 15 MiB, of which only the names are looked at. With msgspec
(extra ``fleet``) each stays the bytes that it came as; without it everything is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from smartharvest.fleet.extender import BadRequest, WholeNode

try:
    import msgspec
except ImportError:
    msgspec = None

_NAME_FIRST = re.compile(rb'\s*\{\s*"metadata"\s*:\s*\{\s*"name"\s*:\s*"([a-z0-9.-]+)"')
"""How Go writes a Node; DNS names need no escapes."""


def decode(data: bytes) -> Any:
    """The document for ``extender.parse``. Raises BadRequest if ``data`` is no JSON."""
    if _sparing is not None and (document := _sparing(data)) is not None:
        return document
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("the body is no JSON") from None


def encode(document: Any) -> bytes:
    """``document``, an answer, as JSON."""
    try:
        return _encode(document)
    except UnicodeEncodeError:  # half a character in a name; json writes it as an escape
        return _dumped(document)


def _dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


def _sparing_decoder() -> Callable[[bytes], Any]:
    """Reads what kube-scheduler writes; its result is None for anything else."""

    define, some = msgspec.defstruct, msgspec.json.Decoder
    node_list = define("NodeList", [("items", list[msgspec.Raw])])
    parts = [("Pod", Any, None), ("Nodes", node_list | None, None), ("NodeNames", Any, None)]
    args = some(define("ExtenderArgs", parts))
    node = some(define("Node", [("metadata", define("ObjectMeta", [("name", str)]))]))

    def whole(raw: Any) -> WholeNode:
        found = _NAME_FIRST.match(raw)
        name = found[1].decode() if found else node.decode(raw).metadata.name
        return WholeNode(name, raw)

    def sparing(data: bytes) -> Any:
        try:
            read = args.decode(data)
            if read.Nodes is None and read.NodeNames is None:
                return None
            items = None if read.Nodes is None else [whole(raw) for raw in read.Nodes.items]
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return {"Pod": read.Pod, "Nodes": {"items": items}, "NodeNames": read.NodeNames}

    return sparing


_sparing = None if msgspec is None else _sparing_decoder()
_encode: Callable[[Any], bytes] = _dumped if msgspec is None else msgspec.json.encode
