"""Every failure is of a kind with an identifier, and the page of messages has every kind."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from smartharvest.cli.error_kinds import identifier, kinds
from tests.commands import smartharvest_here

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "messages.md").read_text()
ROOMS = sorted({path.relative_to(ROOT).parts[1] for path in (ROOT / "smartharvest").rglob("*.py")})
MESSAGE_AT = {"Untrusted": 1, "WriteRefused": 3}
"""Which argument is the message, if not the first; WriteRefused makes its own."""

OF_OTHERS = {
    *("Missing option", "Missing argument", "Missing parameter", "No such option"),
    *("No such command", "Invalid value for", "unexpected extra argument"),
    *("requires an argument", "does not take a value", "requires"),  # click
    *("Address already in use", "Cannot assign requested address", "Permission denied"),
    *("No such file",),  # the C library
}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """Everything that each module says, by the module's path."""
    return {
        str(path.relative_to(ROOT)): list(ast.walk(ast.parse(path.read_text())))
        for path in sorted((ROOT / "smartharvest").rglob("*.py"))
    }


@cache
def error_classes() -> frozenset[str]:
    """The names of all whose message may end a command: ours, and those of click."""
    below = defaultdict(set)
    for node in chain.from_iterable(nodes().values()):
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                below[ast.unparse(base)].add(node.name)
    found = {"SmartHarvestError", "click.ClickException", "UsageError", "BadParameter", "Untrusted"}
    while more := {name for one in found for name in below[one]} - found:
        found |= more
    return frozenset(found)


def _words(node: ast.expr) -> str:
    """A message with … for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_words(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _words(left) + _words(right)
    return "…"


def _name(call: ast.Call) -> str:
    """Of what is called, without its module; empty if it has no name."""
    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="click"), attr=name):
            return name
    return ""


def _messages() -> Iterator[tuple[str, str]]:
    """(what is raised, module) of every site that has words of its own."""
    for path, said in nodes().items():
        for node in said:
            if not isinstance(node, ast.Call):
                continue
            name = _name(node)
            at = MESSAGE_AT.get(name, 0)
            if name in error_classes() and len(node.args) > at:
                text = " ".join(_words(node.args[at]).split())
                if re.search("[a-z]{3}", text):
                    yield text, path


@cache
def messages() -> frozenset[tuple[str, str]]:
    return frozenset(_messages())


def on_the_page() -> dict[str, list[str]]:
    """Identifier -> words, of every entry that has one."""
    entries = re.findall(
        r"^\*\*(SH-\w+)\*\* ((?:`[^`]+`(?:, …)?(?: \(.+?\))?[,:]\s)+)", PAGE, re.MULTILINE
    )
    assert len(entries) == len({name for name, _ in entries}) == PAGE.count("**SH-")
    return {name: re.findall(r"`([^`]+)`", words) for name, words in entries}


def test_every_site_that_raises_is_found() -> None:
    assert len(messages()) > 450
    assert {"ConfigError", "NotThere", "JournalError", "NoStrict", "TraceError"} <= error_classes()


@pytest.mark.parametrize("room", ROOMS)
def test_every_message_is_of_a_kind(room: str) -> None:
    unknown = {
        text for text, path in messages()
        if path.split("/")[1] == room and re.fullmatch(r"SH-\d+", identifier(text, 0))
    }  # fmt: skip
    assert not unknown, (
        "give each words in smartharvest/cli/error_kinds.py, and an entry on the page"
    )


def test_the_page_has_every_kind_and_no_other() -> None:
    page = on_the_page()
    assert page.keys() == kinds().keys()
    for kind, words in page.items():
        assert set(words) <= set(kinds()[kind]), kind


def test_the_numbers_of_a_letter_have_no_gap() -> None:
    """One that is not used any more keeps its number."""
    numbers = defaultdict(list)
    for kind in kinds():
        letter, number = re.fullmatch(r"SH-([A-Z])(\d\d)", kind).groups()  # type: ignore[union-attr]
        numbers[letter].append(int(number))
    for letter, found in numbers.items():
        assert found == list(range(1, len(found) + 1)), letter


def test_no_two_kinds_have_the_same_words() -> None:
    words = [part for parts in kinds().values() for part in parts]
    assert len(words) == len(set(words))
    assert not [part for part in words if len(part) < 4]


def test_words_that_nothing_says_any_more_are_gone() -> None:
    said = {
        " ".join(node.value.split())
        for node in chain.from_iterable(nodes().values())
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }  # fmt: skip
    said |= {text for text, _ in messages()}
    words = {part for parts in kinds().values() for part in parts}
    silent = {part for part in words - OF_OTHERS if not any(part in text for text in said)}
    assert not silent


def test_the_longest_words_decide_and_the_code_is_left_for_what_nobody_knows() -> None:
    assert identifier("elastic: cgroup:x: /x does not exist; make the group first", 4) == "SH-T01"
    assert (
        identifier("pool 0-1: no core can be lent: others are confined to 1, such as a", 4)
        == "SH-P02"
    )
    assert identifier("something else", 12) == "SH-12"


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        (("status", "--no-such-flag"), "SH-C12"),
        (("no-such-command",), "SH-C12"),
        (("plot",), "SH-C12"),
        (("agent", "--elastic", "cgroup:b", "--window", "25"), "SH-C03"),
        (("lab", "replay", "/no/such/trace"), "SH-C14"),
    ],
)
def test_a_failure_ends_with_the_identifier_of_its_kind(typed: tuple[str, ...], kind: str) -> None:
    assert smartharvest_here(*typed).err.endswith(f" [{kind}]\n")
