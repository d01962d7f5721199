"""Keeps a Ray node from giving out cores while it shrinks; a process of its own beside ray_node.py.

A raylet gives a freed core to the next lease in its queue in the very step that frees it
(``NodeManager::DisconnectClient``), and a resize takes no more than what is free at its turn. So
with work waiting a node cannot be shrunk by ending workers: each freed core has run the next task
before the resize comes. What does hold leases back is the raylet's fairness between kinds of tasks
(``LocalLeaseManager::GrantScheduledLeasesToWorkers``): a kind that holds more leases than the
average over the kinds that wait gets none. The gates are tasks of as many kinds as there are cores
given out, that ask for the whole node and thus only wait; while they do, a kind that holds
anything gets nothing more. They never run, and go when the node has shrunk.

A process of its own, because Ray ends a driver whose raylet dies. Told by lines of JSON: a number
of gates and what each asks for, or null to take them away; answers each with a line.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

SETTLING_S = 0.3
"""Until a submitted task waits at the raylet; nothing tells that it does."""


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
    """Ray tells kinds apart by the function's name."""

    def gate() -> None: ...

    gate.__name__ = gate.__qualname__ = f"smartharvest_gate_{number}"
    return ray.remote(gate)


if __name__ == "__main__":
    main(*sys.argv[1:])
