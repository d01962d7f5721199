from __future__ import annotations

import pytest

from smartharvest.algorithm.policy import Policy, make_policy
from smartharvest.algorithm.policy.fallback import Fallback, fallback_steps, stand_ins
from smartharvest.algorithm.safeguard import AggressiveSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window
from tests.unit.algorithm.policy.windows import window

TOTAL = 8


class Failing:
    """A policy that does well until told which of its calls fails, or what it answers."""

    name = "failing"
    buffer = 0
    quiet_ns = None
    shared = False

    def __init__(self) -> None:
        self.fails: str | None = None
        self.answer: object = 3
        self._safeguard = AggressiveSafeguard(TOTAL)

    @property
    def short_term(self) -> ShortTermSafeguard:
        self._fail("short_term")
        return self._safeguard

    def learn(self, _window: Window) -> int | None:
        self._fail("learn")
        return 2

    def predict(self, _window: Window) -> int:
        self._fail("predict")
        return self.answer  # type: ignore[return-value]

    def _fail(self, call: str) -> None:
        if self.fails == call:
            raise RuntimeError("no idea")


def chain(first: Policy, lines: list[str]) -> Fallback:
    def make(spec: str) -> Policy:
        return first if spec == "failing" else make_policy(spec, total=TOTAL)

    return Fallback(["failing", *stand_ins("failing", TOTAL)], make, TOTAL, lines.append)


def test_a_policy_that_works_answers_for_itself() -> None:
    lines: list[str] = []
    policy = chain(Failing(), lines)
    assert (policy.name, policy.buffer) == ("failing", 0)
    assert policy.learn(window([1])) == 2
    assert policy.predict(window([1])) == 3
    assert policy.short_term.safe_cores(3) == TOTAL
    assert (lines, fallback_steps(policy)) == ([], [])


@pytest.mark.parametrize("call", ["learn", "predict", "short_term"])
def test_whichever_call_fails_a_fixed_buffer_takes_over_for_good(call: str) -> None:
    lines: list[str] = []
    first = Failing()
    policy = chain(first, lines)
    first.fails = call
    policy.short_term.observe(window([1]))
    policy.learn(window([1]))
    assert policy.predict(window([4])) == 6
    first.fails = None
    assert (policy.name, policy.buffer) == ("fixed-buffer:2", 2)
    assert policy.predict(window([4])) == 6
    assert lines == ["policy failing failed (RuntimeError: no idea); fixed-buffer:2 takes over"]
    assert fallback_steps(policy) == lines


@pytest.mark.parametrize("answer", [-1, TOTAL + 1, 2.5, float("nan"), None, "3"])
def test_what_is_no_number_of_cores_is_a_failure(answer: object) -> None:
    first = Failing()
    policy = chain(first, [])
    first.answer = answer
    assert policy.predict(window([1])) == 3
    assert policy.name == "fixed-buffer:2"


def test_after_the_fixed_buffer_nothing_is_harvested(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    first = Failing()
    policy = chain(first, lines)
    first.fails = "predict"
    policy.predict(window([1]))
    monkeypatch.setattr(policy._policy, "predict", first.predict)
    assert policy.predict(window([1])) == TOTAL
    assert policy.name == "no-harvest"
    assert len(lines) == 2


def test_a_policy_that_cannot_be_made_is_passed_over() -> None:
    def make(spec: str) -> Policy:
        if spec == "smartharvest":
            raise ImportError("no Vowpal Wabbit")
        return make_policy(spec, total=TOTAL)

    lines: list[str] = []
    policy = Fallback(
        ["smartharvest", *stand_ins("smartharvest", TOTAL)], make, TOTAL, lines.append
    )
    assert policy.name == "fixed-buffer:2"
    assert lines == ["creating policy smartharvest failed (ImportError: no Vowpal Wabbit)"]


@pytest.mark.parametrize(
    ("spec", "total", "expected"),
    [
        ("smartharvest", 1, ("fixed-buffer:1", "no-harvest")),
        ("prev-peak:10", 10, ("fixed-buffer:3", "no-harvest")),
        ("fixed-buffer:5", 10, ("no-harvest",)),
        ("no-harvest", 10, ()),
    ],
)
def test_the_chain_gets_simpler(spec: str, total: int, expected: tuple[str, ...]) -> None:
    assert stand_ins(spec, total) == expected


def test_a_policy_without_stand_ins_fails_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    policy = Fallback(["no-harvest"], lambda s: make_policy(s, total=TOTAL), TOTAL, lines.append)
    monkeypatch.setattr(policy._policy, "predict", Failing.predict)
    with pytest.raises(TypeError):
        policy.predict(window([1]))
