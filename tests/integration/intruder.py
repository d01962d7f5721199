"""What somebody without any rights does on a host, in processes of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

UID = GID = 65534


def _become() -> None:
    os.chdir("/")
    os.umask(0o022)
    os.setgroups([])
    os.setresgid(GID, GID, GID)
    os.setresuid(UID, UID, UID)


def as_nobody(act: Callable[[], Any]) -> Any:
    """What ``act`` returns, which JSON can hold, or the name of the exception that it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become()
            try:
                told = act()
            except Exception as error:
                told = type(error).__name__
            os.write(writing, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


@contextlib.contextmanager
def nobody_keeps(act: Callable[[], object]) -> Iterator[int]:
    """Meanwhile ``act`` has been done by a process, the pid of which it gives, and goes on."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become()
            kept = act()
            os.write(writing, b"x")
            while kept is not child:
                signal.pause()
        finally:
            os._exit(1)
    os.close(writing)
    try:
        with open(reading, "rb") as ready:
            assert ready.read(1) == b"x", "the intruder could not even try"
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
