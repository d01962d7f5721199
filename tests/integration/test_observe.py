"""``smartharvest observe``: by every sensor on this host, and on a fake tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from smartharvest.agent import loop_builder, observation
from smartharvest.core import _loop, _sensors
from smartharvest.doctor.finding import Host
from smartharvest.doctor.kernel_checks import check_bpf
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.sensor.choice import LOOKS_A_WINDOW, POLLING_CPU_PERCENT, Sensing
from tests.commands import smartharvest_here
from tests.integration.processes import Processes, need_bpf, wait_until
from tests.integration.worlds import EITHER, World

SENSORS_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sensors.md"
KEYS = {
    "mean_busy",
    "mean_demand",
    "peak_busy",
    "window_peaks",
    "wait_us",
    "sensor",
    "sensor_cpu",
}
"""What others may rely on, among more."""


def observe(*arguments: str) -> dict[str, object]:
    outcome = smartharvest_here("observe", "--seconds", "0.3", "--json", *arguments)
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert isinstance(document, dict)
    assert document.keys() >= KEYS
    assert document["wait_us"].keys() == {"p50", "p99", "max"}
    return document


def sleeps(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().startswith(f"{pid} (sleep) S ")


@pytest.mark.timing
@pytest.mark.root
@pytest.mark.parametrize("sensor", ["bpf", "perf", "proc"])
def test_a_busy_process_is_seen_and_a_sleeping_one_is_not(
    sensor: str, processes: Processes
) -> None:
    if sensor == "bpf":
        need_bpf()
    spinner = processes.spinning()
    busy = observe("--primary", f"pid:{spinner}", "--sensor", sensor)
    sleeper = processes.asleep()
    wait_until(lambda: sleeps(sleeper))
    idle = observe("--primary", f"pid:{sleeper}", "--sensor", sensor)
    assert busy["sensor"] == idle["sensor"] == sensor
    assert busy["peak_busy"] == 1
    assert float(str(busy["mean_demand"])) >= float(str(busy["mean_busy"])) > 0
    assert idle["peak_busy"] == 0
    assert idle["mean_demand"] == 0


@pytest.mark.root
def test_auto_takes_the_sensor_in_the_kernel_where_it_may(processes: Processes) -> None:
    need_bpf()
    assert observe("--primary", f"pid:{processes.asleep()}")["sensor"] == "bpf"


def test_watching_a_fake_tree_changes_nothing(quiet_world: World) -> None:
    before = quiet_world.files()
    seen = observe("--primary", "cgroup:web", "--cgroup-root", quiet_world.tree.root)
    assert seen["sensor"] == "proc"
    assert quiet_world.files() == before


def test_ctrl_c_ends_it_with_the_figures_so_far(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(observation, "resync", interrupt)
    monkeypatch.setattr(observation, "RESYNC_S", 0.1)
    where = ("--primary", "cgroup:web", "--cgroup-root", quiet_world.tree.root)
    outcome = smartharvest_here("observe", "--seconds", "1h", *where)
    assert outcome.code == 0
    assert outcome.out.startswith("observed ")


def test_without_a_primary_there_is_nothing_to_watch() -> None:
    outcome = smartharvest_here("observe", "--seconds", "1")
    assert outcome.code == 2
    assert outcome.failure.startswith("primary: no target given")


@pytest.mark.root
def test_watching_this_host_needs_no_journal(processes: Processes) -> None:
    online = CgroupTree.discover().online_cpus()
    seen = observe("--primary", f"pid:{processes.asleep()}", "--sensor", "proc")
    assert seen["total"] == len(online)


@EITHER
@pytest.mark.parametrize(
    ("module", "command"),
    [
        (observation, ("observe", "--seconds", "0.1")),
        (loop_builder, ("agent", "--dry-run", "--elastic", "cgroup:batch", "--duration", "100ms")),
    ],
    ids=["observe", "agent"],
)
def test_looking_at_each_task_takes_no_more_of_a_cpu_than_doctor_says(
    module: ModuleType,
    command: Sequence[str],
    quiet_world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds: list[tuple[int, int]] = []

    def loop(**how: Any) -> _loop.Loop:
        bounds.append((how["most_cpu_percent"], LOOKS_A_WINDOW * how["most_rest_ns"]))
        return _loop.Loop(**how)

    monkeypatch.setattr(module, "_loop", SimpleNamespace(**vars(_loop) | {"Loop": loop}))
    window = ("--window", "20ms")
    where = ("--cgroup-root", quiet_world.tree.root, "--primary", "cgroup:web")
    outcome = smartharvest_here(*command, *where, *window, "--sensor", "proc")
    assert outcome.code == 0, outcome.err
    assert bounds == [(POLLING_CPU_PERCENT, 20_000_000)]
    (said, *_) = check_bpf(Host("/nowhere"))
    assert f"/proc costs up to {POLLING_CPU_PERCENT} %" in said.why
    assert f"more than {POLLING_CPU_PERCENT} % of a core" in SENSORS_PAGE.read_text()


@pytest.mark.parametrize(("sees_changes", "share"), [(False, POLLING_CPU_PERCENT), (True, 0)])
def test_a_sensor_that_sees_changes_is_not_held_back(sees_changes: bool, share: int) -> None:
    sensor = SimpleNamespace(sees_changes=sees_changes)
    assert Sensing(cast(_sensors.Sensor, sensor), "", "").most_cpu_percent == share
