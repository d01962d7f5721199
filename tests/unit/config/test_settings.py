"""Settings from flags and from TOML files: what is taken, what wins, what is refused and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest.algorithm.learning.costs import COSTS
from smartharvest.algorithm.learning.learners import LEARNERS
from smartharvest.algorithm.policy.base import ProtectOf
from smartharvest.algorithm.safeguard import SHORT_TERM_SAFEGUARDS
from smartharvest.config.loading import load_settings
from smartharvest.config.settings import (
    FIELDS,
    Settings,
    changed_settings,
    host_settings,
    setting_name,
)
from smartharvest.errors import ConfigError
from smartharvest.host.process.priority import PRIORITIES
from smartharvest.host.process.waits import SOURCES as WAIT_SOURCES
from smartharvest.host.target.spec import TargetSpec
from smartharvest.sensor.choice import SENSORS

WriteToml = Callable[[str], str]


@pytest.fixture
def toml(tmp_path: Path) -> WriteToml:
    """Writes a configuration file and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "agent.toml"
        path.write_text(text)
        return str(path)

    return write


def refusal(flags: dict[str, Any], config_file: str | None = None) -> str:
    with pytest.raises(ConfigError) as refused:
        load_settings(flags, config_file)
    return str(refused.value)


VALUES: dict[str, tuple[str, object]] = {
    "primary": ("cgroup:web", (TargetSpec("cgroup", "web"),)),
    "elastic": ("pid:7", TargetSpec("pid", "7")),
    "share": ("weight", "weight"),
    "cores": ("0-2,5", frozenset({0, 1, 2, 5})),
    "elastic_min": ("2", 2),
    "max_harvest": ("0", 0),
    "keep_idle": ("3", 3),
    "decisions": ("agent", "agent"),
    "window": ("30ms", 30_000_000),
    "poll": ("100us", 100_000),
    "policy": ("prev-peak:4", "prev-peak:4"),
    "cost": ("hinged", "hinged"),
    "safeguard": ("aggressive", "aggressive"),
    "learner": ("native", "native"),
    "model": ("/d/../m", "/m"),
    "features_after_exhaustion": ("broken", "broken"),
    "exhausted_windows": ("trained", "trained"),
    "sensor": ("stat", "stat"),
    "pacing": ("spin", "spin"),
    "long_term": ("paper", "paper"),
    "waits": ("taskstats", "taskstats"),
    "long_term_share": ("2.5%", 0.025),
    "long_term_threshold": ("100us", 100_000),
    "long_term_periods": ("3", 3),
    "long_term_period": ("250ms", 250_000_000),
    "long_term_rest": ("30s", 30_000_000_000),
    "long_term_min_dispatches": ("50", 50),
    "long_term_stuck": ("2s", 2_000_000_000),
    "accounting": ("sampled", "sampled"),
    "label": ("busy", "busy"),
    "park": ("freeze", "freeze"),
    "on_death": ("minimum", "minimum"),
    "hang_timeout": ("30s", 30_000_000_000),
    "placement": ("exclusive", "exclusive"),
    "halt_poll": ("off", "off"),
    "control_priority": ("idle", "idle"),
    "mechanism": ("cpugroups", "cpugroups"),
    "strict_slice": ("5ms", 5_000_000),
    "strict_spare": ("0", 0),
    "order": ("dynamic", "dynamic"),
    "duration": ("2min", 120_000_000_000),
    "cgroup_root": ("/a/../b", "/b"),
    "state_dir": ("/c/", "/c"),
    "audit_log": ("/d/audit.jsonl", "/d/audit.jsonl"),
    "audit_level": ("decisions", "decisions"),
    "audit_size": ("2MiB", 2 << 20),
    "metrics": ("[::1]:9464", "[::1]:9464"),
    "web": ("127.0.0.1:9465", "127.0.0.1:9465"),
    "web_token": ("/e/token", "/e/token"),
    "status_group": ("_mon.1-x", "_mon.1-x"),
    "promise_hold": ("1min", 60_000_000_000),
    "promise_probability": ("99%", 0.99),
    "protect": ("5%", 0.05),
    "protect_of": ("cgroup:web=5%", (ProtectOf("cgroup:web", 0.05),)),
}
"""Every setting but the switches: a spelling that is not the default, and its value."""
SWITCHES = (
    "unallocated",
    "unallocated_by_quota",
    "lend_shared",
    "harm",
    "events",
    "cpu_idle",
    "rescue",
    "probe_preemption",
    "realtime",
    "guardian",
    "dry_run",
)


