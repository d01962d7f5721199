"""The processes of the benches: they start, or it is said that they did not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import compiling
from bench.child import Child
from bench.subject import NotMeasurableError


def test_a_child_that_ends_before_it_has_written_into_the_page_did_not_start() -> None:
    child = Child("keyword", 8)  # prints nothing, writes nothing, ends
    with pytest.raises(NotMeasurableError, match="keyword: its process did not start"), child:
        pass
    assert child.process.returncode is not None


def test_a_changed_source_is_compiled_again_however_old_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "DIRECTORY", tmp_path / "built")
    source = tmp_path / "answer.c"
    found = []
    for answer in (1, 2, 1):
        source.write_text(f"int answer(void) {{ return {answer}; }}\n")
        os.utime(source, (0, 0))
        found.append(compiling.build_library(source))
    assert found[0] == found[2] != found[1]
    assert all(path.exists() for path in found)
