"""A short part of the fuzzing, the same every time, and what once failed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.fuzz.mutation import inputs
from tests.fuzz.target import BadMessage, Target, check_message
from tests.fuzz.targets import TARGETS

KEPT = sorted((Path(__file__).parent / "kept").iterdir())
EACH = 60


def target_of(kept: Path) -> Target:
    """``TARGET-NAME``, where either may have dashes."""
    named = [target for name, target in TARGETS.items() if kept.name.startswith(f"{name}-")]
    return max(named, key=lambda target: len(target.name))


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_samples_are_taken_or_refused(name: str) -> None:
    for data in islice(inputs(TARGETS[name].samples, seed=1), EACH):
        TARGETS[name].run(data)


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_what_once_failed_is_taken_or_refused(kept: Path) -> None:
    target_of(kept).run(kept.read_bytes())


def test_some_sample_of_each_is_taken() -> None:
    nothing = [one.name for one in TARGETS.values() if not any(map(one.run, one.samples))]
    assert nothing == []


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, again, other = (list(islice(inputs((b"1-2,5",), seed), 200)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("message", ["two\nlines", "x" * 5000])
def test_a_message_is_one_line_and_bounded(message: str) -> None:
    with pytest.raises(BadMessage):
        check_message(message, quoted=100)


def test_kept_inputs_are_small() -> None:
    assert sum(path.stat().st_size for path in KEPT) < 16_000