def test_a_budget_of_its_own_is_for_a_primary_of_the_agent() -> None:
    flags = {"primary": ("cgroup:web", "cgroup:api-*"), "protect_of": ("cgroup:api-*=20%",)}
    assert load_settings(flags).protect_of == (ProtectOf("cgroup:api-*", 0.2),)
    with pytest.raises(ConfigError, match=r"protect_of: cgroup:wb is no primary here; write it"):
        load_settings(flags | {"protect_of": ("cgroup:wb=5%",)})
    for wrong in ("5%", "cgroup:web", "cgroup:web=", "web=5%", "cgroup:web=0%"):
        with pytest.raises(ConfigError, match=r"protect.of: "):
            load_settings(flags | {"protect_of": (wrong,)})


def in_file(name: str, value: str, spelled: str | None = None) -> str:
    """The setting ``name`` where it belongs in a configuration file."""
    section = "[expert]\n" if FIELDS[name].metadata["expert"] else ""
    return f"{section}{spelled or name} = {value}\n"


def test_every_setting_is_tried_here() -> None:
    assert {*VALUES, *SWITCHES} == FIELDS.keys()


def test_without_anything_the_defaults_are_the_papers_but_for_the_policy() -> None:
    settings = load_settings({})
    assert (settings.window_ns, settings.poll_ns) == (25_000_000, 50_000)
    assert (settings.policy, settings.cost, settings.safeguard) == (
        *("adaptive", "skewed", "conservative"),
    )
    assert (settings.keep_idle, settings.elastic_min, settings.cores) == (1, None, None)
    assert settings == Settings()


@pytest.mark.parametrize("name", VALUES)
def test_a_setting_is_the_same_as_a_flag_and_in_a_file(name: str, toml: WriteToml) -> None:
    text, value = VALUES[name]
    by_flag = load_settings({name: text})
    assert getattr(by_flag, FIELDS[name].name) == value
    quoted = f'"{text}"'
    assert by_flag == load_settings({}, toml(in_file(name, quoted)))
    assert by_flag == load_settings({}, toml(in_file(name, quoted, name.replace("_", "-"))))
    assert by_flag != Settings()


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_can_be_set_both_ways(name: str, toml: WriteToml) -> None:
    assert getattr(load_settings({name: False}), name) is False
    off = toml(in_file(name, "false"))
    assert getattr(load_settings({}, off), name) is False
    assert getattr(load_settings({name: True}, off), name) is True


