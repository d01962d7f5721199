"""Metrics: what is served, to whom, and that dashboards and alerts ask for what there is."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smartharvest.algorithm.harm import Harm, HarmSide
from smartharvest.cluster.source import NoCapacity, from_http
from smartharvest.errors import ConfigError, Unavailable
from smartharvest.telemetry.histogram import histogram
from smartharvest.telemetry.metrics import Metrics, families
from smartharvest.telemetry.output_file import write_whole
from smartharvest.telemetry.textfile import textfile
from tests.cluster.agents import free_port
from tests.commands import smartharvest_here

pytest.importorskip("prometheus_client")

PACKAGING = Path(__file__).parents[3] / "packaging"


def status(**changes: Any) -> dict[str, Any]:
    """As telemetry/status.py describes an agent."""
    seen: dict[str, Any] = {
        "version": "1", "pid": 7, "seconds": 10.0, "primary": ["cgroup:web"],
        "elastic": [
            {"name": "cgroup:batch", "cores": 2, "mean_cores": 1.5, "due": 2.0, "min": 0,
             "max": None, "throughput": None, "guarantee_met": None, "memory_bytes": 4096}
        ],
        "cores": {"pool": "0-3", "total": 3, "elastic_min": 1, "max_harvest": 2,
                  "elastic_cpus": "2-3", "runs": {"primary": "0", "idle": "1-2", "elastic": "3"}},
        "sensor": {"name": "bpf", "reason": "selected automatically", "failed": [], "drift": 0},
        "policy": {"name": "smartharvest", "label": "demand", "lessons": 5, "fallbacks": []},
        "harvested": {"now": 1, "mean": 0.5, "core_seconds": 5.0},
        "busy": {"now": 1, "peak": 2, "mean": 1.0, "core_seconds": 10.0},
        "demand": {"peak": 2, "mean": 1.1, "core_seconds": 11.0},
        "decision": {"primary_cores": 2, "reason": "predicted"},
        "safeguards": {"short_term": 3, "long_term": 1, "resting_s": 0.0,
                       "lends_nothing_because": None, "give_backs": {"starved": 2}},
        "waits": {"period": {"dispatches": 100, "long_waits": 2, "blamed": 1, "p99_us": 40.0},
                  "unreadable": None},
        "histograms": {"moves": histogram(((1500, 4), (40_000, 1)), 46_000),
                       "lateness": histogram(((3000, 9),), 27_000),
                       "waits": histogram(((256, 90), (60_000, 10)), 623_040)},
        "loop": {"scheduling": "fifo", "windows": 400, "assignments": 20, "polls": 9,
                 "missed_polls": 0, "lateness_us": {"p50": 3.0, "p99": 10.0, "max": 50.0}},
        "agent": {"cpu_seconds": 0.1, "cpu": 0.01, "rss_bytes": 50 << 20},
        "warnings": [],
    }  # fmt: skip
    return seen | changes


def groups() -> list[dict[str, Any]]:
    """Two elastic groups as agent/group_sharing.py describes them; the second has all there is."""
    bare = {"target": "cgroup:batch/one", "cores": 0, "mean_cores": 0.5, "due": 1.0, "min": 1,
            "core_seconds": 5.0, "cpu_seconds": None, "promised": None, "max": None,
            "throughput": None, "throughput_by": None, "guarantee": None, "guarantee_met": None,
            "guarantee_violations": 0, "memory_bytes": None}  # fmt: skip
    full = {"name": "etl", "target": "cgroup:batch/etl", "cores": 2, "due": 2.0, "min": 0, "max": 4,
            "cpu_seconds": 12.5, "promised": 1, "throughput": 3.5, "throughput_by": "heartbeats",
            "guarantee": "4/s", "guarantee_met": False, "guarantee_violations": 3,
            "memory_bytes": 4096,
            "memory": {"limit_bytes": 8192, "taken_back_bytes": 1024}}  # fmt: skip
    return [{"name": "one", **bare}, bare | full]


def described_harm() -> dict[str, Any]:
    """As telemetry/status.py describes it."""
    side = HarmSide(waits=((1000, 500),), wakes_to_sleeps=((50_000, 500),), wait_ns=500_000,
                    wake_to_sleep_ns=25_000_000)  # fmt: skip
    lent = replace(side, wakes_to_sleeps=((55_000, 500),), long_waits=9, behind_elastic=4, here=1)
    harm = Harm(lent, side).describe()
    kept = {"wait": histogram(side.waits, 500_000),
            "wake_to_sleep": histogram(side.wakes_to_sleeps, 25_000_000)}  # fmt: skip
    found = {**harm, "period": None, "histograms": {"lent": kept, "not_lent": kept}}
    return {"period_s": 10.0, "primaries": {"cgroup:web": found}}


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
        return text


def test_the_state_is_served_on_loopback_until_it_is_closed() -> None:
    port = free_port()
    metrics = Metrics(f"127.0.0.1:{port}")
    assert "smartharvest_" not in scrape(port)
    metrics.update(status(), {"cores": {"promised": 3}})
    text = scrape(port)
    metrics.close()
    assert "smartharvest_harvested_core_seconds_total 5.0" in text
    assert 'smartharvest_safeguards_total{kind="long_term"} 1.0' in text
    assert 'smartharvest_give_backs_total{reason="starved"} 2.0' in text
    assert "smartharvest_lending 1.0" in text
    assert 'smartharvest_reassignment_seconds_bucket{le="1.024e-06"} 0.0' in text
    assert 'smartharvest_reassignment_seconds_bucket{le="2.048e-06"} 4.0' in text
    assert 'smartharvest_wait_seconds_bucket{le="+Inf"} 100.0' in text
    assert "smartharvest_wait_seconds_sum 0.00062304" in text
    with pytest.raises(OSError, match="refused"):
        scrape(port)


def test_what_can_be_promised_is_served_beside_the_metrics() -> None:
    port = free_port()
    metrics = Metrics(f"127.0.0.1:{port}")
    with pytest.raises(NoCapacity, match="Service Unavailable"):
        from_http(f"http://127.0.0.1:{port}/capacity")()
    cores = {"now": 4, "promised": 3, "guaranteed": 1}
    metrics.update(status(), {"cores": cores})
    assert from_http(f"http://127.0.0.1:{port}/capacity")() == {"cores": cores}
    with pytest.raises(NoCapacity, match="Expecting value"):
        from_http(f"http://127.0.0.1:{port}/metrics")()
    metrics.close()


def test_every_alert_has_a_runbook_on_the_page_it_names() -> None:
    alerts = (PACKAGING / "prometheus" / "smartharvest-alerts.yml").read_text()
    page = (PACKAGING.parent / "docs" / "how-to" / "monitor.md").read_text()
    names = re.findall(r"- alert: (\w+)", alerts)
    assert "SmartHarvestDead" in names
    for name in names:
        assert f'runbook: "docs/how-to/monitor.md#{name.lower()}"' in alerts
        assert f"\n### {name}\n" in page, name


def test_the_first_row_of_the_dashboard_is_four_numbers() -> None:
    dashboard = json.loads((PACKAGING / "grafana" / "smartharvest.json").read_text())
    first = [panel for panel in dashboard["panels"] if panel["gridPos"]["y"] == 0]
    assert [panel["type"] for panel in first] == ["stat"] * 4
    words = [panel["title"].partition(":")[0] for panel in first]
    assert words == ["Earning", "Harming", "Healthy", "Why not more"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


def test_health_is_told_while_the_agent_publishes_and_not_after() -> None:
    port = free_port()
    metrics = Metrics(f"127.0.0.1:{port}")
    address = f"http://127.0.0.1:{port}/healthz"

    def code() -> int:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    assert code() == 503
    metrics.update(status(), {})
    assert code() == 200
    metrics._published_s = float("-inf")
    assert code() == 503
    metrics.close()


def test_one_reason_keeps_more_from_being_lent_and_harm_is_a_share() -> None:
    samples = [sample for family in families(status()) for sample in family.samples]
    limits = {s.labels["reason"]: s.value for s in samples if s.name == "smartharvest_limited_by"}
    assert {key for key, value in limits.items() if value} == {"demand"}
    values = {sample.name: sample.value for sample in samples}
    assert values["smartharvest_harm_ratio"] == values["smartharvest_harm_budget_ratio"] == 0.01
    assert values["smartharvest_healthy"] == 1


def test_a_budget_that_the_policy_keeps_is_of_each_primary_and_quantile() -> None:
    spent = {"protect": 0.1, "p50": 0.01, "p95": 0.02, "p99": None, "rests": 0, "by_rests": None}
    kept = {"cgroup:api": spent | {"protect": 0.2}, "cgroup:web": spent | {"p99": 0.15}}
    samples = [s for family in families(status(budget=kept)) for s in family.samples]
    longer = {
        (s.labels["primary"], s.labels["quantile"]): s.value
        for s in samples
        if s.name == "smartharvest_longer_ratio"
    }
    assert longer == {
        ("cgroup:api", "0.5"): 0.01,
        ("cgroup:api", "0.95"): 0.02,
        ("cgroup:web", "0.5"): 0.01,
        ("cgroup:web", "0.95"): 0.02,
        ("cgroup:web", "0.99"): 0.15,
    }
    budgets = {
        s.labels["primary"]: s.value for s in samples if s.name == "smartharvest_protect_ratio"
    }
    assert budgets == {"cgroup:api": 0.2, "cgroup:web": 0.1}
    values = {sample.name: sample.value for sample in samples if not sample.labels}
    assert values["smartharvest_budget_used_ratio"] == pytest.approx(1.5)
    plain = {s.name: s.value for family in families(status()) for s in family.samples}
    assert plain["smartharvest_budget_used_ratio"] == pytest.approx(1.0)
    assert "smartharvest_protect_ratio" not in plain


def test_of_several_primaries_each_has_series_of_its_own_in_a_file() -> None:
    spent = {"protect": 0.1, "p50": 0.01, "p95": 0.02, "p99": 0.03, "rests": 0, "by_rests": None}
    kept = {"cgroup:api": spent, "cgroup:web": spent}
    seen = status(primary=["cgroup:api", "cgroup:web"], budget=kept, harm=described_harm())
    lines = [line for line in textfile([seen], 0, 0).splitlines() if not line.startswith("#")]
    names = [line.rpartition(" ")[0] for line in lines]
    assert len(names) == len(set(names))
    assert 'smartharvest_longer_ratio{primary="cgroup:api",quantile="0.99"} 0.03' in lines
    assert 'smartharvest_total_cores{primary="cgroup:api,cgroup:web"} 3.0' in lines


def test_each_elastic_group_has_its_metrics_by_its_name() -> None:
    found = {family.name: family for family in families(status(elastic=groups()))}
    samples = {
        (s.name.removeprefix("smartharvest_"), s.labels["group"]): s.value
        for family in found.values()
        for s in family.samples
        if "group" in s.labels
    }
    assert all(set(s.labels) == {"group"} for f in found.values() if "_group_" in f.name
               for s in f.samples)  # fmt: skip
    assert samples["group_cores", "etl"] == 2
    assert samples["group_core_seconds_total", "one"] == 5
    assert samples["group_cpu_seconds_total", "etl"] == 12.5
    assert samples["group_guarantee_met", "etl"] == 0
    assert samples["group_guarantee_violations_total", "etl"] == 3
    assert samples["group_promised_cores", "etl"] == 1
    absent = ("group_cpu_seconds_total", "group_guarantee_violations_total", "group_max_cores")
    assert not any((name, "one") in samples for name in absent)
    assert not any(name.startswith("group_evictions") for name, _ in samples)
    units = {name: family.unit for name, family in found.items()}
    assert units["smartharvest_group_core_seconds"] == "seconds"
    assert units["smartharvest_group_due_cores"] == "cores"
    assert units["smartharvest_group_memory_bytes"] == "bytes"
    assert 'group="etl",primary="cgroup:web"' in textfile([status(elastic=groups())], 0, 0)


def test_units_are_said_where_the_name_has_one() -> None:
    units = {family.name: family.unit for family in families(status())}
    assert units["smartharvest_cpu_seconds"] == units["smartharvest_wait_seconds"] == "seconds"
    assert units["smartharvest_resident_bytes"] == "bytes"
    assert units["smartharvest_windows"] == ""


def test_a_textfile_has_every_agent_and_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "smartharvest.prom"
    text = textfile([status(), status(primary=["cgroup:search"])], 1, 2)
    write_whole(str(path), text.encode())
    assert path.read_text() == text
    assert [file.name for file in tmp_path.iterdir()] == ["smartharvest.prom"]
    for name in ("web", "search"):
        assert f'smartharvest_harvested_cores{{primary="cgroup:{name}"}} 1.0' in text
    assert text.count("# HELP smartharvest_harvested_cores ") == 1
    assert "\nsmartharvest_agents 2.0\n" in text
    assert "\nsmartharvest_orphans 2.0\n" in text
    with pytest.raises(ConfigError, match="cannot be written"):
        write_whole(str(tmp_path / "no" / "x.prom"), text.encode())


def test_where_no_agent_runs_the_command_says_so(tmp_path: Path) -> None:
    done = smartharvest_here("metrics", "--state-dir", str(tmp_path))
    assert (done.code, "smartharvest_agents 0.0" in done.out) == (0, True)


@pytest.mark.parametrize("path", ["/", "/metric", "/metrics/x", "/capacity/"])
def test_a_path_that_is_unknown_is_not_found(path: str) -> None:
    port = free_port()
    metrics = Metrics(f"127.0.0.1:{port}")
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5)
    refused.value.close()
    metrics.close()


def test_before_the_first_window_there_is_what_there_is() -> None:
    early = status(decision=None, waits={"period": None, "unreadable": "long_term is off"})
    early["histograms"]["waits"] = None
    names = {family.name for family in families(early)}
    assert not names & {"smartharvest_granted_cores", "smartharvest_wait_seconds"}
    assert "smartharvest_lending" in names


def test_an_address_of_another_host_is_named() -> None:
    with pytest.raises(Unavailable, match=r"metrics: 192\.0\.2\.1:9464: Cannot assign"):
        Metrics("192.0.2.1:9464")


def test_a_port_that_another_user_holds_is_served_once_it_is_free(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        served = Metrics(address)
        assert f"metrics: {address}: Address already in use" in caplog.text
        served.update(status(), {})
    try:
        monkeypatch.setattr(served, "_next_try_s", 0.0)
        served.update(status(), {})
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
            assert b"smartharvest_lending" in answer.read()
    finally:
        served.close()


def _asked_for(text: str) -> set[str]:
    return set(re.findall(r"smartharvest_[a-z0-9_]+", text))


def test_dashboard_and_alerts_ask_only_for_metrics_there_are() -> None:
    seen = status(elastic=groups())
    there = {sample.name for family in families(seen) for sample in family.samples}
    there |= {"smartharvest_orphans"}  # of the textfile
    dashboard = json.loads((PACKAGING / "grafana" / "smartharvest.json").read_text())
    asked = _asked_for(json.dumps(dashboard["panels"]) + json.dumps(dashboard["templating"]))
    alerts = (PACKAGING / "prometheus" / "smartharvest-alerts.yml").read_text()
    expressions = "\n".join(line for line in alerts.splitlines() if "expr:" in line)
    assert asked | _asked_for(expressions) <= there


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_finds_nothing_wrong_with_rules_and_metrics() -> None:
    rules = str(PACKAGING / "prometheus" / "smartharvest-alerts.yml")
    subprocess.run(["promtool", "check", "rules", rules], check=True, capture_output=True)
    cases = rules.replace(".yml", ".test.yml")
    tried = subprocess.run(
        ["promtool", "test", "rules", cases], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    port = free_port()
    metrics = Metrics(f"127.0.0.1:{port}")
    metrics.update(status(), {})
    text = scrape(port)
    metrics.close()
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_harm_has_a_series_for_each_primary_and_whether_something_was_lent() -> None:
    samples = {
        (one.name, one.labels["lending"], one.labels.get("le")): one.value
        for family in families(status(harm=described_harm()))
        if family.name.startswith("smartharvest_harm_")
        for one in family.samples
        if "lending" in one.labels
    }
    assert samples["smartharvest_harm_behind_elastic_total", "lent", None] == 4
    assert samples["smartharvest_harm_behind_elastic_here_total", "lent", None] == 1
    assert samples["smartharvest_harm_long_waits_total", "not_lent", None] == 0
    assert samples["smartharvest_harm_wait_seconds_bucket", "lent", "+Inf"] == 500
    assert samples["smartharvest_harm_wake_to_sleep_seconds_sum", "lent", None] == 0.025


def test_evictions_by_need_and_by_hand_are_counted_together() -> None:
    one, etl = groups()
    eviction = {"stage": "kept", "notices": 3, "evictions": 2}
    rows = [one | {"eviction": eviction, "operator_evictions": 1, "held": None},
            etl | {"operator_evictions": 0, "held": "paused"}]  # fmt: skip
    found = {
        (sample.name.removeprefix("smartharvest_"), sample.labels["group"]): sample.value
        for family in families(status(elastic=rows))
        for sample in family.samples
        if "group" in sample.labels
    }
    assert found["group_notices_total", "one"] == 3
    assert found["group_evictions_total", "one"] == 3
    assert ("group_evictions_total", "etl") not in found
    assert (found["group_held", "one"], found["group_held", "etl"]) == (0, 1)
