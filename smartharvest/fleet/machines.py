"""This host's virtual machines by libvirt: what they use, and how one moves to another host."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.errors import ConfigError, EngineError, RightsError
from smartharvest.fleet.overload import Vm

KIB_PER_GIB = 1 << 20
ABORT_S = 10.0
"""How long libvirt may take to call a move off."""
_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class Look:
    """One running machine at one moment."""

    vcpus: int
    memory_gib: float
    """At most."""
    cpu_ns: int
    """CPU time since it started."""
    delayed_ns: int | None
    """How long its vCPUs were ready but had no core; None: unknown."""


class Machines:
    """The running domains of the libvirt at ``uri``, such as ``qemu:///system``.

    Raises ConfigError without libvirt's Python package, RightsError if libvirt does not answer.
    """

    def __init__(self, uri: str) -> None:
        try:
            import libvirt
        except ImportError:
            raise ConfigError(
                "--libvirt: needs libvirt's Python package; pip install 'smartharvest[libvirt]'"
            ) from None
        self._libvirt, self._uri = libvirt, uri
        libvirt.registerErrorHandler(lambda _context, _error: None, None)  # it prints them
        try:
            self._connection = libvirt.open(uri)
        except libvirt.libvirtError as error:
            raise self._mute(error) from None

    def look(self) -> dict[str, Look]:
        """By name. Raises RightsError if libvirt does not answer."""
        libvirt = self._libvirt
        try:
            running = self._connection.listAllDomains(libvirt.VIR_CONNECT_LIST_DOMAINS_ACTIVE)
            infos = {domain.name(): domain.info() for domain in running}
            counted = self._connection.getAllDomainStats(
                libvirt.VIR_DOMAIN_STATS_VCPU, libvirt.VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE
            )
            delays = {domain.name(): _delayed_ns(stats) for domain, stats in counted}
        except libvirt.libvirtError as error:
            raise self._mute(error) from None
        return {
            name: Look(int(vcpus), most_kib / KIB_PER_GIB, int(cpu_ns), delays.get(name))
            for name, (_, most_kib, _, vcpus, cpu_ns) in infos.items()
        }

    def move(self, name: str, to: str, within_s: float, over: str | None = None) -> None:
        """Moves ``name``, as it runs, to the libvirt at ``to``.

        ``over`` is where QEMU sends its memory, such as ``tcp://10.0.0.2``; None: as libvirt finds.

        Whatever goes wrong, it stays here: a move that lasts longer than ``within_s``, or is
        interrupted, is called off. Raises EngineError.
        """
        libvirt, refused = self._libvirt, []
        how = {} if over is None else {libvirt.VIR_MIGRATE_PARAM_URI: over}
        try:
            domain = self._connection.lookupByName(name)
            flags = libvirt.VIR_MIGRATE_LIVE | libvirt.VIR_MIGRATE_PEER2PEER
            if domain.isPersistent():
                flags |= libvirt.VIR_MIGRATE_PERSIST_DEST | libvirt.VIR_MIGRATE_UNDEFINE_SOURCE
        except libvirt.libvirtError as error:
            raise _not_moved(name, to, error) from None

        def go() -> None:
            try:
                domain.migrateToURI3(to, how, flags)
            except libvirt.libvirtError as error:
                refused.append(error)

        moving = threading.Thread(target=go, name="libvirt-moving", daemon=True)
        moving.start()
        try:
            moving.join(within_s)
        finally:
            called_off = moving.is_alive()
            until_s = time.monotonic() + ABORT_S
            while moving.is_alive() and time.monotonic() < until_s:
                with contextlib.suppress(libvirt.libvirtError):  # it has not begun, or has arrived
                    domain.abortJob()
                moving.join(_AGAIN_S)
        if moving.is_alive():
            raise EngineError(
                f"libvirt: {name}: was not moved to {to} within {within_s:g} s, and libvirt does "
                "not call it off; see virsh domjobinfo"
            )
        if refused and called_off:
            raise EngineError(
                f"libvirt: {name}: was not moved to {to} within {within_s:g} s; it stays here"
            )
        if refused:
            raise _not_moved(name, to, refused[0])

    def _mute(self, error: Exception) -> RightsError:
        return RightsError(f"--libvirt: {self._uri}: libvirt does not answer: {error}")


def vms(before: Mapping[str, Look], after: Mapping[str, Look], seconds: float) -> list[Vm]:
    """The machines that two looks saw, ``seconds`` apart."""
    seen = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        steal = None
        if old.delayed_ns is not None and new.delayed_ns is not None:
            share = (new.delayed_ns - old.delayed_ns) / (seconds * 1e9 * max(new.vcpus, 1))
            steal = min(max(share, 0.0), 1.0)
        used = max(0.0, (new.cpu_ns - old.cpu_ns) / (seconds * 1e9))
        seen.append(Vm(name, new.vcpus, new.memory_gib, min(used, float(new.vcpus)), steal))
    return seen


def _delayed_ns(stats: Mapping[str, Any]) -> int | None:
    found = [
        value for key, value in stats.items() if key.startswith("vcpu.") and key.endswith(".delay")
    ]
    return int(sum(found)) if found else None


def _not_moved(name: str, to: str, error: Exception) -> EngineError:
    return EngineError(f"libvirt: {name}: cannot be moved to {to}: {error}; it stays here")