@pytest.mark.parametrize("name", VALUES)
def test_a_flag_wins_over_the_file(name: str, toml: WriteToml) -> None:
    text, value = VALUES[name]
    others = {
        **dict.fromkeys(FIELDS, "1"),
        "primary": "pid:1",
        "elastic": "pid:1",
        "window": "1s",
        "promise_hold": "1s",
        "hang_timeout": "1s",
        "promise_probability": "1%",
        "poll": "20us",
        "policy": "no-harvest",
        "status_group": "watchers",
        "cost": "symmetric",
        "safeguard": "conservative",
        "features_after_exhaustion": "kept",
        "exhausted_windows": "skipped",
        "decisions": "loop",
        "learner": "vw",
        "model": "off",
        "sensor": "proc",
        "pacing": "sleep",
        "long_term": "off",
        "waits": "schedstat",
        "long_term_share": "5%",
        "protect": "20%",
        "protect_of": "pid:1=20%",
        "long_term_threshold": "1ms",
        "long_term_period": "1s",
        "long_term_rest": "1s",
        "long_term_stuck": "1s",
        "accounting": "exact",
        "label": "demand",
        "park": "idle",
        "on_death": "restore",
        "placement": "shared",
        "halt_poll": "keep",
        "control_priority": "normal",
        "mechanism": "merge",
        "strict_slice": "1ms",
        "strict_spare": 3,
        "order": "topology",
        "share": "fair",
        "duration": "1s",
        "audit_level": "spans",
        "audit_size": "1kB",
        "audit_log": "/1",
        "cgroup_root": "/1",
        "state_dir": "/1",
        "metrics": "127.0.0.1:1",
        "web": "127.0.0.1:1",
        "web_token": "/1",
    }
    file = toml(in_file(name, f'"{others[name]}"'))
    assert getattr(load_settings({}, file), FIELDS[name].name) != value
    assert getattr(load_settings({name: text}, file), FIELDS[name].name) == value


def test_numbers_in_a_file_may_be_numbers(toml: WriteToml) -> None:
    settings = load_settings({}, toml("elastic_min = 2\ncores = 5\n"))
    assert (settings.elastic_min, settings.cores) == (2, frozenset({5}))


def test_primaries_may_be_one_or_several(toml: WriteToml) -> None:
    several = (TargetSpec("cgroup", "web"), TargetSpec("pid", "5"))
    assert load_settings({"primary": ("cgroup:web", "pid:5")}).primary == several
    assert load_settings({}, toml('primary = ["cgroup:web", "pid:5"]')).primary == several
    assert load_settings({}, toml('primary = "cgroup:web"')).primary == several[:1]


