"""Targets that are a piece of text or a datagram."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from smartharvest.cli.lab.model import parse_window
from smartharvest.config.addresses import parse_loopback
from smartharvest.config.durations import parse_duration_ns
from smartharvest.config.sizes import parse_size_bytes
from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import parse_membership, parse_mounts
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.kernels import parse_release
from smartharvest.host.process.events import parse_event
from smartharvest.host.process.tasks import fields_after_name
from smartharvest.host.service_manager import ServiceManager
from smartharvest.host.target.targets import parse_target
from smartharvest.host.target.virtual_machines import keeps_idle_cpus
from tests.fuzz.target import Target, text


def _cpulist(written: str) -> None:
    cpus = parse_cpulist(written)
    assert parse_cpulist(format_cpulist(cpus)) == cpus


def _stat(written: str) -> None:
    for field in fields_after_name(written)[1:]:
        int(field)


def _of_text(
    name: str, parse: Callable[[str], Any], refusal: tuple[type[BaseException], ...], *samples: str
) -> Target:
    return Target(
        name, lambda data: parse(text(data)), refusal, tuple(one.encode() for one in samples)
    )


_FORK = struct.pack("=IIIIHHIIQIIII", 1, 1, 7, 8, 40, 0, 1, 0, 99, 10, 10, 11, 11)

TARGETS = (
    _of_text("cpulist", _cpulist, (ValueError,), "0-2,5\n", "7", "0-255", "0-3,8-11"),
    _of_text(
        "mountinfo", parse_mounts, (),
        "33 24 0:29 / /sys/fs/cgroup/cpu\\040set rw - cgroup none rw,cpuset\n",
        "33 24 0:29 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
    ),
    _of_text(
        "cgroup", lambda written: parse_membership(written, "cpuset", 2), (),
        "4:cpuset:/a/b\n0::/c:d\n",
    ),
    _of_text("stat", _stat, (), "7 (a) b) R " + " ".join(map(str, range(49))) + "\n"),
    _of_text(
        "target", lambda written: parse_target(written, "primary"), (ConfigError,),
        "cgroup:web", "pid:12", "systemd:a.service", "qemu:guest", "libvirt:vm", "/sys/fs/cgroup/x",
    ),
    _of_text(
        "duration", lambda written: parse_duration_ns(written, "poll"), (ConfigError,),
        "25ms", "1.5 s", "50us",
    ),
    _of_text(
        "size", lambda written: parse_size_bytes(written, "audit_size"), (ConfigError,),
        "64MiB", "1 GB",
    ),
    _of_text(
        "loopback", lambda written: parse_loopback(written, "metrics"), (ConfigError,),
        "127.0.0.1:9464", "[::1]:1", "localhost:80",
    ),
    _of_text("window", parse_window, (ConfigError,), "0,4,1.5,0.9,1"),
    _of_text("release", parse_release, (), "6.18.1-amd64", "5.15"),
    _of_text(
        "qemu-arguments", lambda written: keeps_idle_cpus(written.split("\0")), (),
        "qemu\0-overcommit\0cpu-pm=on,x",
    ),
    _of_text(
        "watchdog",
        lambda written: ServiceManager({"WATCHDOG_USEC": written, "NOTIFY_SOCKET": written}), (),
        "2000000",
    ),
    Target("process-event", parse_event, (), (_FORK, _FORK[:40])),
)  # fmt: skip
