"""What was measured survives a file that cannot be written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import click
import pytest

from bench import result_file


def refuse(_source: Path, _target: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_document_that_cannot_be_written_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(result_file, "SHELTERS", (tmp_path / "gone", tmp_path))
    out = tmp_path / "missing" / "bench.json"
    with pytest.raises(SystemExit, match="1"):
        result_file.keep({"seed": 7}, out)
    (kept,) = tmp_path.glob("smartharvest-*-bench.json")
    assert json.loads(kept.read_text()) == {"seed": 7}
    said = capsys.readouterr()
    assert said.err.startswith(f"bench: {out}: cannot be written: No such file or directory; kept")
    assert str(kept) in said.err
    assert json.loads(said.out) == {"seed": 7}


def test_on_a_full_disk_the_file_keeps_what_it_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "bench.json"
    out.write_text("earlier")
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(result_file, "SHELTERS", ())
    with pytest.raises(SystemExit, match="1"):
        result_file.keep({}, out)
    assert out.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [out]


def test_where_nothing_can_be_written_the_run_does_not_begin(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(click.ClickException, match=r"cannot be written: .*; name another file"):
        result_file.check(tmp_path / "file" / "bench.json")
    result_file.check(tmp_path / "new" / "bench.json")
    assert list((tmp_path / "new").iterdir()) == []
