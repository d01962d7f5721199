"""Reports of nodes as JSON lines, and one of this host from its agents and PSI."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from smartharvest.errors import TraceError
from smartharvest.fleet.overload import Report, Vm

LONGEST_LINE = 16 << 20
_TEXT = {"node", "id"}
_REQUIRED = {
    Report: {"time_s", "node", "cores", "memory_gib", "used_cores"},
    Vm: {"id", "cores", "memory_gib"},
}


def read_reports(path: str) -> list[Report]:
    """The reports of ``path``, one JSON object a line, keys as the fields of overload.Report.

    Raises TraceError for a line that is none, or values that make no sense.
    """
    found = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), ""), 1):
                if line.strip():
                    found.append(_report(f"{path}: line {number}", line))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise TraceError(f"{path}: cannot be read: {why}") from None
    if not found:
        raise TraceError(f"{path}: has no reports; give one JSON object a line")
    return found


def _report(where: str, line: str) -> Report:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        raise TraceError(f"{where}: is no JSON object") from None
    if not isinstance(document, dict):
        raise TraceError(f"{where}: is no JSON object")
    vms = document.pop("vms", [])
    if not isinstance(vms, list) or not all(isinstance(vm, dict) for vm in vms):
        raise TraceError(f"{where}: vms must be a list of objects")
    made = [Vm(**_values(f"{where}: vms", vm, Vm)) for vm in vms]
    return Report(**_values(where, document, Report), vms=made)


def _values(where: str, document: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The known keys, checked; unknown ones are for readers of later."""
    values: dict[str, Any] = {}
    for one in fields(kind):
        if one.name == "vms":
            continue
        value = document.get(one.name)
        if value is None:
            if one.name in _REQUIRED[kind]:
                raise TraceError(f"{where}: {one.name} is missing")
            continue
        if one.name in _TEXT:
            sound = isinstance(value, str) and value != ""
        elif one.name == "movable":
            sound = isinstance(value, bool)
        else:
            sound = (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and math.isfinite(value)
                and (value > 0 if (kind, one.name) == (Report, "cores") else value >= 0)
            )
        if not sound:
            raise TraceError(f"{where}: {one.name} is {value!r}")
        values[one.name] = value
    return values


def report_here(
    now_s: float, node: str, cores: int, memory_gib: float,
    agents: Sequence[Mapping[str, Any]], pressure: Mapping[str, str],
    running_cores: float = 0.0, vms: Sequence[Vm] = (),
) -> Report:  # fmt: skip
    """One report of this host.

    ``agents`` are their status documents, ``pressure`` the texts of /proc/pressure/{cpu, memory,
    io} as far as there are any, ``running_cores`` what the whole host was seen to use. Where an
    agent lends, batch work waits for cores all the time, so the host's PSI of CPUs says nothing of
    the primary and is left out. A batch group counts with all that it may use; a frozen one uses
    nothing.
    """
    lent = sum(float(agent["harvested"]["now"]) for agent in agents)
    minimum = sum(float(agent["cores"]["elastic_min"]) for agent in agents if not _is_frozen(agent))
    busy = sum(float(agent["busy"]["now"]) for agent in agents)
    shares = {name: some(text) for name, text in pressure.items()}
    return Report(
        now_s,
        node,
        cores,
        memory_gib,
        max(busy + lent + minimum, running_cores),
        lent,
        lent + minimum,
        psi_cpu=None if agents else shares.get("cpu"),
        psi_memory=shares.get("memory"),
        psi_io=shares.get("io"),
        vms=list(vms),
    )


def _is_frozen(agent: Mapping[str, Any]) -> bool:
    """Whether ``evict`` has frozen all that it lends to."""
    return str(agent["safeguards"]["lends_nothing_because"]).startswith("evicted")


def running_ticks(text: str) -> tuple[int, int]:
    """(ticks that CPUs ran something, ticks in all) since boot, of the text of /proc/stat.

    Time of guests is in that of the user already. Raises ValueError for another text.
    """
    words = text.partition("\n")[0].split()
    ticks = [int(word) for word in words[1:9]]
    if words[:1] != ["cpu"] or len(ticks) < 5:
        raise ValueError("/proc/stat does not begin with all CPUs' times")
    return sum(ticks) - ticks[3] - ticks[4] - sum(ticks[7:8]), sum(ticks)


def as_line(report: Report) -> str:
    """``report`` as read_reports reads it."""
    document = {key: value for key, value in asdict(report).items() if value is not None}
    return json.dumps(document, separators=(",", ":")) + "\n"


def some(text: str) -> float | None:
    """avg10 of the line ``some`` of a pressure file as a share; None if there is none."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["some"] and words[1:] and words[1].startswith("avg10="):
            try:
                return float(words[1].removeprefix("avg10=")) / 100
            except ValueError:
                return None
    return None
