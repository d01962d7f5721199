"""The documents name what there is: commands, exit codes, files, settings, metrics, figures."""

from __future__ import annotations

import inspect
import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bench import why
from smartharvest import errors
from smartharvest.cli import cli
from smartharvest.config.settings import FIELDS
from smartharvest.config.text import example_text
from smartharvest.host.journal.contents import JournalError
from smartharvest.telemetry import metrics
from tests.commands import smartharvest_here

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
DOCUMENTS = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])


def _name(document: Path) -> str:
    return str(document.relative_to(ROOT))


def test_every_command_is_in_the_reference() -> None:
    page = (REFERENCE / "commands.md").read_text()
    missing = [name for name in cli.load_all() if f"`{name}`" not in page]
    assert not missing


def test_every_exit_code_is_in_the_reference() -> None:
    page = (REFERENCE / "exit-codes.md").read_text()
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    codes = {c.exit_code for c in classes if issubclass(c, errors.SmartHarvestError)}
    for code in codes | {JournalError.exit_code}:
        assert f"\n| {code} | " in page, code


def test_every_metric_is_in_the_reference() -> None:
    page = (REFERENCE / "metrics.md").read_text()
    source = inspect.getsource(metrics.families)
    names = set(re.findall(r'(?:counter|gauge)\("(\w+)"', source))
    names |= set(re.findall(r'"smartharvest_(\w+)", "', source))
    names |= set(re.findall(r'^ +\("(\w+_seconds)",', source, re.MULTILINE))
    assert {"lending", "safeguards", "wait_seconds"} <= names
    assert not [name for name in names if f"`{name}`" not in page and f"`{name}_info`" not in page]


def test_the_page_of_settings_is_what_the_settings_say() -> None:
    page = runpy.run_path(str(DOCS / "settings.py"))["page"]
    assert (REFERENCE / "settings.md").read_text() == page(example_text()), "make docs renews it"


def test_every_setting_is_on_its_page() -> None:
    page = (REFERENCE / "settings.md").read_text()
    assert not [name for name in FIELDS if f"| `{name}` |" not in page]


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    document = json.loads((ROOT / why.RESULTS).read_text())
    pairs = why.read_pairs(document)
    assert why.table(pairs) in (ROOT / "README.md").read_text(), "python -m bench.why prints them"
    assert (ROOT / why.CHART).read_text() == why.chart(pairs, document["machine"])


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 600


def test_the_architecture_stays_short() -> None:
    assert len((DOCS / "design" / "architecture.md").read_text().split()) <= 1500


@pytest.mark.parametrize(
    "document", [one for one in DOCUMENTS if "research" not in one.parts], ids=_name
)
def test_every_page_speaks_plainly(document: Path) -> None:
    text = re.sub(r"`[^`]*`", "", document.read_text())
    assert not re.findall(r"(?i)\b(?:told|anew|beside|mend\w*|whoever)\b", text)


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text()
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#]+)", index)}
    pages = {page for page in DOCS.rglob("*.md") if not page.name[:3].isdecimal()}
    assert not pages - linked - {DOCS / "index.md"}


def test_every_decision_is_on_the_page_of_decisions() -> None:
    page = DOCS / "design" / "decisions" / "README.md"
    decisions = set(page.parent.glob("*.md")) - {page}
    assert not [one.name for one in decisions if f"({one.name})" not in page.read_text()]


def test_every_promise_is_kept_by_something_proved_by_tests_and_bounded() -> None:
    page = (REFERENCE / "promises.md").read_text()
    for promise in page.split("\n## ")[1:]:
        title, *_ = promise.splitlines()
        proved = re.search(
            r"^- \*\*Proved by\*\*(.+?)(?=^- |\Z)", promise, re.DOTALL | re.MULTILINE
        )
        assert proved, title
        assert "- **Not promised:**" in promise, title
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", proved[1])
        assert named, title
        for path, test in named:
            text = (ROOT / "tests" / path).read_text()
            assert re.search(rf"^def {test}\(", text, re.MULTILINE), f"{title}: {path}::{test}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", document.read_text()):
        if "://" not in link:
            target = document.parent / link if link else document
            assert target.exists(), link
            assert not anchor or anchor in _anchors(target), f"{link}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _flags(command: click.Command) -> Iterator[str]:
    """Of a command and of those below it."""
    for parameter in command.params:
        yield from parameter.opts + parameter.secondary_opts
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _flags(below)


def test_every_flag_that_is_written_about_exists() -> None:
    known = {*_flags(cli), "--help"}
    for document in DOCUMENTS:
        typed = document.read_text().replace("\\\n", " ")
        for line in re.findall(r"\bsmartharvest [^`#\n]*", typed):
            ours = re.split(r" -- |; |, ", line)[0]
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours):
                assert flag in known, f"{document.name}: {flag}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_completion(shell: str) -> None:
    outcome = smartharvest_here("completion", shell)
    assert outcome.code == 0
    assert "_SMARTHARVEST_COMPLETE" in outcome.out
