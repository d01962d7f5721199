"""Every message with which a run is refused, or ends, is found in the page of messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "messages.md").read_text()
ERRORS = (
    *("RightsError", "TargetError", "TargetVanished", "SensorError", "AlreadyManaged"),
    *("JournalError", "UnfitHost", "ForeignWrite"),
)
"""Not ConfigError: those name the file, the line and the remedy, and check-config lists them."""
ELSEWHERE = ("lab",)


def _words(node: ast.expr) -> str:
    """A message with … for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_words(part) for part in parts)
        case ast.BinOp(left=left, right=right):
            return _words(left) + _words(right)
    return "…"


def messages() -> Iterator[str]:
    for path in sorted((ROOT / "smartharvest").rglob("*.py")):
        if path.relative_to(ROOT / "smartharvest").parts[0] in ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                call = node.exc
                if isinstance(call.func, ast.Name) and call.func.id in ERRORS and call.args:
                    text = _words(call.args[0])
                    if re.search("[a-z]{3}", text):
                        yield text


HEADINGS = [
    re.sub(r"\s+", " ", words).replace("…", "")
    for entry in re.findall(r"^\*\*(.+?)(?:\*\*:|\.\*\*)", PAGE, re.MULTILINE | re.DOTALL)
    for words in re.findall(r"`([^`]{5,})`", entry)
]


@pytest.mark.parametrize("message", sorted(set(messages())))
def test_every_message_has_an_entry(message: str) -> None:
    assert any(words.strip() in message for words in HEADINGS), message
