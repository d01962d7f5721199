"""An agent's socket with a capacity that the test sets."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import ControlSocket


class MadeAgent:
    """``cores`` are there and promised; ``guaranteed`` always."""

    def __init__(self, guaranteed: int) -> None:
        self.guaranteed = self.cores = guaranteed

    def capacity(self) -> dict[str, Any]:
        cores = {"now": self.cores, "promised": self.cores, "guaranteed": self.guaranteed}
        return {"cores": {**cores, "most": 8}}


@contextmanager
def made_agent(state_dir: str, guaranteed: int = 1) -> Iterator[MadeAgent]:
    """Answers ``capacity`` in ``state_dir`` from a thread until the end."""
    agent, ending = MadeAgent(guaranteed), threading.Event()
    control = ControlSocket(
        socket_path(state_dir, os.getpid()), {"capacity": lambda _arguments: agent.capacity()}
    )

    def serve() -> None:
        while not ending.wait(0.02):
            control.serve()
        control.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield agent
    finally:
        ending.set()
        thread.join()


def wait_until(what: Callable[[], bool], seconds: float = 90.0) -> None:
    """Raises AssertionError if it does not come true in time."""
    until_s = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until_s, "it never came true"
        time.sleep(0.05)
