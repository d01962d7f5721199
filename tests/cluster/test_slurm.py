"""A real Slurm of one node on loopback: slurmctld, slurmd and munged, started and stopped here."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.slurm_node import SlurmNode
from smartharvest.errors import ConfigError, EngineError
from tests.cluster.agents import free_port, wait_until
from tests.cluster.journey import travel

DAEMONS = ("munged", "slurmctld", "slurmd")
pytestmark = [
    pytest.mark.root,
    pytest.mark.cluster,
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in DAEMONS), reason="Slurm is not installed"
    ),
]

CONFIGURATION = """
ClusterName=harvest
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={here}/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=hcore
SlurmdParameters=config_overrides
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd.log
ReturnToService=2
NodeName=harvest1 NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=4 Gres=hcore:4 State=UNKNOWN
PartitionName=harvest Nodes=harvest1 Default=YES MaxTime=INFINITE State=UP MaxCPUsPerNode=4
"""


class MadeSlurm:
    def __init__(self, here: Path) -> None:
        self.here = here
        ports = [free_port(), free_port()]
        (here / "slurm.conf").write_text(
            CONFIGURATION.format(here=here, controller_port=ports[0], node_port=ports[1])
        )
        (here / "gres.conf").write_text("Name=hcore Count=4\n")
        for name in ("state", "spool"):
            (here / name).mkdir()
        key = here / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)

    def start(self, daemon: str) -> None:
        commands = {
            "munged": [
                f"--socket={self.here}/munge.sock",
                f"--key-file={self.here}/munge.key",
                f"--pid-file={self.here}/munged.pid",
                f"--log-file={self.here}/munged.log",
                f"--seed-file={self.here}/munge.seed",
                "--force",
            ],
            "slurmctld": ["-f", f"{self.here}/slurm.conf"],
            "slurmd": ["-f", f"{self.here}/slurm.conf", "-N", "harvest1"],
        }
        # Daemons keep what they inherit: nobody may wait for their output to end.
        subprocess.run(
            [daemon, *commands[daemon]],
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self, daemon: str) -> None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
            pid = int((self.here / f"{daemon}.pid").read_text())
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: not os.path.exists(f"/proc/{pid}"))

    def states(self) -> list[str]:
        shown = subprocess.run(
            ["squeue", "--noheader", "--format=%t"], capture_output=True, text=True, check=False
        )
        return sorted(shown.stdout.split())

    def answers(self) -> bool:
        try:
            shown = subprocess.run(
                ["sinfo", "--noheader", "--format=%t"],
                capture_output=True,
                text=True,
                timeout=5,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return shown.stdout.strip() in ("idle", "mix", "alloc")


@contextlib.contextmanager
def made_slurm(here: Path) -> Iterator[MadeSlurm]:
    """SLURM_CONF is its own meanwhile."""
    made = MadeSlurm(here)
    before = os.environ.get("SLURM_CONF")
    os.environ["SLURM_CONF"] = str(made.here / "slurm.conf")
    try:
        for daemon in DAEMONS:
            made.start(daemon)
        wait_until(made.answers)
        yield made
    finally:
        subprocess.run(["scancel", "--partition=harvest"], check=False, timeout=10)
        for daemon in reversed(DAEMONS):
            made.stop(daemon)
        os.environ.pop("SLURM_CONF")
        if before is not None:
            os.environ["SLURM_CONF"] = before


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeSlurm]:
    with made_slurm(tmp_path_factory.mktemp("slurm")) as made:
        yield made


@pytest.fixture
def node(slurm: MadeSlurm) -> Iterator[SlurmNode]:  # noqa: ARG001
    yield SlurmNode("harvest1", "harvest", "hcore")
    subprocess.run(["scancel", "--partition=harvest"], check=False, timeout=10)
    wait_until(lambda: SlurmNode("harvest1", "harvest", "hcore").in_use() == 0)


def submit(count: int) -> None:
    for _ in range(count):
        subprocess.run(
            ["sbatch", "--ntasks=1", "--gres=hcore:1", "--output=/dev/null", "--requeue",
             "--wrap=sleep 600"],
            check=True, timeout=30, capture_output=True,
        )  # fmt: skip


def test_what_is_advertised_is_read_back_and_limits_what_starts(
    slurm: MadeSlurm, node: SlurmNode
) -> None:
    node.advertise(2)
    assert node.verify() == 2
    submit(3)
    wait_until(lambda: node.in_use() == 2)
    assert slurm.states() == ["PD", "R", "R"]


def test_shedding_requeues_the_youngest_and_loses_none(slurm: MadeSlurm, node: SlurmNode) -> None:
    node.advertise(3)
    submit(3)
    wait_until(lambda: node.in_use() == 3)
    node.shed(1, grace_s=3.0)
    assert node.in_use() == 3
    node.shed(1, grace_s=0.0)
    wait_until(lambda: node.in_use() == 1)
    assert slurm.states() == ["PD", "PD", "R"]


def test_a_controller_that_restarts_has_forgotten_and_is_asked_again(
    slurm: MadeSlurm, node: SlurmNode
) -> None:
    node.advertise(1)
    slurm.stop("slurmctld")
    with pytest.raises(EngineError):
        node.verify()
    slurm.start("slurmctld")
    wait_until(slurm.answers)
    assert node.verify() != 1


def test_names_that_are_not_there_are_wrong_settings(slurm: MadeSlurm) -> None:  # noqa: ARG001
    with pytest.raises(ConfigError, match="not found"):
        SlurmNode("harvest1", "nosuch", None)
    with pytest.raises(ConfigError, match="not found"):
        SlurmNode("nosuch", "harvest", "hcore")
    with pytest.raises(ConfigError, match="is no valid"):
        SlurmNode("a b", "harvest", None)


def test_jobs_follow_through_restarts_and_deaths_and_none_is_lost(
    slurm: MadeSlurm, node: SlurmNode, tmp_path: Path
) -> None:
    def restart() -> None:
        slurm.stop("slurmctld")
        slurm.start("slurmctld")
        wait_until(slurm.answers)

    node.advertise(1)
    submit(16)  # a requeued one waits for minutes
    adapter = ("slurm", "--node", "harvest1", "--partition", "harvest", "--gres", "hcore")
    travel(node, adapter, str(tmp_path), restart)
    assert slurm.states() == ["PD"] * 15 + ["R"]
