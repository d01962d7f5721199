import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import __main__ as command
from bench import cpuset
from bench.document import Progress, build_document, fair_share
from bench.machine import busy_cores, steal_share
from bench.registry import NAMES, find_subject
from bench.subject import LEAST_SHARE, Effort, Figures, NotMeasurableError, Subject, goal
from smartharvest.errors import RightsError
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cgroup.tree import CgroupTree

EFFORT = Effort(rounds=5, share=0.2, seed=7)
Measure = Callable[[Effort], Figures]


class Told(Progress):
    def __init__(self) -> None:
        super().__init__()
        self.outcomes: list[str] = []

    def end(self, name: str, outcome: str, /) -> None:
        self.outcomes.append(f"{name}: {outcome}")


def measured(_effort: Effort) -> Figures:
    return {"case": {"median_us": 2.0}, "goals": {"case_us": goal(1.0, 2.0)}}


def not_measurable(_effort: Effort) -> Figures:
    raise NotMeasurableError("needs two CPUs")


def subject(measure: Measure = measured, seconds: float = 10.0) -> Subject:
    return Subject(measure, seconds, title="made", about="made")


def test_the_document_names_the_machine_the_seed_and_the_goals() -> None:
    document = build_document({"one": subject()}, EFFORT, Progress(), budget_s=100.0)
    assert document["goals"] == {"case_us": {"goal": 1.0, "value": 2.0, "met": False}}
    assert document["subjects"] == {
        "one": {"case": {"median_us": 2.0}, "share_of_samples": 0.2},
    }
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
    told = Told()
    subjects = {"one": subject(not_measurable), "two": subject()}
    document = build_document(subjects, EFFORT, told, budget_s=100.0)
    figures = document["subjects"]
    assert isinstance(figures, dict)
    assert figures["one"]["skipped"] == "needs two CPUs"
    assert figures["two"]["case"] == {"median_us": 2.0}
    assert told.outcomes[0] == "one: skipped: needs two CPUs"


def test_one_that_fails_does_not_cost_the_others() -> None:
    def fail(_effort: Effort) -> Figures:
        raise IndexError("no window")

    subjects = {"one": subject(fail), "two": subject()}
    figures = build_document(subjects, EFFORT, Progress(), budget_s=100.0)["subjects"]
    assert isinstance(figures, dict)
    assert figures["one"]["failed"] == "IndexError: no window"
    assert "case" in figures["two"]


def test_subjects_share_the_time_and_the_later_ones_pay_for_a_slow_one() -> None:
    now = [0.0]

    def taking(seconds: float) -> Measure:
        def measure(_effort: Effort) -> Figures:
            now[0] += seconds
            return {}

        return measure

    subjects = {"slow": subject(taking(50.0), 40.0), "next": subject(taking(20.0), 80.0)}
    effort = Effort(rounds=5, share=1.0, seed=1)
    document = build_document(subjects, effort, Progress(), budget_s=60.0, clock=lambda: now[0])
    figures = document["subjects"]
    assert isinstance(figures, dict)
    assert figures["slow"]["share_of_samples"] == 0.5
    assert figures["next"]["share_of_samples"] == 0.125


def test_what_fewer_samples_do_not_save_is_taken_off_first() -> None:
    waiting = [Subject(measured, 60.0, "", "", least_s=20.0), Subject(measured, 40.0, "", "")]
    effort = Effort(rounds=5, share=1.0, seed=1)
    assert fair_share(waiting, 60.0, effort) == 0.5
    assert fair_share(waiting, 1000.0, effort) == 1.0
    assert fair_share(waiting, 0.0, effort) == LEAST_SHARE
    assert fair_share(waiting, 30.0, dataclasses.replace(effort, rounds=3)) == 0.375


def test_ctrl_c_keeps_what_is_measured_and_begins_no_more() -> None:
    def interrupt(_effort: Effort) -> Figures:
        raise KeyboardInterrupt

    subjects = {"one": subject(), "two": subject(interrupt), "three": subject()}
    document = build_document(subjects, EFFORT, Progress(), budget_s=100.0)
    figures = document["subjects"]
    assert isinstance(figures, dict)
    assert list(figures) == ["one", "two"]
    assert "case" in figures["one"]
    assert document["interrupted"] == "two"
    assert document["not_begun"] == ["three"]


@pytest.fixture
def made_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"poll": subject(), "cpuset": subject(not_measurable)}
    monkeypatch.setattr(command, "NAMES", tuple(made))
    monkeypatch.setattr(command, "find_subject", made.__getitem__)
    monkeypatch.setattr(command, "shortcomings", lambda: ["too small: 1 CPU"])


@pytest.mark.usefixtures("made_subjects")
def test_standard_output_is_one_json_document_and_nothing_else() -> None:
    result = CliRunner().invoke(command.main, ["--quick", "--json", "--seed", "9"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert list(document["subjects"]) == ["poll", "cpuset"]
    assert document["seed"] == 9
    assert document["warnings"] == ["too small: 1 CPU"]
    assert result.stderr.startswith("careful: this machine is too small: 1 CPU\n[1/2] poll: about")


@pytest.mark.usefixtures("made_subjects")
def test_only_what_was_asked_for_is_measured() -> None:
    result = CliRunner().invoke(command.main, ["--only", "poll"])
    assert list(json.loads(result.stdout)["subjects"]) == ["poll"]


@pytest.mark.usefixtures("made_subjects")
def test_a_quick_run_leaves_out_what_is_slow_unless_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = dataclasses.replace(subject(), quick=False)
    made = {"poll": subject(), "cpuset": slow}
    monkeypatch.setattr(command, "find_subject", made.__getitem__)
    result = CliRunner().invoke(command.main, ["--quick"])
    assert list(json.loads(result.stdout)["subjects"]) == ["poll"]
    result = CliRunner().invoke(command.main, ["--quick", "--only", "cpuset"])
    assert list(json.loads(result.stdout)["subjects"]) == ["cpuset"]


@pytest.mark.usefixtures("made_subjects")
def test_an_interrupted_run_is_written_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(_effort: Effort) -> Figures:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "find_subject", lambda _name: subject(interrupt))
    result = CliRunner().invoke(command.main, ["--out", str(tmp_path / "out.json")])
    assert result.exit_code == 130
    assert json.loads((tmp_path / "out.json").read_text())["interrupted"] == "poll"


def test_all_subjects_are_there_and_fit_into_ten_minutes_with_most_of_their_samples() -> None:
    assert sum(find_subject(name).seconds for name in NAMES) / 2 < command.FULL_S


def test_busy_cores_are_what_is_neither_idle_nor_waiting_for_a_disk() -> None:
    before = [100, 0, 50, 800, 0, 0, 0, 10]
    after = [150, 0, 60, 930, 10, 0, 0, 10]
    assert busy_cores(before, after, cpus=2) == 0.6


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
