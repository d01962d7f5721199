"""The measuring itself, with hardly any samples: the shape of what it returns."""

import errno
import os

import pytest

from bench import features, learning, pacing, poll, probe, scaling, sensors
from bench.subject import Effort, NotMeasurableError
from smartharvest.core import _sensors
from smartharvest.host.cgroup.tree import CgroupTree

TINY = Effort(rounds=1, share=0.01, seed=1)


def part(figures: object, *path: str) -> dict[str, object]:
    for key in path:
        assert isinstance(figures, dict)
        figures = figures[key]
    assert isinstance(figures, dict)
    return figures


def test_polls_and_features_stand_beside_an_empty_loop() -> None:
    assert part(poll.measure(TINY), "cores_64")["floor"] == "empty_loop"
    assert part(features.measure(TINY), "samples_50000")["floor"] == "empty_loop"


def test_timed_polls_lend_cores_and_close_windows() -> None:
    loop = poll.half_busy_loop(64)
    loop.time_steps(poll.POLLS)
    assert loop.harvested == 16
    assert loop.counters()["windows"] == 4
    assert loop.halt is None


def test_the_text_learner_stands_beside_the_fast_one_hot_and_at_the_cadence() -> None:
    figures = learning.measure(TINY)
    for classes in ("classes_11", "classes_41"):
        for state in ("hot", "every_25ms"):
            shown = part(part(figures, classes), state).keys()
            assert {"native", "vw", "vw_learn", "vw_predict", "vw_reuse", "vw_text"} <= shown


def test_goals_are_named_after_what_they_limit() -> None:
    names: set[str] = set()
    for subject in (poll, features, learning):
        names |= part(subject.measure(TINY), "goals").keys()
    assert names == {
        "poll_of_64_cores_us",
        "features_us",
        "features_of_50000_over_500_samples",
        "vw_learn_and_predict_11_us",
        "vw_learn_and_predict_41_us",
        "native_learn_and_predict_11_us",
        "native_learn_and_predict_41_us",
    }


def test_pacing_without_the_right_to_fifo_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "fifo_allowed", lambda: False)
    figures = pacing.measure(TINY)
    assert "refused" in str(part(figures, "fifo")["skipped"])
    assert not any(name.endswith("_fifo") for name in figures)
    assert part(figures, "sleep_short-slice")["floor"] == "nanosleep_short-slice"


def test_agreement_is_skipped_with_one_cpu_and_the_cost_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0})
    figures = sensors.measure(TINY)
    assert str(part(figures, "agreement")["skipped"]).startswith("needs two CPUs")
    assert part(figures, "cost", "proc_4")["floor"] == "pread_proc_4"


def test_scaling_without_cgroups_is_still_that_with_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_tree() -> CgroupTree:
        raise NotMeasurableError("needs root")

    monkeypatch.setattr(scaling, "find_tree", find_tree)
    figures = scaling.measure(TINY)
    assert part(figures, "tasks") == {"skipped": "needs root"}
    assert part(figures, "cpus", "poll_256")["floor"] == "poll_2"


@pytest.mark.root
def test_scaling_with_tasks_moves_and_reads_real_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "TASKS", (1, 3))
    monkeypatch.setattr(scaling, "CPUS", (2,))
    figures = part(scaling.measure(TINY), "tasks")
    assert {"read_proc_3", "move_3", "list_tasks_3", "getppid"} <= figures.keys()


def test_a_thread_is_scheduled_as_before_after_a_probe() -> None:
    before = os.sched_getscheduler(0)
    probe.fifo_allowed()
    assert os.sched_getscheduler(0) == before


def test_timed_readings_are_as_many_as_asked_for_and_fail_as_readings_do() -> None:
    sensor = _sensors.FakeSensor(script=[2, 1, -errno.ENODEV])
    assert len(sensor.time_reads(2)) == 2
    with pytest.raises(OSError, match="No such device"):
        sensor.time_reads(1)


def test_a_file_that_is_gone_is_an_error_of_the_probe() -> None:
    with pytest.raises(FileNotFoundError):
        probe.preads_ns(["/proc/0/stat"], 1)
    with pytest.raises(ProcessLookupError):
        probe.setaffinity_ns(2**22 + 1, 0)
