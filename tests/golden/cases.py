"""The commands whose results are kept, and what their arithmetic depends on.

``memcached.trace`` is the first three seconds of ``bench/results/memcached.trace``. ``made.trace``
is a random walk over ten cores, with bursts to all of them and with waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff

import numpy as np
import pylibvw

from tests.commands import smartharvest_here

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = f"{HERE}/expected"
ARITHMETIC = f"{EXPECTED}/arithmetic.json"
BEFORE_COMMAND = ("lab",)
"""Words between ``smartharvest`` and the commands below."""


@dataclass(frozen=True)
class Case:
    """A command and the file in ``expected`` with the bytes that it gives."""

    expected: str
    command: str
    """Its words; those that end in ``.trace`` are files beside this one."""
    written: str | None = None
    """The file below ``--out`` that is compared; None: the standard output is."""


CASES = (
    Case(
        "simulate-two-seeds.json",
        "simulate --workload indexserve --seconds 10 --seed 1 --seed 2 --json",
    ),
    Case(
        "simulate-native-aggressive.json",
        "simulate --workload indexserve --learner native --safeguard aggressive "
        "--mechanism ipi --seconds 10 --seed 3 --json",
    ),
    Case(
        "simulate-events.json",
        "simulate --workload indexserve --mechanism linux --events --label demand "
        "--long-term auto --seconds 10 --seed 4 --json",
    ),
    Case(
        "simulate-symmetric.json",
        "simulate --workload img-dnn --mechanism ipi --cost symmetric --window 20ms "
        "--features-after-exhaustion broken --exhausted-windows trained --long-term off "
        "--seconds 10 --json",
    ),
    Case(
        "simulate-adaptive.json",
        "simulate --workload fork-1ms --policy adaptive --mechanism cpu-idle --seconds 10 --json",
    ),
    Case(
        "simulate-adaptive-quiet.json",
        "simulate --workload two --policy adaptive-quiet --mechanism cpu-idle-kernel --events "
        "--label demand --long-term attributed --seconds 3 --json",
    ),
    Case(
        "simulate-max-harvest.json",
        "simulate --workload fork-1ms --policy adaptive-quiet --mechanism linux --max-harvest 6 "
        "--events --label demand --long-term auto --seconds 10 --json",
    ),
    Case(
        "simulate-leaderboard.csv",
        "simulate --policies no-harvest,fixed-buffer:2,prev-peak,prev-peak:10,"
        "clairvoyant,instant --workloads memcached,small,heavy-tail,waves "
        "--mechanisms cpugroups,cpu-idle --seconds 1 --seed 5 --csv",
    ),
    Case(
        "replay-memcached.json",
        "replay memcached.trace --policy no-harvest --policy fixed-buffer:1 --policy prev-peak "
        "--policy prev-peak:10 --policy smartharvest --json",
    ),
    Case(
        "replay-made.json",
        "replay made.trace --policy smartharvest --policy fixed-buffer:2 "
        "--policy adaptive-quiet --learner native --cost hinged "
        "--safeguard aggressive --accounting sampled --label busy --window 20ms --json",
    ),
    Case("figure-7.csv", "reproduce --figure 7 --seeds 1 --processes 1", written="figure-7.csv"),
)


def compute(case: Case, directory: str) -> bytes:
    """What ``case`` gives today; ``directory`` is for the files that it writes."""
    words = [f"{HERE}/{word}" if word.endswith(".trace") else word for word in case.command.split()]
    out = ["--out", directory] if case.written else []
    done = smartharvest_here(*BEFORE_COMMAND, *words, *out)
    assert done.code == 0, done.err
    if case.written is None:
        return done.out.encode()
    with open(f"{directory}/{case.written}", "rb") as file:
        return file.read()


def expected(case: Case) -> bytes:
    with open(f"{EXPECTED}/{case.expected}", "rb") as file:
        return file.read()


def difference(before: bytes, after: bytes) -> str:
    """The lines that differ, of JSON a line for each figure."""
    old, new = _lines(before), _lines(after)
    if old == new:
        return f"only the layout differs: {before!r} is now {after!r}"
    return "\n".join(unified_diff(old, new, "expected", "computed", lineterm="", n=2))


def _lines(result: bytes) -> list[str]:
    text = result.decode()
    with contextlib.suppress(ValueError):  # CSV stays as it is
        text = json.dumps(json.loads(text), indent=1)
    return text.splitlines()


# --- what may differ between machines ---------------------------------------------------------


def arithmetic() -> dict[str, str]:
    """A hash for each library whose results depend on the processor or on its release.

    They choose their instructions when they are loaded, and round differently with each choice.
    """
    return {
        "the C library's math": _hash(_libm()),
        "numpy": _hash(_numpy()),
        "Vowpal Wabbit": _hash(_vowpal_wabbit()),
    }


def why_not_comparable() -> str | None:
    """What computes differently here from where the results were recorded, in one line."""
    with open(ARITHMETIC, encoding="ascii") as file:
        recorded = json.load(file)
    other = [name for name, value in arithmetic().items() if recorded.get(name) != value]
    if not other:
        return None
    return f"recorded where {' and '.join(other)} rounded differently"


def _hash(values: Iterable[float]) -> str:
    return hashlib.sha256(b"".join(struct.pack("<d", value) for value in values)).hexdigest()


def _numbers(count: int) -> list[float]:
    """From 0 to 1, the same everywhere."""
    source = random.Random(1)
    return [source.random() for _ in range(count)]


def _libm() -> Iterable[float]:
    """The functions that the C core calls, where it calls them."""
    library = ctypes.CDLL("libm.so.6")
    for name in ("log", "log1p", "exp", "expf", "powf"):
        function = getattr(library, name)
        function.restype = ctypes.c_float if name.endswith("f") else ctypes.c_double
        function.argtypes = [function.restype] * (2 if name == "powf" else 1)
    for number in _numbers(4000):
        yield library.log(number)
        yield library.log1p(-number)
        yield library.exp(25 * number)
        yield library.expf(-25 * number)
        yield library.powf(1000 * number, -1.0)


def _numpy() -> Iterable[float]:
    """The functions with which policies weigh waits."""
    numbers = np.array(_numbers(1000))
    places = np.cumsum(numbers)
    yield from places
    yield from 1_000.0 * 2.0 ** (np.arange(400) / 8)
    yield from np.interp(400 * numbers, places, numbers)
    for count in range(1, 500):
        yield float(numbers[:count] @ numbers[count : 2 * count])
        yield float(numbers[:count].sum())


def _vowpal_wabbit() -> Iterable[float]:
    """The costs that it predicts while it learns."""
    classes = range(5)
    options = "--csoaa 5 --indexing 0 --learning_rate 0.1 --power_t 0 --bit_precision 5"
    learner = pylibvw.vw([*options.split(), "--noconstant", "--per_model_save_load", "--quiet"])
    numbers = iter(_numbers(1500))
    for low, high, middle in zip(numbers, numbers, numbers, strict=True):
        features: Sequence[float] = (10 * low, 10 * high, middle, 1.0)
        label = int(5 * middle)
        example = pylibvw.example(learner, _COST_SENSITIVE)
        example.push_namespace(ord(" "))
        costs = " ".join(f"{c}:{abs(c - label)}" for c in classes)
        example.set_label_string(learner, costs, _COST_SENSITIVE)
        step = len(classes) * learner.get_stride()
        pairs = [(step * index, value) for index, value in enumerate(features)]
        example.push_feature_list(learner, ord(" "), 0, pairs)
        learner.predict(example)
        yield from (example.get_costsensitive_partial_prediction(c) for c in classes)
        learner.learn(example)


_COST_SENSITIVE = 3  # lCostSensitive of VW's label types
