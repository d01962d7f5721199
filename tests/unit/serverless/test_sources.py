"""Where functions come from: files of the Azure samples, a described mix, the built-in one."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from smartharvest.errors import ConfigError, TraceError
from smartharvest.serverless.simulator.mix import MIX_RPS, built_in_mix
from smartharvest.serverless.simulator.sources import read_workload
from smartharvest.serverless.simulator.workload import LEVELS, Workload, draw, durations

INV = """HashFunction,HashOwner,HashApp,1_minute,2_minute,3_minute
fa,oa,aa,10,0,5
fb,ob,ab,0,60,0
"""
RUN = """HashOwner,HashApp,HashFunction,Average,Count,Minimum,Maximum,\
percentile_Average_0,percentile_Average_1,percentile_Average_25,percentile_Average_50,\
percentile_Average_75,percentile_Average_99,percentile_Average_100
oa,aa,fa,100,9,0,200,0,10,50,100,120,180,200
ob,ab,fb,40000,9,1,99,1000,2000,10000,30000,50000,80000,90000
"""
MEM = """HashOwner,HashApp,SampleCount,AverageAllocatedMb,AverageAllocatedMb_pct1
oa,aa,5,100.2,9
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for part, text in (("inv", INV), ("run", RUN), ("mem", MEM)):
        (tmp_path / f"two_{part}.csv").write_text(text)
    return tmp_path / "two"


def test_three_files_become_functions(prefix: Path) -> None:
    workload = read_workload(str(prefix), 0.5)
    assert workload.names == ["fa", "fb"]
    assert workload.per_minute.tolist() == [[10, 0, 5], [0, 60, 0]]
    assert workload.duration_s[0].tolist() == [0.001, 0.01, 0.05, 0.1, 0.12, 0.18, 0.2]
    assert workload.memory_mib.tolist() == [101, 128]
    assert not workload.idempotent.any()


def test_compressed_files_are_read_too(prefix: Path) -> None:
    plain = read_workload(str(prefix), 0.5)
    for part, text in (("inv", INV), ("run", RUN), ("mem", MEM)):
        Path(f"{prefix}_{part}.csv").unlink()
        Path(f"{prefix}_{part}.csv.gz").write_bytes(gzip.compress(text.encode()))
    packed = read_workload(str(prefix), 0.5)
    assert packed.per_minute.tolist() == plain.per_minute.tolist()


def test_invocations_are_those_of_the_file_unless_a_rate_is_asked_for(prefix: Path) -> None:
    workload = read_workload(str(prefix), 0.5)
    assert len(draw(workload, 3, None, 1).arrival_ns) == 75
    assert len(draw(workload, 3, 2.0, 1).arrival_ns) == 360
    first = draw(workload, 1, None, 1)
    assert len(first.arrival_ns) == 10
    assert set(first.function) == {0}
    half = draw(workload, 0.5, 1.0, 1)
    assert half.arrival_ns.max() < 30 * 10**9


def test_a_longer_run_than_the_sample_is_refused(prefix: Path) -> None:
    with pytest.raises(ConfigError, match="has 3 minutes"):
        draw(read_workload(str(prefix), 0.5), 4, None, 1)


def test_drawn_durations_have_the_files_quantiles(prefix: Path) -> None:
    workload = read_workload(str(prefix), 0.5)
    level = (np.arange(100_000) + 0.5) / 100_000
    drawn_s = durations(workload.duration_s, np.zeros(100_000, np.int64), level)
    assert np.quantile(drawn_s, LEVELS[1:6]) == pytest.approx(workload.duration_s[0, 1:6], rel=0.01)
    assert drawn_s.max() <= 0.2


def test_a_profile_knows_what_outlives_a_notice(prefix: Path) -> None:
    short, long = read_workload(str(prefix), 0.5).profiles()
    assert (short.beyond_notice, short.seconds_beyond) == (0.0, 0.0)
    assert long.beyond_notice == pytest.approx(0.5, abs=0.01)
    assert 10 < long.seconds_beyond < 15
    assert long.rate_per_s == pytest.approx(60 / 180)


@pytest.mark.parametrize("part", ["inv", "run", "mem"])
def test_a_missing_file_of_the_three_is_named(prefix: Path, part: str) -> None:
    Path(f"{prefix}_{part}.csv").unlink()
    with pytest.raises(TraceError, match=f"two_{part}.csv: is missing"):
        read_workload(str(prefix), 0.5)


