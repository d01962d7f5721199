"""What ``top`` draws: all of it in 80x24, nothing wider or longer than the terminal."""

from __future__ import annotations

import pytest

pytest.importorskip("rich")

from smartharvest.telemetry.top_history import History, changes
from smartharvest.telemetry.view import as_ascii, draw
from smartharvest.telemetry.view_large import help_screen, time_axis
from tests.unit.telemetry.test_metrics import described_harm, groups, status


def drawn(
    width: int = 80, height: int = 24, expanded: bool = False, **changes: object
) -> list[str]:
    seen = status(**changes)
    history = History()
    for _ in range(200):
        history.add(seen)
    return [line.plain for line in draw(seen, history, width, height, expanded=expanded)]


def test_all_there_is_to_see_fits_an_old_terminal() -> None:
    text = "\n".join(drawn())
    for word in (
        "agent 7", "cgroup:web", "predicted", "cpus", "busy", "demand", "granted", "buffer",
        "lent", "waits", "safeguards", "learner", "q quit",
    ):  # fmt: skip
        assert word in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (20, 5), (200, 60), (1, 1)])
@pytest.mark.parametrize("expanded", [False, True])
def test_it_never_overflows(width: int, height: int, expanded: bool) -> None:
    lines = drawn(width, height, expanded)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)


def cores(**changes: object) -> dict[str, object]:
    return {**status()["cores"], **changes}


def test_the_map_tells_who_runs_on_each_core_and_which_are_lent() -> None:
    lines = drawn()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("cpus")]
    assert lines[at : at + 2] == ["cpus    0 P··E", "lent        ^^"]


def test_the_map_of_many_cores_stands_in_groups_and_rows() -> None:
    runs = {"primary": "0-63", "other": "64-99", "idle": "100-255"}
    many = cores(pool="0-255", elastic_cpus="96-255", runs=runs)
    lines = drawn(cores=many)
    first, second = [line for line in lines if line.startswith("cpus")]
    assert first == "cpus    0 " + " ".join(["PPPPPPPP"] * 7)
    assert second.startswith("cpus   56 PPPPPPPP oooooooo")
    assert second.endswith(" …")
    assert "q quit" in lines[-1]
    assert any(line.startswith("agent ") for line in lines)


def test_a_sensor_that_sees_no_cores_leaves_the_map_open() -> None:
    (line,) = [line for line in drawn(cores=cores(runs=None)) if line.startswith("cpus")]
    assert line == "cpus    0 ????"


def test_a_terminal_that_knows_ascii_alone_gets_no_more() -> None:
    seen = status(primary=["cgroup:grün"])
    history = History()
    history.add(seen)
    text = "\n".join(as_ascii(line).plain for line in draw(seen, history, 80, 24))
    assert text.isascii()
    assert "cgroup:gr?n > cgroup:batch" in text
    assert "cpus    0 P..E" in text


def test_why_nothing_is_lent_is_told() -> None:
    held = status()["safeguards"] | {"lends_nothing_because": "paused by the operator"}
    assert "now    lends nothing: paused by the operator" in drawn(safeguards=held)


@pytest.mark.parametrize(("width", "height"), [(60, 15), (80, 24), (120, 40)])
def test_a_long_reason_is_folded_where_there_is_room(width: int, height: int) -> None:
    reason = "no core can be lent: " + ", ".join(f"python3 ({pid})" for pid in range(9))
    held = status()["safeguards"] | {"lends_nothing_because": reason}
    lines = drawn(width, height, safeguards=held)
    first = next(at for at, line in enumerate(lines) if line.startswith("now "))
    rest = 1 + next(at for at, line in enumerate(lines[first:]) if line.startswith("cpus"))
    shown = " ".join(line.strip() for line in lines[first : first + rest])
    assert (reason in shown) == (height > 15)
    assert ("…" in shown) == (height == 15)
    assert lines[-1].startswith("q quit")


def test_the_keys_fit_a_small_terminal_and_the_way_back_is_always_there() -> None:
    for height in (1, 10, 15, 24):
        lines = [line.plain for line in help_screen(height)]
        assert len(lines) <= height
        assert max(map(len, lines)) <= 60
        assert lines[-1] == "any key goes back"


def test_a_large_terminal_shows_as_many_events_as_it_has_room_for() -> None:
    history = History()
    seen = status()
    history.add(seen)
    history.events.extend((0.0, f"event {number}") for number in range(50))
    shown = [sum("event " in line.plain for line in draw(seen, history, 120, height))
             for height in (40, 60)]  # fmt: skip
    assert shown[0] < shown[1] < 50


