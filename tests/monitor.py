"""QEMU's monitor as the tests use it: to change a machine that runs."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

LONGEST_S = 10.0


def execute(path: str, command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """What the monitor at ``path`` returns. Raises ValueError with what it refuses."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LONGEST_S)
        connection.connect(path)
        with connection.makefile("rw") as lines:
            lines.readline()
            for word, more in (("qmp_capabilities", {}), (command, arguments or {})):
                lines.write(json.dumps({"execute": word, "arguments": more}) + "\n")
                lines.flush()
                while "return" not in (answer := json.loads(lines.readline())):
                    if "error" in answer:
                        raise ValueError(f"{word}: {answer['error']['desc']}")
    return answer["return"]


def plug(path: str) -> None:
    """Adds the CPU with the lowest place that is free."""
    taken, free = _places(path)
    cpu = min(free, key=lambda one: sorted(one["props"].items()))
    more = {"driver": cpu["type"], "id": f"plugged-{len(taken)}", **cpu["props"]}
    execute(path, "device_add", more)


def unplug(path: str) -> None:
    """Asks for the last one back; the guest lets go of it when it has put it offline."""
    taken, _ = _places(path)
    execute(path, "device_del", {"id": f"plugged-{len(taken) - 1}"})


def nudge(path: str) -> None:
    """Stops the machine and has it go on at once."""
    for command in ("stop", "cont"):
        execute(path, command)


def _places(path: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(taken, free) places for CPUs."""
    cpus: list[dict[str, Any]] = execute(path, "query-hotpluggable-cpus")
    return [one for one in cpus if "qom-path" in one], [o for o in cpus if "qom-path" not in o]