@pytest.mark.parametrize(
    ("part", "old", "new", "said"),
    [
        ("inv", "fa,oa,aa,10", "fa,oa,aa,-1", "line 2: 1_minute is -1; it must be 0 to"),
        ("inv", "fa,oa,aa,10", "fa,oa,aa,many", "1_minute is no number: 'many'"),
        ("inv", "2_minute", "9_minute", "a gap in them"),
        ("inv", "fb,ob,ab", "fa,ob,ab", "is there twice"),
        ("inv", "HashApp", "App", "no column 'HashApp'"),
        ("inv", ",60,0", "", "line 3: has 4 cells"),
        ("run", "ob,ab,fb", "ob,ab,fc", "has no durations"),
        ("run", ",30000,", ",60000,", "do not ascend"),
        ("run", "Average_99", "Average_98", "no column 'percentile_Average_99'"),
        ("mem", "100.2", "nan", "no finite number"),
        ("mem", "100.2", "2e11", "it must be 0 to"),
        ("mem", MEM[MEM.index("oa,") :], "", "has no rows"),
        ("mem", MEM, "", "no column"),
        ("run", RUN, "\0\n", "run.csv: "),
    ],
)
def test_what_is_wrong_in_a_file_is_named(
    prefix: Path, part: str, old: str, new: str, said: str
) -> None:
    path = Path(f"{prefix}_{part}.csv")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(TraceError, match=said):
        read_workload(str(prefix), 0.5)


def test_a_damaged_archive_is_refused(prefix: Path) -> None:
    Path(f"{prefix}_run.csv").write_bytes(gzip.compress(RUN.encode())[:40])
    with pytest.raises(TraceError, match="is no table"):
        read_workload(str(prefix), 0.5)


# --- described --------------------------------------------------------------------------------


def described(tmp_path: Path, text: str) -> Workload:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return read_workload(str(path), 0.5)


def test_a_mix_is_described_in_toml(tmp_path: Path) -> None:
    workload = described(
        tmp_path,
        "[[function]]\nname = 'a'\nrps = 3\nmedian_ms = 100\np99_ms = 400\nidempotent = true\n"
        "[[function]]\nname = 'b'\nrps = 1\nmedian_ms = 50\ncopies = 2\ncold_start_ms = 0\n",
    )
    assert workload.names == ["a", "b-0", "b-1"]
    assert workload.per_minute[:, 0].tolist() == pytest.approx([180, 40, 20])
    assert workload.duration_s[0, 3] == pytest.approx(0.1)
    assert workload.duration_s[0, 5] == pytest.approx(0.4)
    assert workload.cold_s.tolist() == [0.5, 0.0, 0.0]
    assert workload.idempotent.tolist() == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[function]]\n",
        "function = 3\n",
        "x = 1\n[[function]]\nrps = 1\nmedian_ms = 1\n",
        "[[function]]\nrps = -1\nmedian_ms = 1\n",
        "[[function]]\nrps = nan\nmedian_ms = 1\n",
        "[[function]]\nrps = 1\nmedian_ms = 10\np99_ms = 1\n",
        "[[function]]\nrps = 1\nmedian = 10\n",
        "[[function]]\nrps = 1\nmedian_ms = 1\ncopies = 1.5\n",
        "[[function]]\nrps = 1\nmedian_ms = 1\nidempotent = 1\n",
        "[[function]]\nname = ''\nrps = 1\nmedian_ms = 1\n",
        "[[function]]\nname = 'a'\nrps = 1\nmedian_ms = 1\n" * 2,
        "not toml",
    ],
)
def test_what_is_wrong_in_a_mix_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml: "):
        described(tmp_path, text)


def test_the_built_in_mix_has_its_rate() -> None:
    workload = built_in_mix(0.5)
    assert workload.per_minute.sum() == pytest.approx(60 * MIX_RPS)
    assert np.all(np.diff(workload.duration_s, axis=1) >= 0)
    assert any(one.longest_s > 30 for one in workload.profiles())


def test_an_unknown_source_is_refused() -> None:
    with pytest.raises(ConfigError, match="are missing"):
        read_workload("nowhere/nothing", 0.5)
