"""The documents name what there is: commands, exit codes, files, settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smartharvest import errors
from smartharvest.cli import COMMANDS
from smartharvest.config.settings import FIELDS
from smartharvest.host.journal.contents import JournalError
from tests.commands import smartharvest_here

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def test_every_command_is_in_the_reference() -> None:
    missing = [command.name for command in COMMANDS if f"`{command.name}`" not in REFERENCE]
    assert not missing


def test_every_exit_code_is_in_the_reference_and_the_readme() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    codes = {c.exit_code for c in classes if issubclass(c, errors.SmartHarvestError)}
    for code in codes | {JournalError.exit_code}:
        for text in (REFERENCE, (ROOT / "README.md").read_text()):
            assert f"\n| {code} | " in text, code


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text()):
        if "://" not in link:
            assert (document.parent / link).exists(), link


def test_every_flag_that_is_written_about_exists() -> None:
    shown = "".join(smartharvest_here(str(c.name), "--help").out for c in COMMANDS)
    ours = {f"--{name.replace('_', '-')}" for name in FIELDS}
    for name in ("tutorial.md", "howto.md", "troubleshooting.md"):
        text = (ROOT / "docs" / name).read_text()
        for line in text.splitlines():
            if "smartharvest" in line:
                for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line):
                    assert flag in ours or flag in shown, f"{name}: {flag}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_completion(shell: str) -> None:
    outcome = smartharvest_here("completion", shell)
    assert outcome.code == 0
    assert "_SMARTHARVEST_COMPLETE" in outcome.out
