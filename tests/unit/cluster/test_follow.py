from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster.follow import Adapter, FollowSettings, follow, leave
from smartharvest.cluster.jobserver import JobServer
from smartharvest.cluster.keeper import Keeper
from smartharvest.cluster.reconcile import Hysteresis
from smartharvest.cluster.source import NoCapacity, WhichGroup, from_socket, of_group, of_place
from smartharvest.errors import EngineError
from tests.cluster.agents import made_agent, wait_until
from tests.commands import smartharvest_here

EAGER = FollowSettings(Hysteresis(grow_after_s=0, grace_s=0), interval_s=0.01)


class MadeEngine:
    """Jobs of one core each; writes down in a file what it advertises."""

    def __init__(self, diary: Path, jobs: int = 0) -> None:
        self.diary = diary
        self.jobs = jobs
        self.told: int | None = None
        self.refuses = False

    def advertise(self, cores: int) -> None:
        if self.refuses:
            raise EngineError("the engine refuses")
        self.told = cores
        with self.diary.open("a") as file:
            file.write(f"{cores}\n")

    def in_use(self) -> int:
        return self.jobs

    def shed(self, cores: int, grace_s: float) -> None:
        if grace_s == 0:
            self.jobs = min(self.jobs, cores)
        self.told = max(cores, self.jobs)

    def verify(self) -> int | None:
        return self.told

    def close(self) -> None:
        with self.diary.open("a") as file:
            file.write("closed\n")


def capacity(cores: int, guaranteed: int = 1) -> dict[str, dict[str, int]]:
    return {"cores": {"now": cores, "promised": cores, "guaranteed": guaranteed}}


def offers(*cores: int) -> Callable[[], dict[str, dict[str, int]]]:
    """One after the other; afterwards nobody answers."""
    left: Iterator[int] = iter(cores)

    def source() -> dict[str, dict[str, int]]:
        try:
            return capacity(next(left))
        except StopIteration:
            raise NoCapacity("gone") from None

    return source


def test_the_engine_follows_and_excess_jobs_are_shed(tmp_path: Path) -> None:
    engine = MadeEngine(tmp_path / "diary")
    adapter = Adapter(offers(4, 4, 2), engine, EAGER, guaranteed=1)
    adapter.turn()
    assert engine.told == 4
    engine.jobs = 4
    adapter.turn()
    adapter.turn()
    assert (engine.jobs, engine.told) == (2, 2)


def test_an_agent_that_no_longer_answers_offers_its_minimum(tmp_path: Path) -> None:
    engine = MadeEngine(tmp_path / "diary")
    adapter = Adapter(offers(4), engine, EAGER, guaranteed=1)
    adapter.turn()
    adapter.turn()
    assert engine.told == 1


def test_an_engine_that_refuses_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = MadeEngine(tmp_path / "diary")
    engine.refuses = True
    adapter = Adapter(offers(4, 4, 4), engine, EAGER, guaranteed=1)
    adapter.turn()
    adapter.turn()
    engine.refuses = False
    adapter.turn()
    assert engine.told == 4
    assert caplog.text.count("the engine refuses") == 1  # each trouble is told once


def test_at_the_end_the_engine_has_its_minimum_and_is_let_go(tmp_path: Path) -> None:
    engine = MadeEngine(tmp_path / "diary")
    turns = iter([False] * 4)
    follow(offers(1, 4, 4, 4, 4, 4), lambda: engine, EAGER, lambda: next(turns, True))
    assert engine.diary.read_text().split()[-2:] == ["1", "closed"]
    assert "4" in engine.diary.read_text().split()


def test_without_an_agent_at_the_start_only_a_minimum_that_was_given_counts(tmp_path: Path) -> None:
    engine = MadeEngine(tmp_path / "diary")
    turns = iter([False] * 2)
    with pytest.raises(NoCapacity):
        follow(offers(), lambda: engine, EAGER, lambda: True)
    assert engine.told is None
    settings = replace(EAGER, guaranteed=2)
    follow(offers(), lambda: engine, settings, lambda: next(turns, True))
    assert engine.told == 2


def test_an_engine_that_will_not_shrink_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartharvest.cluster.follow.PATIENCE_S", 0.0)
    engine = MadeEngine(tmp_path / "diary", jobs=3)
    monkeypatch.setattr(engine, "shed", lambda _cores, _grace_s: None)
    with pytest.raises(EngineError, match="3 cores still in use, 1 allowed"):
        leave(engine, 1, grace_s=0.0)
    assert engine.diary.read_text().split()[-1] == "closed"


def test_work_that_refuses_at_the_end_gets_the_time_of_the_rest_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartharvest.cluster.follow.PATIENCE_S", 0.3)
    engine = MadeEngine(tmp_path / "diary", jobs=3)

    def shed(_cores: int, _grace_s: float) -> None:
        engine.jobs = max(2, engine.jobs - 1)
        raise EngineError("job 17 cannot be requeued")

    monkeypatch.setattr(engine, "shed", shed)
    with pytest.raises(EngineError, match="job 17 cannot be requeued"):
        leave(engine, 1, grace_s=0.0)
    assert engine.jobs == 2
    leave(engine, 2, grace_s=0.0)
    assert engine.diary.read_text().split()[-2:] == ["2", "closed"]


