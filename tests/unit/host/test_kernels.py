from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.host import kernels

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "kernels.md"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("6.18.5", (6, 18)),
        ("6.1.0-50-cloud-amd64", (6, 1)),
        ("7.3.4+deb13\n", (7, 3)),
        ("linux", None),
        ("", None),
    ],
)
def test_a_release_is_its_first_two_numbers(text: str, release: tuple[int, int] | None) -> None:
    assert kernels.parse_release(text) == release


def test_a_feature_is_there_from_its_release_on() -> None:
    assert not kernels.has(kernels.CPU_IDLE, (5, 14))
    assert kernels.has(kernels.CPU_IDLE, (5, 15))
    assert kernels.has(kernels.CPU_IDLE, (6, 1))
    assert kernels.running() > (0, 0)


def test_features_stand_in_the_order_in_which_they_came() -> None:
    releases = [feature.since for feature in kernels.FEATURES]
    assert releases == sorted(releases)


def test_the_page_shows_the_table() -> None:
    assert kernels.as_markdown() in PAGE.read_text()
