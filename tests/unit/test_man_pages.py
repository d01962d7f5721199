"""The man pages: each command has one, with what a reader looks for."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from smartharvest.config.settings import FIELDS

pytest.importorskip("click_man", reason="click-man is not installed")


@pytest.fixture
def pages() -> ModuleType:
    path = Path(__file__).parents[2] / "docs" / "man.py"
    spec = importlib.util.spec_from_file_location("man_pages", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["man_pages"] = module
    spec.loader.exec_module(module)
    return module


def test_every_page_is_whole(pages: ModuleType, tmp_path: Path) -> None:
    pages.write_pages(str(tmp_path))
    found = sorted(tmp_path.glob("*.1"))
    assert {"smartharvest.1", "smartharvest-agent.1", "smartharvest-install-service.1"} <= {
        page.name for page in found
    }
    for page in found:
        titles = re.findall(r"^\.SH (.+)$", page.read_text(), re.MULTILINE)
        assert titles[:2] == ["NAME", "SYNOPSIS"], page.name
        assert {"FILES", "EXIT STATUS", "SEE ALSO"} <= set(titles), page.name
    assert "EXAMPLES" in (tmp_path / "smartharvest-agent.1").read_text()
    settings = (tmp_path / "smartharvest.toml.5").read_text()
    for name in FIELDS:
        assert f".B {name}\n" in settings
