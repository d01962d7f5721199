from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.config.durations import format_duration, parse_duration_ns
from smartharvest.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("25ms", 25_000_000),
        ("50us", 50_000),
        ("50µs", 50_000),
        ("1ns", 1),
        ("1.5s", 1_500_000_000),
        ("0.5us", 500),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1.5d", 129_600_000_000_000),
        (" 25 ms ", 25_000_000),
        ("007ms", 7_000_000),
    ],
)
def test_a_number_and_a_unit_make_nanoseconds(text: str, expected_ns: int) -> None:
    assert parse_duration_ns(text, "window") == expected_ns


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("25", "'25' has no unit; write 25s, or another of ns, us, ms, s, min, h or d"),
        (25, '25 has no unit; write it as a string such as "25ms"'),
        (25.0, "25.0 has no unit"),
        (True, "True has no unit"),
        ({}, "{} has no unit"),
        ("", "'' is not a duration; write a number and one of ns, us, ms, s, min, h or d"),
        ("ms", "'ms' is not a duration"),
        ("-1ms", "'-1ms' is not a duration"),
        ("1e3ms", "'1e3ms' is not a duration"),
        ("1,5s", "'1,5s' is not a duration"),
        ("1s 5ms", "'1s 5ms' is not a duration"),
        ("٣s", "'٣s' is not a duration"),
        ("1w", "unknown unit 'w' in '1w'; use ns, us, ms, s, min, h or d"),
        ("25MS", "is not a duration"),
        ("0ms", "'0ms' must be longer than zero"),
        ("0.4ns", "'0.4ns' must be longer than zero"),
        ("99999999999s", "'99999999999s' is longer than a year"),
        (f"{'9' * 400}ns", "is longer than a year"),
    ],
)
def test_anything_else_is_refused_with_the_key(value: object, words: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_duration_ns(value, "window")
    message = str(refusal.value)
    assert message.startswith("window: ")
    assert words in message


@given(st.integers(1, 10**15))
def test_what_is_formatted_is_parsed_back(duration_ns: int) -> None:
    assert parse_duration_ns(format_duration(duration_ns), "window") == duration_ns


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (25_000_000, "25ms"),
        (50_000, "50us"),
        (2_000_000_000, "2s"),
        (120_000_000_000, "2min"),
        (90_000_000_000, "90s"),
        (5_400_000_000_000, "90min"),
        (7_200_000_000_000, "2h"),
        (86_400_000_000_000, "1d"),
        (1_500, "1500ns"),
        (0, "0ns"),
    ],
)
def test_the_shortest_exact_spelling(duration_ns: int, text: str) -> None:
    assert format_duration(duration_ns) == text
