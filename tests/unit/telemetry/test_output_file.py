"""Output files are whole, or the old ones."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, TraceError
from smartharvest.telemetry.output_file import write_whole


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "day.html"
    path.write_text("yesterday")
    (tmp_path / "day.html.new").mkdir()
    with pytest.raises(TraceError, match=r"day\.html: cannot be written: "):
        write_whole(str(path), b"today", failure=TraceError)
    assert path.read_text() == "yesterday"


def test_what_is_no_regular_file_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(str(pipe), b"figures")
        assert os.read(reader, 100) == b"figures"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_whole("/dev/full", b"figures")


def test_the_mode_that_is_asked_for_is_independent_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_whole(str(tmp_path / "x.prom"), b"", mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.prom").stat().st_mode) == 0o644
    assert [file.name for file in tmp_path.iterdir()] == ["x.prom"]
