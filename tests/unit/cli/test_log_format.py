"""How messages look: plain, with a time, for the journal, as JSON; and what failures are called."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from pathlib import Path

import pytest

from smartharvest.cli.log_format import (
    FORMATS,
    JOURNAL_STREAM,
    formatter,
    leads_to_journal,
    priority,
)
from tests.commands import as_command, smartharvest_here


def record(text: str, level: int = logging.WARNING, **fields: object) -> logging.LogRecord:
    about = {"name": "smartharvest.x", "msg": text, "levelno": level, "created": 1.5}
    return logging.makeLogRecord({**about, "levelname": logging.getLevelName(level), **fields})


def test_pictures_are_drawn_without_a_word_of_their_library() -> None:
    font_manager = logging.getLogger("matplotlib.font_manager")  # it reports its cache, once a home
    assert smartharvest_here("--debug", "config", "example").code == 0
    assert logging.getLogger("matplotlib").level == logging.NOTSET
    assert smartharvest_here("config", "example").code == 0
    assert not font_manager.isEnabledFor(logging.INFO)


def test_json_has_the_time_the_level_and_every_field_on_one_line() -> None:
    line = formatter("json", -1).format(record("a\nb", cores=3, path=Path("/x")))
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["message"], found["cores"]) == ("warning", "a?b", 3)
    assert found["time"] == "1970-01-01T00:00:01.500+00:00"
    assert found["path"] == "/x"


def test_the_journal_reads_a_priority_off_each_line() -> None:
    assert formatter("journal", -1).format(record("x")) == "<4>smartharvest: x"
    levels = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
    assert [priority(level) for level in levels] == [3, 4, 6, 7]


def test_a_file_gets_time_and_level() -> None:
    line = formatter("time", -1).format(record("x"))
    assert line == "1970-01-01T00:00:01.500+00:00 WARNING smartharvest: x"


def test_the_journal_is_known_by_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    status = os.fstat(write)
    monkeypatch.setenv(JOURNAL_STREAM, f"{status.st_dev}:{status.st_ino}")
    assert (leads_to_journal(write), leads_to_journal(-1)) == (True, False)
    monkeypatch.setenv(JOURNAL_STREAM, "1:2")
    assert not leads_to_journal(write)
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("form", ["plain", "json", "journal"])
def test_a_failure_has_an_identifier_whatever_the_format(form: str) -> None:
    assert form in FORMATS
    command = as_command(["--log-format", form, "explain"])
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    if form == "json":
        found = json.loads(done.stderr)
        assert (found["error"], found["exit_code"], found["level"]) == ("SH-C11", 2, "error")
    else:
        start = "<3>smartharvest: explain: " if form == "journal" else "smartharvest: explain: "
        assert done.stderr.startswith(start)
        assert done.stderr.endswith(" [SH-C11]\n")
