"""A day from the audit log: its sums, its page, its picture, and how much of a disk it takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.agent.usage import UsageMeter
from smartharvest.cli import report
from smartharvest.errors import ConfigError
from smartharvest.telemetry.audit import AuditLog, read_audit
from smartharvest.telemetry.day import DIED, MOST_BINS, GroupDay, read_day
from smartharvest.telemetry.day_page import in_words, page
from smartharvest.telemetry.event_words import sentence
from smartharvest.telemetry.recent import KEPT, Recent
from smartharvest.telemetry.spans import Span, SpanBuilder, is_sound, span_of
from smartharvest.telemetry.story import describe
from smartharvest.telemetry.timeline import draw_day
from tests.commands import smartharvest_here
from tests.unit.telemetry.test_audit import DECISION, WINDOW, decided

MADE_TRACE = Path(__file__).parents[2] / "golden" / "made.trace"
MORNING_S = 1_771_999_200.0


def span(at_s: float, **changes: Any) -> dict[str, Any]:
    record = {
        "t": at_s, "kind": "span", "s": 1.0, "n": 40, "lent": 2.0, "most": 3, "had": 5.0,
        "granted": 5.0, "busy": 4, "mean": 1.5, "demand": 5, "total": 7, "ran_out": 1,
        "why": {"predicted": 39, "short-term safeguard": 1}, "held_by": None,
        "waits": [1000, 20, 4],
    }  # fmt: skip
    return record | changes


STARTED = {
    "t": MORNING_S, "kind": "started", "policy": "smartharvest", "primary": ["cgroup:web"],
    "elastic": "cgroup:batch", "pool": "0-7", "dry_run": False, "budget": 0.01,
}  # fmt: skip


def day_of_seconds(seconds: int) -> list[dict[str, Any]]:
    return [STARTED, *(span(MORNING_S + 1 + n) for n in range(seconds))]


def test_forty_windows_become_one_span_that_reads_back_as_it_was() -> None:
    builder = SpanBuilder()
    spans = []
    for n in range(100):
        start_ns = n * 25_000_000
        window = type(WINDOW)(
            **{
                **{name: getattr(WINDOW, name) for name in WINDOW.__slots__},
                "seq": n, "start_ns": start_ns, "end_ns": start_ns + 25_000_000,
            }
        )  # fmt: skip
        made = builder.add(window, DECISION, 5, None, MORNING_S + n / 40)
        spans += [] if made is None else [made]
    assert [one.windows for one in spans] == [40, 40]
    assert (spans[0].lent, spans[0].most_lent, spans[0].granted, spans[0].busy) == (5, 5, 3, 2)
    record = {"t": spans[0].at_s, "kind": "span", **spans[0].record()}
    assert is_sound(record)
    assert span_of(json.loads(json.dumps(record))) == spans[0]
    rest = builder.take()
    assert rest is not None
    assert (rest.windows, builder.take()) == (20, None)


def test_an_hour_takes_less_than_two_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(str(path), 1 << 30)
    long = {
        "predicted": 20,
        "short-term safeguard": 10,
        "long-term safeguard": 5,
        "stale window": 5,
    }
    for n in range(100):
        made = span_of(span(MORNING_S + n, lent=2.123, why=long, waits=[123456, 1234, 123]))
        made.held_by = "others are confined to CPUs that could be lent; their tasks come first"
        log.span(made)
    log.close()
    assert path.stat().st_size * 36 < 2_000_000


def test_a_day_is_summed_up_in_core_hours_and_held_against_its_budget() -> None:
    day = read_day(day_of_seconds(3600))
    assert (round(day.lent_core_hours, 9), round(day.used_core_hours, 9)) == (2.0, 1.5)
    assert (day.cores, day.most_lent, day.windows, day.exhausted) == (7, 3, 144_000, 3600)
    assert day.harm_share == 0.004
    assert len(day.bins) <= MOST_BINS + 1
    assert [one.seconds for one in read_day(day_of_seconds(9)).bins] == [1.0] * 9
    words = " ".join(in_words(day, {}))
    assert "lent 2.00 core-hours: 2.00 of 7 cores on average, 3 at most" in words
    assert "0.400%, within the budget of 1.00%" in words


def test_what_each_group_used_is_summed_up_and_noted_once_a_minute() -> None:
    used = {"t": MORNING_S, "kind": "usage", "s": 60, "core_seconds": {"cgroup:batch": 1800.0}}
    day = read_day([span(MORNING_S), used, used, used | {"core_seconds": {"x": "y"}}])
    assert day.group_core_hours == {"cgroup:batch": 1.0}
    assert "cgroup:batch used 1.00 core-hours" in " ".join(in_words(day, {}))
    now, noted = [0.0], list[dict[str, Any]]()

    class Group:
        spec = "cgroup:web"

        def read_cpu_usage(self) -> Callable[[], int]:
            return lambda: int(now[0] * 2e9)

    def note(kind: str, **details: Any) -> None:
        noted.append({"kind": kind, **details})

    meter = UsageMeter(lambda: [Group()], note, lambda: now[0])  # type: ignore[list-item]
    for now[0] in (30.0, 60.0, 61.0):
        meter.look()
    assert noted == [{"kind": "usage", "s": 60.0, "core_seconds": {"cgroup:web": 120.0}}]


def test_what_nobody_recorded_is_no_time_in_which_nothing_was_lent() -> None:
    day = read_day([span(MORNING_S), span(MORNING_S + 7200, held_by="paused")])
    assert (day.known_s, day.mean_lent, day.held_s) == (2.0, 2.0, {"paused": 1.0})
    assert len(day.bins) == 2


def test_the_time_of_which_nothing_is_known_is_named() -> None:
    ended = {"t": MORNING_S + 1, "kind": "ended", "why": "stopped"}
    restart = STARTED | {"t": MORNING_S + 5}
    day = read_day(
        [STARTED, span(MORNING_S), ended, restart, span(MORNING_S + 7), span(MORNING_S + 7201)]
    )
    assert day.gaps == [(MORNING_S + 7, MORNING_S + 7200)]
    words = in_words(day, {})[1]
    assert words.startswith("Nothing is known of ")
    assert words.endswith(" (1 h 59 min): no agent wrote this log then.")
    many = read_day([span(MORNING_S + 100 * n * n) for n in range(40)])
    assert (len(many.gaps), many.more_gaps) == (20, 19)
    assert many.gaps[-1] == (MORNING_S + 100 * 38 * 38, MORNING_S + 100 * 39 * 39 - 1)
    assert "and 19 shorter gaps" in in_words(many, {})[1]


def test_an_agent_that_ended_without_a_word_is_an_incident() -> None:
    later = STARTED | {"t": MORNING_S + 60}
    day = read_day([STARTED, span(MORNING_S + 30), later, span(MORNING_S + 61)])
    assert day.incidents == [(MORNING_S + 30, DIED)]
    ended = {"t": MORNING_S + 31, "kind": "ended", "why": "handed over"}
    day = read_day([STARTED, span(MORNING_S + 30), ended, later, span(MORNING_S + 61)])
    assert [text for _, text in day.incidents] == ["The agent ended: handed over."]


def test_explaining_names_them_too() -> None:
    later = STARTED | {"t": MORNING_S + 3600}
    died, silent = list(describe([STARTED, span(MORNING_S + 30), later]))[2:4]
    assert died.endswith(DIED)
    assert silent.endswith(": Nothing is known; no agent wrote this log then.")
    ended = {"t": MORNING_S + 31, "kind": "ended", "why": "stopped"}
    told = list(describe([STARTED, span(MORNING_S + 30), ended, later | {"t": MORNING_S + 40}]))
    assert not any(DIED in line or "Nothing is known" in line for line in told)


def test_single_decisions_are_summed_up_too() -> None:
    day = read_day([decided(MORNING_S + n / 40) for n in range(41)])
    assert (day.windows, round(day.known_s, 2), round(day.mean_lent, 2)) == (41, 1.02, 1.0)


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    evil = {"t": MORNING_S + 5, "kind": "warning", "text": "<script>alert(1)</script>\x1b[2J"}
    records = [*day_of_seconds(30), evil, {"t": MORNING_S + 9, "kind": "ended", "why": "stopped"}]
    text = page(read_day(records), {})
    assert "default-src 'none'" in text
    assert not any(word in text for word in ("<script", "http://", "https://", "\x1b"))
    assert "&lt;script&gt;" in text
    assert "The agent ended: stopped." in text
    assert "<svg" in text


def test_incidents_are_counted_beyond_the_most_that_are_listed() -> None:
    warnings = [{"t": MORNING_S + n, "kind": "warning", "text": f"{n}"} for n in range(250)]
    day = read_day([span(MORNING_S), *warnings])
    assert (len(day.incidents), day.more_incidents) == (200, 50)


def test_a_day_is_drawn_in_bands(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "day.png"
    draw_day(read_day(day_of_seconds(50)), str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_writes_a_page_and_prints_figures_or_words(tmp_path: Path) -> None:
    log, html = tmp_path / "audit.jsonl", tmp_path / "day.html"
    log.write_text("\n".join(map(json.dumps, day_of_seconds(36))))
    done = smartharvest_here("report", str(log), "--html", str(html), "--json")
    figures = json.loads(done.out)
    assert (figures["lent_core_hours"], figures["elastic"]) == (0.02, "cgroup:batch")
    assert "<svg" in html.read_text()
    config = tmp_path / "agent.toml"
    config.write_text(f'audit_log = "{log}"\n')
    words = smartharvest_here("report", "--config", str(config), "--regular-price", "100").out
    assert "cost 2.00 less than regular ones" in words
    assert "saved" in json.loads(
        smartharvest_here("report", str(log), "--alpha", "0", "--json").out
    )


def test_the_reference_names_every_key_of_the_figures() -> None:
    reference = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text()
    section = reference.partition("## Report\n")[2].partition("\n## ")[0]
    document = read_day(day_of_seconds(2)).document()
    keys = {*document, *vars(GroupDay())}
    assert {key for key in keys if f"`{key}`" not in section} == set()


def test_a_trace_adds_what_other_policies_would_have_lent(tmp_path: Path) -> None:
    log, html = tmp_path / "audit.jsonl", tmp_path / "day.html"
    log.write_text("\n".join(map(json.dumps, day_of_seconds(9))))
    asked = ("report", str(log), "--trace", str(MADE_TRACE))
    chosen = ("--policy", "prev-peak", "--policy", "fixed-buffer:2")
    done = smartharvest_here(*asked, *chosen, "--html", str(html), "--json")
    assert (done.code, done.err) == (0, "")
    rows = json.loads(done.out)["policies"]
    assert [row["policy"] for row in rows] == [
        "prev-peak", "fixed-buffer:2", "clairvoyant", "instant",
    ]  # fmt: skip
    assert all(row["harvested_cores"] > 0 for row in rows)
    clairvoyant, instant = rows[2:]
    assert clairvoyant["bound"]
    assert clairvoyant["harvested_cores"] <= instant["harvested_cores"]
    for row in rows:
        assert f"{row['harvested_cores']:.2f}" in html.read_text()
    words = smartharvest_here(*asked, *chosen).out
    assert all(row["policy"] in words for row in rows)


def test_a_trace_is_replayed_to_two_policies_unless_some_are_named(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text("\n".join(map(json.dumps, day_of_seconds(9))))
    done = smartharvest_here("report", str(log), "--trace", str(MADE_TRACE), "--json")
    rows = json.loads(done.out)["policies"]
    assert [row["policy"] for row in rows][:2] == ["smartharvest", "prev-peak"]


def test_what_is_no_trace_or_policy_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.write_text("\n".join(map(json.dumps, day_of_seconds(9))))
    done = smartharvest_here("report", str(log), "--trace", str(log))
    assert (done.code, str(log) in done.failure) == (11, True)
    trace = ("--trace", str(MADE_TRACE))
    done = smartharvest_here("report", str(log), *trace, "--policy", "no-such")
    assert (done.code, "is unknown; use one of" in done.failure) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the audit log"),
        (("{log}", "--policy", "prev-peak"), "needs --trace"),
        (("{log}", "--alpha", "2"), "alpha at most 1"),
        (("{log}", "--html", "{log}/x"), "cannot be written"),
        (("{log}", "--since", "1min"), "no decision in that time"),
    ],
)
def test_what_the_command_cannot_do_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(report, "INSTALLED_CONFIGS", ())
    log = tmp_path / "audit.jsonl"
    log.write_text(json.dumps(span(MORNING_S)))
    done = smartharvest_here("report", *(one.format(log=log) for one in arguments))
    assert (done.code, said in done.failure) == (2, True)


def test_the_log_of_the_installed_configuration_needs_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, config = tmp_path / "audit.jsonl", tmp_path / "smartharvest.toml"
    log.write_text(json.dumps(span(MORNING_S)))
    config.write_text(f'audit_log = "{log}"')
    monkeypatch.setattr(report, "INSTALLED_CONFIGS", (str(tmp_path / "none"), str(config)))
    done = smartharvest_here("report")
    assert (done.code, "The agent lent" in done.out) == (0, True), done.failure


def test_a_span_is_told_in_sentences() -> None:
    (line,) = list(describe([span(MORNING_S)]))
    assert " to " not in line.partition(": ")[0]  # it began and ended in the same second
    assert "The agent lent 2.00 cores on average and 3 at most, in 40 windows." in line
    assert "The idle buffer ran out once (2.5% of windows)." in line


def test_an_empty_span_of_time_is_refused() -> None:
    with pytest.raises(ConfigError, match="no decision in that time"):
        read_day([STARTED])


def test_a_quarter_of_an_hour_is_kept_and_decisions_in_a_row_are_one() -> None:
    recent = Recent()
    for n in range(KEPT + 10):
        recent.add(Span(at_s=float(n), lent=1.0, busy=n))
    for n in range(5):
        recent.note(WINDOW, DECISION, None if n < 3 else "paused", float(n))
    seen = recent.describe()
    assert (len(seen["samples"]["t"]), seen["samples"]["t"][0]) == (KEPT, 10.0)
    assert [(one["windows"], one["held_by"]) for one in seen["decisions"]] == [
        (2, "paused"),
        (3, None),
    ]
    assert len(recent.latest()["samples"]["t"]) < 10
    assert Recent().describe()["samples"]["lent"] == []


@given(
    st.dictionaries(
        st.sampled_from(sorted(span(0))),
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.none()),
            st.dictionaries(st.text(), st.integers()),
        ),
    )
)  # fmt: skip
def test_any_span_is_summed_up_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "span.jsonl"
    path.write_text(f"{json.dumps(span(0.5))}\n{json.dumps(span(1.0) | changes)}")
    records = list(read_audit(str(path)))
    assert all(line.isprintable() for line in describe(records))
    day = read_day(records)
    assert page(day, {})
    json.dumps(day.document())


def group_events() -> list[dict[str, Any]]:
    """An audit log of two groups."""
    started = {
        **STARTED, "elastic": "cgroup:batch", "share": "fair",
        "groups": [{"name": "one", "target": "cgroup:batch/one"}, {"name": "two", "target": "x"}],
    }  # fmt: skip
    at = {"t": MORNING_S + 20.5, "group": "one", "guarantee": "4/s", "throughput": 3.0}
    usage = {"one": {"had": 3600.0, "used": 1800.0}, "two": {"had": 720.0}}
    return [
        started,
        *(span(MORNING_S + 1 + n) for n in range(20)),
        {**at, "kind": "guarantee violated", "cores": 2},
        {**at, "kind": "guarantee met", "after_s": 2.0},
        {**at, "kind": "guarantee rests", "after_s": 1.0},
        {"t": at["t"], "kind": "minimum not reached", "group": "two", "cores": 0, "min": 1},
        {"t": at["t"], "kind": "eviction notice", "group": "two", "notice_s": 30, "why": "x"},
        {"t": at["t"], "kind": "group evicted", "group": "two", "how": "frozen", "why": "busy"},
        {"t": at["t"], "kind": "group evicted by the operator", "group": "one"},
        {"t": at["t"], "kind": "usage", "s": 60.0, "core_seconds": {}, "groups": usage},
    ]


def test_a_day_of_several_groups_has_each_by_its_name() -> None:
    day = read_day(group_events())
    assert day.elastic == "one, two"
    assert day.document()["groups"] == {
        "one": {"had_core_hours": 1.0, "used_core_hours": 0.5, "guarantee_violations": 1,
                "violated_s": 3.0, "below_minimum": 0, "notices": 0, "evictions": 1,
                "last_eviction": "the operator asked for it"},
        "two": {"had_core_hours": 0.2, "used_core_hours": None, "guarantee_violations": 0,
                "violated_s": 0.0, "below_minimum": 1, "notices": 1, "evictions": 1,
                "last_eviction": "busy"},
    }  # fmt: skip
    text = "\n".join(in_words(day, {}))
    assert (
        "one had 1.00 core-hours and used 0.50. Its guarantee was violated 1 time, for 3 s" in text
    )
    assert "two had 0.20 core-hours. It had less than its minimum 1 time." in text
    assert "<h2>Elastic groups</h2>" in page(day, {})


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.none())))
def test_groups_that_are_no_such_thing_are_left_out(garbage: dict[str, Any]) -> None:
    usage = {"t": MORNING_S + 30, "kind": "usage", "groups": garbage, "core_seconds": garbage}
    met = {"t": MORNING_S + 30, "kind": "guarantee met", "group": garbage, "after_s": garbage}
    odd = {"t": MORNING_S, "kind": "started", "groups": [garbage, None, 3]}
    day = read_day([*day_of_seconds(2), usage, met, odd])
    assert in_words(day, {})
    assert list(describe([usage, met, odd]))


def test_divisions_stay_within_their_chapter_and_name_the_groups() -> None:
    change = {"one": {"from": 1, "to": 2, "why": "it can use more"}}
    records: list[dict[str, Any]] = []
    for n in range(20):
        records.append(span(MORNING_S + 1 + n))
        records.append({"t": MORNING_S + 1 + n, "kind": "division", "groups": change})
    lines = list(describe(records))
    assert len(lines) == 7
    assert "The agent lent 2.00 cores" in lines[0]
    assert lines[1].endswith("the cores were divided otherwise 15 times.")
    assert lines[-1].endswith("one has 2 instead of 1, because it can use more.")


def test_how_a_budget_was_kept_is_told_by_the_minute() -> None:
    def minute(at_s: float, p99: float | None) -> dict[str, Any]:
        return {"t": at_s, "kind": "budget", "primary": "cgroup:web", "protect": 0.1, "p50": 0.01,
                "p95": 0.02, "p99": p99, "rests": 3, "by_rests": -0.01}  # fmt: skip

    records = [
        *day_of_seconds(3),
        *(minute(MORNING_S + 60 * n, p99) for n, p99 in enumerate((0.03, 0.05, 0.16, None))),
        minute(MORNING_S, 0.05) | {"protect": "much"},
    ]
    day = read_day(records)
    kept = day.budgets["cgroup:web"]
    assert (kept.minutes, kept.beyond, round(kept.mean["p99"], 9)) == (4, 1, 0.08)
    assert (kept.known["p99"], round(kept.mean["p50"], 9)) == (3, 0.01)
    words = " ".join(in_words(day, {}))
    assert "P50 +1.0%, P95 +2.0%, P99 +8.0%" in words
    assert "1 of 4 minutes (at worst P99 +16.0%) were beyond the budget of 10%" in words
    assert "the budget of 1.00%" not in words  # that is the safeguard's
    assert json.loads(json.dumps(day.document()))["budgets"]["cgroup:web"]["most"]["p99"] == 0.16


def test_a_story_tells_of_the_last_minute_of_each_chapter() -> None:
    spent = {"p50": 0.01, "p95": None, "p99": 0.031, "rests": 2, "by_rests": 0.04}
    record = {"t": MORNING_S + 2, "kind": "budget", "primary": "web", "protect": 0.1, **spent}
    told = list(describe([span(MORNING_S + 1), record, span(MORNING_S + 3)]))
    words = "By lending web took longer: P50 +1.0%, P99 +3.1%, median +4.0% by 2 rests"
    assert [line for line in told if words in line]
    assert any("the budget is 10%" in line for line in told)
    assert "not readable" in sentence(record | {"p50": "x"})
