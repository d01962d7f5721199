"""Nobody but root and the caller can decide what is found where something is obeyed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest import trusted
from smartharvest.trusted import Untrusted, open_directory, open_own, open_trusted


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("obeyed")
    (tmp_path / "file").chmod(0o600)
    return tmp_path


def read(path: Path, *, follow: bool = False) -> bytes:
    fd = open_trusted(str(path), follow=follow)
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def test_a_file_of_ones_own_is_opened(place: Path) -> None:
    assert read(place / "file") == b"obeyed"


def test_what_is_missing_is_missing(place: Path) -> None:
    for path in (place / "none", place / "none" / "none"):
        with pytest.raises(FileNotFoundError) as refused:
            open_trusted(str(path))
        assert refused.value.filename == str(path)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(place: Path, mode: int) -> None:
    (place / "file").chmod(mode)
    with pytest.raises(Untrusted, match="others may write it; chmod go-w"):
        read(place / "file")


@pytest.mark.parametrize("mode", [0o770, 0o777])
def test_a_directory_on_the_way_that_others_may_write_is_refused(place: Path, mode: int) -> None:
    (place / "outer" / "inner").mkdir(parents=True)
    (place / "outer" / "inner" / "file").write_text("")
    (place / "outer").chmod(mode)
    with pytest.raises(Untrusted, match=f"{place}/outer: others may put files there"):
        read(place / "outer" / "inner" / "file")
    (place / "outer").chmod(mode | 0o1000)  # as /tmp
    assert read(place / "outer" / "inner" / "file") == b""


def test_links_are_followed_on_the_way_and_at_its_end_only_if_asked(place: Path) -> None:
    (place / "way").symlink_to(place)
    (place / "link").symlink_to("way/file")
    assert read(place / "way" / "file") == b"obeyed"
    assert read(place / "link", follow=True) == b"obeyed"
    with pytest.raises(Untrusted, match="is a link"):
        read(place / "link")
    with pytest.raises(Untrusted, match="is a link"):
        open_trusted(str(place / "link"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with pytest.raises(Untrusted, match="is a link"):
        open_own(str(place / "link"), os.O_WRONLY | os.O_CREAT, 0o600)
    assert read(place / "file") == b"obeyed"
    (place / "round").symlink_to("round")
    with pytest.raises(OSError, match="symbolic links"):
        read(place / "round", follow=True)


def test_what_is_no_file_is_refused_without_waiting_for_it(place: Path) -> None:
    os.mkfifo(place / "pipe", 0o600)
    for path in (place / "pipe", place, Path("/dev/zero")):
        with pytest.raises(Untrusted, match="no regular file"):
            read(path)


def test_a_file_with_another_name_is_never_written(place: Path) -> None:
    os.link(place / "file", place / "other")
    for opener in (open_trusted, open_own):
        with pytest.raises(Untrusted, match="hard links"):
            opener(str(place / "other"), os.O_WRONLY | os.O_TRUNC, 0o600)
    assert read(place / "file") == b"obeyed"


def test_a_file_with_another_name_is_not_read_where_others_can_give_names(place: Path) -> None:
    os.link(place / "file", place / "other")
    place.chmod(0o1777)
    with pytest.raises(Untrusted, match="hard links"):
        read(place / "other")


def test_a_directory_is_listed_only_if_nobody_else_can_add_to_it(place: Path) -> None:
    os.close(open_directory(str(place)))
    place.chmod(0o1777)
    os.close(open_directory(str(place), shared=True))
    with pytest.raises(Untrusted, match="others may put files there"):
        open_directory(str(place))
    place.chmod(0o777)
    with pytest.raises(Untrusted):
        open_directory(str(place), shared=True)


def owned(path: Path) -> None:
    os.lchown(path, 65534, 65534)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("whose", ["file", "link", "directory"])
def test_what_somebody_else_owns_is_refused(place: Path, whose: str) -> None:
    (place / "directory").mkdir()
    (place / "directory" / "file").write_text("")
    (place / "link").symlink_to("directory")
    owned(place / whose)
    path = place / "file" if whose == "file" else place / whose / "file"
    with pytest.raises(Untrusted, match=rf"{place}/{whose}: belongs to nobody \(65534\)"):
        read(path)


def test_what_was_checked_is_what_is_opened(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory is exchanged after it was checked."""
    (place / "good").mkdir()
    (place / "bad").mkdir()
    for name in ("good", "bad"):
        (place / name / "file").write_text(name)
    check = trusted._check_directory

    def exchange(path: str, status: os.stat_result, *, shared: bool) -> None:
        check(path, status, shared=shared)
        if path.endswith("/good"):
            (place / "good").rename(place / "was")
            (place / "good").symlink_to("bad")

    monkeypatch.setattr(trusted, "_check_directory", exchange)
    assert read(place / "good" / "file") == b"good"


def test_no_descriptor_is_left_open(place: Path) -> None:
    (place / "link").symlink_to("file")
    os.mkfifo(place / "pipe")

    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    attempts: list[Callable[[], object]] = [
        lambda: read(place / "file"),
        lambda: read(place / "link", follow=True),
        lambda: read(place / "link"),
        lambda: read(place / "pipe"),
        lambda: read(place / "none" / "none"),
        lambda: read(place / "file" / "none"),
        lambda: open_directory(str(place / "file")),
    ]
    before = open_files()
    for attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
        assert open_files() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_caller_without_rights_trusts_root_and_itself(place: Path) -> None:
    program = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from smartharvest.trusted import open_trusted
os.setresuid(65534, 65534, 65534)
os.read(open_trusted("/etc/passwd"), 1)
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=place)
