"""What a replica reports of its node: cores, load and an eviction notice, from the local agent.

A thread asks, so that a report never waits for an agent. Where no agent answers, the report says
why instead.
"""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from smartharvest.cluster.source import (
    NoCapacity,
    Source,
    WhichGroup,
    from_http,
    from_socket,
    of_group,
)
from smartharvest.host.journal.places import DEFAULT_DIRECTORY

STATS_KEY = "smartharvest"
"""Where the report is in what ``record_routing_stats`` returns."""
CAPACITY_VARIABLE = "SMARTHARVEST_CAPACITY"
"""Environment: the agent's state directory, or the URL of its /capacity page."""
GROUP_VARIABLE = "SMARTHARVEST_GROUP"
"""Environment: the name of the elastic group that the replica is in, if the agent has several."""
NOTICE_VARIABLE = "SMARTHARVEST_EVICTION_NOTICE"
"""Environment: a file that is there once this node is to be evicted; it may hold when (epoch)."""
NOTICE_FILE = "eviction-notice"
"""Its name in the state directory, where the variable names none."""
NOTICE_S = 30.0
"""From the notice to the eviction, where the file does not say (SOSP'21)."""
INTERVAL_S = 0.25
MEAN_S = 1.0
"""Cores are averaged over this time: their number changes within milliseconds."""
_CGROUP = "/sys/fs/cgroup"
_MULTIPLEXED = "__serve_multiplex_wrapper"


class NodeReporter:
    """Gathers what ``report`` says. A thread, or a test, calls ``look``."""

    def __init__(
        self,
        source: Source,
        notice_file: str,
        cpu_seconds: Callable[[], float | None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """``cpu_seconds`` is what the elastic group has used so far; None if that is not known."""
        self._source, self._notice_file, self._cpu_seconds = source, notice_file, cpu_seconds
        self._clock, self._wall_clock = clock, wall_clock
        self._now: deque[tuple[float, int]] = deque()
        self._used: deque[tuple[float, float]] = deque()
        self._cores: dict[str, Any] | None = None
        self._why = "no answer yet"
        self._withdrawn: str | None = None
        self._seen_s = -math.inf
        self._reports = 0

    def look(self) -> None:
        now_s = self._clock()
        try:
            document = self._source()
            self._cores, self._withdrawn = document["cores"], document.get("withdrawn")
            self._now.append((now_s, int(document["cores"]["now"])))
            self._seen_s = now_s
        except (NoCapacity, WhichGroup) as error:
            self._cores, self._why = None, str(error)
            self._now.clear()
        used_s = self._cpu_seconds()
        if used_s is not None:
            self._used.append((now_s, used_s))
        while self._now and self._now[0][0] < now_s - MEAN_S:
            self._now.popleft()
        while len(self._used) > 1 and self._used[0][0] < now_s - MEAN_S:
            self._used.popleft()

    def report(self) -> dict[str, Any]:
        """JSON: ``seq`` grows with each; ``evict_in_s`` is None without a notice.

        With an agent ``cores`` (mean of the last second), ``guaranteed``, ``load`` (busy cores of
        the elastic group or None) and ``age_s``; without one ``why``.
        """
        self._reports += 1
        told: dict[str, Any] = {"seq": self._reports, "evict_in_s": self._evict_in_s()}
        cores, samples = self._cores, list(self._now)
        if cores is None or not samples:
            return told | {"why": self._why}
        return told | {
            "cores": sum(count for _, count in samples) / len(samples),
            "guaranteed": cores["guaranteed"],
            "load": self._load(),
            "age_s": self._clock() - self._seen_s,
        }

    def _load(self) -> float | None:
        used = list(self._used)
        if len(used) < 2 or used[-1][0] <= used[0][0]:
            return None
        return max(0.0, (used[-1][1] - used[0][1]) / (used[-1][0] - used[0][0]))

    def _evict_in_s(self) -> float | None:
        if self._withdrawn is not None and self._withdrawn.startswith("evicted"):
            return 0.0
        try:
            with open(self._notice_file) as file:
                text = file.read(100).strip()
                written_s = os.fstat(file.fileno()).st_mtime
        except (OSError, UnicodeDecodeError):
            return None
        try:
            when_s = float(text)
        except ValueError:
            when_s = math.nan
        if not math.isfinite(when_s):
            when_s = written_s + NOTICE_S
        return max(0.0, when_s - self._wall_clock())

    def watch(self) -> None:
        """Looks until the process ends: the body of the thread."""
        while True:
            self.look()
            time.sleep(INTERVAL_S)


def group_cpu_seconds(cgroup_fs: str = _CGROUP, own: str = "/proc/self/cgroup") -> float | None:
    """CPU time of the control group (v2) that this process is in; None in the root group.

    Replicas run in the elastic group, so it is the load of everything that is harvested.
    """
    try:
        with open(own) as file:
            path = next(line[3:].strip() for line in file if line.startswith("0::"))
        if path == "/":
            return None
        with open(f"{cgroup_fs}{path}/cpu.stat") as file:
            for line in file:
                if line.startswith("usage_usec "):
                    return int(line.split()[1]) / 1e6
    except (OSError, StopIteration, ValueError):
        pass
    return None


@functools.cache
def reporter() -> NodeReporter:
    """The reporter of this process; its thread runs."""
    where = os.environ.get(CAPACITY_VARIABLE) or DEFAULT_DIRECTORY
    over_http = where.startswith(("http://", "https://"))
    directory = DEFAULT_DIRECTORY if over_http else where
    notice = os.environ.get(NOTICE_VARIABLE) or os.path.join(directory, NOTICE_FILE)
    source = from_http(where) if over_http else from_socket(where, None)
    source = of_group(source, os.environ.get(GROUP_VARIABLE))
    made = NodeReporter(source, notice, group_cpu_seconds)
    made.look()
    threading.Thread(target=made.watch, name="smartharvest-report", daemon=True).start()
    return made


class HarvestedReplica:
    """Mixed into a Ray Serve deployment, publishes its node's report by ``record_routing_stats``.

    A class that records more calls this one and adds to the dictionary.
    """

    def record_routing_stats(self) -> dict[str, Any]:
        report = reporter().report()
        # Ray keeps it where @serve.multiplexed loads, from the first model on; -1: no limit.
        most = getattr(getattr(self, _MULTIPLEXED, None), "max_num_models_per_replica", None)
        if isinstance(most, int) and most > 0:
            report["models_most"] = most
        return {STATS_KEY: report}
