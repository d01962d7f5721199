"""An HTCondor execution point whose partitionable slot follows the lent cores.

The startd reads attributes from a file (STARTD_CRON), and the configuration fragment in
packaging/htcondor uses them: ``START`` admits no job beyond ``HarvestedCores``, ``PREEMPT`` evicts
the dynamic slots listed in ``HarvestVacated``; their jobs go back to the queue. The file is valid
for 30 s from ``HarvestTold`` on and is rewritten before; without a rewrite HTCondor itself
falls back to the guaranteed minimum. Tested with HTCondor 23.9.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartharvest.cluster.engine import run_command
from smartharvest.errors import ConfigError, EngineError
from smartharvest.trusted import open_trusted

_REWRITE_S = 10
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,255}")
_MOST_CORES = 1 << 20
_ATTRIBUTES = "Name,SlotType,Cpus,JobStart,HarvestedCores,HarvestTold"


@dataclass(frozen=True, slots=True)
class _Slot:
    cores: int
    started_s: int | None
    """Since the epoch; None of a claim without a job."""
    key: str
    """Slot and start: the slot's next job has another key."""


class HTCondorNode:
    """Implements engine.Engine for the execution point on ``machine``.

    ``advertisement`` is the file that STARTD_CRON reads, as HTCondor's own user. Raises ConfigError
    if its directory is not writable or not to be entered, or the execution point does not exist,
    EngineError if HTCondor does not answer.
    """

    def __init__(self, machine: str, advertisement: str) -> None:
        if not _NAME.fullmatch(machine):
            raise ConfigError(f"adapter htcondor: --machine: {machine!r} is no name of a machine")
        _prepare(os.path.dirname(os.path.abspath(advertisement)))
        self._machine, self._advertisement = machine, advertisement
        self._vacated: frozenset[str] = frozenset()
        self._address: str | None = None
        if not self._found():
            raise ConfigError(f"adapter htcondor: the pool has no machine {machine}")

    def advertise(self, cores: int) -> None:
        text = (
            f"HarvestedCores = {cores}\n"
            f"HarvestTold = {int(time.time())}\n"
            f'HarvestVacated = "{",".join(sorted(self._vacated))}"\n'
        )
        temporary = f"{self._advertisement}.{os.getpid()}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with open(open_trusted(temporary, flags), "w") as file:
                os.fchmod(file.fileno(), 0o644)  # the startd's user reads it
                file.write(text)
            os.rename(temporary, self._advertisement)
        except OSError as error:
            raise EngineError(f"{self._advertisement}: {error.strerror}") from None

    def in_use(self) -> int:
        return sum(slot.cores for slot in self._slots())

    def shed(self, cores: int, grace_s: float) -> None:
        """Evicted jobs have the time that HTCondor gives them (``MACHINEMAXVACATETIME``)."""
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
        """None also when the file is due to be rewritten."""
        whole = [ad for ad in self._ads() if ad.get("SlotType") == "Partitionable"]
        seen = [(ad.get("HarvestedCores"), ad.get("HarvestTold")) for ad in whole]
        if not seen or any(one != seen[0] for one in seen):
            return None
        cores, when_s = seen[0]
        if not isinstance(cores, int) or not isinstance(when_s, int):
            return None
        fresh = int(time.time()) - _REWRITE_S < when_s <= time.time()
        return cores if fresh and 0 <= cores <= _MOST_CORES else None

    def close(self) -> None:
        """There is no connection."""

    def _slots(self) -> list[_Slot]:
        """Dynamic slots: each is cut from the partitionable one for a claim, and ends with it."""
        return [_slot(ad) for ad in self._ads() if ad.get("SlotType") == "Dynamic"]

    def _ads(self) -> list[dict[str, Any]]:
        """From the startd itself: the collector's are older."""
        if self._address is None and not self._found():
            raise EngineError(f"htcondor: the pool has no machine {self._machine}")
        assert self._address is not None
        try:
            found = _condor_status("-direct", self._address, "-json", "-attributes", _ATTRIBUTES)
            ads = json.loads(found or "[]")
            if not isinstance(ads, list) or not all(isinstance(ad, dict) for ad in ads):
                raise ValueError("condor_status says what is no list of ads")
        except (EngineError, ValueError, RecursionError) as error:
            self._address = None  # a restarted startd has another
            raise EngineError(f"htcondor: {error}") from None
        return ads

    def _found(self) -> bool:
        constraint = f'Machine == "{self._machine}"'
        found = _condor_status("-constraint", constraint, "-af", "MyAddress")
        self._address = next(iter(found.split()), None)
        return self._address is not None


def _prepare(directory: str) -> None:
    """Makes the directory, if it is missing, and checks that HTCondor's user can get there."""
    with contextlib.suppress(OSError):
        os.mkdir(directory, 0o755)
        os.chmod(directory, 0o755)  # whatever the umask
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ConfigError(
            f"adapter htcondor: --file: {directory}: is not writable; create it, or choose "
            "another and change STARTD_CRON_SMARTHARVEST_ARGS, too"
        )
    for above in (Path(directory), *Path(directory).parents):
        if not above.stat().st_mode & 0o011:
            raise ConfigError(
                f"adapter htcondor: --file: {above}: only its owner gets there, not HTCondor's "
                "user; choose another and change STARTD_CRON_SMARTHARVEST_ARGS, too"
            )


def _slot(ad: dict[str, Any]) -> _Slot:
    """Raises EngineError for an ad that HTCondor would not make: its name is written to a file."""
    name, cores, started_s = str(ad.get("Name")).split("@")[0], ad.get("Cpus"), ad.get("JobStart")
    if (
        not _NAME.fullmatch(name)
        or not (isinstance(cores, int) and 0 <= cores <= _MOST_CORES)
        or not (started_s is None or (isinstance(started_s, int) and 0 <= started_s < 1 << 60))
    ):
        raise EngineError(f"htcondor: {str(ad)[:80]!r} is no slot")
    return _Slot(cores, started_s, f"{name}/{started_s}")


def _condor_status(*arguments: str) -> str:
    output, failure = run_command("condor_status", *arguments, package="HTCondor's commands")
    if failure is not None:
        raise EngineError(f"condor_status: {failure}")
    return output
