"""``smartharvest record`` and ``replay`` as commands."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from smartharvest.core import _loop
from smartharvest.lab.trace import TraceReader, read_trace, recording
from tests.commands import as_command, smartharvest, smartharvest_here
from tests.integration.processes import Processes, need_bpf, wait_until
from tests.integration.worlds import World


def record_arguments(processes: Processes, out: Path, *more: str) -> list[str]:
    primary = f"pid:{processes.spinning()}"
    return ["record", str(out), "--primary", primary, "--sensor", "proc", "--no-realtime", *more]


def wait_for_a_stretch(out: Path) -> None:
    """Returns once ``out`` has more than it had first: its header."""
    wait_until(lambda: out.exists() and out.stat().st_size > 0)
    first = out.stat().st_size
    wait_until(lambda: out.stat().st_size > first)


@pytest.mark.timing
def test_what_is_recorded_can_be_replayed(processes: Processes, tmp_path: Path) -> None:
    out = tmp_path / "host.trace"
    recorded = smartharvest_here(*record_arguments(processes, out, "--seconds", "0.6", "--json"))
    assert recorded.code == 0, recorded.err
    told = json.loads(recorded.out)
    trace = read_trace(str(out))
    assert trace.header.cores == told["cores"]
    assert trace.header.sensor == "proc"
    assert trace.ending is not None
    assert trace.ending["polls"] == told["polls"] > 0
    assert told["mean_busy"] > 0
    assert out.stat().st_size >= told["bytes"] > 0
    played = smartharvest_here("lab", "replay", str(out), "--policy", "no-harvest", "--json")
    assert played.code == 0, played.err
    assert [one["policy"] for one in json.loads(played.out)["policies"]] == [
        "no-harvest",
        "clairvoyant",
        "instant",
    ]


@pytest.mark.timing
@pytest.mark.root
def test_the_in_kernel_sensor_tells_waits_too(processes: Processes, tmp_path: Path) -> None:
    need_bpf()
    out = str(tmp_path / "host.trace")
    rivals = processes.spinning(), processes.spinning()
    for rival in rivals:  # both on one CPU, so that each waits for the other
        os.sched_setaffinity(rival, {min(os.sched_getaffinity(rival))})
    recorded = smartharvest_here(
        *("record", out, "--primary", f"pid:{rivals[0]}", "--sensor", "bpf"),
        *("--seconds", "0.6"),
    )
    assert recorded.code == 0, recorded.err
    with TraceReader(out) as reader:
        assert reader.tells_waits
        seen = [period for stretch in reader for period in stretch.dispatches]
    assert len(seen) > 1
    assert any(period.waits for period in seen)


def test_a_fake_tree_is_recorded_and_left_as_it_is(quiet_world: World, tmp_path: Path) -> None:
    before = quiet_world.files()
    out = str(tmp_path / "made.trace")
    outcome = smartharvest_here(
        *("record", out, "--primary", "cgroup:web", "--cgroup-root", quiet_world.tree.root),
        *("--seconds", "0.2"),
    )
    assert outcome.code == 0, outcome.err
    assert quiet_world.files() == before
    with TraceReader(out) as reader:
        assert reader.header.primaries == ("cgroup:web",)


def bounds_of(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The share of a CPU, in percent, and the longest rest of the loop that records, in ns."""
    bounds: list[tuple[int, int]] = []

    def loop(**how: Any) -> _loop.Loop:
        bounds.append((how["most_cpu_percent"], how["most_rest_ns"]))
        return _loop.Loop(**how)

    monkeypatch.setattr(recording, "_loop", SimpleNamespace(**vars(_loop) | {"Loop": loop}))
    outcome = smartharvest_here(*arguments)
    assert outcome.code == 0, outcome.err
    return bounds[0]


def test_a_recorder_takes_a_tenth_of_a_cpu_unless_it_may_take_more(
    quiet_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = [
        *("record", str(tmp_path / "made.trace"), "--primary", "cgroup:web"),
        *("--cgroup-root", quiet_world.tree.root, "--seconds", "0.1"),
    ]
    share, rest_ns = bounds_of(record, monkeypatch)
    assert share == 10
    assert 0 < rest_ns < recording.LEAST_GAP_NS  # a longer one would be a gap in the trace
    share, _ = bounds_of([*record, "--overwrite", "--most-cpu", "100"], monkeypatch)
    assert share == 100


@pytest.mark.timing
def test_an_interrupted_recording_is_whole(processes: Processes, tmp_path: Path) -> None:
    out = tmp_path / "host.trace"
    process = processes.start(as_command(record_arguments(processes, out)))
    wait_for_a_stretch(out)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    trace = read_trace(str(out))
    assert trace.ending is not None
    assert trace.ending["reason"] == "stopped"


@pytest.mark.timing
def test_a_killed_recording_is_refused_and_its_beginning_can_be_had(
    processes: Processes, tmp_path: Path
) -> None:
    out = tmp_path / "host.trace"
    process = processes.start(as_command(record_arguments(processes, out)))
    wait_for_a_stretch(out)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    refused = smartharvest_here("lab", "replay", str(out))
    assert refused.code == 11
    assert "has no end mark: the recorder was killed, or the file was cut" in refused.failure
    taken = smartharvest_here("lab", "replay", str(out), "--partial", "--policy", "no-harvest")
    assert taken.code == 0, taken.err
    assert "these are the figures of the part before" in taken.out


@pytest.mark.timing
def test_a_full_disk_ends_the_recording_in_one_line(processes: Processes, tmp_path: Path) -> None:
    out = tmp_path / "host.trace"
    arguments = record_arguments(processes, out, "--seconds", "10")
    outcome = smartharvest(*arguments, largest_file=500)
    assert outcome.code == 11
    assert f"{out}: cannot be written: File too large; it ends after" in outcome.failure
    assert read_trace(str(out), partial=True).header.sensor == "proc"


@pytest.mark.timing
def test_a_primary_that_goes_away_ends_the_recording(processes: Processes, tmp_path: Path) -> None:
    out = tmp_path / "host.trace"
    primary = processes.start(("sleep", "600"))
    target = f"pid:{primary.pid}"
    recorder = processes.start(
        as_command(["record", str(out), "--primary", target, "--sensor", "proc", "--no-realtime"])
    )
    wait_until(out.exists)
    primary.kill()
    primary.wait()
    assert recorder.wait(timeout=20) == 6
    assert recorder.stderr is not None
    assert recorder.stderr.read() == f"smartharvest: {target}: is gone [SH-T21]\n"
    trace = read_trace(str(out))
    assert trace.ending is not None
    assert trace.ending["reason"] == "the sensor failed"


@pytest.mark.parametrize("partial", [[], ["--partial"]])
def test_a_foreign_file_is_refused(tmp_path: Path, partial: list[str]) -> None:
    (tmp_path / "foreign").write_text("timestamp,busy\n1,2\n")
    outcome = smartharvest_here("lab", "replay", str(tmp_path / "foreign"), *partial)
    assert outcome.code == 11
    assert outcome.failure == f"{tmp_path}/foreign: is no trace"


def test_an_unknown_policy_is_refused_before_the_trace_is_read(tmp_path: Path) -> None:
    outcome = smartharvest_here("lab", "replay", str(tmp_path / "none"), "--policy", "best")
    assert outcome.code == 2
    assert outcome.failure.startswith("policy: 'best' is unknown")


def test_recording_needs_a_primary(tmp_path: Path) -> None:
    outcome = smartharvest_here("record", str(tmp_path / "out"))
    assert outcome.code == 2
    assert outcome.failure.startswith("primary: no target given")
    assert not (tmp_path / "out").exists()
