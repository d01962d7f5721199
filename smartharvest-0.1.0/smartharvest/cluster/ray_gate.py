"""Keeps a Ray node from giving out cores while it shrinks; a process next to that of ray_node.py.

A raylet gives a freed core to the next lease in its queue in the step that frees it
(``NodeManager::DisconnectClient``), and a resize takes only what is free at its turn. So while work
waits, ending workers does not shrink a node: each freed core runs the next task before the resize
comes. What does hold leases back is the raylet's fairness between kinds of tasks
(``LocalLeaseManager::GrantScheduledLeasesToWorkers``): a kind that holds more leases than the
average over the kinds that wait gets none. The gates are tasks of as many kinds as there are cores
given out, that ask for the whole node and thus only wait; while they do, a kind that holds
anything gets nothing more. They never run, and go when the node has shrunk.

It is a process of its own because Ray ends a driver whose raylet dies. It reads lines of JSON (a
number of gates and what each asks for, or null to remove them) and answers each with a line.
"""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from smartharvest.errors import EngineError
from smartharvest.host.process.start import start_python

SETTLING_S = 0.3
"""Until a submitted task waits at the raylet; Ray does not show when it does."""
_PATIENCE_S = 20.0
"""For Ray to accept a driver."""


class Gate:
    """The process, seen from its parent. Any call raises EngineError if it has ended."""

    def __init__(self, address: str, node_id: str) -> None:
        self._ready = False
        self._process = start_python(
            "smartharvest.cluster.ray_gate",
            address,
            node_id,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @contextlib.contextmanager
    def shut(self, gates: int, cpus: float, resources: dict[str, float]) -> Iterator[None]:
        if not self._ready:
            self._expect(b"ready")
            self._ready = True
        self._send({"gates": gates, "cpus": cpus, "resources": resources})
        try:
            yield
        finally:
            self._send(None)

    def close(self) -> None:
        self._process.kill()  # the raylet drops the waiting tasks of a dead driver
        self._process.communicate()

    def _send(self, what: dict[str, Any] | None) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(what).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # closed
            raise EngineError("ray: the gate of the shrinking node is gone") from None
        self._expect(b"done")

    def _expect(self, word: bytes) -> None:
        output = self._process.stdout
        assert output is not None
        until_s = time.monotonic() + _PATIENCE_S
        while (left_s := until_s - time.monotonic()) > 0:
            if select.select([output], [], [], left_s)[0]:
                line = output.readline()
                if line.strip() == word:
                    return
                if not line:
                    break
        raise EngineError("ray: the gate of the shrinking node does not answer")


def main(address: str, node_id: str) -> None:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.init(address=address, namespace="smartharvest", log_to_driver=False, logging_level="ERROR")
    here = NodeAffinitySchedulingStrategy(node_id, soft=False)
    kinds: list[Any] = []
    gates: list[Any] = []
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        for gate in gates:
            ray.cancel(gate, force=True)
        gates = []
        if asked is not None:
            while len(kinds) < asked["gates"]:
                kinds.append(_kind(ray, len(kinds)))
            gates = [
                kind.options(
                    num_cpus=asked["cpus"],
                    resources=asked["resources"],
                    max_retries=0,
                    scheduling_strategy=here,
                ).remote()
                for kind in kinds[: asked["gates"]]
            ]
            time.sleep(SETTLING_S)
        print("done", flush=True)


def _kind(ray: Any, number: int) -> Any:
    """Ray distinguishes kinds by the name of the function."""

    def gate() -> None: ...

    gate.__name__ = gate.__qualname__ = f"smartharvest_gate_{number}"
    return ray.remote(gate)


if __name__ == "__main__":
    main(*sys.argv[1:])
