"""The page: who may look, what a browser may do with it, what is shown of an agent."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import AddressTaken, ConfigError, Unavailable
from smartharvest.telemetry.textfile import textfile
from smartharvest.telemetry.verdict import LIMITS, earning, harming, health, why_not_more
from smartharvest.telemetry.web.listening import listen
from smartharvest.telemetry.web.token import read_token
from smartharvest.telemetry.web.view import describe
from tests.unit.telemetry.test_metrics import groups, status

CAPACITY = {
    "cores": {"now": 3, "guaranteed": 1, "promised": 2}, "hold_s": 10, "probability": 0.95,
    "learning": False, "withdrawn": None, "calibration": {"kept": 0.96},
}  # fmt: skip
TOKEN = "0123456789abcdef"


class Scripted:
    """An agent that answers as it is told, and counts."""

    name = "one"

    def __init__(self, **changes: Any) -> None:
        self.asked: list[str] = []
        self._changes = changes

    async def ask(self, command: str) -> Any:
        self.asked.append(command)
        past = {"samples": {"t": [1.0]}, "decisions": []}
        answers: Mapping[str, Any] = {"status": status(**self._changes), "capacity": CAPACITY}
        return answers.get(command, past)


def app_of(agent: Scripted, token: str | None = None, **more: Any) -> tuple[Any, Any]:
    pytest.importorskip("starlette")
    from smartharvest.telemetry.web.app import make_app
    from smartharvest.telemetry.web.hub import Hub

    hub = Hub(lambda: [agent], **more)
    return make_app(hub, token), hub


Answer = tuple[int, dict[str, str], bytes]


def get(app: Any, path: str, headers: Mapping[str, str] | None = None, events: int = 0) -> Answer:
    """What the app answers; of a stream, the first ``events`` events."""
    target, _, query = path.partition("?")
    asked = {"host": "127.0.0.1:9465", **(headers or {})}
    scope = {
        "type": "http", "method": "GET", "path": target, "raw_path": target.encode(),
        "query_string": query.encode(), "scheme": "http", "http_version": "1.1",
        "server": ("127.0.0.1", 9465), "client": ("127.0.0.1", 1), "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in asked.items()],
    }  # fmt: skip
    got: list[Any] = [0, {}, b""]

    async def run() -> None:
        leaves = asyncio.Event()

        async def receive() -> Any:
            await leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                got[0] = message["status"]
                got[1] = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                got[2] += message.get("body", b"")
                if events and got[2].count(b"\n\n") >= events:
                    leaves.set()

        await asyncio.wait_for(app(scope, receive, send), 30)

    asyncio.run(run())
    return got[0], got[1], got[2]


def test_everything_the_page_needs_comes_from_here_and_a_browser_may_load_nothing_else() -> None:
    app, _ = app_of(Scripted())
    code, headers, page = get(app, "/")
    assert code == 200
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    links = re.findall(r'(?:src|href)="([^"#:]+)"', page.decode())
    assert {"page.js", "page.css", "uPlot.iife.min.js", "uPlot.LICENSE"} <= set(links)
    for link in links:
        code, headers, text = get(app, f"/{link}")
        assert (code, headers["x-content-type-options"]) == (200, "nosniff")
        if link.startswith("page"):
            assert not re.search(rb"https?://|@import|\bon\w+=|style=", text)
    assert not re.search(rb"<script>|style=|https?://", page)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:9465"])
def test_without_a_token_only_a_loopback_name_is_answered(host: str) -> None:
    app, _ = app_of(Scripted())
    assert get(app, "/", {"host": host})[0] == 421
    assert get(app, "/events", {"host": host})[0] == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "[::1]:9465", "127.0.0.1"])
def test_every_loopback_name_is_answered(host: str) -> None:
    app, _ = app_of(Scripted())
    assert get(app, "/healthz", {"host": host})[0] == 200


def test_a_token_is_taken_once_from_the_address_then_from_a_cookie_or_a_header() -> None:
    app, _ = app_of(Scripted(), TOKEN)
    elsewhere = {"host": "host.example:9465"}
    assert get(app, "/", elsewhere)[0] == 401
    assert get(app, f"/?token={TOKEN}x", elsewhere)[0] == 401
    assert get(app, "/", {**elsewhere, "cookie": "smartharvest_token=\xe9"})[0] == 401
    code, headers, _ = get(app, f"/?token={TOKEN}", elsewhere)
    assert (code, headers["location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=strict"} <= set(headers["set-cookie"].split("; "))
    cookie = headers["set-cookie"].partition(";")[0]
    assert get(app, "/", {**elsewhere, "cookie": cookie})[0] == 200
    assert get(app, "/", {**elsewhere, "authorization": f"Bearer {TOKEN}"})[0] == 200
    assert get(app, "/healthz", elsewhere)[0] == 200  # which tells nothing


def test_nothing_can_be_sent_and_no_other_path_is_there() -> None:
    app, _ = app_of(Scripted())
    assert get(app, "/etc/passwd")[0] == 404
    assert get(app, "/../app.py")[0] == 404


def test_who_looks_gets_the_past_and_then_every_update_and_nobody_asks_the_agent_after() -> None:
    agent = Scripted()
    app, hub = app_of(agent, every_s=0.01)
    code, headers, text = get(app, "/events", events=3)
    assert (code, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    names = re.findall(rb"^event: (\w+)$", text, re.MULTILINE)
    assert names[:3] == [b"history", b"now", b"now"]
    assert agent.asked[:3] == ["status", "capacity", "history"]
    assert hub.viewers == 0
    first = json.loads(text.split(b"data: ")[1].partition(b"\n")[0])
    assert first["agents"][0]["title"] == "cgroup:web → cgroup:batch"


def test_an_agent_of_another_version_or_that_is_silent_is_shown_as_such() -> None:
    pytest.importorskip("starlette")
    from smartharvest.telemetry.web.hub import Hub
    from smartharvest.telemetry.web.sources import Silent

    class Mute(Scripted):
        async def ask(self, command: str) -> Any:
            raise Silent(f"no {command}")

    odd, mute = Scripted(waits=3), Mute()
    found = asyncio.run(Hub(lambda: [odd, mute]).look("recent"))["agents"]
    assert "another version" in found[0]["silent"]
    assert found[1]["silent"] == "no status"


def test_an_agent_is_shown_with_its_cpus_its_promise_and_its_waits() -> None:
    seen = describe(status(), CAPACITY)
    assert seen["cpus"][0] == {"cpu": 0, "runs": "primary", "lent": False}
    assert seen["cpus"][3] == {"cpu": 3, "runs": "elastic", "lent": True}
    assert ["For the next 10 s", "2 cores, with a probability of 95%"] in seen["promises"]
    assert ["Of these, possibly by lending", "1"] in seen["waits"]
    json.dumps(seen)


def test_several_elastic_groups_and_strange_names_are_shown() -> None:
    train = {"name": "train", "cores": 2, "mean_cores": 1.5, "guarantee": "3 cores"}
    odd = [{"name": "build\x1b[2J"}, {**train, "guarantee_met": False}]
    seen = describe(status(elastic=odd), None)
    assert seen["title"] == "cgroup:web → build?[2J, train"
    train_row = ["train", "Guarantee not met (3 cores)", "2", "", "", "1.50", "", ""]
    assert seen["several"] == [
        {"cells": ["build?[2J", "–", "", "", "", "", "", ""], "short": False},
        {"cells": train_row, "short": True},
    ]
    assert describe(status(elastic=odd[1:]), None)["several"] == []


def test_a_group_that_is_or_will_be_evicted_says_why() -> None:
    soon = {"name": "soon", "min": 1, "cores": 1, "guarantee_met": True,
            "eviction": {"stage": "noticed", "left_s": 41.2, "why": "they need it"}}  # fmt: skip
    gone = {"name": "gone", "min": 1, "cores": 0,
            "eviction": {"stage": "evicted", "left_s": None, "why": "they need it"}}  # fmt: skip
    several = describe(status(elastic=[soon, gone]), None)["several"]
    assert [(one["cells"][1], one["short"]) for one in several] == [
        ("Evicted in 41 s: they need it; Guarantee met", False),
        ("Evicted: they need it", True),
    ]


def test_a_share_of_time_and_a_group_held_by_the_operator_are_shown() -> None:
    one, etl = groups()
    by_time = {**one, "cores": 0.333, "divided_by": "time", "guarantee_met": None, "min": 0}
    held = {**etl, "cores": 0, "held": "paused", "guarantee_met": None}
    shown = [
        row["cells"][1:3] for row in describe(status(elastic=[by_time, held]), None)["several"]
    ]
    assert shown == [["Shared by time", "0.33"], ["Paused by the operator", "0"]]


def test_each_of_several_groups_has_its_row_and_its_promise() -> None:
    promised = [
        {"name": name, "cores": {"now": 2, "guaranteed": 0, "promised": n}}
        for n, name in enumerate(("one", "etl"))
    ]
    seen = describe(status(elastic=groups()), CAPACITY | {"groups": promised})
    assert ["For etl", "1 core, 0 always"] in seen["promises"]
    assert [one["cells"][0] for one in seen["several"]] == ["one", "etl"]
    json.dumps(seen)


def test_groups_of_an_agent_elsewhere_are_shown_by_their_metrics() -> None:
    pytest.importorskip("prometheus_client")
    from smartharvest.telemetry.web.by_metrics import read, status_of

    far = status_of("http://far/metrics", *read(textfile([status(elastic=groups())], 0, 0)))
    one, etl = [row["cells"] for row in describe(far, None)["several"]]
    assert one[:5] == ["one", "Below its minimum", "0", "1.0", "1"]
    assert etl[:6] == ["etl", "Guarantee not met", "2", "2.0", "0", "0.50"]


def test_an_agent_elsewhere_is_shown_by_its_metrics() -> None:
    pytest.importorskip("prometheus_client")
    from smartharvest.telemetry.web.by_metrics import ByMetrics, read, status_of

    elsewhere = status_of("http://far:9464/metrics", *read(textfile([status()], 0, 0)))
    here, seen = describe(status(), None), describe(elsewhere, CAPACITY)
    assert seen["cpus"] == []
    for key in ("total", "lent", "mean", "busy", "demand", "granted", "harm_share", "harm_budget"):
        assert seen[key] == here[key], key
    words = {name: one["key"] for name, one in seen["verdicts"].items()}
    assert words == {name: one["key"] for name, one in here["verdicts"].items()}
    with pytest.raises(ValueError, match="no metrics of an agent"):
        status_of("x", *read("up 1\n"))
    with pytest.raises(ConfigError, match="--from: 'file:///etc/passwd' is no address"):
        ByMetrics("file:///etc/passwd")


@pytest.mark.parametrize("far", [False, True])
def test_why_not_more_is_in_the_policys_own_words_where_it_says_it(far: bool) -> None:
    seen = status(policy={**status()["policy"], "explanation": "lends nothing yet"})
    told = "Lends nothing yet."
    if far:
        pytest.importorskip("prometheus_client")
        from smartharvest.telemetry.web.by_metrics import read, status_of

        told, seen = "Its own status says why.", status_of("x", *read(textfile([seen], 0, 0)))
    assert (why_not_more(seen).key, why_not_more(seen).text) == ("policy", told)


def test_four_answers_for_one_look() -> None:
    well = status()
    assert (earning(well).key, health(well).key) == ("lending", "well")
    assert harming(well).level == "bad"  # 1 of 100, of a budget of 1 %
    assert why_not_more(well).key == "demand"
    assert "0.50" in earning(well).text


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"decision": None}, "no window"),
        ({"harvested": {"now": 2, "mean": 1.0}}, "limit"),
        ({"decision": {"primary_cores": 3, "reason": "short-term safeguard"}}, "short-term"),
        ({"decision": {"primary_cores": 3, "reason": "stale window"}}, "stale"),
        ({"safeguards": {"lends_nothing_because": "paused", "resting_s": 0}}, "held"),
        ({"safeguards": {"lends_nothing_because": None, "resting_s": 4.0}}, "resting"),
        ({"policy": {**status()["policy"], "explanation": "lends nothing yet"}}, "policy"),
    ],
)
def test_what_keeps_more_from_being_lent_has_a_key(changes: dict[str, Any], key: str) -> None:
    assert why_not_more(status(**changes)).key == key
    assert key in LIMITS


def test_harm_is_held_against_its_budget_and_taken_from_the_sensor_where_it_tells() -> None:
    def waits(blamed: int) -> dict[str, Any]:
        return {
            "period": {"dispatches": 1000, "blamed": blamed},
            "unreadable": None,
            "budget": 0.02,
        }

    assert [harming(status(waits=waits(n))).level for n in (0, 10, 20)] == [
        "good",
        "careful",
        "bad",
    ]
    unread = {"period": None, "unreadable": "long_term is off"}
    assert harming(status(waits=unread)).text == "Not known: long_term is off."
    harm = {"primaries": {"web": {"period": None, "longer": {"p95": 1.5}}}}
    told = harming(status(waits=unread, harm=harm))
    assert (told.level, "web takes 1.50 times as long" in told.text) == ("careful", True)


def test_what_is_wrong_with_an_agent_is_listed_worst_first() -> None:
    ill = status(
        guardian={"lost": 1, "frozen_with": None},
        warnings=[{"age_s": 5.0, "text": "old"}, {"age_s": 99_999.0, "text": "ancient"}],
    )
    assert health(ill).text == "1 guardian died and was replaced. And 1 more."


@pytest.mark.parametrize("text", ["short", "with a space in the token", "x" * 300, ""])
def test_a_token_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"--token-file: .*is no token"):
        read_token(str(path), "--token-file")


def test_a_token_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert read_token(str(path), "k") == TOKEN
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="others may write it"):
        read_token(str(path), "k")


def test_an_address_that_is_taken_is_named() -> None:
    with listen("127.0.0.1:0", "web") as first:
        port = first.getsockname()[1]
        with pytest.raises(AddressTaken, match=f"web: 127.0.0.1:{port}: Address already in use"):
            listen(f"127.0.0.1:{port}", "web")
    with pytest.raises(Unavailable, match=r"web: 192\.0\.2\.1:9464: Cannot assign") as refused:
        listen("192.0.2.1:9464", "web")
    assert not isinstance(refused.value, AddressTaken)


def test_the_chart_library_has_its_licence_beside_it() -> None:
    import smartharvest.telemetry.web as package

    static = Path(package.__path__[0]) / "static"
    assert "MIT" in (static / "uPlot.LICENSE").read_text()
    assert "uPlot (v1.6.32)" in (static / "uPlot.iife.min.js").read_text()[:400]


def kept_budget(**of_web: Any) -> dict[str, Any]:
    """As a policy that judges harm has it."""
    spent = {"protect": 0.1, "p50": 0.01, "p95": 0.02, "p99": 0.03, "rests": 0, "by_rests": None}
    return {"cgroup:api": spent | {"protect": 0.2}, "cgroup:web": spent | of_web}


def test_a_policy_that_keeps_a_budget_is_held_against_that_whatever_waits_say() -> None:
    waiting = {"period": {"dispatches": 100, "blamed": 50}, "unreadable": None, "budget": 0.01}
    levels = {
        p99: harming(status(waits=waiting, budget=kept_budget(p99=p99))).level
        for p99 in (0.03, 0.08, 0.12)
    }
    assert levels == {0.03: "good", 0.08: "careful", 0.12: "bad"}
    text = harming(status(budget=kept_budget(p99=0.12, rests=4, by_rests=-0.02))).text
    assert "cgroup:web took longer in the last minute: P50 +1.0%, P95 +2.0%, P99 +12.0%" in text
    assert "median -2.0% by 4 rests. The budget is 10%." in text
    seen = describe(status(budget=kept_budget(p50=None, p95=None, p99=None)), None)
    assert seen["budget_used"] == pytest.approx(0.15)
    nobody = kept_budget()["cgroup:api"] | {"p50": None, "p95": None, "p99": None}
    unknown = status(waits=waiting, budget={"cgroup:web": nobody})
    assert harming(unknown).text.startswith("50.00% of the primary's waits")
    said = "too few tasks to tell, of 10%"
    assert ["Longer by lending: cgroup:web", said] in seen["waits"]
    assert describe(status(), None)["budget_used"] == pytest.approx(1.0)  # the safeguard's


def test_a_budget_that_an_agent_elsewhere_keeps_is_shown_by_its_metrics() -> None:
    pytest.importorskip("prometheus_client")
    from smartharvest.telemetry.web.by_metrics import read, status_of

    several = kept_budget(p99=0.12)
    several["cgroup:api"]["p99"] = 0.15  # longer, and within its own
    here = status(budget=several)
    far = status_of("http://far/metrics", *read(textfile([here], 0, 0)))
    assert describe(far, None)["budget_used"] == pytest.approx(1.2)
    assert harming(far).text == harming(here).text
    assert harming(far).key == "over"
