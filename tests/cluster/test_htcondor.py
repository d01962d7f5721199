"""A real HTCondor pool of one machine on loopback, with the configuration that is shipped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.htcondor_node import HTCondorNode
from smartharvest.errors import ConfigError
from tests.cluster.agents import free_port, wait_until
from tests.cluster.condor import HERE, MadeCondor, made_condor
from tests.cluster.journey import travel

pytestmark = [
    pytest.mark.root,
    pytest.mark.cluster,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        not (HERE / "complete").exists(),
        reason="HTCondor is not there: python -m tests.cluster.condor",
    ),
]


@pytest.fixture(scope="module")
def condor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeCondor]:
    commands = tmp_path_factory.mktemp("bin")
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{commands}:{path}"
    try:
        with made_condor(free_port(), commands) as made:
            yield made
    finally:
        os.environ["PATH"] = path


@pytest.fixture
def node(condor: MadeCondor) -> Iterator[HTCondorNode]:
    yield HTCondorNode("localhost", str(condor.advertisement))
    condor.says("condor_rm", "-all")
    made = HTCondorNode("localhost", str(condor.advertisement))
    wait_until(lambda: made.in_use() == 0)


def test_what_is_advertised_is_read_back_and_limits_what_starts(
    condor: MadeCondor, node: HTCondorNode
) -> None:
    node.advertise(2)
    wait_until(lambda: node.verify() == 2)
    condor.submit(3)
    wait_until(lambda: condor.states() == ["1", "2", "2"])
    assert node.in_use() == 2


def test_shedding_ends_the_youngest_which_go_back_to_the_queue(
    condor: MadeCondor, node: HTCondorNode
) -> None:
    node.advertise(1)
    condor.submit(1)
    wait_until(lambda: node.in_use() == 1)
    first = condor.says("condor_q", "-allusers", "-constraint", "JobStatus==2", "-af", "ClusterId")
    node.advertise(3)
    condor.submit(2)
    wait_until(lambda: node.in_use() == 3)
    node.shed(1, grace_s=3.0)
    assert node.in_use() == 3
    node.advertise(1)
    node.shed(1, grace_s=0.0)
    wait_until(lambda: (node.in_use(), condor.states()) == (1, ["1", "1", "2"]))
    left = condor.says("condor_q", "-allusers", "-constraint", "JobStatus==2", "-af", "ClusterId")
    assert left == first


def test_without_a_word_it_falls_back_to_the_guaranteed_minimum_by_itself(
    condor: MadeCondor, node: HTCondorNode
) -> None:
    node.advertise(3)
    condor.submit(3)
    wait_until(lambda: node.in_use() == 3)
    told = condor.advertisement.read_text()
    condor.advertisement.write_text(re.sub(r"HarvestTold = \d+", "HarvestTold = 1", told))
    wait_until(lambda: condor.states() == ["1", "1", "2"])
    assert node.verify() is None


def test_what_is_not_there_is_a_wrong_setting(condor: MadeCondor, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the pool has no machine nosuch"):
        HTCondorNode("nosuch", str(condor.advertisement))
    with pytest.raises(ConfigError, match="is not writable"):
        HTCondorNode("localhost", str(tmp_path / "missing" / "deeper" / "ad"))


def test_jobs_follow_through_restarts_and_deaths_and_none_is_lost(
    condor: MadeCondor, node: HTCondorNode, tmp_path: Path
) -> None:
    def restart() -> None:
        condor.stop()
        condor.start()

    node.advertise(1)
    condor.submit(5)
    travel(
        node,
        ("htcondor", "--machine", "localhost", "--file", str(condor.advertisement)),
        str(tmp_path),
        restart,
    )
    wait_until(lambda: condor.states() == ["1", "1", "1", "1", "2"])
