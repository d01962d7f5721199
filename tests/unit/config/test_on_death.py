"""When a dead agent's batch stays confined: only where another agent is certain to come."""

from __future__ import annotations

import pytest

from smartharvest.config.on_death import is_followed, leaves_minimum

UNIT = {"SMARTHARVEST_ON_DEATH": "minimum"}


@pytest.mark.parametrize(
    ("on_death", "environment", "stays"),
    [
        ("auto", {}, False),
        ("auto", UNIT, True),
        ("auto", {"SMARTHARVEST_ON_DEATH": "perhaps"}, False),
        ("auto", {"NOTIFY_SOCKET": "/run/notify"}, False),
        ("restore", UNIT, False),
        ("minimum", {}, True),
    ],
)
def test_it_stays_where_the_unit_or_the_user_says_so(
    on_death: str, environment: dict[str, str], stays: bool
) -> None:
    assert leaves_minimum(on_death, environment) is stays


def test_an_agent_that_ended_by_itself_has_put_everything_back() -> None:
    for result in ("signal", "core-dump", "watchdog", "oom-kill", "timeout"):
        assert is_followed({"SERVICE_RESULT": result})
    for result in ("success", "exit-code", "start-limit-hit", "resources", "protocol", ""):
        assert not is_followed({"SERVICE_RESULT": result})
    assert not is_followed({})
