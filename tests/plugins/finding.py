"""Files without a test that ``-m`` chooses are not read: that takes as long as many tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


def demanded(expression: str) -> list[str]:
    """The markers that each test has which ``expression`` chooses, as far as that is plain."""
    if re.search(r"\bor\b|[()]", expression):
        return []
    return [word for word in expression.split(" and ") if word.isidentifier()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whoever bears a marker has it from its own file."""
    if not re.fullmatch(r"test_\w+\.py", collection_path.name):
        return None
    markers = demanded(config.option.markexpr)
    if not markers:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return None if all(f"mark.{marker}" in text for marker in markers) else True