def test_expanded_it_tells_of_doubts_and_warnings() -> None:
    warned = [{"age_s": 65.0, "text": "the disk\x1b[2J is full"}]
    text = "\n".join(drawn(height=40, expanded=True, warnings=warned))
    assert "safety give-backs: starved 2" in text
    assert "1 min 5 s ago: the disk?[2J is full" in text


def test_expanded_a_small_terminal_shows_that_instead_of_what_is_known() -> None:
    warned = [{"age_s": 65.0, "text": "the disk is full"}]
    lines = drawn(60, 15, expanded=True, warnings=warned)
    assert lines[-2] == "1 min 5 s ago: the disk is full"
    assert lines[0].startswith("smartharvest  agent 7")


def test_harm_has_a_line_where_the_sensor_tells_it_and_still_all_fits() -> None:
    assert not any(line.startswith("harm") for line in drawn())
    lines = drawn(harm=described_harm())
    (line,) = [line for line in lines if line.startswith("harm")]
    assert line.startswith(
        "harm        p95 x1.10, p99 x1.10 of not lent; behind elastic tasks 0.80%"
    )
    assert len(lines) <= 24
    assert any(line.startswith("agent ") for line in lines)
    assert "q quit" in lines[-1]
    (each,) = [
        line for line in drawn(200, 60, True, harm=described_harm()) if "cgroup:web:" in line
    ]
    assert each.startswith("harm        cgroup:web: p95 x1.10")


def test_where_the_policy_keeps_a_budget_that_has_the_line_of_harm() -> None:
    spent = {
        "protect": 0.1,
        "p50": 0.004,
        "p95": 0.019,
        "p99": 0.032,
        "rests": 4,
        "by_rests": 0.021,
    }
    kept = {"cgroup:api": spent | {"protect": 0.2, "p99": 0.04}, "cgroup:web": spent}
    lines = drawn(harm=described_harm(), budget=kept)
    assert not any(line.startswith("harm") for line in lines)
    (line,) = [line for line in lines if line.startswith("budget")]
    words = "P50 +0.4%, P95 +1.9%, P99 +3.2%, median +2.1% by 4 rests"
    assert line == f"budget      {words}, of 10%"
    each = [
        line
        for line in drawn(200, 60, True, harm=described_harm(), budget=kept)
        if line.startswith(("harm        cgroup:", "budget      cgroup:"))
    ]
    assert [line.split(":")[1] for line in each] == ["web", "api", "web"]


def test_a_large_terminal_also_shows_a_time_axis_the_groups_and_each_cpu() -> None:
    lines = drawn(130, 45)
    assert sum("now╵" in line for line in lines) == 2  # below the curves, below the CPUs
    (row,) = [line for line in lines if line.startswith("cpu   3^")]
    assert set(row.removeprefix("cpu   3^")) == {"E"}
    assert any(line.startswith("elastic cgroup:batch") for line in lines)
    assert not any("╵" in line or line.startswith("cpu   ") for line in drawn(130, 24))


def test_a_policy_that_says_why_it_lends_what_it_does_is_heard() -> None:
    before = status()
    policy = {**before["policy"], "name": "adaptive", "explanation": "the batch runs everywhere"}
    (now,) = (line for line in drawn(policy=policy) if line.startswith("now"))
    assert now == "now    the batch runs everywhere"
    none_lent = {**before["harvested"], "now": 0}
    later = status(policy=policy, harvested=none_lent)
    assert "lent 1 → 0 (adaptive)" in changes(before, later)
    guarded = {"primary_cores": 3, "reason": "short-term safeguard"}
    (now,) = (x for x in drawn(policy=policy, decision=guarded) if x.startswith("now"))
    assert now == "now    short-term safeguard"
    later = status(policy=policy, harvested=none_lent, decision=guarded)
    assert "lent 1 → 0 (short-term safeguard)" in changes(before, later)


def test_what_changed_between_two_answers_is_an_event() -> None:
    before = status()
    guards = {**before["safeguards"], "short_term": 5, "lends_nothing_because": "paused"}
    later = status(
        safeguards=guards,
        harvested={**before["harvested"], "now": 0},
        warnings=[{"age_s": 1.0, "text": "a warning"}],
    )
    assert changes(before, before) == []
    assert changes(before, later) == [
        "lent 1 → 0 (predicted)",
        "short-term safeguard, 2 times",
        "lends nothing: paused",
        "a warning",
    ]