def test_a_keeper_acts_only_if_it_was_not_dismissed(tmp_path: Path) -> None:
    for name, dismissed in (("kept", True), ("alone", False)):
        keeper = Keeper((tmp_path / name).touch)
        if dismissed:
            keeper.dismiss()
        keeper.close()
    assert not (tmp_path / "kept").exists()
    assert (tmp_path / "alone").exists()


KILLED = """
import sys, time
from pathlib import Path
from tests.unit.cluster.test_follow import EAGER, MadeEngine, capacity
from smartharvest.cluster.follow import follow
follow(lambda: capacity(4), lambda: MadeEngine(Path(sys.argv[1])), EAGER, lambda: False)
"""


@pytest.mark.timing
def test_an_adapter_that_is_killed_leaves_the_engine_at_the_minimum(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    adapter = subprocess.Popen([sys.executable, "-c", KILLED, str(diary)], start_new_session=True)
    wait_until(lambda: diary.exists() and "4" in diary.read_text().split())
    os.killpg(adapter.pid, signal.SIGKILL)
    adapter.wait()
    wait_until(lambda: diary.read_text().split()[-2:] == ["1", "closed"])


def test_the_capacity_comes_from_the_one_agent_that_runs(tmp_path: Path) -> None:
    source = from_socket(str(tmp_path), None)
    with pytest.raises(NoCapacity, match="No agent is running"):
        source()
    with made_agent(str(tmp_path), guaranteed=2) as agent:
        agent.cores = 5
        assert source()["cores"]["promised"] == 5
    with pytest.raises(NoCapacity, match="No agent is running"):
        source()


def several() -> dict[str, Any]:
    """The capacity of a node with two elastic groups."""
    groups = [
        {"name": "one", "target": "cgroup:batch/one", **capacity(3, 0)},
        {"name": "two", "target": "cgroup:batch/two", **capacity(2, 1)},
    ]
    return {**capacity(5, 1), "hold_s": 10, "groups": groups}


def test_an_adapter_follows_the_group_that_it_is_given() -> None:
    seen = of_group(several, "two")()
    assert (seen["cores"], seen["hold_s"]) == (capacity(2, 1)["cores"], 10)


def test_several_groups_need_a_name_and_one_does_not() -> None:
    with pytest.raises(WhichGroup, match="several groups; choose one with --group: one, two"):
        of_group(several, None)()
    with pytest.raises(WhichGroup, match="no elastic group 'three'; it has one, two"):
        of_group(several, "three")()
    one = {**capacity(5), "groups": several()["groups"][:1]}
    assert of_group(lambda: one, None)() is one
    assert of_group(lambda: capacity(5), None)() == capacity(5)  # of an earlier release
    with pytest.raises(WhichGroup, match="no elastic group 'one'"):
        of_group(lambda: capacity(5), "one")()


@pytest.mark.parametrize("groups", [7, [7], [{"name": 7}], [{"name": "x", "cores": {}}]])
def test_groups_that_are_none_are_no_capacity(groups: object) -> None:
    for name in (None, "x"):
        with pytest.raises(NoCapacity, match="no capacity document"):
            of_group(lambda: {**capacity(1), "groups": groups}, name)()


@pytest.mark.parametrize("target", ["cgroup:batch/two", "cgroup:batch/two/job"])
def test_a_build_has_the_cores_of_the_group_that_it_is_in(target: str) -> None:
    assert of_place(several, target)()["cores"]["promised"] == 2
    assert of_place(lambda: capacity(5), target)() == capacity(5)
    with pytest.raises(WhichGroup, match="it has one, two"):
        of_place(several, "cgroup:elsewhere")()


def test_groups_that_appear_while_it_follows_leave_the_engine_at_the_minimum(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = {**capacity(5)}
    engine = MadeEngine(tmp_path / "diary")
    adapter = Adapter(of_group(lambda: node, None), engine, EAGER, 1)
    adapter.turn()
    assert engine.told == 5
    node.update(several())
    adapter.turn()
    assert engine.told == 1
    assert "choose one with --group" in caplog.text


def test_an_adapter_without_a_name_for_its_group_says_so_in_a_line(tmp_path: Path) -> None:
    with made_agent(str(tmp_path)) as agent:
        agent.groups = several()["groups"]
        command = ("adapter", "slurm", "--node", "n", "--partition", "p", "--state-dir")
        outcome = smartharvest_here(*command, str(tmp_path))
    assert outcome.code == 2
    (line,) = outcome.err.splitlines()
    assert "the agent lends to several groups; choose one with --group: one, two" in line


def test_tokens_are_added_and_taken_back() -> None:
    server = JobServer()
    try:
        server.advertise(4)
        assert (server.verify(), server.in_use()) == (4, 0)
        job = os.open(server.path, os.O_RDWR)
        os.read(job, 2)  # two jobs start
        assert server.in_use() == 3
        server.advertise(3)
        assert (server.verify(), server.in_use()) == (3, 3)
        server.shed(1, 0.0)
        assert server.verify() == 3  # they run on
        os.write(job, b"++")  # and end
        server.shed(1, 0.0)
        assert (server.verify(), server.in_use()) == (1, 0)
        server.advertise(0)
        assert (server.verify(), server.in_use()) == (0, 0)
        os.close(job)
    finally:
        server.close()
    assert not os.path.exists(server.path)