def test_primaries_of_the_command_line_replace_those_of_the_file(toml: WriteToml) -> None:
    file = toml('primary = ["cgroup:a", "cgroup:b"]')
    assert load_settings({"primary": ("pid:5",)}, file).primary == (TargetSpec("pid", "5"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('windw = "25ms"', "unknown key 'windw'; did you mean 'window'?"),
        ('window-ns = "25ms"', "unknown key 'window-ns'; did you mean 'window'?"),
        ("[agent]\nkeep_idle = 1", "unknown key 'agent'; `smartharvest config example` shows all"),
        ("keep-idle = 1\nkeep_idle = 2", "keep_idle: given twice, with - and with _"),
        ("keep_idle = 1\nkeep_idle = 2", "keep_idle: given on line 1 already"),
        ("window = ", "is not valid TOML"),
        ("primary = [", "is not valid TOML"),
        ("window = 25", 'window: 25 has no unit; write it as a string such as "25ms"'),
        ('window = "25"', "window: '25' has no unit"),
        ("poll = 0.05", "poll: 0.05 has no unit"),
        ("[window]\nms = 25", "window: {'ms': 25} has no unit"),
        ("primary = 3", "primary: 3 is no target"),
        ("primary = [3]", "primary: [3] is no target"),
        (
            'primary = "web"',
            "primary: 'web' is no target; write cgroup:PATH, systemd:UNIT, pid:N, or of a virtual "
            "machine qemu:NAME|SOCKET|PID, firecracker:ID|PID, cloud-hypervisor:SOCKET|PID or "
            "libvirt:DOMAIN",
        ),
        ('primary = "pid:web"', "primary: 'pid:web' lacks a process id after pid:"),
        ("elastic = [1]", "elastic: 1 is no target"),
        ('elastic = "cgroup:"', "elastic: 'cgroup:' lacks a path after cgroup:"),
        ("cores = true", "cores: True is no list of CPUs"),
        ("cores = 1.5", "cores: 1.5 is no list of CPUs"),
        ("cores = [1, 2]", "cores: [1, 2] is no list of CPUs; write it such as '0-3,8'"),
        ("cores = -1", "cores: -1 is no list of CPUs"),
        ('cores = "3-1"', "the range '3-1' runs backwards"),
        ('cores = ""', "cores: the list is empty"),
        ('cores = "0-99999999"', "beyond the highest possible CPU"),
        ("elastic_min = 1.0", "elastic_min: 1.0 is not a whole number of cores"),
        ("elastic_min = true", "elastic_min: True is not a whole number of cores"),
        ("elastic_min = {}", "elastic_min: {} is not a whole number of cores"),
        ('elastic_min = "two"', "elastic_min: 'two' is not a whole number of cores"),
        ('elastic_min = "1_0"', "elastic_min: '1_0' is not a whole number of cores"),
        ('elastic_min = "٣"', "elastic_min: '٣' is not a whole number of cores"),
        ("max_harvest = -1", "max_harvest: -1 is negative; use 0 or more"),
        ('policy = "magic"', "policy: 'magic' is unknown; use one of smartharvest, no-harvest"),
        ('policy = "prev-peak:0"', "policy: 'prev-peak:0' is unknown"),
        ("policy = 3", "policy: 3 is unknown"),
        (
            '[expert]\ncost = "free"',
            "cost: 'free' is unknown; use one of skewed, symmetric, hinged",
        ),
        ('[expert]\ncost = ["skewed"]', "cost: ['skewed'] is unknown"),
        ('safeguard = "none"', "safeguard: 'none' is unknown; use one of conservative, aggressive"),
        ('[expert]\nevents = "no"', "events: 'no' is not true or false"),
        ("realtime = 1", "realtime: 1 is not true or false"),
        ("state_dir = 1", "state_dir: 1 is no path"),
        (
            "[expert]\nlong_term_share = 0.01",
            'long_term_share: 0.01 is no percentage; write it such as "1%"',
        ),
        ('[expert]\nlong_term_share = "1"', "long_term_share: '1' is no percentage"),
        ('[expert]\nlong_term_share = "-1%"', "long_term_share: '-1%' is no percentage"),
        (
            '[expert]\nlong_term_share = "0%"',
            "long_term_share: '0%' must be above 0% and at most 100%",
        ),
        (
            '[expert]\nlong_term_share = "101%"',
            "long_term_share: '101%' must be above 0% and at most 100%",
        ),
        (
            "[expert]\nlong_term_periods = 0",
            "long_term_periods: 0 is no number of periods; use 1 or more",
        ),
        ("[expert]\nlong_term_periods = 1.5", "long_term_periods: 1.5 is no number of periods"),
        (
            "[expert]\nlong_term_min_dispatches = -1",
            "long_term_min_dispatches: -1 is no number of dispatch",
        ),
        ("[expert]\nlong_term_period = 500", "long_term_period: 500 has no unit"),
        (
            '[expert]\nlong_term_period = "9ms"',
            "long_term_period: '9ms' is too short to read all waits in",
        ),
        (
            '[expert]\nlong_term_threshold = "0us"',
            "long_term_threshold: '0us' must be longer than zero",
        ),
        (
            '[expert]\nwaits = "sensor"',
            "waits: 'sensor' is unknown; use one of auto, schedstat, taskstats",
        ),
        ('state_dir = ""', "state_dir: '' is no path"),
        ('promise_hold = "500ms"', "promise_hold: '500ms' is not within 1s and 10min"),
        ('promise_hold = "11min"', "promise_hold: '11min' is not within 1s and 10min"),
        ('promise_probability = "100%"', "promise_probability: '100%' can never be promised"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_key(text: str, words: str, toml: WriteToml) -> None:
    file = toml(text + "\n")
    message = refusal({}, file)
    assert message.startswith(f"{file}:")
    assert words in message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.toml")
    assert refusal({}, missing) == f"{missing}: cannot be read: No such file or directory"
    assert refusal({}, str(tmp_path)) == f"{tmp_path}: holds no *.toml file"
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert refusal({}, str(binary)) == f"{binary}: is not UTF-8 text"


@pytest.mark.parametrize(
    ("name", "value"), [("window", "25"), ("cores", "x"), ("elastic_min", "-1"), ("cost", "free")]
)
def test_a_wrong_flag_is_named_as_it_was_written(name: str, value: str) -> None:
    assert refusal({name: value}).startswith(f"--{name.replace('_', '-')}: ")


def test_a_wrong_flag_is_not_saved_by_a_good_file(toml: WriteToml) -> None:
    assert refusal({"window": "25"}, toml('window = "25ms"\n')).startswith("--window: ")


def test_a_poll_that_leaves_no_time_is_refused() -> None:
    assert refusal({"poll": "9us"}).startswith("poll: ")
    assert load_settings({"poll": "10us"}).poll_ns == 10_000


def test_a_window_is_no_shorter_than_a_poll(toml: WriteToml) -> None:
    assert refusal({"window": "1ms", "poll": "2ms"}).startswith("window: shorter than a poll")
    assert "shorter than a poll" in refusal({"poll": "2ms"}, toml('window = "1ms"\n'))
    assert load_settings({"window": "1ms", "poll": "1ms"}).window_ns == 1_000_000


def test_both_targets_are_required() -> None:
    with pytest.raises(ConfigError, match="primary: no target given; use --primary"):
        load_settings({"elastic": "pid:5"}).require_targets()
    with pytest.raises(ConfigError, match="elastic: no target given; use --elastic"):
        load_settings({"primary": "pid:5"}).require_targets()
    both = load_settings({"primary": "pid:5", "elastic": "pid:6"})
    assert both.require_targets() == TargetSpec("pid", "6")


def test_names_in_files_carry_no_units() -> None:
    names = {setting_name(item) for item in dataclasses.fields(Settings)}
    assert {"window", "poll", "duration"} <= names
    assert not any(name.endswith("_ns") for name in names)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("long_term", False),
        ("long_term", "of"),
        ("sensor", "prc"),
        ("order", None),
        ("rescue", 1),
        ("guardian", "yes"),
        ("keep_idle", True),
        ("max_harvest", False),
        ("window_ns", True),
    ],
)
def test_an_invalid_value_is_refused_wherever_settings_are_made(name: str, value: object) -> None:
    values: dict[str, Any] = {name: value}
    with pytest.raises(ConfigError, match=f"^{name.removesuffix('_ns')}: "):
        Settings(**values)
    with pytest.raises(ConfigError, match=f"^{name.removesuffix('_ns')}: "):
        dataclasses.replace(Settings(), **values)


def test_the_choices_are_what_the_code_behind_them_knows() -> None:
    def choices(name: str) -> set[str]:
        return set(FIELDS[name].metadata["choices"])

    assert choices("cost") == set(COSTS)
    assert choices("learner") == set(LEARNERS)
    assert choices("safeguard") == set(SHORT_TERM_SAFEGUARDS)
    assert choices("control_priority") == set(PRIORITIES)
    assert choices("sensor") == {"auto", *SENSORS}
    assert choices("waits") == {"auto", *WAIT_SOURCES}


def test_a_change_is_listed_with_when_it_takes_effect() -> None:
    old = load_settings({})
    new = load_settings({"policy": "prev-peak", "keep_idle": "2", "placement": "exclusive"})
    changes = {"policy": "live", "keep_idle": "live", "placement": "restart"}
    assert changed_settings(old, new) == changes
    assert changed_settings(new, new) == {}


def test_only_settings_that_need_a_restart_arrange_the_host() -> None:
    names = host_settings(Settings()).keys()
    assert {"primary", "elastic", "placement", "state_dir"} <= names
    assert not names & {"audit_log", "model", "on_death", "window"}
    assert all(FIELDS[name].metadata["applies"] == "restart" for name in names)


def test_the_common_settings_are_a_dozen_and_none_is_an_experts() -> None:
    common = [item.metadata for item in FIELDS.values() if item.metadata["common"]]
    assert len(common) <= 12
    assert not any(metadata["expert"] for metadata in common)
