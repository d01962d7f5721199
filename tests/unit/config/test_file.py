"""Configuration files: every problem at once with its line, drop-ins, who may write them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.config.file import LARGEST_FILE_BYTES, read_config
from smartharvest.config.loading import collect_settings, load_effective, load_settings
from smartharvest.config.settings import FIELDS, Settings
from smartharvest.config.text import effective_text, example_text
from smartharvest.errors import ConfigError
from smartharvest.host.target.targets import FORMS
from tests.commands import smartharvest_here
from tests.unit.config.test_settings import SWITCHES, VALUES


def write(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


def problems_of(path: str) -> list[str]:
    return [str(problem).removeprefix(path) for problem in collect_settings({}, path)[1]]


# --- the example and the configuration in force ------------------------------------------------


def test_the_example_documents_every_setting_and_is_a_valid_configuration(tmp_path: Path) -> None:
    text = example_text()
    for name, item in FIELDS.items():
        assert f"{name} = " in text
        assert " ".join(item.metadata["help"].split()) in " ".join(text.replace("# ", "").split())
    settings = load_settings({}, write(tmp_path / "a.toml", text))
    targets = {"primary": ("cgroup:web",), "elastic": "cgroup:batch"}
    assert settings == load_settings(targets)


def test_the_example_with_every_comment_taken_away_is_valid_too(tmp_path: Path) -> None:
    names = "|".join(FIELDS)
    lines = [
        line.removeprefix("# ") if line.removeprefix("# ").split(" = ")[0] in names else line
        for line in example_text().splitlines()
    ]
    text = "\n".join(lines)
    table = tomllib.loads(text)
    experts = {name for name, item in FIELDS.items() if item.metadata["expert"]}
    assert table.pop("expert").keys() == experts
    assert table.keys() == FIELDS.keys() - experts
    load_settings({}, write(tmp_path / "a.toml", text))


def test_what_is_in_force_can_be_read_back(tmp_path: Path) -> None:
    flags = {name: text for name, (text, _) in VALUES.items()} | dict.fromkeys(SWITCHES, False)
    effective = load_effective(flags | {"order": "topology"})  # what the other mechanisms have
    again = load_settings({}, write(tmp_path / "a.toml", effective_text(effective)))
    assert again == effective.settings != Settings()


def test_it_is_told_where_each_value_comes_from(tmp_path: Path) -> None:
    main = write(tmp_path / "a.toml", 'poll = "1ms"\n\nwindow = "30ms"\npark = "freeze"\n')
    (tmp_path / "a.toml.d").mkdir()
    drop_in = write(tmp_path / "a.toml.d" / "50-site.toml", '# ours\nwindow = "40ms"\n')
    effective = load_effective({"park": "idle"}, main)
    assert effective.settings.window_ns == 40_000_000
    assert effective.origins == {
        "poll": f"{main}:1",
        "window": f"{drop_in}:2",
        "park": "--park",
    }
    shown = smartharvest_here("config", "show", "--config", main).out
    assert 'window = "40ms"' in shown
    assert f"# {drop_in}:2" in shown


# --- problems -----------------------------------------------------------------------------------


def test_all_problems_are_told_at_once_in_order_with_their_lines(tmp_path: Path) -> None:
    text = (
        'primary = "web"\nwindw = "25ms"\n\npoll = 5\nwindow =\ncores = [\n  1,\n]\n'
        "keep_idle = 1\nkeep_idle = 2\nsensor = 'prc'\n"
    )
    assert problems_of(write(tmp_path / "a.toml", text)) == [
        f":1: primary: 'web' is no target; write {FORMS}",
        ":2: unknown key 'windw'; did you mean 'window'?",
        ':4: poll: 5 has no unit; write it as a string such as "25ms"',
        ':5: is not valid TOML: Invalid value; strings stand in quotes, such as window = "25ms"',
        ":6: cores: [1] is no list of CPUs; write it such as '0-3,8'",
        ":10: keep_idle: given on line 9 already",
        ":11: sensor: 'prc' is unknown; use one of auto, bpf, perf, proc, stat; "
        "did you mean 'proc'?",
    ]


def test_a_setting_in_the_wrong_section_is_refused_and_it_is_said_where_it_goes(
    tmp_path: Path,
) -> None:
    text = 'cost = "hinged"\nkeep_idle = 2\n[expert]\npoll = "1ms"\nlabel = "busy"\ncots = 1\n'
    assert problems_of(write(tmp_path / "a.toml", text)) == [
        ":1: cost: is an expert setting; write it below a line [expert]",
        ":4: poll: is no expert setting; write it above the line [expert]",
        ":6: unknown key 'cots'; did you mean 'cost'?",
    ]


def test_expert_settings_are_found_with_their_lines_however_the_section_is_written(
    tmp_path: Path,
) -> None:
    for text, line in (
        ('keep_idle = 2\n[expert]\n\ncost = "hinged"\n', 4),
        ('expert.cost = "hinged"\n', 1),
        ('\nexpert = { cost = "hinged" }\n', 2),
        ('[ "expert" ] # ours\ncost = "hinged"\n', 2),
    ):
        path = write(tmp_path / "a.toml", text)
        effective = load_effective({}, path)
        assert effective.settings.cost == "hinged"
        assert effective.origins["cost"] == f"{path}:{line}"


@pytest.mark.parametrize("text", ["expert = 5\n", "[[expert]]\ncost = 'hinged'\n"])
def test_what_is_called_expert_and_is_no_section_is_refused(text: str, tmp_path: Path) -> None:
    assert problems_of(write(tmp_path / "a.toml", text)) == [
        ":1: expert: is no setting but a section; write [expert] on a line of its own"
    ]


def test_the_section_of_a_statement_is_known_in_a_broken_file_too(tmp_path: Path) -> None:
    text = 'window =\n[expert]\ncost = "hinged"\nkeep_idle = 1\n[other]\nlabel = 5\n'
    assert [problem.split(":")[1] for problem in problems_of(write(tmp_path / "a.toml", text))] == [
        *("1", "4", "5")
    ]


def test_a_refused_file_names_its_first_problem_and_how_to_see_the_others(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", "poll = 5\nwindow = 6\npark = 7\n")
    with pytest.raises(ConfigError, match=r"a\.toml:1: poll: .* \(and 2 more problems: smarthar"):
        load_settings({}, path)


def test_check_config_prints_a_line_per_problem_and_fails(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", 'window = "1ms"\npoll = "2ms"\n')
    outcome = smartharvest_here("check-config", path)
    assert outcome.code == 2
    assert outcome.out.startswith(f"{path}:1: window: shorter than a poll")
    assert outcome.failure == f"{path}: 1 problem"


def test_check_config_misses_the_targets(tmp_path: Path) -> None:
    outcome = smartharvest_here("check-config", write(tmp_path / "a.toml", ""))
    assert outcome.code == 2
    assert "primary: no target given" in outcome.out


def test_check_config_accepts_what_an_agent_would(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", example_text())
    outcome = smartharvest_here("check-config", path)
    assert (outcome.code, outcome.out, outcome.err) == (0, f"{path}: good\n", "")


ODD = [
    ('primary = "cgroup:a"\nelastic = "cgroup:a"', ":2: elastic: cgroup:a is a primary, too"),
    ('primary = "cgroup:a"\nelastic = "cgroup:a/b"', ":2: elastic: cgroup:a/b lies in cgroup:a"),
    ('primary = "cgroup:a/b"\nelastic = "cgroup:/sys/fs/cgroup/a"', ":2: elastic: cgroup:a/b lies"),
    ('primary = "cgroup:*"\nelastic = "cgroup:b/c"', ":2: elastic: cgroup:b/c lies in cgroup:*"),
    ('primary = "cgroup:a/*"\nelastic = "cgroup:a"', ":2: elastic: cgroup:a/* lies in cgroup:a"),
    ('primary = ["pid:8", "pid:7"]\nelastic = "pid:7"', ":2: elastic: pid:7 is a primary, too"),
    (
        'primary = "systemd:*.service"\nelastic = "systemd:a.service"',
        ":2: elastic: systemd:a.service",
    ),
    ('audit_log = "audit.jsonl"', ":1: audit_log: 'audit.jsonl' depends on where the agent starts"),
    ('state_dir = "./run"', ":1: state_dir: './run' depends on where the agent starts"),
    ('model = "models/web"', ":1: model: 'models/web' depends on where the agent starts"),
]


@pytest.mark.parametrize(("text", "words"), ODD, ids=[words[4:30] for _, words in ODD])
def test_what_can_never_work_is_a_mistake_with_its_line(
    tmp_path: Path, text: str, words: str
) -> None:
    (problem,) = problems_of(write(tmp_path / "a.toml", f"{text}\n"))
    assert problem.startswith(words)


def test_names_that_do_not_overlap_are_left_to_the_host(tmp_path: Path) -> None:
    for primary, elastic in (("a", "ab"), ("a/b", "a/c"), ("a", "/other/a")):
        text = f'primary = "cgroup:{primary}"\nelastic = "cgroup:{elastic}"\n'
        assert problems_of(write(tmp_path / "a.toml", text)) == []


def test_a_path_among_the_flags_may_be_relative() -> None:
    assert load_settings({"audit_log": "audit.jsonl"}).audit_log == f"{os.getcwd()}/audit.jsonl"


def test_check_config_warns_of_what_lends_nothing_on_this_host(tmp_path: Path) -> None:
    targets = 'primary = "cgroup:a"\nelastic = "cgroup:b"\n'
    for limit, words in (
        ("max_harvest = 0", "max_harvest: 0 lends nothing, ever"),
        ("max_harvest = 9999", "max_harvest: 9999 is more than this host can lend (it has "),
        ("keep_idle = 9999", "keep_idle: 9999 leaves nothing to lend on this host (it has "),
    ):
        path = write(tmp_path / "a.toml", f"{targets}{limit}\n")
        outcome = smartharvest_here("check-config", path)
        assert outcome.code == 0
        assert outcome.out.startswith(f"warning: {path}:3: {words}")
        assert outcome.out.endswith(f"{path}: good\n")


# --- which files --------------------------------------------------------------------------------


def test_drop_ins_are_read_in_order_after_the_file_and_only_toml(tmp_path: Path) -> None:
    main = write(tmp_path / "a.toml", "keep_idle = 1\nmax_harvest = 1\n")
    (tmp_path / "a.toml.d").mkdir()
    write(tmp_path / "a.toml.d" / "20.toml", "keep-idle = 3\n")
    write(tmp_path / "a.toml.d" / "10.toml", "keep_idle = 2\nelastic_min = 2\n")
    write(tmp_path / "a.toml.d" / "30.toml~", "keep_idle = 4\n")
    settings = load_settings({}, main)
    assert (settings.keep_idle, settings.max_harvest, settings.elastic_min) == (3, 1, 2)


def test_a_directory_is_read_as_its_files_in_order(tmp_path: Path) -> None:
    write(tmp_path / "b.toml", "keep_idle = 3\n")
    write(tmp_path / "a.toml", "keep_idle = 2\nmax_harvest = 5\n")
    settings = load_settings({}, str(tmp_path))
    assert (settings.keep_idle, settings.max_harvest) == (3, 5)


def test_a_file_that_anybody_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("keep_idle = 2\n")
    path.chmod(0o666)
    with pytest.raises(ConfigError, match=r"others may write it; chmod go-w .*a\.toml"):
        load_settings({}, str(path))


def test_a_file_that_anybody_may_replace_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / "open"
    directory.mkdir()
    path = write(directory / "a.toml", "keep_idle = 2\n")
    directory.chmod(0o777)
    with pytest.raises(ConfigError, match="others may put files there"):
        load_settings({}, path)
    directory.chmod(0o1777)  # as /tmp: only its owner may
    assert load_settings({}, path).keep_idle == 2


def test_drop_ins_that_anybody_may_write_or_replace_are_refused(tmp_path: Path) -> None:
    main = write(tmp_path / "a.toml", "keep_idle = 2\n")
    drop_ins = tmp_path / "a.toml.d"
    drop_ins.mkdir()
    drop_in = write(drop_ins / "50.toml", "keep_idle = 3\n")
    drop_ins.chmod(0o777)
    with pytest.raises(ConfigError, match=r"others may put files there; chmod go-w .*a\.toml\.d"):
        load_settings({}, main)
    drop_ins.chmod(0o755)
    os.chmod(drop_in, 0o602)
    with pytest.raises(ConfigError, match=r"others may write it; chmod go-w .*50\.toml"):
        load_settings({}, main)


@pytest.mark.parametrize("opened", ["outer", "outer/links", "real"])
def test_no_directory_on_the_way_to_a_file_may_be_open_to_all(tmp_path: Path, opened: str) -> None:
    (tmp_path / "outer" / "links").mkdir(parents=True)
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "a.toml", "keep_idle = 2\n")
    link = tmp_path / "outer" / "links" / "a.toml"
    link.symlink_to(tmp_path / "real" / "a.toml")
    assert load_settings({}, str(link)).keep_idle == 2
    (tmp_path / opened).chmod(0o777)
    with pytest.raises(ConfigError, match=f"others may put files there; chmod go-w .*{opened}"):
        load_settings({}, str(link))


def test_a_huge_file_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    write(path, "")
    os.truncate(path, LARGEST_FILE_BYTES * 1000)
    assert problems_of(str(path)) == [": is larger than 256 KiB"]


# --- any file at all ------------------------------------------------------------------------------

values = st.one_of(
    st.text(max_size=20).map(repr),
    st.integers().map(str),
    st.booleans().map(lambda value: str(value).lower()),
    st.lists(st.integers()).map(str),
    st.sampled_from(
        ["1e400", "nan", "0x" + "f" * 5000, "1" * 5000, "[" * 3000, "{}", "1979-05-27"]
    ),
)
keys = st.one_of(st.sampled_from(sorted(FIELDS)), st.text(max_size=8))
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.tuples(keys, values).map(" = ".join), max_size=8).map("\n".join),
)


@given(text=texts)
def test_any_text_is_taken_or_its_problems_are_told_with_lines_it_has(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    effective, problems = collect_settings({}, str(path))
    assert (effective is None) == bool(problems)
    for problem in problems:
        assert problem.file == str(path)
        assert problem.line is None or 1 <= problem.line <= text.count("\n") + 1


@given(contents=st.binary(max_size=300))
def test_any_bytes_are_taken_or_refused(
    tmp_path_factory: pytest.TempPathFactory, contents: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.toml"
    path.write_bytes(contents)
    entries, problems = read_config(str(path))
    assert entries or problems or not contents.decode().partition("#")[0].strip()
