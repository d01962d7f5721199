"""``python -m tests.fuzz [TARGET...] --minutes N --seed S``: fuzzes, and says how often.

With atheris (``pip install atheris``) inputs are chosen by the lines of code that they reach,
without it by chance near the samples. What fails is kept in ``build/fuzz`` and printed; copied to
``tests/fuzz/kept/TARGET-NAME`` it becomes a test. Each target has its own process.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.target import Target  # imported later, instrumented

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "build" / "fuzz"
SLOW_S = 30
"""An input that takes longer is a finding, as is one that needs more than LARGEST_MIB. Long enough
for a machine that others use, too."""
LARGEST_MIB = 1024
_LONGEST_INPUT = 1 << 16


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only-chance", action="store_true", help="without atheris")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    guided = importlib.util.find_spec("atheris") is not None and not asked.only_chance
    if asked.child:
        (name,) = asked.targets
        (_guided if guided else _by_chance)(name, asked.minutes * 60, asked.seed)
        return 0
    from tests.fuzz.targets import TARGETS

    unknown = sorted(set(asked.targets) - TARGETS.keys())
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known are {', '.join(TARGETS)}")
    names = asked.targets or list(TARGETS)
    print(f"{'guided by coverage' if guided else 'by chance'}, seed {asked.seed}", flush=True)
    failed = [name for name in names if not _fuzz(name, asked, 60 * asked.minutes / len(names))]
    if failed:
        print(f"failures of {', '.join(failed)} are in {OUT}")
    return bool(failed)


def _fuzz(name: str, asked: argparse.Namespace, seconds: float) -> bool:
    """Whether nothing was found."""
    (OUT / name).mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz", name, "--child", "--seed", str(asked.seed)]
    command += ["--minutes", str(seconds / 60), *(["--only-chance"] if asked.only_chance else [])]
    from tests.fuzz.target import SCRATCH, new_scratch

    with new_scratch() as directory:  # the child ends without cleaning up
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, SCRATCH: directory},
        )  # fmt: skip
    said = done.stdout + done.stderr
    runs = [int(count) for count in re.findall(r"^(?:Done |#)(\d+)", said, re.MULTILINE)]
    found = "nothing found" if done.returncode == 0 else "FAILED"
    print(f"{name:16} {max(runs, default=0):>10,} executions: {found}", flush=True)
    if done.returncode:
        print(said[-4000:], flush=True)
    return done.returncode == 0


def _guided(name: str, seconds: float, seed: int) -> None:
    import atheris

    with atheris.instrument_imports(include=["smartharvest"]):
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.target import scratch

    target = TARGETS[name]
    corpus = Path(scratch()) / "corpus"
    corpus.mkdir()
    for number, sample in enumerate([*target.samples, *_kept(name)]):
        (corpus / str(number)).write_bytes(sample)

    def once(data: bytes) -> None:
        target.run(data)

    _warm(target)

    atheris.Setup(
        [
            "fuzz", str(corpus), f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}",
            f"-max_len={_LONGEST_INPUT}", f"-timeout={SLOW_S}", f"-rss_limit_mb={LARGEST_MIB}",
            f"-artifact_prefix={OUT / name}/", "-print_final_stats=1",
        ],
        once,
    )  # fmt: skip
    atheris.Fuzz()


def _by_chance(name: str, seconds: float, seed: int) -> None:
    from tests.fuzz.mutation import inputs
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    _warm(target)
    resource.setrlimit(resource.RLIMIT_AS, (4 * LARGEST_MIB << 20,) * 2)
    signal.signal(signal.SIGALRM, _too_slow)
    until_s, runs = time.monotonic() + seconds, 0
    for data in inputs([*target.samples, *_kept(name)], seed):
        if time.monotonic() > until_s:
            break
        signal.alarm(SLOW_S)
        try:
            target.run(data)
        except BaseException:
            signal.alarm(0)
            path = OUT / name / f"crash-{hashlib.sha1(data).hexdigest()}"
            path.write_bytes(data)
            print(f"#{runs}\n{path}", flush=True)
            raise
        signal.alarm(0)
        runs += 1
    print(f"Done {runs} runs")


def _warm(target: Target) -> None:
    """What a target imports when it is first used counts for no input."""
    for sample in target.samples:
        target.run(sample)


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"an input took more than {SLOW_S} s")


def _kept(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(HERE.glob(f"kept/{name}-*")) if path.is_file()]


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of doubles may still wait
