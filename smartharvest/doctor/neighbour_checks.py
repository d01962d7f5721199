"""What else is on the host: managers of cpusets, and what this project left or needs there."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator

from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.doctor.finding import Finding, Host
from smartharvest.host.cgroup.freezing import SYSTEMD

FEWEST_FILES = 4096
_CONTAINERS = ("/.dockerenv", "/run/.containerenv")
"""What Docker and Podman put into a container."""

_MANAGERS = {
    "libvirtd": "its virtual machines' groups are machine.slice/...; name the emulator's scope",
    "virtqemud": "its virtual machines' groups are machine.slice/...; name the emulator's scope",
    "cgrulesengd": "it moves processes between groups by its own rules",
    "tuned": "its profiles may set isolcpus, governors and affinities",
    "irqbalance": "it moves interrupts to idle cores, lent ones too",
    "numad": "it moves processes between memory nodes and CPUs",
}
"""Command -> what it does that affects the agent."""


def check_managers(host: Host) -> Iterator[Finding]:
    """Other programs that write cpusets or affinities."""
    why = (
        "two programs that write one cpuset undo each other's work; the agent stops if it sees that"
    )
    running = host.commands()
    found = False
    if "kubelet" in running:
        found = True
        policy = _kubelet_policy(host)
        static = policy == "static"
        yield Finding(
            "other managers", "warning" if static else "ok",
            f"kubelet runs, CPU manager policy {policy or 'unknown'}",
            "its CPU manager rewrites the cpusets of containers" if static else why,
            "cpuManagerPolicy: none in the kubelet's configuration, or other groups"
            if static
            else None,
        )  # fmt: skip
    for name, does in _MANAGERS.items():
        if name in running:
            found = True
            yield Finding(
                "other managers", "warning", f"{name} runs (pid {running[name]})", does,
                "keep its groups apart from the agent's, or stop it",
            )  # fmt: skip
    if host.read("/proc/1/comm") == "systemd":
        found = True
        yield Finding(
            "other managers", "ok", "systemd manages the groups of its units",
            "a daemon-reload may rewrite them: put the elastic group into a slice of its own with "
            "Delegate=yes and without AllowedCPUs=",
        )  # fmt: skip
    if not found:
        yield Finding("other managers", "ok", "none is running", why)


def _kubelet_policy(host: Host) -> str | None:
    try:
        state = json.loads(host.read("/var/lib/kubelet/cpu_manager_state") or "")
        policy = state["policyName"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return policy if isinstance(policy, str) and policy.isprintable() else None


def check_freezing(host: Host) -> Iterator[Finding]:
    """Whether somebody can freeze the agent together with its guardian."""
    why = "a freeze of both (docker pause, systemctl freeze) leaves lent what was lent until a thaw"
    if any(map(host.exists, _CONTAINERS)):
        yield Finding(
            "freezing", "warning", "this is a container, which its runtime freezes as a whole", why,
            "smartharvest pause before the container is paused, or run the agent outside",
        )  # fmt: skip
    elif host.exists(SYSTEMD) and not host.exists("/usr/bin/busctl"):
        yield Finding(
            "freezing", "warning", "no busctl: the guardian stays in the agent's unit", why,
            "install systemd's busctl and a system bus",
        )  # fmt: skip
    else:
        yield Finding("freezing", "ok", "the guardian leaves the agent's control group", why)


def check_state_directory(host: Host) -> Iterator[Finding]:
    """The directory of the journal: no other user may write there."""
    why = "restore trusts the journal of original values in it"
    mode = host.mode(STATE_DIRECTORY)
    if mode is None:
        parent = "/run"
        if host.exists(parent):
            yield Finding("state directory", "ok", f"{STATE_DIRECTORY} will be created", why)
        else:
            yield Finding(
                "state directory", "failure", f"{parent} does not exist", why,
                "mount -t tmpfs none /run, or use --state-dir",
            )  # fmt: skip
    elif mode & (stat.S_IWOTH | stat.S_IWGRP):
        yield Finding(
            "state directory", "failure", f"others may write {STATE_DIRECTORY}", why,
            f"chmod 700 {STATE_DIRECTORY}",
        )  # fmt: skip
    else:
        yield Finding("state directory", "ok", f"{STATE_DIRECTORY} is private", why)


def check_open_files(host: Host) -> Iterator[Finding]:
    """The /proc sensor keeps one descriptor per thread of the primary."""
    why = "without BPF one file is kept open for each thread of the primary"
    limits = host.read("/proc/self/limits") or ""
    match = re.search(r"^Max open files\s+\S+\s+(\d{1,18}|unlimited)", limits, re.MULTILINE)
    if match is None or match[1] == "unlimited" or int(match[1]) >= FEWEST_FILES:
        yield Finding("open files", "ok", f"at most {match[1] if match else 'unknown'}", why)
    else:
        yield Finding(
            "open files", "warning", f"at most {match[1]}", why,
            "ulimit -Hn 65536, or LimitNOFILE=65536 in the unit",
        )  # fmt: skip
