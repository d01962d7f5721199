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


def refused(expression: str) -> list[str]:
    """The markers that no test has which ``expression`` chooses, as far as that is plain."""
    if re.search(r"\bor\b|[()]", expression):
        return []
    return re.findall(r"(?:^|and )not (\w+)(?= and |$)", expression)


_OF_ALL = re.compile(r"^pytestmark = (\[\n.*?^\]|[^\n]+)$", re.DOTALL | re.MULTILINE)
"""The markers that each test of a file has."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A test has its markers from its own file."""
    if not re.fullmatch(r"test_\w+\.py", collection_path.name):
        return None
    chosen, others = demanded(config.option.markexpr), refused(config.option.markexpr)
    if not chosen and not others:
        return None
    text = collection_path.read_text(encoding="utf-8")
    if not all(f"mark.{marker}" in text for marker in chosen):
        return True
    borne = _OF_ALL.search(text)
    words = set(re.findall(r"mark\.(\w+)", borne[1])) if borne else set()
    return True if words & set(others) else None
