"""Compiles the C tests beside this file with the C core under the sanitizers, and runs them."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

HERE = os.path.dirname(__file__)
CSRC = os.path.join(HERE, "..", "..", "csrc")
CC = os.environ.get("CC", "gcc")
FLAGS = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover=all"]
LIBRARIES = ["-lpthread", "-lm"]
MEMORY = "address,undefined"
THREADS = "thread"

PROGRAMS = sorted(
    os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{HERE}/test_*.c")
)
THREADED = [
    "test_affinity",
    "test_cpuset",
    "test_demo",
    "test_events",
    "test_handover",
    "test_loop_thread",
    "test_nudge",
    "test_proc_sensor",
    "test_recorder",
    "test_rescue",
    "test_standstill",
    "test_task_list",
]


@dataclass(frozen=True)
class Sanitized:
    """The C core compiled under one sanitizer."""

    flags: list[str]
    objects: list[str]
    run: list[str]
    """What a program has to be started by."""


def _compile(command: list[str]) -> None:
    done = subprocess.run([CC, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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


def _sanitize(sanitizer: str, directory: str) -> Sanitized:
    starter = _starter(sanitizer, directory)
    # It does not follow fences; what has one is not run by threads here.
    unfollowed = ["-Wno-tsan"] if sanitizer == THREADS else []
    flags = [*FLAGS, f"-fsanitize={sanitizer}", *unfollowed, f"-I{CSRC}", f"-I{HERE}"]
    sources = sorted(
        path for path in glob.glob(f"{CSRC}/**/*.c", recursive=True) if not path.endswith(".bpf.c")
    )
    objects = [f"{directory}/{os.path.basename(source)}.o" for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(
            pool.map(
                lambda pair: _compile([*flags, "-c", pair[0], "-o", pair[1]]),
                zip(sources, objects, strict=True),
            )
        )
    return Sanitized(flags, objects, starter)


@pytest.fixture(scope="session")
def memory_sanitized(tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return _sanitize(MEMORY, str(tmp_path_factory.mktemp("memory")))


@pytest.fixture(scope="session")
def thread_sanitized(tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return _sanitize(THREADS, str(tmp_path_factory.mktemp("threads")))


def _run(name: str, core: Sanitized, directory: str) -> None:
    program = f"{directory}/{name}"
    _compile([*core.flags, f"{HERE}/{name}.c", *core.objects, "-o", program, *LIBRARIES])
    done = subprocess.run(
        [*core.run, program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_under_address_and_undefined_behaviour_sanitizers(
    name: str, memory_sanitized: Sanitized, tmp_path: os.PathLike[str]
) -> None:
    _run(name, memory_sanitized, os.fspath(tmp_path))


@pytest.mark.parametrize("name", THREADED)
def test_under_the_thread_sanitizer(
    name: str, thread_sanitized: Sanitized, tmp_path: os.PathLike[str]
) -> None:
    _run(name, thread_sanitized, os.fspath(tmp_path))
