"""What others write, and we parse: whatever it is, it is taken or refused in the agreed way.

Cases that have a file of their own for it: configuration files (test_config_file), the host's files
that doctor reads (test_doctor), requests and answers (telemetry/test_protocol), the audit log
(telemetry/test_audit), traces (trace/test_format), process events (host/test_process_events).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.agent.admin import REQUESTS, TakeUp, parse_request
from smartharvest.algorithm.learning.model_file import DamagedModel, read_model
from smartharvest.cli.explain import explain
from smartharvest.cli.lab.model import parse_window
from smartharvest.config.addresses import parse_loopback
from smartharvest.config.durations import parse_duration_ns
from smartharvest.config.settings import Settings
from smartharvest.config.sizes import parse_size_bytes
from smartharvest.core import _loop, _sensors
from smartharvest.errors import ConfigError, SmartHarvestError
from smartharvest.host.cgroup.tree import parse_membership, parse_mounts
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal.contents import FileEntry, JournalError, read_journal
from smartharvest.host.journal.shared_page import read_nudge
from smartharvest.host.process import tasks
from smartharvest.host.service_manager import ServiceManager
from smartharvest.host.target.targets import parse_target
from smartharvest.host.target.virtual_machines import keeps_idle_cpus
from smartharvest.lab.simulator.workload_file import load_workload
from smartharvest.printable import printable

LONG = "9" * 5000
"""More digits than Python turns into a number."""


def near(*samples: str) -> st.SearchStrategy[str]:
    """Any text, and the samples with a part replaced by something else."""

    def spoilt(sample: str, start: int, length: int, other: str) -> str:
        start %= len(sample) + 1
        return sample[:start] + other + sample[start + length :]

    others = st.one_of(st.text(max_size=5), st.sampled_from([LONG, "\n", "\0", "-", " ", "\udcff"]))
    return st.one_of(
        st.text(max_size=60),
        st.builds(spoilt, st.sampled_from(samples), st.integers(0), st.integers(0, 8), others),
    )


def _moment(text: str) -> object:
    since = next(parameter for parameter in explain.params if parameter.name == "since")
    assert since.callback is not None
    return since.callback(click.Context(explain), since, text)


TEXTS: dict[str, tuple[Callable[[str], object], Any, tuple[str, ...]]] = {
    "cpulist": (parse_cpulist, ValueError, ("0-2,5", "7", "0-255")),
    "mountinfo": (
        parse_mounts, (),
        ("33 24 0:29 / /sys/fs/cgroup/cpu\\040set rw - cgroup none rw,cpuset\n",
         "33 24 0:29 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"),
    ),
    "membership": (
        lambda text: parse_membership(text, "cpuset", 2), (), ("4:cpuset:/a/b\n0::/c:d\n",)
    ),
    "stat": (
        tasks.fields_after_name, (), ("7 (a) b) R " + " ".join(map(str, range(49))) + "\n",)
    ),
    "target": (
        lambda text: parse_target(text, "primary"), ConfigError,
        ("cgroup:web", "pid:12", "systemd:a.service"),
    ),
    "duration": (lambda text: parse_duration_ns(text, "poll"), ConfigError, ("25ms", "1.5 s")),
    "size": (lambda text: parse_size_bytes(text, "audit_size"), ConfigError, ("64MiB", "1 GB")),
    "loopback": (
        lambda text: parse_loopback(text, "metrics"), ConfigError, ("127.0.0.1:9464", "[::1]:1")
    ),
    "window": (parse_window, ConfigError, ("0,4,1.5,0.9,1",)),
    "moment": (_moment, ConfigError, ("10min", "2026-05-01 12:00:00")),
    "qemu's arguments": (
        lambda text: keeps_idle_cpus(text.split("\0")), (), ("qemu\0-overcommit\0cpu-pm=on,x",)
    ),
    "watchdog": (
        lambda text: ServiceManager({"WATCHDOG_USEC": text, "NOTIFY_SOCKET": text}), (), ("2000",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=50)
@given(data=st.data())
def test_any_text_is_taken_or_refused(name: str, data: st.DataObject) -> None:
    parse, refusal, samples = TEXTS[name]
    for sample in samples:
        parse(sample)
    with contextlib.suppress(refusal):
        parse(data.draw(near(*samples)))


JOURNAL: dict[str, Any] = {
    "version": 2, "boot_id": "b", "pid": 7, "start_time": 9, "claims": ["/c/web"],
    "entries": [
        {"kind": "file", "path": "/c/batch/cpuset.cpus", "original": "0-3", "inode": 5},
        {"kind": "affinity", "tid": 7, "start_time": 9, "cpus": [0, 1], "newcomers_since": None},
    ],
    "minimum": [["/c/batch/cpuset.cpus", "3"]], "ours": {"/c/batch/cpuset.cpus": ["3"]},
}  # fmt: skip
WORKLOAD = (
    "[[primary]]\ncores = 4\nrate_qps = 1000\n"
    '[primary.service]\ndistribution = "exponential"\nmean_us = 100\n'
)


def _model(described: str) -> bytes:
    body = described.encode(errors="replace") + b"\nweights"
    return b"smartharvest-model 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _listing(path: str) -> object:
    sensor = _sensors.ProcSensor([(path, 0)], [1])
    try:
        return sensor.read(_loop.monotonic_ns())
    finally:
        sensor.close()


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


FILES: dict[str, tuple[Callable[[str], object], Any, Callable[[str], bytes], tuple[str, ...]]] = {
    "journal": (read_journal, JournalError, _encoded, (json.dumps(JOURNAL), "[" * 9999)),
    "model": (
        read_model, DamagedModel, _model, ('{"learner": "vw", "lessons": 3}', '{"lessons": 1e999}')
    ),
    "workload": (load_workload, ConfigError, _encoded, (WORKLOAD, "a = " + "[" * 9999)),
    "shared page": (read_nudge, (), _encoded, ("\0" * 4096,)),
    "a group's tasks": (_listing, OSError, _encoded, ("1\n99999999\n",)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=50)
@given(data=st.data())
def test_any_file_is_taken_or_refused(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    read, refusal, written, samples = FILES[name]
    path = tmp_path_factory.getbasetemp() / "any-file"
    path.write_bytes(written(data.draw(near(*samples))))
    with contextlib.suppress(refusal):
        read(str(path))


@given(path=st.one_of(st.integers(), st.none(), st.lists(st.text())))
def test_a_journal_that_names_no_path_is_damaged(
    tmp_path_factory: pytest.TempPathFactory, path: object
) -> None:
    """An entry's path is opened and written: a number would be somebody's descriptor."""
    file = tmp_path_factory.getbasetemp() / "journal"
    file.write_text(json.dumps({**JOURNAL, "entries": [{**JOURNAL["entries"][0], "path": path}]}))
    with pytest.raises(JournalError, match="path is "):
        read_journal(str(file))
    file.write_text(json.dumps(JOURNAL))
    assert isinstance(read_journal(str(file)).entries[0], FileEntry)


def test_a_file_without_end_is_not_read_whole() -> None:
    with pytest.raises(DamagedModel, match="no regular file"):
        read_model("/dev/zero")
    with pytest.raises(ConfigError):
        load_workload("/dev/zero")


def test_names_need_not_be_utf8_or_on_one_line() -> None:
    mounts = "1 1 0:1 / /mnt/\udcff\\012x rw - cgroup2 none rw\n7 7 7:7 / /\udcfe rw - ext4 d rw\n"
    (mount,) = parse_mounts(mounts)
    assert mount.point == "/mnt/\udcff\nx"
    assert parse_membership("0::/\udcff/b:c\n", "cpuset", 2) == "\udcff/b:c"


@given(st.text())
def test_what_is_shown_moves_no_cursor(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(line.isprintable() for line in shown.split("\n"))
    shown.encode()


@given(st.frozensets(st.integers(0, 300)))
def test_cpulists_come_back(cpus: frozenset[int]) -> None:
    assert parse_cpulist(format_cpulist(cpus)) == cpus


# --- commands over the socket -------------------------------------------------------------------

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=4,
)
names = st.one_of(
    st.sampled_from(["policy", "safeguard", "max_harvest", "keep_idle", "reset"]), st.text()
)


@settings(max_examples=100)
@given(
    command=st.sampled_from(REQUESTS),
    arguments=st.dictionaries(names, values, max_size=3),
)
def test_any_arguments_of_a_command_are_taken_or_refused(
    command: str, arguments: dict[str, Any]
) -> None:
    try:
        request = parse_request(command, arguments, Settings(), {}, load=Settings)
    except SmartHarvestError:
        return
    if isinstance(request, TakeUp):
        for item in dataclasses.fields(Settings):
            value = getattr(request.settings, item.name)
            assert isinstance(value, str | int | float | tuple | type(None)), item.name
