"""The Slurm adapter against a double of Slurm's client commands."""

from __future__ import annotations

import pytest

from smartharvest.cluster import slurm_node
from smartharvest.cluster.slurm_node import SlurmNode
from smartharvest.errors import ConfigError, EngineError


class MadeSlurm:
    """One node of one partition; jobs of one core, those in ``guarded`` cannot be requeued."""

    def __init__(self) -> None:
        self.limit = self.count = 4
        self.jobs = {str(n): f"2026-01-01T00:00:{n:02}" for n in range(10, 14)}
        self.guarded: set[str] = set()
        self.requeues: list[str] = []
        self.listing: str | None = None

    def __call__(self, *command: str, package: str) -> tuple[str, str | None]:
        assert package
        match command:
            case ("squeue", *_):
                lines = [f"{job}|1|1|{started}" for job, started in self.jobs.items()]
                return self.listing or "\n".join(lines), None
            case ("scontrol", "requeue", job):
                self.requeues.append(job)
                if job in self.guarded:
                    return "", f"Requested operation is presently disabled for job {job}"
                del self.jobs[job]
                return "", None
            case ("scontrol", "update", _, value):
                name, _, number = value.rpartition("=" if "=" in value else ":")
                if name == "maxcpuspernode":
                    self.limit = int(number)
                else:
                    self.count = int(value.rpartition(":")[2])
                return "", None
        return f"NodeName=n PartitionName=p MaxCPUsPerNode={self.limit} Gres=h:{self.count}", None


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> MadeSlurm:
    made = MadeSlurm()
    monkeypatch.setattr(slurm_node, "run_command", made)
    return made


def test_the_youngest_jobs_are_requeued(slurm: MadeSlurm) -> None:
    node = SlurmNode("n", "p", "h")
    node.shed(2, grace_s=1.0)
    assert slurm.requeues == []
    node.shed(2, grace_s=0.0)
    assert slurm.requeues == ["13", "12"]
    assert node.in_use() == 2


def test_a_job_that_refuses_does_not_keep_others_from_being_requeued(slurm: MadeSlurm) -> None:
    slurm.guarded.add("13")  # the youngest
    node = SlurmNode("n", "p", "h")
    node.shed(2, grace_s=0.0)
    assert slurm.requeues == ["13", "12", "11"]
    node.shed(1, grace_s=0.0)  # the next turn does not begin with the same job
    assert slurm.requeues[3:] == ["10"]
    with pytest.raises(EngineError, match=r"1 job .* cannot be requeued: job 13: Requested"):
        node.shed(0, grace_s=0.0)
    assert slurm.requeues[4:] == []


@pytest.mark.parametrize("count", [4, 0, 123])
def test_what_was_advertised_is_read_back(slurm: MadeSlurm, count: int) -> None:
    node = SlurmNode("n", "p", "h")
    node.advertise(count)
    assert node.verify() == count
    slurm.count += 1
    assert node.verify() is None


@pytest.mark.parametrize(
    "listing", ["what?", "1|2", "x|1|1|now", "1|-1|1|now", f"{'9' * 5000}|1|1|now"]
)
def test_a_listing_that_shows_no_jobs_is_an_error_in_one_line(
    slurm: MadeSlurm, listing: str
) -> None:
    slurm.listing = listing
    with pytest.raises(EngineError, match="is no job as it was asked for") as told:
        SlurmNode("n", "p", "h").in_use()
    assert len(str(told.value)) < 200


def test_a_cluster_without_the_job_is_a_wrong_setting(
    slurm: MadeSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SlurmNode("n", "p", "h")
    assert slurm.limit == 4
    monkeypatch.setattr(slurm_node, "run_command", lambda *_, **__: ("", "node n not found"))
    with pytest.raises(ConfigError):
        node.in_use()
