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
    assert not ignored("not timing")
    assert not ignored("root", tmp_path)
