from __future__ import annotations

from pathlib import Path

from smartharvest.host.journal.shared_page import Phase, SharedPage, read_choices, read_nudge


def test_what_one_writes_the_other_reads(tmp_path: Path) -> None:
    path = str(tmp_path / "page")
    agent, guardian = SharedPage(path, create=True), SharedPage(path)
    assert guardian.phase is Phase.ARRANGING
    agent.phase = Phase.RUNNING
    agent.beat_as_agent()
    agent.beat_slot.cast("q")[0] = 7
    guardian.vigil_slot.cast("q")[2] = 5
    guardian.count_shrink()
    guardian.count_silence("starved")
    assert (guardian.phase, guardian.loop_beat) == (Phase.RUNNING, 7)
    assert guardian.agent_beat > 0
    assert agent.guardian_beat == 5
    assert (agent.shrinks, agent.silences["starved"]) == (1, 1)


def test_the_page_has_its_memory_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "page"
    SharedPage(str(path), create=True)
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 0


def test_one_holds_the_lock_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "page")
    agent, guardian = SharedPage(path, create=True), SharedPage(path)
    with agent.locked(0) as held:
        assert held
        with guardian.locked(0) as also:
            assert not also
    with guardian.locked(0) as held:
        assert held


def test_a_missing_or_unfinished_page_names_no_nudged_thread(tmp_path: Path) -> None:
    assert read_nudge(str(tmp_path / "none")) == 0
    (tmp_path / "short").write_bytes(b"")
    assert read_nudge(str(tmp_path / "short")) == 0


def test_the_page_of_an_earlier_program_is_made_longer(tmp_path: Path) -> None:
    path = tmp_path / "agent-1.shared"
    path.write_bytes(bytes(range(8)) * 8)
    page = SharedPage(str(path))
    assert page.choices == []
    page.choice_slots[0] = 0b101
    page.choice_slots[128 + 1] = 1
    assert read_choices(str(path)) == [frozenset({0, 2}), frozenset({8})]
    assert path.read_bytes()[:64] == bytes(range(8)) * 8
    page.close()


def test_where_there_is_no_page_nothing_was_chosen(tmp_path: Path) -> None:
    assert read_choices(str(tmp_path / "none")) == []
    (tmp_path / "empty").touch()
    assert read_choices(str(tmp_path / "empty")) == []
