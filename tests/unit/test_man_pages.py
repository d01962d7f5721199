"""The man pages: each command has one, with what a reader looks for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest.config.settings import FIELDS

pytest.importorskip("click_man", reason="click-man is not installed")

SCRIPT = Path(__file__).parents[2] / "docs" / "man.py"


def test_every_page_is_whole(tmp_path: Path) -> None:
    # A process of its own: click-man leaves traces in the commands.
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True)
    found = sorted(tmp_path.glob("*.1"))
    assert {"smartharvest.1", "smartharvest-agent.1", "smartharvest-install-service.1"} <= {
        page.name for page in found
    }
    for page in found:
        text = page.read_text()
        titles = re.findall(r"^\.SH (.+)$", text, re.MULTILINE)
        assert titles[:2] == ["NAME", "SYNOPSIS"], page.name
        assert {"FILES", "EXIT STATUS", "SEE ALSO"} <= set(titles), page.name
        assert text.startswith(f'.TH "{page.stem.upper()}"'), page.name
        assert not text.split(".SH NAME\n")[1].splitlines()[0].endswith("..."), page.name
    for name in ("agent", "status", "top", "pause", "restore"):
        assert ".SH EXAMPLES" in (tmp_path / f"smartharvest-{name}.1").read_text()
    settings = (tmp_path / "smartharvest.toml.5").read_text()
    for name in FIELDS:
        assert f".B {name}\n" in settings
