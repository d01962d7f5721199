"""Builds the C core. Everything else about the package is in pyproject.toml."""

import glob
import os
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup

STRICT = ["-Wall", "-Wextra", "-Werror"] if os.environ.get("SMARTHARVEST_STRICT") else []
# Cython's generated code is not ours to warn about.
LENIENT = ["-Wno-unused-parameter", "-Wno-missing-field-initializers"]
FLAGS = ["-std=c11", "-O2", "-g1", *STRICT, *LENIENT]
# The learner's scores are bit for bit Vowpal Wabbit's: IEEE arithmetic as written.
EXACT = ["-ffp-contract=off", "-O3"]
HEADERS = glob.glob("csrc/**/*.h", recursive=True)
LEARNER = sorted(glob.glob("csrc/learner/*.c"))
CORE = sorted(
    path
    for path in glob.glob("csrc/**/*.c", recursive=True)
    if not path.startswith(("csrc/bpf/", "csrc/learner/"))
)


def library(name: str, sources: list[str], flags: list[str]) -> tuple[str, dict[str, Any]]:
    """Compiled once; each extension is linked with what it uses of it."""
    return name, {
        "sources": sources,
        "include_dirs": ["csrc"],
        "cflags": [*FLAGS, *flags],
        "obj_deps": {"": HEADERS},
    }


EXTENSIONS = [
    Extension(
        f"smartharvest.core.{os.path.basename(path)[:-4]}",
        [path],
        include_dirs=["csrc"],
        depends=HEADERS,
        extra_compile_args=FLAGS,
        extra_link_args=["-lpthread", "-lm"],
    )
    for path in sorted(glob.glob("smartharvest/core/*.pyx"))
]

AT_ONCE = os.cpu_count() or 1
TRANSLATED_AT_ONCE = AT_ONCE if STRICT else 0  # by processes, which not every sandbox lets share

setup(
    libraries=[library("sh_core", CORE, []), library("sh_learner", LEARNER, EXACT)],
    ext_modules=cythonize(EXTENSIONS, build_dir="build", nthreads=TRANSLATED_AT_ONCE),
    options={"build_ext": {"parallel": AT_ONCE}},
)
