"""Notices of evictions as files, which go with the journal of their agent."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from smartharvest.host.journal.notices import (
    notice_path,
    remove_notice,
    remove_notices,
    write_notice,
)
from smartharvest.host.journal.places import journal_path, lock_path
from smartharvest.host.journal.removal import remove


def test_a_notice_is_the_time_of_the_eviction_and_everybody_may_read_it(tmp_path: Path) -> None:
    journal = journal_path(str(tmp_path), 1)
    write_notice(journal, "etl", 1234.5678)
    path = Path(notice_path(str(tmp_path), "etl"))
    assert path.read_text() == "1234.568\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    remove_notice(journal, "etl")
    remove_notice(journal, "etl")
    assert not path.exists()


def test_who_removes_a_journal_removes_the_notices_of_its_agent_and_no_others(
    tmp_path: Path,
) -> None:
    one, other = journal_path(str(tmp_path), 1), journal_path(str(tmp_path), 2)
    write_notice(one, "etl", 1.0)
    write_notice(one, "web.2", 1.0)
    write_notice(other, "builds", 1.0)
    Path(lock_path(one)).touch()
    remove(one)
    assert os.listdir(tmp_path / "notices") == ["builds"]
    remove_notices(other)
    assert os.listdir(tmp_path) == []


def test_a_list_that_names_other_files_removes_none(tmp_path: Path) -> None:
    journal = journal_path(str(tmp_path / "state"), 1)
    (tmp_path / "state").mkdir()
    (tmp_path / "precious").touch()
    Path(journal.removesuffix(".journal") + ".noticed").write_text("../../precious\n../precious\n")
    remove_notices(journal)
    assert (tmp_path / "precious").exists()
