"""A guest of QEMU that learns what it has, instead of only having less.

Without this the lending is transparent: the guest's threads share fewer CPUs, its pages are
swapped out by the host, and it knows of neither. Here vCPUs go offline in the guest through its
agent (``guest-set-vcpus``), so that its scheduler no longer queues on a vCPU that does not run, and
a balloon (``virtio-balloon``) has it drop its own caches first. Both ask, and neither is a
guarantee: cpuset and ``memory.high`` of the guest's group hold whatever the guest does.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from smartharvest.errors import ConfigError, EngineError, TargetError
from smartharvest.host.target.qmp import talking_to

_log = logging.getLogger(__name__)

OVERHEAD = 256 << 20
"""Of the group's memory, what QEMU needs besides the guest's."""
LEAST = 256 << 20
"""A guest is never left with less, whatever its group may hold."""
STEP = 16 << 20
"""A change of the balloon by less is not worth a command."""
TIMEOUT_S = 5.0
"""A guest puts a vCPU offline while its agent waits for it."""
MOST_VCPUS = 4096


@dataclass(frozen=True)
class GuestState:
    """What the guest has."""

    memory: int | None
    """Bytes by its balloon; None: it has none."""
    online: frozenset[int] | None
    """Its vCPUs that are online, by the guest's numbers; None: there is no agent to ask."""


class QemuGuest:
    """Implements engine.Engine and engine.HoldsMemory for the guest behind ``monitor``.

    ``agent`` is the socket of its guest agent; None: its vCPUs are left alone. What the guest had
    ``before`` it has again at the end. Raises ConfigError for a guest that has neither balloon nor
    agent, EngineError if either does not answer.
    """

    def __init__(self, monitor: str, agent: str | None, before: GuestState | None = None) -> None:
        self._monitor, self._agent = monitor, agent
        self.before = self.read() if before is None else before
        self._told: int | None = None
        self._memory = self.before.memory
        if self.before.memory is None and agent is None:
            raise ConfigError(
                f"adapter qemu: {monitor}: the guest has no balloon; start it with -device "
                "virtio-balloon,deflate-on-oom=on, or give --guest-agent"
            )

    def read(self) -> GuestState:
        """What the guest has now."""
        online = None if self._agent is None else self._online()
        return GuestState(self._balloon(), online)

    def advertise(self, cores: int) -> None:
        self._told = cores
        if self._agent is not None:
            self._put(self._wanted(cores))

    def in_use(self) -> int:
        """None beyond what it is asked: the guest's work goes on with the vCPUs that are left."""
        return 0

    def shed(self, cores: int, grace_s: float) -> None:  # noqa: ARG002 (nothing is ended)
        self.advertise(cores)

    def verify(self) -> int | None:
        if self._agent is None or self._told is None:
            return self._told
        return self._told if self._online() == self._wanted(self._told) else None

    def hold(self, size: int) -> None:
        """Has the balloon leave the guest ``size`` bytes of its group, less QEMU's own."""
        most = self.before.memory
        if most is None or self._memory is None:
            return
        wanted = min(most, max(LEAST, size - OVERHEAD))
        if abs(wanted - self._memory) >= STEP or (wanted != self._memory and wanted == most):
            self._inflate(wanted)

    def close(self) -> None:
        """Gives the guest back what it had."""
        try:
            if self.before.memory is not None and self._balloon() != self.before.memory:
                self._inflate(self.before.memory)
            if self.before.online is not None:
                self._put(self.before.online)
        except EngineError as error:
            _log.warning("%s; the guest keeps what it has", error)

    # --- memory -----------------------------------------------------------------------------------

    def _balloon(self) -> int | None:
        try:
            with talking_to(self._monitor, TIMEOUT_S) as monitor:
                try:
                    answer = monitor.execute("query-balloon")
                except ValueError as error:
                    if "balloon" in str(error).partition(":")[2]:  # none has been activated
                        return None
                    raise
        except TargetError as error:
            raise EngineError(f"qemu: {error}") from None
        size = answer.get("actual") if isinstance(answer, dict) else None
        if not isinstance(size, int) or not 0 < size < 1 << 60:
            raise EngineError(f"qemu: {self._monitor}: {str(answer)[:80]!r} is no balloon")
        return size

    def _inflate(self, size: int) -> None:
        try:
            with talking_to(self._monitor, TIMEOUT_S) as monitor:
                monitor.execute("balloon", {"value": size})
        except TargetError as error:
            raise EngineError(f"qemu: {error}") from None
        self._memory = size

    # --- vCPUs ------------------------------------------------------------------------------------

    def _vcpus(self) -> dict[int, tuple[bool, bool]]:
        """Number -> (online, whether it can go offline)."""
        assert self._agent is not None
        try:
            with talking_to(self._agent, TIMEOUT_S, greets=False) as agent:
                answer = agent.execute("guest-get-vcpus")
        except TargetError as error:
            raise EngineError(f"qemu: {error}") from None
        listed = answer if isinstance(answer, list) else []
        found: dict[int, tuple[bool, bool]] = {}
        for one in listed[:MOST_VCPUS]:
            number = one.get("logical-id") if isinstance(one, dict) else None
            if isinstance(number, int) and 0 <= number < MOST_VCPUS:
                found[number] = bool(one.get("online")), bool(one.get("can-offline", True))
        if not found:
            raise EngineError(f"qemu: {self._agent}: guest-get-vcpus tells no vCPUs")
        return found

    def _online(self) -> frozenset[int]:
        return frozenset(number for number, (online, _) in self._vcpus().items() if online)

    def _wanted(self, cores: int) -> frozenset[int]:
        """The vCPUs that are online with so many cores: never more than before, and never none."""
        assert self.before.online is not None
        order = sorted(self.before.online)
        return frozenset(order[: max(1, cores)])

    def _put(self, online: frozenset[int]) -> None:
        assert self._agent is not None
        changes = [
            {"logical-id": number, "online": number in online}
            for number, (is_online, can_go) in sorted(self._vcpus().items())
            if (number in online) != is_online and (can_go or number in online)
        ]
        if not changes:
            return
        try:
            with talking_to(self._agent, TIMEOUT_S, greets=False) as agent:
                agent.execute("guest-set-vcpus", {"vcpus": changes})
        except TargetError as error:
            raise EngineError(f"qemu: {error}") from None
