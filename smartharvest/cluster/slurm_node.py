"""A Slurm node whose cores for one partition follow the lent cores.

The CPUs of a running node cannot change; a generic resource's count on the node and the partition's
``MaxCPUsPerNode`` can, for jobs that start from then on. Both are lost when slurmctld is
reconfigured or restarted, so they are read back in every turn. A count below what is in use makes
slurmctld miscount ("GRES count underflow"), so the count never goes below that. The limit may, and
goes first: Slurm gives a core to the next job as soon as another has left it. Jobs above the
capacity are requeued, the youngest first; Slurm starts them again later (``requeue_delay``). Those
that may not be (``--no-requeue``) are passed over. Tested with Slurm 22.05.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from smartharvest.cluster.engine import run_command
from smartharvest.cluster.refusals import Refusals, Refused, Work
from smartharvest.errors import ConfigError, EngineError

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,255}")
_JOB = re.compile(r"([0-9]{1,10})\|([0-9]{1,9})\|([0-9]{1,9})\|([\w:./\-]{1,40})")
"""Number, cores, nodes and start, as _jobs asks for them."""


@dataclass(frozen=True, slots=True)
class _Job:
    number: str
    cores: int
    started: str
    """ISO 8601, so that text compares as time does."""


class SlurmNode:
    """Implements engine.Engine for ``node`` in ``partition``; ``gres`` is the resource's name.

    Raises ConfigError for invalid names and for a missing node or partition, EngineError if
    slurmctld does not answer.
    """

    def __init__(self, node: str, partition: str, gres: str | None) -> None:
        for option, name in (("--node", node), ("--partition", partition), ("--gres", gres or "x")):
            if not _NAME.fullmatch(name):
                raise ConfigError(f"adapter slurm: {option}: {name!r} is no valid Slurm name")
        self._node, self._partition, self._gres = node, partition, gres
        self._refusals = Refusals("job", "requeued")
        self._shown("node", node, r"NodeName=(\S+)")
        self.verify()

    def advertise(self, cores: int) -> None:
        self._limit(cores)
        self._count(cores)

    def in_use(self) -> int:
        return sum(job.cores for job in self._jobs())

    def shed(self, cores: int, grace_s: float) -> None:
        """The limit may be below what is in use, so no job starts meanwhile; the count follows."""
        if self._limit_now() != str(cores):
            self._limit(cores)
        jobs = sorted(self._jobs(), key=lambda job: job.started, reverse=True)
        used = sum(job.cores for job in jobs)
        if self._count_now() != str(max(cores, used)):
            self._count(max(cores, used))
        if grace_s <= 0:
            works = [Work(f"job {job.number}", job.cores) for job in jobs]
            self._refusals.end(works, used - cores, _requeue)

    def verify(self) -> int | None:
        limit = self._limit_now()
        return int(limit) if limit.isdigit() and self._count_now() in (None, limit) else None

    def close(self) -> None:
        """There is no connection."""

    def _limit(self, cores: int) -> None:
        _slurm("scontrol", "update", f"partitionname={self._partition}", f"maxcpuspernode={cores}")

    def _count(self, cores: int) -> None:
        if self._gres:
            _slurm("scontrol", "update", f"nodename={self._node}", f"gres={self._gres}:{cores}")

    def _limit_now(self) -> str:
        return self._shown("partition", self._partition, r"MaxCPUsPerNode=([0-9]{1,9}|UNLIMITED)")

    def _count_now(self) -> str | None:
        """None without a generic resource."""
        if not self._gres:
            return None
        counts = self._shown("node", self._node, r"Gres=(\S*)")
        found = re.search(rf"(?:^|,){re.escape(self._gres)}:([0-9]{{1,9}})", counts)
        return found[1] if found else ""

    def _shown(self, kind: str, name: str, pattern: str) -> str:
        found = re.search(pattern, _slurm("scontrol", "--oneliner", "show", kind, name))
        if found is None:
            raise EngineError(f"slurm: {kind} {name} does not show {pattern.split('=')[0]}")
        return found[1]

    def _jobs(self) -> list[_Job]:
        """Jobs that hold cores of the node; one of several nodes counts as if spread evenly."""
        shown = _slurm(
            "squeue", "--noheader", f"--partition={self._partition}", f"--nodelist={self._node}",
            "--states=RUNNING,COMPLETING,SUSPENDED,CONFIGURING,STOPPED", "--format=%A|%C|%D|%S",
        )  # fmt: skip
        jobs = []
        for line in shown.splitlines():
            found = _JOB.fullmatch(line.strip())
            if found is None:
                raise EngineError(f"squeue: {line[:80]!r} is no job as it was asked for")
            number, cores, nodes, started = found.groups()
            jobs.append(_Job(number, -(-int(cores) // max(1, int(nodes))), started))
        return jobs


def _requeue(job: Work) -> None:
    _, failure = _run("scontrol", "requeue", job.name.removeprefix("job "))
    if failure is not None:
        raise Refused(failure)


def _slurm(*command: str) -> str:
    output, failure = _run(*command)
    if failure is not None:
        raise EngineError(f"{' '.join(command[:3])}: {failure}")
    return output


def _run(*command: str) -> tuple[str, str | None]:
    """As run_command. Raises ConfigError, too, if Slurm does not know what is named."""
    output, failure = run_command(*command, package="Slurm's client commands")
    if failure is not None and failure.endswith("not found"):
        raise ConfigError(f"adapter slurm: {failure}")
    return output, failure
