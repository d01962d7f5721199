"""The pictures in docs are what their script draws, and name policies that exist."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from smartharvest.algorithm.policy import POLICY_NAMES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pictures_are_those_of_the_script() -> None:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    for name, draw in pictures.PICTURES.items():
        assert (DOCS / name).read_text() == draw(), f"{name}: run make docs"
    chosen = [lines[0] for _, lines in pictures.TREE[1:]] + [pictures.OTHERWISE[0]]
    assert set(chosen) <= set(POLICY_NAMES)
