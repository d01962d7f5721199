"""Which files of tests a run does not even read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.plugins.finding import demanded, pytest_ignore_collect


@pytest.mark.parametrize(
    ("expression", "markers"),
    [
        ("", []),
        ("not slow", []),
        ("timing and not slow and root", ["timing", "root"]),
        ("root or lab", []),
        ("timing and (root or lab)", []),
    ],
)
def test_only_what_every_chosen_test_has_is_demanded(expression: str, markers: list[str]) -> None:
    assert demanded(expression) == markers


def test_a_file_that_names_each_demanded_marker_is_read(tmp_path: Path) -> None:
    file = tmp_path / "test_this.py"
    file.write_text("pytestmark = [pytest.mark.timing]\n")

    def ignored(expression: str, path: Path = file) -> bool | None:
        config: Any = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
        return pytest_ignore_collect(path, config)

    assert not ignored("timing and not slow")
    assert ignored("root")
    assert ignored("timing and root")
    assert not ignored("root", tmp_path)


@pytest.mark.parametrize(
    ("markers", "expression", "is_read"),
    [
        ("pytest.mark.timing", "not timing", False),
        ("pytest.mark.timing", "not slow and not timing", False),
        ("[\n    pytest.mark.timing,\n    pytest.mark.root,\n]", "timing and not root", False),
        ("[pytest.mark.timing]", "not root", True),
        ("[pytest.mark.timing]", "not timing or root", True),
        ("pytest.mark.timeout(9)", "not timing", True),
    ],
)
def test_a_file_of_which_each_test_is_refused_is_not_read(
    tmp_path: Path, markers: str, expression: str, is_read: bool
) -> None:
    file = tmp_path / "test_this.py"
    file.write_text(f"pytestmark = {markers}\n\n@pytest.mark.root\ndef test_it(): pass\n")
    config: Any = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
    assert (pytest_ignore_collect(file, config) is None) == is_read
