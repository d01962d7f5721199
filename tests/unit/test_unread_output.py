"""What is written for people, some of whom do not read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from smartharvest.printable import write_unless_blocked


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """(where it is read, where it is written)"""
    ends = os.pipe()
    yield ends
    for fd in ends:
        os.close(fd)


def test_what_is_read_is_written_whole(pipe: tuple[int, int]) -> None:
    text = "x" * 10_000 + "\n"
    assert write_unless_blocked(pipe[1], text)
    assert os.read(pipe[0], 1 << 16).decode() == text


def test_a_full_pipe_holds_up_nobody(pipe: tuple[int, int]) -> None:
    while write_unless_blocked(pipe[1], "x" * 1000):
        pass
    os.read(pipe[0], 1 << 20)
    assert write_unless_blocked(pipe[1], "x" * 1000)


def test_a_reader_that_is_gone_is_an_error() -> None:
    ends = os.pipe()
    os.close(ends[0])
    with pytest.raises(BrokenPipeError):
        write_unless_blocked(ends[1], "x")
    os.close(ends[1])
