"""One JSON object a line: what is taken, and what is told to those who send something else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.telemetry import protocol
from smartharvest.telemetry.protocol import (
    VERSION,
    ProtocolError,
    Request,
    format_error,
    format_request,
    format_result,
    parse_answer,
    parse_request,
)


def test_a_request_arrives_as_it_was_sent() -> None:
    line = format_request("set-policy", {"policy": "prev-peak:4"})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert parse_request(line) == Request("set-policy", {"policy": "prev-peak:4"})


def test_arguments_may_be_left_out() -> None:
    line = json.dumps({"v": VERSION, "command": "status"}).encode()
    assert parse_request(line) == Request("status", {})


@pytest.mark.parametrize("result", [None, 0, "x", [1, 2], {"a": {"b": None}}])
def test_a_result_arrives_as_it_was_told(result: object) -> None:
    assert parse_answer(format_result(result)) == result


def test_an_error_arrives_as_one() -> None:
    with pytest.raises(ProtocolError, match=r"^no such\nthing$"):
        parse_answer(format_error("no such\nthing"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "the line is no JSON"),
        (b"\xff\xfe", "the line is no JSON"),
        (b"[" * 100_000, "the line is no JSON"),
        (b"[1]", "the line is no JSON object"),
        (b"{}", f"version None is unknown; this is {VERSION}"),
        (b'{"v": 99, "command": "status"}', "version 99 is unknown"),
        (b'{"v": 1}', "a request needs a command"),
        (b'{"v": 1, "command": 7}', "a request needs a command"),
        (b'{"v": 1, "command": "status", "arguments": [1]}', "an object of arguments"),
    ],
)
def test_what_is_no_request_is_told_why(line: bytes, words: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        parse_request(line)
    assert words in str(refused.value)


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_worse(line: bytes) -> None:
    for parse in (parse_request, parse_answer):
        with pytest.raises(ProtocolError):
            parse(line)


def test_an_answer_that_is_too_long_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LONGEST_ANSWER", 100)
    with pytest.raises(ProtocolError, match="too long"):
        format_result("x" * 100)
