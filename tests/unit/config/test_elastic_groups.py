"""Several elastic groups in a configuration: what is read, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.config.elastic_groups import ElasticGroup, MemoryBounds, group_tables
from smartharvest.config.loading import load_effective, load_settings
from smartharvest.config.settings import Settings, changed_settings, host_settings
from smartharvest.config.text import effective_document, effective_text
from smartharvest.errors import ConfigError
from smartharvest.host.target.spec import TargetSpec
from tests.commands import smartharvest_here


def group(name: str, more: str = "", target: str | None = None) -> str:
    return f'[[elastic]]\nname = "{name}"\ntarget = "{target or f"cgroup:batch/{name}"}"\n{more}\n'


def load(path: Path, *texts: str) -> Settings:
    path.write_text("\n".join(texts))
    return load_settings({}, str(path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "agent.toml"


def test_tables_are_groups_that_share_what_their_parent_gets(file: Path) -> None:
    bounds = "min = 1\nmax = 8\nweight = 2"
    settings = load(file, 'share = "weight"', group("analytics", bounds), group("etl"))
    assert settings.elastic == TargetSpec("cgroup", "batch")
    assert settings.elastic_groups == (
        ElasticGroup("analytics", TargetSpec("cgroup", "batch/analytics"), 1, 8, 2.0),
        ElasticGroup("etl", TargetSpec("cgroup", "batch/etl")),
    )
    assert settings.divides
    assert (settings.least_elastic, settings.most_elastic) == (1, None)


def test_one_table_is_that_target_with_bounds(file: Path) -> None:
    settings = load(file, group("analytics", "min = 2\nmax = 3"))
    assert settings.elastic == TargetSpec("cgroup", "batch/analytics")
    assert not settings.divides
    assert (settings.least_elastic, settings.most_elastic) == (2, 3)


def test_the_flag_can_be_repeated_and_is_the_short_form_of_one(file: Path) -> None:
    flags = ("cgroup:batch/a", "cgroup:batch/b")
    two = load_settings({"elastic": flags})
    assert two.elastic == TargetSpec("cgroup", "batch")
    assert [one.name for one in two.elastic_groups] == ["a", "b"]
    file.write_text(group("analytics"))
    one = load_settings({"elastic": ("cgroup:other",)}, str(file))
    assert (one.elastic, one.elastic_groups) == (TargetSpec("cgroup", "other"), ())


def test_a_list_in_the_file_is_what_repeated_flags_are(file: Path) -> None:
    flags = load_settings({"elastic": ("cgroup:batch/a", "cgroup:batch/b")})
    listed = load(file, 'elastic = ["cgroup:batch/a", "cgroup:batch/b"]')
    assert (listed.elastic, listed.elastic_groups) == (flags.elastic, flags.elastic_groups)
    one = load(file, 'elastic = ["cgroup:batch"]')
    assert (one.elastic, one.elastic_groups) == (TargetSpec("cgroup", "batch"), ())


def test_a_notice_is_written_as_it_was_read(file: Path) -> None:
    settings = load(file, group("a", 'min = 1\nnotice = "30s"\non_eviction = "end"'))
    (one,) = settings.elastic_groups
    assert (one.notice_ns, one.on_eviction) == (30_000_000_000, "end")
    (table,) = group_tables(settings.elastic_groups)
    assert (table["notice"], table["on_eviction"]) == ("30s", "end")


WRONG = [
    (group("a") + group("a", target="cgroup:batch/b"), "two groups are called 'a'"),
    (group("a") + group("b", target="cgroup:batch/a"), "'a' and 'b' are the same group"),
    (group("a") + group("b", target="cgroup:batch/a/b"), "'b' lies in 'a'"),
    (group("a") + group("b", target="cgroup:other/b"), "no parent group of their own in common"),
    (group("a", target="cgroup:a") + group("b", target="cgroup:b"), "put them right below one"),
    (group("a") + group("b", target="pid:5"), "share as cgroup:PATH without wildcards"),
    (group("a") + group("b", target="cgroup:batch/*"), "share as cgroup:PATH without wildcards"),
    (
        group("a", 'heartbeats = "/run/beats"') + group("b", 'heartbeats = "/run//beats"'),
        "'a' and 'b' count heartbeats in /run/beats; give each its own file",
    ),
    (group("a", "max = 1\nmin = 2"), "elastic 'a': max is 1 and min 2"),
    (group("a", "max = 0"), "max is at least min, and at least 1"),
    (group("a", "min = -1"), "elastic 'a': min: -1 is not a whole number of cores"),
    (group("a", "weight = 0"), "elastic 'a': weight: 0 is no weight"),
    (group("a", "wight = 1"), "elastic 'a': unknown key 'wight'"),
    (group("a b"), "'a b' is no name"),
    ('[[elastic]]\ntarget = "cgroup:batch/a"\n', "elastic 1: has no name"),
    ('[[elastic]]\nname = "a"\n', "elastic 'a': has no target"),
    (group("a", 'notice = "30s"'), "elastic 'a': a notice is for a minimum"),
    (group("a", 'min = 1\nnotice = "30"'), "elastic 'a': notice: '30' has no unit"),
    (group("a", 'on_eviction = "end"'), "elastic 'a': on_eviction and notice go together"),
    (
        group("a", 'min = 1\nnotice = "1s"\non_eviction = "kill"'),
        'is unknown; write "freeze" or "end"',
    ),
    (group("a", 'min = 1\nnotice = "1s"', "pid:5"), "pid:5 is no target that can be evicted"),
    (
        'placement = "exclusive"\n' + group("a", 'min = 1\nnotice = "1s"'),
        "placement: exclusive gives the primaries no core of a frozen group",
    ),
    (
        'park = "freeze"\n' + group("a", 'min = 1\nnotice = "1s"'),
        "park: freeze does not go with a group's notice",
    ),
    ("elastic_min = 2\n" + group("a", "min = 3"), "minima add up to 3, and elastic_min is 2"),
    ('order = "dynamic"\n' + group("a") + group("b"), "order: dynamic is for one elastic group"),
    ("unallocated_by_quota = true\ncpu_idle = false\n" + group("a"), "it needs placement shared"),
    (
        group("a") + group("b") + '[expert]\nmechanism = "affinity"\n',
        "mechanism: affinity moves one group only",
    ),
    ('primary = "cgroup:batch/a"\n' + group("a") + group("b"), "name separate targets"),
    ("elastic = [[1]]\n", "elastic: [1] is no target"),
    ("elastic = []\n", "elastic: [] is no target"),
    ('[elastic]\nname = "a"\n', "a single table is no target; write [[elastic]]"),
    ('elastic = "cgroup:batch"\n' + group("a"), "that key is there before, so remove one"),
    ('elastic = ["cgroup:batch/a", 1]\n', "elastic: ['cgroup:batch/a', 1] is no target"),
    ('elastic = ["cgroup:batch/a", "cgroup:x/a"]\n', "two groups are called 'a'"),
]


def test_check_config_warns_of_minima_that_this_host_cannot_keep(file: Path) -> None:
    file.write_text('primary = "cgroup:web"\n' + group("a", "min = 9000") + group("b", "min = 999"))
    outcome = smartharvest_here("check-config", str(file))
    assert "elastic: the groups' minima add up to 9999 cores; this host has" in outcome.out


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_does_not_go_together_is_refused_in_one_line(
    file: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        load(file, text)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("tables", "line"),
    [
        (group("a") + group("b", "wight = 2") + group("c"), 6),
        (group("a") + group("b") + group("b"), 2),
        (group("a", "weight = two") + group("b"), 5),
    ],
    ids=["of the table", "of the first where several are meant", "of text that is no TOML"],
)
def test_a_problem_has_the_line_of_its_table_and_no_others_follow_from_it(
    file: Path, tables: str, line: int
) -> None:
    file.write_text('primary = "cgroup:web"\n' + tables)
    outcome = smartharvest_here("check-config", str(file))
    (problem,) = outcome.out.splitlines()
    assert problem.startswith(f"{file}:{line}: ")


def test_each_wrong_table_has_a_line(file: Path) -> None:
    nameless = '[[elastic]]\ntarget = "cgroup:batch/c"\n'
    file.write_text(
        'primary = "cgroup:web"\n' + group("a", "wight = 2") + group("b", "min = -1") + nameless
    )
    problems = smartharvest_here("check-config", str(file)).out.splitlines()
    assert [one.removeprefix(f"{file}:").split(";")[0] for one in problems] == [
        "2: elastic 'a': unknown key 'wight'",
        "6: elastic 'b': min: -1 is not a whole number of cores, 0 or more",
        "10: elastic 3: has no name",
    ]


def test_the_configuration_in_force_has_the_tables_and_reads_back_the_same(file: Path) -> None:
    file.write_text('primary = "cgroup:web"\n' + group("a", "min = 1\nweight = 2.5") + group("b"))
    effective = load_effective({}, str(file))
    again = file.with_name("again.toml")
    again.write_text(effective_text(effective))
    assert load_settings({}, str(again)) == effective.settings
    tables = effective_document(effective)["elastic"]["value"]
    assert [table["name"] for table in tables] == ["a", "b"]


def test_other_groups_below_the_same_parent_are_taken_up_live(file: Path) -> None:
    old = load(file, group("a"), group("b"))
    new = load(file, group("a"), group("b"), group("c"))
    assert changed_settings(old, new) == {"elastic": "live"}
    elsewhere = load(file, group("a", target="cgroup:x/a"), group("b", target="cgroup:x/b"))
    assert changed_settings(old, elsewhere) == {"elastic": "restart"}
    assert changed_settings(old, load(file, group("a"))) == {"elastic": "restart"}
    assert host_settings(old)["elastic"] != host_settings(new)["elastic"]
    assert changed_settings(old, old) == {}


def memory(least: str, most: str) -> str:
    return f'memory = {{ min = "{least}", max = "{most}" }}'


def test_bounds_of_memory_are_read_and_written_again(file: Path) -> None:
    settings = load(file, group("analytics", memory("2GiB", "16GiB")), group("etl"))
    (bounds, none) = (one.memory for one in settings.elastic_groups)
    assert bounds == MemoryBounds(2 << 30, 16 << 30)
    assert none is None
    text = effective_text(load_effective({}, str(file)))
    assert memory("2GiB", "16GiB") in text
    file.write_text(text)
    assert load_settings({}, str(file)).elastic_groups == settings.elastic_groups


def test_minima_of_memory_above_this_machine_are_a_warning(file: Path) -> None:
    load(file, 'primary = ["cgroup:web"]', group("analytics", memory("900000GiB", "900000GiB")))
    (warning,) = load_effective({}, str(file)).warnings
    assert "minima of memory add up to 900000GiB; this host has" in str(warning)


@pytest.mark.parametrize(
    ("more", "target", "wrong"),
    [
        (memory("4GiB", "2GiB"), None, "max is 2GiB and min 4GiB; max is at least min"),
        (memory("1MiB", "2GiB"), None, "min must be 16MiB or more"),
        (memory("2", "2GiB"), None, "memory.min: '2' has no unit"),
        ('memory = "2GiB"', None, "is no size of both bounds"),
        ('memory = { max = "2GiB" }', None, "is no size of both bounds"),
        (memory("1GiB", "2GiB"), "pid:1", "is no target whose memory can be bounded"),
    ],
)
def test_wrong_bounds_of_memory_are_one_line(
    file: Path, more: str, target: str | None, wrong: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file, group("analytics", more, target))
    assert wrong in str(caught.value)
    assert "\n" not in str(caught.value)
