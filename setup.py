"""Builds the C core. Everything else about the package is in pyproject.toml."""

import glob
import os

from Cython.Build import cythonize
from setuptools import Extension, setup

SENSORS = [
    *("bpf_loader", "bpf_sensor", "clock", "fake_events", "fake_sensor", "lend_order", "perf_ring"),
    *("perf_sensor", "proc_sensor", "rescue", "stat_sensor", "task_list", "task_table"),
    "window",
]
ACTUATORS = [
    *("affinity", "clock", "cpuset", "fake_actuator", "handover", "lend_order", "nudge"),
    "task_list",
]
SIMULATOR = ["histogram", "loop", "window"] + [
    f"simulator/{os.path.basename(path)[:-2]}" for path in sorted(glob.glob("csrc/simulator/*.c"))
]
MECHANISMS = [
    *("affinity", "clock", "cpugroups", "cpuset", "handover", "lend_order", "nudge", "task_list")
]
STRICT = ["-Wall", "-Wextra", "-Werror"] if os.environ.get("SMARTHARVEST_STRICT") else []
# Cython's generated code is not ours to warn about.
LENIENT = ["-Wno-unused-parameter", "-Wno-missing-field-initializers"]
FLAGS = ["-std=c11", "-O2", "-g", *STRICT, *LENIENT]


# The learner's scores are bit for bit Vowpal Wabbit's: IEEE arithmetic as written.
EXACT = ["-ffp-contract=off", "-O3"]


def extension(name: str, sources: list[str], flags: list[str] | None = None) -> Extension:
    return Extension(
        f"smartharvest.{name}",
        [f"smartharvest/{name}.pyx", *(f"csrc/{source}.c" for source in sources)],
        include_dirs=["csrc"],
        depends=glob.glob("csrc/**/*.h", recursive=True),
        extra_compile_args=[*FLAGS, *(flags or [])],
        extra_link_args=["-lpthread", "-lm"],
    )


EXTENSIONS = [
    extension("_actuators", ACTUATORS),
    extension("_demo", ["demo_server", "demo_bully", "standstill", "clock"]),
    extension("_learner", ["csoaa", "decider"], EXACT),
    extension("_lend_order", ["lend_order"]),
    extension("_loop", ["clock", "histogram", "loop", "window"]),
    extension("_mechanisms", MECHANISMS),
    extension("_sensors", SENSORS),
    extension("_simulator", SIMULATOR),
    extension("_writers", ["writers", "bpf_loader"]),
    # The loop that is linked in again here is driven by this module alone.
    extension("_trace", ["recorder", "trace_host", "loop", "window", "histogram"]),
]

setup(ext_modules=cythonize(EXTENSIONS, build_dir="build"))
