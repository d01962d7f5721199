"""Heartbeats from Python, C and the shell in one page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from smartharvest.telemetry.heartbeat import PAGE_BYTES, Heartbeat, read_beats
from tests.commands import smartharvest_here

ROOT = Path(__file__).parents[3]


@pytest.fixture
def page(tmp_path: Path) -> str:
    return str(tmp_path / "beats")


def test_beats_of_several_threads_and_the_shell_add_up(page: str) -> None:
    with Heartbeat(page) as heart:

        def work() -> None:
            for _ in range(1000):
                heart.beat()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert smartharvest_here("beat", page, "25").code == 0
        assert read_beats(page) == 4025
    assert smartharvest_here("beat", page).code == 0
    assert read_beats(page) == 4026


def test_two_of_one_process_have_counters_of_their_own(page: str) -> None:
    with Heartbeat(page) as one, Heartbeat(page) as other:
        one.beat(2)
        other.beat(3)
        assert one._mine != other._mine
    assert read_beats(page) == 5


def test_processes_do_not_lose_each_others_beats(page: str) -> None:
    script = (
        "import sys; from smartharvest.telemetry.heartbeat import Heartbeat\n"
        "heart = Heartbeat(sys.argv[1]); sys.stdin.read()\n"
        "for _ in range(5000): heart.beat()\n"
    )
    command = [sys.executable, "-c", script, page]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for process in started:
        process.communicate()
    assert [process.returncode for process in started] == [0, 0]
    assert read_beats(page) == 10_000


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("more", [["-D_GNU_SOURCE"], []])
def test_a_c_program_counts_by_the_header_alone(page: str, tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "beats.c").write_text(
        '#include "heartbeat.h"\n'
        "int main(int n, char **v) {\n"
        "    _Atomic uint64_t *beats = sh_heartbeat_open(v[n - 1]);\n"
        "    for (int i = 0; beats && i < 7; i++) atomic_fetch_add(beats, 1);\n"
        "    return !beats;\n}\n"
    )
    program = str(tmp_path / "beats-c")
    flags = ["-std=c11", *more, "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'csrc'}"]
    subprocess.run(["cc", *flags, str(tmp_path / "beats.c"), "-o", program], check=True)
    with Heartbeat(page) as heart:
        heart.beat(3)
        subprocess.run([program, page], check=True)
    assert read_beats(page) == 10
    (tmp_path / "data").write_bytes(bytes(5000))
    assert subprocess.run([program, str(tmp_path / "data")], check=False).returncode == 1
    assert os.path.getsize(tmp_path / "data") == 5000


def test_only_a_plain_file_is_read(page: str, tmp_path: Path) -> None:
    assert read_beats(page) is None
    Path(page).write_bytes(b"\x05" + bytes(7) + b"rest")
    assert read_beats(page) == 5
    link = tmp_path / "link"
    link.symlink_to(page)
    assert read_beats(str(link)) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_beats(str(tmp_path / "pipe")) is None
    assert read_beats(str(tmp_path)) is None


def test_a_page_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    outcome = smartharvest_here("beat", str(tmp_path / "no" / "beats"))
    assert outcome.code != 0
    assert "name a file you may write" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_no_page_stays_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/sh\necho works\n")
    outcome = smartharvest_here("beat", str(script))
    assert outcome.code != 0
    assert "another file has that name; name a file you may write" in outcome.err
    assert script.read_text() == "#!/bin/sh\necho works\n"


def test_an_old_short_file_grows_to_a_page(page: str) -> None:
    Path(page).write_bytes(bytes(8))
    with Heartbeat(page) as heart:
        heart.beat()
    assert os.path.getsize(page) == PAGE_BYTES
    assert read_beats(page) == 1
