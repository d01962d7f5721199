"""Compiles the C tests beside this file with the C core under the sanitizers, and runs them."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from _pytest.mark.structures import ParameterSet

HERE = os.path.dirname(__file__)
CSRC = os.path.join(HERE, "..", "..", "csrc")
CC = os.environ.get("CC", "gcc")
FLAGS = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover=all"]
LIBRARIES = ["-lpthread", "-lm"]
MEMORY = "address,undefined"
THREADS = "thread"
PATIENCE_S = 100.0
"""Only ends a program that hangs: loading the in-kernel sensor again and again takes a while."""

PROGRAMS = sorted(
    os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{HERE}/test_*.c")
)
THREADED = [
    "test_affinity",
    "test_cpuset",
    "test_demo",
    "test_events",
    "test_core_hold",
    "test_loop_thread",
    "test_nudge",
    "test_proc_sensor",
    "test_recorder",
    "test_rescue",
    "test_standstill",
    "test_task_list",
]
TIMED = {*THREADED, "test_bpf_harm", "test_bpf_sensor", "test_perf_sensor_live"}
"""They run real threads or watch the kernel's own clock."""


@dataclass(frozen=True)
class Sanitized:
    """The chosen programs, compiled with the C core under one sanitizer."""

    programs: dict[str, Future[str]]
    """Name -> path, or what the compiler says instead."""
    starter: list[str]
    """What a program has to be started by."""


def _compile(command: list[str], result: str) -> str:
    done = subprocess.run([CC, *command, "-o", result], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return result


def _starter(sanitizer: str, directory: str) -> list[str]:
    """How programs under ``sanitizer`` run here; skips the test if they do not."""
    program = f"{directory}/nothing"
    with open(f"{program}.c", "w", encoding="ascii") as source:
        source.write("int main(void) { return 0; }\n")
    try:
        done = subprocess.run(
            [CC, f"-fsanitize={sanitizer}", f"{program}.c", "-o", program],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip(f"no C compiler: {CC}")
    if done.returncode:
        pytest.skip(f"{CC} has no -fsanitize={sanitizer}")
    # Older ThreadSanitizers cannot live with many bits of address randomization.
    for starter in ([], ["setarch", "-R"]):
        if starter and not shutil.which(starter[0]):
            continue
        if subprocess.run([*starter, program], capture_output=True, check=False).returncode == 0:
            return starter
    pytest.skip(f"programs under -fsanitize={sanitizer} do not run on this kernel")


def _sanitize(
    sanitizer: str, request: pytest.FixtureRequest, factory: pytest.TempPathFactory
) -> Sanitized:
    directory = str(factory.mktemp(sanitizer.partition(",")[0]))
    starter = _starter(sanitizer, directory)
    # It does not follow fences; what has one is not run by threads here.
    unfollowed = ["-Wno-tsan"] if sanitizer == THREADS else []
    flags = [*FLAGS, f"-fsanitize={sanitizer}", *unfollowed, f"-I{CSRC}", f"-I{HERE}"]

    def compile_core(source: str) -> str:
        return _compile([*flags, "-c", source], f"{directory}/{os.path.basename(source)}.o")

    def compile_program(name: str) -> str:
        return _compile([*flags, f"{HERE}/{name}.c", *objects, *LIBRARIES], f"{directory}/{name}")

    chosen = {
        str(item.callspec.params["name"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and request.fixturename in item.fixturenames
    }
    # All of them now, side by side: beside a test of threads nothing else is to run.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = sorted(
            {*glob.glob(f"{CSRC}/**/*.c", recursive=True)} - {*glob.glob(f"{CSRC}/bpf/*.c")}
        )
        objects = list(pool.map(compile_core, sources))
        programs = {name: pool.submit(compile_program, name) for name in sorted(chosen)}
    return Sanitized(programs, starter)


@pytest.fixture(scope="session")
def memory_sanitized(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Sanitized:
    return _sanitize(MEMORY, request, tmp_path_factory)


@pytest.fixture(scope="session")
def thread_sanitized(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Sanitized:
    return _sanitize(THREADS, request, tmp_path_factory)


def _run(name: str, core: Sanitized) -> None:
    command = [*core.starter, core.programs[name].result()]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode()
        pytest.fail(f"not over after {PATIENCE_S:g} s; the test that runs is the last:\n{said}")
    assert done.returncode == 0, done.stderr.decode()


def marked(names: list[str]) -> list[ParameterSet]:
    return [pytest.param(n, marks=[pytest.mark.timing] if n in TIMED else []) for n in names]


@pytest.mark.parametrize("name", marked(PROGRAMS))
def test_under_address_and_undefined_behaviour_sanitizers(
    name: str, memory_sanitized: Sanitized
) -> None:
    _run(name, memory_sanitized)


@pytest.mark.parametrize("name", marked(THREADED))
def test_under_the_thread_sanitizer(name: str, thread_sanitized: Sanitized) -> None:
    _run(name, thread_sanitized)
