"""Replays: the loop and the agent of a host, on what a trace says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smartharvest.algorithm.algorithm1 import Algorithm1
from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.config.settings import Settings
from smartharvest.core._actuators import FakeActuator
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.core.plan import Plan
from smartharvest.errors import ConfigError
from smartharvest.lab.trace import UNSEEN, TraceReader, TraceWriter, write_trace
from smartharvest.lab.trace.comparison import draw, table
from smartharvest.lab.trace.replay import Replay, bounds, lengthen, replay
from tests.unit.lab.trace.made_traces import START_NS, changes_of, header_of

MS = 1_000_000
POLL_NS = 50_000
BY_POLL = Settings(accounting="sampled", label="busy")


def play(
    tmp_path: Path,
    rows: list[tuple[int, int]],
    until_ns: int,
    *specs: str,
    settings: Settings = BY_POLL,
    cores: int = 4,
) -> list[Replay]:
    path = str(tmp_path / "trace")
    write_trace(path, header_of(cores), changes_of(*rows), START_NS + until_ns, overwrite=True)
    with TraceReader(path) as reader:
        return replay(reader, specs, settings)


def square_wave(seconds: int = 2) -> list[tuple[int, int]]:
    """Three cores for 10 ms of every 40 ms, else none."""
    rows = []
    for at in range(0, seconds * 1000 * MS, 40 * MS):
        rows += [(at, 0), (at + 30 * MS, 3)]
    return rows


def test_a_quiet_primary_lends_all_but_what_it_keeps(tmp_path: Path) -> None:
    (outcome, *_) = play(tmp_path, [(0, 0)], 2000 * MS, "prev-peak")
    assert outcome.outcome.harvested_cores == pytest.approx(3, rel=0.05)
    assert outcome.outcome.exhausted_per_min == 0
    assert outcome.outcome.short_share == 0


def test_no_harvest_lends_nothing_and_is_never_short(tmp_path: Path) -> None:
    (outcome, *_) = play(tmp_path, square_wave(), 2000 * MS, "no-harvest")
    assert outcome.outcome.harvested_cores == 0
    assert outcome.outcome.short_share == 0


def test_a_burst_into_lent_cores_is_counted_as_short_until_the_next_poll(tmp_path: Path) -> None:
    rows = [(0, 0), (1500 * MS + POLL_NS // 2, 3)]
    (outcome, *_) = play(tmp_path, rows, 2000 * MS, "prev-peak")
    assert outcome.outcome.short_most == 2
    assert outcome.outcome.short_share * 2000 * MS == pytest.approx(POLL_NS / 2, rel=0.01)
    assert outcome.outcome.exhausted_per_min == pytest.approx(30, rel=0.01)


def test_the_bounds_are_what_the_trace_leaves(tmp_path: Path) -> None:
    *_, clairvoyant, instant = play(tmp_path, square_wave(), 2000 * MS)
    assert instant.outcome.harvested_cores == pytest.approx(4 - 0.75, rel=1e-6)
    # Of the eight windows of 25 ms in five periods, the bursts touch six.
    assert clairvoyant.outcome.harvested_cores == pytest.approx(4 - 3 * 6 / 8)
    assert clairvoyant.outcome.bound
    assert instant.outcome.bound


def test_nobody_polls_where_nobody_looked(tmp_path: Path) -> None:
    rows = [(0, 0), (1000 * MS, -1), (1500 * MS, 0)]
    (outcome, *_) = play(tmp_path, rows, 2000 * MS, "fixed-buffer:1")
    rows = [(0, 0), (1000 * MS, 4), (1500 * MS, 0)]
    (seen, *_) = play(tmp_path, rows, 2000 * MS, "fixed-buffer:1")
    assert outcome.outcome.exhausted_per_min == 0
    assert seen.outcome.exhausted_per_min > 0


def test_a_gap_longer_than_a_window_gives_everything_back(tmp_path: Path) -> None:
    rows = [(0, 0), (1000 * MS, -1), (1500 * MS, 0)]
    (outcome, *_) = play(tmp_path, rows, 2000 * MS, "prev-peak")
    after = [row for row in outcome.windows if row.end_ns >= START_NS + 1500 * MS]
    assert after[0].primary_cores < 4  # what was held over the gap
    assert after[1].primary_cores == 4


@pytest.mark.parametrize("spec", ["smartharvest", "prev-peak", "prev-peak:3", "fixed-buffer:1"])
def test_a_replay_does_what_the_loop_does_with_the_same_polls(tmp_path: Path, spec: str) -> None:
    generator = np.random.default_rng(7)
    busy = np.repeat(generator.integers(0, 4, 200), generator.integers(1, 300, 200))
    (replayed, *_) = play(
        tmp_path,
        [(i * POLL_NS, int(cores)) for i, cores in enumerate(busy)],
        len(busy) * POLL_NS,
        spec,
        cores=8,
    )
    actuator = FakeActuator()
    loop = Loop(
        sensor=FakeSensor(busy.tolist()), actuator=actuator, total=8, max_harvest=7, poll_ns=POLL_NS
    )
    agent = Algorithm1(make_policy(spec, total=8), total=8)
    due: list[tuple[int, tuple[int, int, int, int]]] = []
    held = []
    for at in range(START_NS, START_NS + len(busy) * POLL_NS, POLL_NS):
        while due and due[0][0] <= at:
            loop.post(Plan(*due.pop(0)[1]))
        assert loop.step(at, at) == 0
        while (window := loop.take()) is not None:
            held.append((window.end_ns, window.primary_cores))
            plan = agent.decide(window)
            parts = (plan.seq, plan.primary_cores, plan.safe_cores, plan.buffer)
            due.append((window.end_ns + 100_000, parts))
    assert [(row.end_ns, row.primary_cores) for row in replayed.windows] == held
    counters = loop.counters()
    assert replayed.outcome.harvested_cores == pytest.approx(
        counters["harvested_core_ns"] / counters["polled_ns"]
    )
    assert counters["assignments"] > 2


def harvested(tmp_path: Path, spec: str, *, waits: bool) -> float:
    """Of four cores, where three are wanted for 1 ms of every 10 ms."""
    path = str(tmp_path / f"{spec}-{waits}")
    rows = []
    for at in range(0, 4000 * MS, 10 * MS):
        rows += [(at, 0), (at + 9 * MS, 3)]
    with TraceWriter(path, header_of(4)) as writer:
        for end_ns in range(100 * MS, 4000 * MS, 100 * MS):
            if waits:
                seen = Dispatches(START_NS + end_ns, waits=((0, 200),), runs=((MS, 200),))
                writer.append_dispatches(seen)
        writer.append(changes_of(*rows), START_NS + 4000 * MS)
    with TraceReader(path) as reader:
        (outcome, *_) = replay(reader, [spec], BY_POLL)
    return outcome.outcome.harvested_cores


def test_a_policy_tuned_by_waits_lends_where_the_trace_tells_them(tmp_path: Path) -> None:
    assert harvested(tmp_path, "adaptive-quiet", waits=False) == 0
    assert harvested(tmp_path, "adaptive-quiet", waits=True) > 0.5


def test_a_policy_that_acts_on_harm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^policy: adaptive acts on what lending does"):
        harvested(tmp_path, "adaptive", waits=True)


def test_what_sharing_costs_is_in_no_trace(tmp_path: Path) -> None:
    assert harvested(tmp_path, "everywhere", waits=True) > 0.95 * 3


def test_whoever_finds_no_core_has_waited_least_before() -> None:
    assert lengthen(((0, 3), (50, 2)), [(70, 4)]) == ((50, 1), (70, 4))
    assert lengthen(((0, 3),), [(0, 1), (9, 1)]) == ((0, 2), (9, 1))
    assert lengthen(((0, 3),), [(9, 5)]) == ((9, 3),)
    assert lengthen((), [(9, 5)]) == ()


@given(
    st.lists(st.tuples(st.integers(1, 30 * MS), st.integers(-1, 6)), min_size=1, max_size=40),
    st.integers(1, 60 * MS),
)
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_shortage_and_bounds_are_those_of_a_plain_sum(
    tmp_path: Path, steps: list[tuple[int, int]], rest_ns: int
) -> None:
    rows, at = [], 0
    for step, busy in steps:
        rows.append((at, busy))
        at += step
    until_ns = at + rest_ns
    *_, clairvoyant, instant = play(tmp_path, rows, until_ns)
    ends = [time for time, _ in rows[1:]] + [until_ns]
    pieces = [
        (end - start, min(4, busy))
        for (start, busy), end in zip(rows, ends, strict=True)
        if busy >= 0
    ]
    seen_ns = sum(lasted for lasted, _ in pieces)
    idle = sum(lasted * (4 - wanted) for lasted, wanted in pieces) / max(1, seen_ns)
    assert instant.outcome.harvested_cores == pytest.approx(idle)
    assert clairvoyant.outcome.harvested_cores <= idle + 1e-9


def test_bounds_do_not_depend_on_how_the_trace_is_cut(tmp_path: Path) -> None:
    from smartharvest.lab.trace import TraceWriter

    changes = changes_of(*square_wave())
    whole, parts = str(tmp_path / "whole"), str(tmp_path / "parts")
    write_trace(whole, header_of(), changes, START_NS + 2000 * MS)
    with TraceWriter(parts, header_of()) as writer:
        for at in range(7 * MS, 2000 * MS, 7 * MS):
            inside = (changes["time_ns"] > writer.until_ns) | (writer.until_ns == START_NS)
            inside &= changes["time_ns"] <= START_NS + at
            writer.append(changes[inside], START_NS + at)
        writer.append(changes[changes["time_ns"] > writer.until_ns], START_NS + 2000 * MS)
    with TraceReader(whole) as one, TraceReader(parts) as many:
        for a, b in zip(bounds(one, 25 * MS, 4), bounds(many, 25 * MS, 4), strict=True):
            assert a.harvested_cores == pytest.approx(b.harvested_cores)
        left, right = (replay(trace, ["smartharvest"], BY_POLL)[0] for trace in (one, many))
        assert left == right


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="keep_idle: 5 is more than the 4 cores"):
        play(tmp_path, [(0, 0)], 100 * MS, "prev-peak", settings=Settings(keep_idle=5))


def test_the_table_has_a_line_for_each_policy_and_bound(tmp_path: Path) -> None:
    played = play(tmp_path, square_wave(1), 1000 * MS, "no-harvest", "prev-peak")
    with TraceReader(str(tmp_path / "trace")) as reader:
        text = table(played, reader)
    first_words = [line.split()[0] for line in text.splitlines()]
    assert {"no-harvest", "prev-peak", "clairvoyant", "instant"} <= set(first_words)


def test_the_plot_is_a_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    played = play(tmp_path, square_wave(1), 1000 * MS, "prev-peak", "fixed-buffer:1")
    with TraceReader(str(tmp_path / "trace")) as reader:
        draw(played, reader, str(tmp_path / "plot.png"))
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_unseen_is_beyond_every_core_count() -> None:
    assert UNSEEN > 1024
