"""A YARN node whose virtual cores follow the lent cores, by the ResourceManager's REST interface.

``POST /ws/v1/cluster/nodes/ID/resource`` sets a node's resources (Hadoop 3.3 and newer). With an
over-commit timeout the ResourceManager itself ends the newest containers above the capacity once
that time (ms) is over; a second call with the same resources is ignored (AbstractYarnScheduler).
A restarted ResourceManager has forgotten the number, so it is read back in every turn. Tested
against a double of the ResourceManager.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from smartharvest.cluster.http_json import ask_json
from smartharvest.errors import ConfigError, EngineError

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,255}:[0-9]{1,5}")
_NEVER = -1
_MOST_CORES = 1 << 20
_MOST_MIB = 1 << 40


class YarnNode:
    """Implements engine.Engine for the node with the id ``node`` (HOST:PORT of its NodeManager).

    ``page`` is the address of the ResourceManager's web interface. Raises ConfigError if ``node``
    is no node's id, EngineError if the ResourceManager does not answer or does not know it.
    """

    def __init__(self, page: str, node: str) -> None:
        if not _NAME.fullmatch(node):
            raise ConfigError(f"adapter yarn: --node: {node!r} is no HOST:PORT of a NodeManager")
        self._node = node
        self._url = f"{page.rstrip('/')}/ws/v1/cluster/nodes/{quote(node)}"
        self._amounts()

    def advertise(self, cores: int) -> None:
        self._set(cores, _NEVER)

    def in_use(self) -> int:
        return self._amounts()[0]

    def shed(self, cores: int, grace_s: float) -> None:
        used, total, _ = self._amounts()
        if total != cores:
            self._set(cores, round(1000 * max(0.0, grace_s)))
        elif grace_s <= 0 and used > cores:
            self._set(used, _NEVER)  # with the same resources the next call would be ignored
            self._set(cores, 0)

    def verify(self) -> int | None:
        return self._amounts()[1]

    def close(self) -> None:
        """There is no connection."""

    def _set(self, cores: int, timeout_ms: int) -> None:
        resource = {"memory": self._amounts()[2], "vCores": cores}
        body = {"resource": resource, "overCommitTimeout": timeout_ms}
        ask_json(f"{self._url}/resource", "yarn", body)

    def _amounts(self) -> tuple[int, int, int]:
        """(virtual cores in use, all of them, all memory in MiB). Available ones may be < 0."""
        document = ask_json(self._url, "yarn")
        node: Any = document.get("node") if isinstance(document, dict) else None
        names = ("usedVirtualCores", "availableVirtualCores", "usedMemoryMB", "availMemoryMB")
        found = [node.get(name) if isinstance(node, dict) else None for name in names]
        match found:
            case [int(used), int(free), int(used_mib), int(free_mib)]:
                total, total_mib = used + free, used_mib + free_mib
                counts = 0 <= used <= _MOST_CORES and 0 <= total <= _MOST_CORES
                if counts and 0 <= total_mib <= _MOST_MIB:
                    return used, total, total_mib
        raise EngineError(f"yarn: {self._url}: the answer is no node of a ResourceManager")
