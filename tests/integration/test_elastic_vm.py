"""``smartharvest elastic-vm``: a guest that stands still, its group and what is left of both."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from smartharvest.agent.elastic_vm import ElasticVm
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.process import tasks
from smartharvest.host.target.qmp import read_vcpus
from tests.commands import as_command, smartharvest_here
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent, wait_until

NAME = f"test-{os.getpid()}"
STANDING_STILL = ("--name", NAME, "--accel", "tcg", "--memory", "16", "--no-image", "--", "-S")


def test_the_format_of_an_image_is_read_from_it(tmp_path: Path) -> None:
    image = tmp_path / "a,b"
    vm = ElasticVm(str(image), "batch", 4, 512, str(tmp_path))
    with pytest.raises(ConfigError, match="No such file"):
        vm.command("tcg")
    for start, form in ((b"QFI\xfb", "qcow2"), (b"\0" * 512, "raw")):
        image.write_bytes(start)
        command = vm.command("kvm")
        drive = f"file={tmp_path}/a,,b,if=virtio,format={form}"
        assert command[command.index("-drive") + 1] == drive
    assert command[command.index("-smp") + 1] == "4"
    assert "cpu-pm=off" in command


def test_a_name_that_is_no_name_is_refused(tmp_path: Path) -> None:
    outcome = smartharvest_here("elastic-vm", "--name", "../x", str(tmp_path))
    assert outcome.code == 2
    assert outcome.failure.startswith("--name: '../x' is no name")


def listens(path: str) -> bool:
    """QEMU makes the socket's file a moment before it listens there."""
    try:
        return bool(read_vcpus(path, timeout_s=10).threads)
    except TargetError:
        return False


@pytest.mark.timing
@pytest.mark.root
@pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="needs qemu-system-x86_64")
def test_it_has_all_cpus_and_a_group_that_is_lent_cores_and_goes_with_it(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    state_dir = str(tmp_path / "vm")
    vm = RunningAgent(
        processes.start(as_command(["elastic-vm", "--state-dir", state_dir, *STANDING_STILL]))
    )
    socket = f"{state_dir}/elastic-vm-{NAME}.qmp"
    group = host.tree.group(f"smartharvest-{NAME}")
    vm.wait_until(lambda: os.path.exists(socket))
    wait_until(lambda: bool(group.tasks()))
    vm.wait_until(lambda: listens(socket))
    vcpus = read_vcpus(socket, timeout_s=10).threads
    assert len(vcpus) == len(tasks.online_cpus())
    everything = tasks.affinity(vcpus[0])
    agent = processes.agent(
        *host.state, *("--primary", f"cgroup:{host.web}", "--elastic", f"cgroup:{group}")
    )
    agent.wait_until(lambda: tasks.affinity(vcpus[0]) < everything)
    assert agent.send(signal.SIGTERM).code == 0
    assert tasks.affinity(vcpus[0]) == everything
    outcome = vm.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert f"smartharvest agent --primary TARGET --elastic cgroup:{group}\n" in outcome.err
    assert not os.path.exists(group.path)
    assert not os.path.exists(socket)
