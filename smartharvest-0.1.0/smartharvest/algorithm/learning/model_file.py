"""A learned model on disk: one line of checksum, one of JSON that says what it is, the weights.

Written whole or not at all: to a name of its own, synced, renamed over the old one.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from smartharvest.trusted import Untrusted, open_directory, open_trusted

Shape = dict[str, Any]
"""What a model must agree in to be of use: the learner, its classes, features, costs and rate."""

_MAGIC = b"smartharvest-model 1 "
LARGEST_MODEL_BYTES = 1 << 26


class DamagedModel(Exception):
    """The file is no model, or not all of one; the message says which file and why."""


def write_model(path: str, shape: Shape, lessons: int, payload: bytes) -> None:
    """Replaces ``path``, readable by its owner only. Raises OSError; the old file then stands."""
    body = json.dumps({**shape, "lessons": lessons}).encode() + b"\n" + payload
    directory = os.path.dirname(path) or "."
    os.makedirs(directory, mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(open_trusted(f"{path}.new", flags), "wb") as file:
        file.write(_MAGIC + _checksum(body) + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)
    opened = open_directory(directory, shared=True)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def read_model(path: str) -> tuple[Shape, int, bytes]:
    """Shape, lessons and weights. Raises FileNotFoundError, other OSErrors, and DamagedModel, also
    for a file that somebody else can write."""
    try:
        opened = open_trusted(path)
    except Untrusted as error:
        raise DamagedModel(str(error)) from None
    with open(opened, "rb") as file:
        content = file.read(LARGEST_MODEL_BYTES + 1)
    if len(content) > LARGEST_MODEL_BYTES:
        raise DamagedModel(f"{path}: is larger than any model of ours")
    first, _, body = content.partition(b"\n")
    if not first.startswith(_MAGIC):
        raise DamagedModel(f"{path}: is no saved model, or one of a later smartharvest")
    if first[len(_MAGIC) :] != _checksum(body):
        raise DamagedModel(f"{path}: is damaged: its checksum is another")
    described, _, payload = body.partition(b"\n")
    try:
        shape = json.loads(described)
        lessons = int(shape.pop("lessons"))
    except (ValueError, KeyError, AttributeError, TypeError, OverflowError, RecursionError):
        raise DamagedModel(f"{path}: does not say what it is") from None
    return shape, lessons, payload


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
