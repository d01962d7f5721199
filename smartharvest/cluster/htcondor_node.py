"""An HTCondor execution point whose partitionable slot follows the harvest.

HTCondor is told through attributes that its startd reads from a file (STARTD_CRON) and that the
configuration fragment in packaging/htcondor judges: ``START`` lets no job in beyond
``HarvestedCores``, ``PREEMPT`` evicts the dynamic slots listed in ``HarvestVacated``; their jobs go
back to the queue. What the file says counts for 30 s from ``HarvestTold`` on and is told
again before; when nobody tells any more, HTCondor itself falls back to the guaranteed minimum.
Tried with HTCondor 23.9.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from typing import Any

from smartharvest.errors import ConfigError, EngineError

_TELL_AGAIN_S = 10
_TIMEOUT_S = 10.0
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,255}")
_ATTRIBUTES = "Name,SlotType,Cpus,JobStart,HarvestedCores,HarvestTold"


@dataclass(frozen=True, slots=True)
class _Slot:
    cores: int
    started_s: int | None
    """Since the epoch; None of a claim without a job."""
    key: str
    """Slot and start together, so that the slot's next job is not meant."""


class HTCondorNode:
    """Implements engine.Engine for the execution point on ``machine``.

    ``advertisement`` is the file that STARTD_CRON reads. Raises ConfigError if it cannot be written
    or there is no such execution point, EngineError if HTCondor does not answer.
    """

    def __init__(self, machine: str, advertisement: str) -> None:
        if not _NAME.fullmatch(machine):
            raise ConfigError(f"adapter htcondor: --machine: {machine!r} is no name of a machine")
        directory = os.path.dirname(advertisement) or "."
        if not os.access(directory, os.W_OK | os.X_OK):
            raise ConfigError(
                f"adapter htcondor: --file: {directory}: cannot be written; create it, or choose "
                "another and change STARTD_CRON_SMARTHARVEST_ARGS, too"
            )
        self._machine, self._advertisement = machine, advertisement
        self._vacated: frozenset[str] = frozenset()
        self._address: str | None = None
        if not self._found():
            raise ConfigError(f"adapter htcondor: the pool knows no machine {machine}")

    def advertise(self, cores: int) -> None:
        text = (
            f"HarvestedCores = {cores}\n"
            f"HarvestTold = {int(time.time())}\n"
            f'HarvestVacated = "{",".join(sorted(self._vacated))}"\n'
        )
        beside = f"{self._advertisement}.{os.getpid()}"
        try:
            with open(beside, "w") as file:
                file.write(text)
            os.chmod(beside, 0o644)  # the startd's user reads it
            os.rename(beside, self._advertisement)
        except OSError as error:
            raise EngineError(f"{self._advertisement}: {error.strerror}") from None

    def in_use(self) -> int:
        return sum(slot.cores for slot in self._slots())

    def shed(self, cores: int, grace_s: float) -> None:
        """Evicted jobs have HTCondor's own time to end (``MACHINEMAXVACATETIME``)."""
        slots = self._slots() if grace_s <= 0 else []
        self._vacated &= {slot.key for slot in slots}
        excess = sum(slot.cores for slot in slots if slot.key not in self._vacated) - cores
        for slot in sorted(slots, key=lambda slot: slot.started_s or 0, reverse=True):
            if excess <= 0:
                break
            if slot.started_s is not None and slot.key not in self._vacated:
                self._vacated |= {slot.key}
                excess -= slot.cores
        self.advertise(cores)

    def verify(self) -> int | None:
        """None, too, when it is time to tell again."""
        whole = [ad for ad in self._ads() if ad.get("SlotType") == "Partitionable"]
        told = {(ad.get("HarvestedCores"), ad.get("HarvestTold")) for ad in whole}
        if len(told) != 1:
            return None
        cores, when_s = told.pop()
        if not isinstance(cores, int) or not isinstance(when_s, int):
            return None
        return cores if 0 <= time.time() - when_s < _TELL_AGAIN_S else None

    def close(self) -> None:
        """Nothing is held."""

    def _slots(self) -> list[_Slot]:
        """Dynamic slots: what was carved out of the whole for a claim, and lasts as long as it."""
        slots = []
        for ad in self._ads():
            if ad.get("SlotType") == "Dynamic":
                started_s = ad.get("JobStart")
                name = str(ad["Name"]).split("@")[0]
                slots.append(_Slot(int(ad["Cpus"]), started_s, f"{name}/{started_s}"))
        return slots

    def _ads(self) -> list[dict[str, Any]]:
        """Of the startd itself: what the collector knows is older."""
        if self._address is None and not self._found():
            raise EngineError(f"htcondor: the pool knows no machine {self._machine}")
        assert self._address is not None
        try:
            said = _condor_status("-direct", self._address, "-json", "-attributes", _ATTRIBUTES)
            ads: list[dict[str, Any]] = json.loads(said or "[]")
        except (EngineError, ValueError) as error:
            self._address = None  # a restarted startd has another
            raise EngineError(f"htcondor: {error}") from None
        return ads

    def _found(self) -> bool:
        constraint = f'Machine == "{self._machine}"'
        said = _condor_status("-constraint", constraint, "-af", "MyAddress")
        self._address = next(iter(said.split()), None)
        return self._address is not None


def _condor_status(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ("condor_status", *arguments),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigError("condor_status: not found; install HTCondor's commands") from None
    except subprocess.TimeoutExpired:
        raise EngineError(f"condor_status: no answer within {_TIMEOUT_S:g} s") from None
    if ran.returncode != 0:
        said = " ".join((ran.stderr or ran.stdout).split())[:200]
        raise EngineError(f"condor_status: {said}")
    return ran.stdout
