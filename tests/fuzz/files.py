"""Targets that are files: journals, traces, models, configuration, audit logs, control groups."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from functools import cache
from typing import Any

import numpy as np

from smartharvest.algorithm.learning.base import FEATURE_NAMES, Model
from smartharvest.algorithm.learning.learners import make_learner
from smartharvest.algorithm.learning.model_file import DamagedModel, read_model
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.config.loading import collect_settings, load_settings, read_alone
from smartharvest.config.settings import Settings
from smartharvest.core import _loop, _sensors
from smartharvest.core._trace import CHANGE
from smartharvest.errors import ConfigError, SmartHarvestError, TraceError
from smartharvest.host.cgroup.tree import CgroupTree, tasks_below
from smartharvest.host.journal.contents import JournalError, read_journal
from smartharvest.host.journal.shared_page import read_choices, read_nudge
from smartharvest.host.process.cpu_usage import cpu_usage_of_group
from smartharvest.host.topology import read_topology
from smartharvest.lab.simulator.workload_file import load_workload
from smartharvest.lab.trace.format import (
    DATA,
    DONE,
    FRAME,
    HEAD,
    MAGIC,
    PREFIX,
    WAIT,
    Header,
    Stretch,
    pack_dispatches,
    pack_header,
    pack_record,
    pack_stretch,
)
from smartharvest.lab.trace.reader import TraceReader, read_trace
from smartharvest.lab.trace.replay import replay_policy
from smartharvest.telemetry.audit import read_audit
from smartharvest.telemetry.story import describe
from tests.fuzz.target import Target, check_message, put, scratch, split

# --- journals -------------------------------------------------------------------------------------

_JOURNAL: dict[str, Any] = {
    "version": 2, "boot_id": "b", "pid": 7, "start_time": 9, "claims": ["/c/web"],
    "entries": [
        {"kind": "file", "path": "/c/batch/cpuset.cpus", "original": "0-3", "inode": 5},
        {"kind": "created", "directory": "/c/batch", "inode": 5},
        {"kind": "moved", "tid": 7, "start_time": 9, "origin": "/c/a", "destination": "/c/b"},
        {"kind": "affinity", "tid": 7, "start_time": 9, "cpus": [0, 1], "newcomers_since": None},
        {"kind": "confined", "directory": "/c/batch", "inode": 5},
    ],
    "minimum": [["/c/batch/cpuset.cpus", "3"]], "ours": {"/c/batch/cpuset.cpus": ["3"]},
    "minimum_cpus": [3], "chosen": {"/c/batch/cpuset.cpus": ["0-3", "3"]}, "given": ["0-1", "3"],
}  # fmt: skip


def _journal(data: bytes) -> None:
    """A journal, and after ``ff ff`` its shared page."""
    written, page = split(data)
    path = put("fuzz.journal", written)
    put("fuzz.shared", page)
    read_journal(path)


def _page(data: bytes) -> None:
    path = put("page.shared", data)
    read_nudge(path)
    read_choices(path)


# --- models ---------------------------------------------------------------------------------------

_CLASSES = 5


def _signed(body: bytes) -> bytes:
    return b"smartharvest-model 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _model(data: bytes) -> None:
    read_model(put("fuzz.model", _signed(data)))


def _model_raw(data: bytes) -> None:
    read_model(put("raw.model", data))


@cache
def _learner(name: str) -> Model:
    return make_learner(name, cost="skewed", total=_CLASSES - 1)


def _weights(data: bytes) -> None:
    learner = _learner("native")
    try:
        learner.load(data)
    finally:
        predicted = learner.predict((0.0, 1.0, 0.5, 0.1, 0.5))
        assert 0 <= predicted < _CLASSES


def _dumped() -> bytes:
    learner = make_learner("native", cost="skewed", total=_CLASSES - 1)
    for label in (1, 2, 3, 2):
        learner.learn((0.0, 3.0, 1.0, 0.5, 1.0), label)
    return learner.dump()


# --- traces ---------------------------------------------------------------------------------------


def _trace_bytes() -> bytes:
    changes = np.zeros(3, CHANGE)
    changes["time_ns"], changes["busy"], changes["demand"] = [5, 9, 12], [1, 2, 0], [1, 3, 0]
    first = Stretch(1, 1_000_000, 0, 0, changes)
    waits = ((1_000, 5), (2_000, 1))
    seen = Dispatches(1_000_000, waits=waits, runs=waits, lent=False)
    header = Header(cores=4, poll_ns=50, start_ns=1, primaries=("cgroup:web",))
    return PREFIX.pack(MAGIC, 2) + b"".join(
        pack_record(kind, payload)
        for kind, payload in (
            (HEAD, pack_header(header)),
            (DATA, pack_stretch(first)),
            (WAIT, pack_dispatches(seen)),
            (DONE, json.dumps({"seconds": 1}).encode()),
        )
    )


def _trace(data: bytes) -> None:
    path = put("fuzz.trace", data)
    read_trace(path, partial=data[-1:] == b"p")


def _trace_records(data: bytes) -> None:
    """Lengths and checksums are made right, so that what is inside is reached."""
    records, at = [data[: PREFIX.size].ljust(PREFIX.size, b"\0")], PREFIX.size
    while at + FRAME.size <= len(data):
        kind, length, _ = FRAME.unpack_from(data, at)
        at += FRAME.size
        records.append(pack_record(kind, data[at : at + length]))
        at += length
    path = put("records.trace", b"".join(records))
    read_trace(path)
    with TraceReader(path) as trace:
        if trace.seconds < 1 and trace.header.cores <= 64:
            replay_policy(trace, "fixed-buffer:1", Settings(), trace.header.cores)


# --- configuration --------------------------------------------------------------------------------

_CONFIG = (
    'primary = ["cgroup:web", "pid:12"]\nelastic = "cgroup:batch"\nwindow = "25ms"\n'
    'keep-idle = 1\npolicy = "prev-peak:4"\n[expert]\nlong_term_share = "1%"\n'
)
_GROUPS = (
    'primary = ["cgroup:web"]\npark = "idle"\n'
    '[[elastic]]\nname = "a"\ntarget = "cgroup:batch/a"\nmin = 1\nnotice = "30s"\n'
    '[[elastic]]\nname = "b"\ntarget = "cgroup:batch/b"\nweight = 3\nmax = 4\n'
)


def _config(data: bytes) -> None:
    """A file, and after ``ff ff`` its drop-in."""
    main, drop_in = split(data)
    directory = f"{scratch()}/config"
    os.makedirs(f"{directory}/agent.toml.d", mode=0o700, exist_ok=True)
    path = f"{directory}/agent.toml"
    for name, contents in ((path, main), (f"{path}.d/10.toml", drop_in)):
        with open(name, "wb") as file:
            file.write(contents)
    problems = [*collect_settings({}, path)[1], *read_alone(path, "state_dir")[1]]
    for problem in problems:
        check_message(str(problem))
    load_settings({}, path)


_WORKLOAD = (
    "[[primary]]\ncores = 4\nrate_qps = 1000\n"
    '[primary.service]\ndistribution = "exponential"\nmean_us = 100\n'
)
_AUDIT: dict[str, Any] = {
    "t": 1_700_000_000.5, "kind": "decision", "seq": 3, "reason": "predicted", "primary": 3,
    "harvest": 5, "safe": 4, "lent": 5, "had": 3, "held_by": None, "busy": 2, "mean": 1.5,
    "demand": 2, "exhausted": False, "label": 2,
}  # fmt: skip


def _audit(data: bytes) -> None:
    for line in describe(read_audit(put("audit.log", data))):
        assert isinstance(line, str)


# --- the host's files -----------------------------------------------------------------------------


def _tasks(data: bytes) -> None:
    sensor = _sensors.ProcSensor([(put("tasks", data), 0)], [1])
    try:
        sensor.read(_loop.monotonic_ns())
    finally:
        sensor.close()


class _Files:
    """A group whose every file has the contents at hand."""

    runs_tasks = False
    stand_in = None

    def __init__(self, contents: str) -> None:
        self.contents = contents

    def read(self, _path: str) -> str:
        return self.contents

    def exists(self, _path: str) -> bool:
        return True

    def subdirectories(self, _path: str) -> list[str]:
        return []

    def membership(self, _tid: int) -> str:
        return self.contents


def _group(data: bytes) -> None:
    """Every reading of a group, in both versions; a kernel that writes nonsense is refused."""
    files: Any = _Files(data.decode(errors="surrogateescape"))
    for version in (1, 2):
        points = dict.fromkeys(("cpuset", "cpu", "cpuacct", "freezer"), "/nowhere")
        tree = CgroupTree("/nowhere", version, points, files)
        group = tree.group_of(1)
        readings = (
            group.cpus, group.effective_cpus, group.mems, group.quota_cores, group.tasks,
            cpu_usage_of_group(group), lambda: tasks_below(files, "/nowhere"),
        )  # fmt: skip
        for read in readings:
            try:
                read()
            except SmartHarvestError as error:
                check_message(str(error))


_TOPOLOGY_FILES = (
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpu0/cpu_capacity",
    "sys/devices/system/cpu/cpu0/cache/index0/level",
    "sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
    "sys/devices/system/node/node0/cpulist",
    "sys/devices/system/cpu/isolated",
    "proc/interrupts",
    "proc/irq/1/smp_affinity_list",
)


@cache
def _topology_root() -> str:
    root = f"{scratch()}/topology"
    shutil.rmtree(root, ignore_errors=True)
    for name in _TOPOLOGY_FILES:
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
    return root


def _topology(data: bytes) -> None:
    for name, part in zip(_TOPOLOGY_FILES, [*data.split(b"\xff"), *[data] * 8], strict=False):
        with open(f"{_topology_root()}/{name}", "wb") as file:
            file.write(part)
    read_topology({0, 1}, _topology_root()).lend_order({0, 1})


_MODEL = json.dumps(
    {"learner": "native", "classes": _CLASSES, "features": list(FEATURE_NAMES), "lessons": 3}
)

TARGETS = (
    Target(
        "journal", _journal, (JournalError,),
        (json.dumps(_JOURNAL).encode(), json.dumps(_JOURNAL).encode() + b"\xff\xff" + bytes(8192)),
    ),
    Target("shared-page", _page, (), (bytes(8192), b"\1" * 8192, bytes(100))),
    Target("model", _model, (DamagedModel,), (_MODEL.encode() + b"\nweights",)),
    Target("model-file", _model_raw, (DamagedModel,), (_signed(_MODEL.encode() + b"\nweights"),)),
    Target("weights", _weights, (ValueError,), (_dumped(),)),
    Target("trace", _trace, (TraceError,), (_trace_bytes(), _trace_bytes()[:-20] + b"p")),
    Target("trace-records", _trace_records, (TraceError,), (_trace_bytes(),)),
    Target(
        "config", _config, (ConfigError,),
        (
            _CONFIG.encode(),
            _CONFIG.encode() + b"\xff\xff" + b"window = '1 s'\n",
            _GROUPS.encode(),
        ),
    ),
    Target("workload", lambda data: load_workload(put("w.toml", data)), (ConfigError,),
           (_WORKLOAD.encode(),)),
    Target("audit-log", _audit, (ConfigError,), (
        json.dumps(_AUDIT).encode() + b"\n",
        (json.dumps(_AUDIT) + "\n" + json.dumps({"t": 1.7e9, "kind": "start", "pid": 7})).encode(),
    )),
    Target("tasks", _tasks, (OSError,), (b"1\n99999999\n",)),
    Target("group-files", _group, (), (
        b"0-3\n", b"100000 100000\n", b"max 100000\n", b"-1\n", b"1\n2\n",
        b"usage_usec 7\nuser_usec 3\n", b"4:cpuset:/a\n0::/b\n",
    )),
    Target("topology", _topology, (), (
        b"0-1\xff1024\xff2\xff0-1\xff0-1\xff1\xff           CPU0       CPU1\n  1:  0  5  x\xff0\n",
    )),
)  # fmt: skip
