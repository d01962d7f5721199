"""Times as options take them: seconds, or a number with a unit."""

from __future__ import annotations

import click
import pytest

from smartharvest.cli.time_span import seconds_between

PARAMETER = click.Option(["--seconds"])
TIMES = {"90": 90, "0.5": 0.5, "5min": 300, "2h": 7200, "1d": 86400, "1500ms": 1.5}


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_seconds_or_has_a_unit(text: str) -> None:
    parse = seconds_between(0.1)
    assert parse(click.Context(click.Command("x")), PARAMETER, text) == TIMES[text]
    assert parse(click.Context(click.Command("x")), PARAMETER, None) is None
