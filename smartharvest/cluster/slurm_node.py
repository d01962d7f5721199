"""A Slurm node whose cores for one partition follow the harvest.

The CPUs of a running node cannot change; a generic resource's count on the node and the partition's
``MaxCPUsPerNode`` can, for jobs that start from then on. Both are lost when slurmctld is
reconfigured or restarted, so they are read back in every turn. A count below what is in use makes
slurmctld miscount ("GRES count underflow"): nothing below that is ever told. Jobs above the
capacity are requeued, the youngest first; Slurm starts them again later (``requeue_delay``).
Tried with Slurm 22.05.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from smartharvest.errors import ConfigError, EngineError

_TIMEOUT_S = 10.0
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,255}")


@dataclass(frozen=True, slots=True)
class _Job:
    number: str
    cores: int
    started: str
    """ISO 8601, so that text compares as time does."""


class SlurmNode:
    """Implements engine.Engine for ``node`` in ``partition``; ``gres`` is the resource's name.

    Raises ConfigError for names that cannot be and for a node or partition that is not there,
    EngineError if slurmctld does not answer.
    """

    def __init__(self, node: str, partition: str, gres: str | None) -> None:
        for option, name in (("--node", node), ("--partition", partition), ("--gres", gres or "x")):
            if not _NAME.fullmatch(name):
                raise ConfigError(f"adapter slurm: {option}: {name!r} is no name of Slurm's")
        self._node, self._partition, self._gres = node, partition, gres
        self._shown("node", node, r"NodeName=(\S+)")
        self.verify()

    def advertise(self, cores: int) -> None:
        _slurm("scontrol", "update", f"partitionname={self._partition}", f"maxcpuspernode={cores}")
        if self._gres:
            _slurm("scontrol", "update", f"nodename={self._node}", f"gres={self._gres}:{cores}")

    def in_use(self) -> int:
        return sum(job.cores for job in self._jobs())

    def shed(self, cores: int, grace_s: float) -> None:
        if grace_s > 0:
            return
        jobs = sorted(self._jobs(), key=lambda job: job.started, reverse=True)
        excess = sum(job.cores for job in jobs) - cores
        for job in jobs:
            if excess <= 0:
                break
            _slurm("scontrol", "requeue", job.number)
            excess -= job.cores

    def verify(self) -> int | None:
        told = self._shown("partition", self._partition, r"MaxCPUsPerNode=(\d+|UNLIMITED)")
        if not told.isdigit():
            return None
        if self._gres:
            counts = self._shown("node", self._node, r"Gres=(\S*)")
            found = re.search(rf"(?:^|,){re.escape(self._gres)}:(\d+)", counts)
            if found is None or found[1] != told:
                return None
        return int(told)

    def close(self) -> None:
        """Nothing is held."""

    def _shown(self, kind: str, name: str, pattern: str) -> str:
        found = re.search(pattern, _slurm("scontrol", "--oneliner", "show", kind, name))
        if found is None:
            raise EngineError(f"slurm: {kind} {name} does not tell {pattern.split('=')[0]}")
        return found[1]

    def _jobs(self) -> list[_Job]:
        """Jobs that hold cores of the node; one of several nodes counts as if spread evenly."""
        shown = _slurm(
            "squeue", "--noheader", f"--partition={self._partition}", f"--nodelist={self._node}",
            "--states=RUNNING,COMPLETING,SUSPENDED,CONFIGURING,STOPPED", "--format=%A|%C|%D|%S",
        )  # fmt: skip
        jobs = []
        for line in shown.splitlines():
            number, cores, nodes, started = line.split("|")
            jobs.append(_Job(number, -(-int(cores) // max(1, int(nodes))), started))
        return jobs


def _slurm(*command: str) -> str:
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise ConfigError(f"{command[0]}: not found; install Slurm's client commands") from None
    except subprocess.TimeoutExpired:
        raise EngineError(f"{command[0]}: no answer within {_TIMEOUT_S:g} s") from None
    if ran.returncode != 0:
        said = " ".join((ran.stderr or ran.stdout).split())[:200]
        if said.endswith("not found"):
            raise ConfigError(f"adapter slurm: {said}")
        raise EngineError(f"{' '.join(command[:3])}: {said}")
    return ran.stdout
