"""Small programs and libraries of the benchmarks, compiled when first needed."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from pathlib import Path

from bench.subject import NotMeasurableError

DIRECTORY = Path(__file__).parent.parent / "build" / "bench"
_WARNINGS = ("-O2", "-Wall", "-Wextra", "-Werror")


def build_program(source: Path, *libraries: str) -> Path:
    """The program of one C or C++ file, with the linker's ``libraries``."""
    return _build(source, "", libraries)


def build_library(source: Path, *libraries: str) -> Path:
    """The shared library of one C file; more of them may stand among ``libraries``."""
    return _build(source, ".so", ("-shared", "-fPIC", *libraries))


def _build(source: Path, ending: str, more: tuple[str, ...]) -> Path:
    """Compiles unless this very text was. Raises NotMeasurableError with the compiler's words."""
    others = [Path(word) for word in more if word.endswith(".c")]
    texts = [one.read_bytes() for one in (source, *others, *sorted(source.parent.glob("*.h")))]
    text = hashlib.sha256(b"".join(texts) + repr(more).encode()).hexdigest()
    built = DIRECTORY / f"{source.stem}-{text[:12]}{ending}"
    if built.exists():
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    fresh = built.with_suffix(f".{os.getpid()}")  # another run may be using the old one
    is_c = source.suffix == ".c"
    compiler = shlex.split(os.environ.get("CC", "cc") if is_c else os.environ.get("CXX", "c++"))
    standard = "-std=c11" if is_c else "-std=c++17"
    command = [*compiler, standard, *_WARNINGS, "-o", str(fresh), str(source), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NotMeasurableError(f"{compiler[0]} is not installed") from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise NotMeasurableError(f"{source.name} does not compile: {first}")
    fresh.rename(built)
    return built
