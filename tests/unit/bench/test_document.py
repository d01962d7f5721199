import json
import os

import pytest
from click.testing import CliRunner

from bench import __main__ as command
from bench import cpuset
from bench.document import build_document
from bench.machine import steal_share
from bench.subject import Effort, Figures, NotMeasurableError, goal
from smartharvest.errors import RightsError
from smartharvest.host.cgroup import CgroupTree
from smartharvest.host.kernel_files import PosixFiles

EFFORT = Effort(rounds=5, share=0.2, seed=7)


def measured(_effort: Effort) -> Figures:
    return {"case": {"median_us": 2.0}, "goals": {"case_us": goal(1.0, 2.0)}}


def not_measurable(_effort: Effort) -> Figures:
    raise NotMeasurableError("needs two CPUs")


def test_the_document_names_the_machine_the_seed_and_the_goals() -> None:
    document = build_document({"one": measured}, EFFORT, lambda _: None)
    assert document["goals"] == {"case_us": {"goal": 1.0, "value": 2.0, "met": False}}
    assert document["subjects"] == {"one": {"case": {"median_us": 2.0}}}
    assert document["seed"] == 7
    machine = document["machine"]
    assert isinstance(machine, dict)
    assert {
        "cpu_model",
        "cpus",
        "kernel",
        "python",
        "versions",
        "load_average_before",
        "load_average_after",
        "steal_share",
    } <= machine.keys()


def test_what_cannot_be_measured_is_skipped_with_the_reason_and_the_rest_is_measured() -> None:
    lines: list[str] = []
    subjects = {"one": not_measurable, "two": measured}
    document = build_document(subjects, EFFORT, lines.append)
    assert document["subjects"] == {
        "one": {"skipped": "needs two CPUs"},
        "two": {"case": {"median_us": 2.0}},
    }
    assert lines[0] == "one: needs two CPUs"


def test_standard_output_is_one_json_document_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "SUBJECTS", {"poll": measured, "cpuset": not_measurable})
    result = CliRunner().invoke(command.main, ["--quick", "--json", "--seed", "9"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert list(document["subjects"]) == ["poll", "cpuset"]
    assert document["seed"] == 9
    assert result.stderr.startswith("poll: ")


def test_only_what_was_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "SUBJECTS", {"poll": measured, "cpuset": not_measurable})
    result = CliRunner().invoke(command.main, ["--only", "poll"])
    assert list(json.loads(result.stdout)["subjects"]) == ["poll"]


def test_steal_is_a_share_of_all_cpu_time() -> None:
    before = [100, 0, 50, 800, 0, 0, 0, 10]
    after = [150, 0, 60, 930, 0, 0, 0, 20]
    assert steal_share(before, after) == 0.05


def test_cpusets_are_not_measured_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = CgroupTree("/sys/fs/cgroup", 1, {"cpuset": "/sys/fs/cgroup/cpuset"}, PosixFiles())
    monkeypatch.setattr(CgroupTree, "discover", lambda: tree)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotMeasurableError, match="needs root"):
        cpuset.measure(EFFORT)


def test_cpusets_are_not_measured_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def discover() -> CgroupTree:
        raise RightsError("no cgroup hierarchy with cpusets is mounted")

    monkeypatch.setattr(CgroupTree, "discover", discover)
    with pytest.raises(NotMeasurableError, match="no cgroup hierarchy"):
        cpuset.measure(EFFORT)
