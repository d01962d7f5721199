"""The agent with the rights and the mounts of the chart's pod, and no others."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.host.journal.group_locks import VARIABLE
from smartharvest.telemetry.client import NoAgent, ask, sockets
from tests.integration.hosts import Host, is_confined, need_a_free_cpu
from tests.integration.processes import Processes, RunningAgent
from tests.unit.test_helm_chart import pod, values

pytestmark = [pytest.mark.timing, pytest.mark.root]

POD = r"""
set -e
root=$1 volumes=$2 caps=$3 config=$4 at=$5
shift 5
mount --make-rprivate /
mount --rbind / $root
# As a runtime has it: all is read-only but for volumes, groups and /dev; parts of /proc are hidden.
mount -t tmpfs tmpfs $root/mnt
mkdir $root/mnt/volumes
mount --bind $volumes $root/mnt/volumes
mkdir -p "$root${at%/*}"
if [ -d "$config" ]; then mkdir "$root$at"; else touch "$root$at"; fi
mount --bind "$config" "$root$at"
mount -t tmpfs tmpfs $root/dev
for device in null zero full random urandom; do
    touch $root/dev/$device
    mount --bind /dev/$device $root/dev/$device
done
mount -t tmpfs tmpfs $root/run
mkdir $root/run/smartharvest
mount --bind $volumes/state $root/run/smartharvest
for part in sys sysrq-trigger irq bus fs; do
    if [ -e $root/proc/$part ]; then
        mount --bind $root/proc/$part $root/proc/$part
        mount -o remount,bind,ro $root/proc/$part
    fi
done
for part in kcore keys latency_stats timer_list sched_debug; do
    [ ! -e $root/proc/$part ] || mount --bind /dev/null $root/proc/$part
done
for part in / /sys /run /mnt; do mount -o remount,bind,ro $root$part; done
cd /
unset $LOCKS
exec chroot $root setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,$caps -- "$@"
"""
"""Root of nothing but the capabilities, on root file system, volumes and configuration of a pod."""


class Pod:
    """Has the host's process ids and ``volumes``: state, log, models and the configuration."""

    def __init__(self, host: Host, processes: Processes, directory: Path) -> None:
        self.spec = pod(values() | {"dryRun": False})
        self.host, self._processes = host, processes
        self._root, self._volumes = directory / "root", directory / "volumes"
        for place in (self._root, self._volumes, *(self._volumes / n for n in ("state", "log"))):
            place.mkdir()
        # As the kubelet makes it: everybody's to write, with links that it exchanges.
        self._config = directory / "configmap"
        (data := self._config / "..2026_05_01").mkdir(parents=True)
        (self._config / "..data").symlink_to(data.name)
        (self._config / "agent.toml").symlink_to("..data/agent.toml")
        self._config.chmod(0o777)
        (data / "agent.toml").write_text(
            f'primary = ["cgroup:{host.web}"]\nelastic = "cgroup:{host.batch}"\n'
            'audit_log = "/mnt/volumes/log/audit.jsonl"\nmodel = "off"\n'
        )

    @property
    def state_dir(self) -> Path:
        return self._volumes / "state"

    @property
    def audit_log(self) -> Path:
        return self._volumes / "log" / "audit.jsonl"

    def start(self, container: dict[str, Any], arguments: list[str]) -> subprocess.Popen[str]:
        security = container["securityContext"]
        assert security["runAsUser"] == 0
        assert security["readOnlyRootFilesystem"]
        assert not security["allowPrivilegeEscalation"]
        assert security["capabilities"]["drop"] == ["ALL"]
        caps = ",".join(f"+{name.lower()}" for name in security["capabilities"]["add"])
        (mount,) = (one for one in container["volumeMounts"] if one["name"] == "config")
        config = (self._config / mount.get("subPath", "")).resolve()
        at = f"/mnt{mount['mountPath']}"
        file = "/etc/smartharvest/agent.toml"
        typed = [f"/mnt{file}" if one == file else one for one in arguments]
        return self._processes.start(
            ["env", f"LOCKS={VARIABLE}", "unshare", "--mount", "--cgroup", "bash", "-c", POD, "pod",
             str(self._root), str(self._volumes), caps, str(config), at,
             sys.executable, "-m", "smartharvest", *typed]
        )  # fmt: skip

    def agent(self) -> RunningAgent:
        (container,) = self.spec["containers"]
        return RunningAgent(self.start(container, container["args"]))


@pytest.fixture
def in_pod(processes: Processes, tmp_path: Path) -> Iterator[Pod]:
    for tool in ("setpriv", "unshare"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing")
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)
    try:
        host.populate()
        yield Pod(host, processes, tmp_path)
    finally:
        host.remove()


def status(made: Pod) -> dict[str, Any]:
    (socket,) = sockets(str(made.state_dir))
    found: dict[str, Any] = ask(socket, "status", {})
    return found


def test_its_capabilities_and_mounts_are_enough(in_pod: Pod) -> None:
    before = in_pod.host.files()
    agent = in_pod.agent()
    agent.wait_until(lambda: is_confined(in_pod.host))
    found = status(in_pod)
    assert found["loop"]["scheduling"] == "fifo"
    if Path("/sys/kernel/btf/vmlinux").exists():
        assert found["sensor"]["name"] == "bpf"
    (container,) = in_pod.spec["containers"]
    command = container["livenessProbe"]["exec"]["command"]
    asked = in_pod.start(container, command[1:])
    said, complained = asked.communicate()
    assert asked.returncode == 0, complained
    assert json.loads(said)["agents"][0]["pid"] == agent.pid
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert in_pod.host.files() == before
    assert in_pod.audit_log.stat().st_size > 0
    assert "running without" not in outcome.err


def test_what_a_killed_pod_has_left_is_put_back_by_the_next(in_pod: Pod) -> None:
    before = in_pod.host.files()
    agent = in_pod.agent()
    agent.wait_until(lambda: is_confined(in_pod.host))
    (socket,) = sockets(str(in_pod.state_dir))
    guardian = guardian_of(agent.pid)
    os.kill(agent.pid, signal.SIGSTOP)  # both are killed, as a runtime does
    os.kill(guardian, signal.SIGKILL)
    os.kill(agent.pid, signal.SIGKILL)
    agent.outcome()
    assert is_confined(in_pod.host)
    with pytest.raises(NoAgent):
        ask(socket, "status", {})
    (container,) = in_pod.spec["initContainers"]
    restoring = in_pod.start(container, container["args"])
    said, complained = restoring.communicate()
    assert restoring.returncode == 0, (said, complained)
    assert in_pod.host.files() == before


def guardian_of(agent: int) -> int:
    """The pid of the guardian that ``agent`` has started."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            line = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        if b"smartharvest.guardian" in words and f"\nPPid:\t{agent}\n" in line:
            return int(pid)
    raise AssertionError("it has no guardian")