def test_each_cpu_has_its_row_before_older_events_have_theirs() -> None:
    history = History()
    history.add(status())
    history.events.extend((0.0, f"event {number}") for number in range(50))
    lines = [line.plain for line in draw(status(), history, 120, 40)]
    assert sum(line.startswith("cpu ") for line in lines) == 4
    assert sum("event " in line for line in lines) >= 3
    assert len(lines) == 40


def test_the_time_axis_tells_how_long_ago_each_column_was() -> None:
    history = History()
    for second in range(40):
        history.add(status(), at_s=float(second))
    axis = time_axis(history, 80).plain
    assert axis.index("╵now") == 8 + 39
    assert axis.index("╵-15s") == 8 + 24
    assert axis.index("╵-30s") == 8 + 9


@pytest.mark.parametrize("harm", [None, described_harm()])
def test_three_groups_and_all_else_fit_an_old_terminal(harm: object) -> None:
    three = [*groups(), {**groups()[1], "name": "builds"}]
    lines = drawn(elastic=three, harm=harm)
    text = "\n".join(lines)
    for word in ("one ", "etl ", "builds ", "guarantee NOT met", "waits", "safeguards", "agent  "):
        assert word in text
    assert "minimum 1 NOT reached" in text
    assert lines[-1].startswith("q quit")
    lines = drawn(60, 15, elastic=three)
    assert "  and 2 groups more" in lines
    assert any(line.startswith("  one ") and line.endswith("…") for line in lines)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (20, 5), (200, 60), (1, 1)])
def test_many_groups_never_overflow_and_those_short_of_cores_come_first(
    width: int, height: int
) -> None:
    fine = {**groups()[1], "guarantee_met": True}
    many = [*({**fine, "name": f"group-{n}"} for n in range(63)), groups()[0]]
    lines = drawn(width, height, elastic=many)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    if (width, height) == (80, 24):
        assert any(line.startswith("  one") for line in lines)
        assert "  and 61 groups more" in lines
        assert "group-0, group-1, group-2, group-3 and 60 more" in lines[1]


def test_what_happens_to_a_group_is_an_event() -> None:
    one, etl = groups()
    before = status(elastic=[{**one, "cores": 1}, {**etl, "guarantee_met": True}])
    now = status(elastic=[one, etl, {**etl, "name": "new"}])
    assert changes(before, now) == [
        "one: minimum of 1 not reached", "etl: guarantee violated", "new: a new elastic group",
    ]  # fmt: skip
    gone = status(elastic=[one, {**etl, "name": "new"}])
    assert changes(now, gone) == ["etl: no elastic group any more"]
    assert changes(status(), status()) == []


EVICTION = {"stage": "noticed", "left_s": 9.0, "why": "busy", "notices": 2, "withdrawn": 0,
            "evictions": 1, "at_once": 0, "last_why": "busy"}  # fmt: skip


def test_evictions_and_what_the_operator_holds_are_events_and_in_the_line_of_the_group() -> None:
    one, etl = groups()
    noticed = {**one, "eviction": EVICTION}
    evicted = {**one, "eviction": {**EVICTION, "stage": "evicted", "left_s": 0.0}}
    held = {**etl, "held": "paused"}
    assert changes(status(elastic=[one, etl]), status(elastic=[noticed, held])) == [
        "one: eviction notice, busy", "etl: paused by the operator",
    ]  # fmt: skip
    assert changes(status(elastic=[noticed, held]), status(elastic=[evicted, etl])) == [
        "one: evicted, busy", "etl: resumed by the operator",
    ]  # fmt: skip
    assert changes(status(elastic=[evicted, etl]), status(elastic=[one, etl])) == [
        "one: has its minimum again",
    ]  # fmt: skip
    lines = "\n".join(drawn(200, 60, elastic=[noticed, held]))
    assert "evicted in 9 s, evicted 1 time, last because busy" in lines
    assert "PAUSED by the operator" in lines


def test_a_share_of_time_is_told_as_one() -> None:
    one, etl = groups()
    by_time = {**etl, "cores": 0.667, "due": 0.667, "divided_by": "time", "guarantee_met": True}
    assert "0.67 cores of 0.7 due, shared by time" in "\n".join(
        drawn(200, 60, elastic=[one, by_time])
    )
