"""Runs the C tests of this folder, which programs.mk compiles under the sanitizers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RULES = HERE / "programs.mk"
CC = os.environ.get("CC", "gcc")
PATIENCE_S = 100.0
"""Only ends a program that hangs: loading the in-kernel sensor again and again takes a while."""

PROGRAMS = sorted(path.stem for path in HERE.glob("test_*.c"))
THREADED = re.findall(
    r"test_\w+", RULES.read_text().partition("THREADED := ")[2].partition("\n\n")[0]
)
TIMED = {*THREADED, "test_bpf_harm", "test_bpf_sensor", "test_perf_sensor_live"}
"""They run real threads or watch the kernel's own clock."""


def make(*targets: str) -> subprocess.CompletedProcess[str]:
    # Not as a part of the make that has started the tests, if one has.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--silent", "--keep-going", f"--jobs={os.cpu_count()}", "-f", str(RULES)]
    return subprocess.run(
        [*command, f"CC={CC}", *targets],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _starter(sanitizer: str, directory: Path) -> list[str]:
    """What programs under ``sanitizer`` are started by; skips the test if they do not run."""
    if shutil.which(CC) is None or shutil.which("make") is None:
        pytest.skip(f"needs make and a C compiler: {CC}")
    program = directory / "nothing"
    source = directory / "nothing.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [CC, f"-fsanitize={sanitizer}", str(source), "-o", str(program)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"{CC} has no -fsanitize={sanitizer}")
    # Older ThreadSanitizers cannot live with many bits of address randomization.
    for starter in ([], ["setarch", "-R"]):
        if starter and not shutil.which(starter[0]):
            continue
        ran = subprocess.run([*starter, str(program)], capture_output=True, check=False)
        if ran.returncode == 0:
            return starter
    pytest.skip(f"programs under -fsanitize={sanitizer} do not run on this kernel")


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    starter = _starter("address,undefined", tmp_path_factory.mktemp("memory"))
    make("memory")  # all of them now: beside a test of threads nothing else is to run
    return starter


@pytest.fixture(scope="session")
def threads(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    starter = _starter("thread", tmp_path_factory.mktemp("threads"))
    make("threads")
    return starter


def _run(program: str, starter: list[str]) -> None:
    made = make(program)
    assert made.returncode == 0, made.stderr
    command = [*starter, program]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode()
        pytest.fail(f"not over after {PATIENCE_S:g} s; the test that runs is the last:\n{said}")
    assert done.returncode == 0, done.stderr.decode()


def marked(names: list[str]) -> list[ParameterSet]:
    return [pytest.param(n, marks=[pytest.mark.timing] if n in TIMED else []) for n in names]


@pytest.mark.parametrize("name", marked(PROGRAMS))
def test_under_address_and_undefined_behaviour_sanitizers(name: str, memory: list[str]) -> None:
    _run(f"build/native/memory/{name}", memory)


@pytest.mark.parametrize("name", marked(THREADED))
def test_under_the_thread_sanitizer(name: str, threads: list[str]) -> None:
    _run(f"build/native/threads/{name}", threads)
