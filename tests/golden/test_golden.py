"""The same seeds give the same bytes before and after a change that is to change no result."""

from __future__ import annotations

import pytest

from tests.golden.cases import CASES, Case, compute, difference, expected, why_not_comparable


@pytest.fixture(scope="module")
def same_arithmetic() -> None:
    reason = why_not_comparable()
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.usefixtures("same_arithmetic")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expected)
def test_the_same_seeds_give_the_same_bytes(
    case: Case, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if case.written is not None:
        pytest.importorskip("matplotlib", reason="reproduce draws its figures with matplotlib")
    before = expected(case)
    after = compute(case, str(tmp_path_factory.mktemp("out")))
    if after != before:
        pytest.fail(
            f"{case.command}\n{difference(before, after)}\nIf this change is meant: "
            "python -m tests.golden --record",
            pytrace=False,
        )


def test_a_difference_shows_the_figure_that_moved() -> None:
    shown = difference(b'{"policy": "a", "cores": 1.5}\n', b'{"policy": "a", "cores": 1.25}\n')
    assert '- "cores": 1.5' in shown
    assert '+ "cores": 1.25' in shown
    assert "only the layout differs" in difference(b'{"a": 1}', b'{"a":1}')
