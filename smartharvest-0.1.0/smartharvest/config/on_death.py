"""What a dead agent's batch is left with: the setting, and what its service manager makes of it."""

from __future__ import annotations

from collections.abc import Mapping

VARIABLE = "SMARTHARVEST_ON_DEATH"
"""What ``auto`` means; the packaged unit sets it, since it starts the next agent."""

_DEATHS = ("signal", "core-dump", "watchdog", "oom-kill", "timeout")
"""Values of $SERVICE_RESULT (systemd.exec(5)) after an agent that put nothing back."""


def leaves_minimum(on_death: str, environment: Mapping[str, str]) -> bool:
    """Whether the batch keeps its minimum until the next agent, instead of getting all back.

    A restored batch is an unconfined one, so it may not be restored where an agent comes next; and
    has to be where none does. In doubt it is restored.
    """
    return (environment.get(VARIABLE) if on_death == "auto" else on_death) == "minimum"


def is_followed(environment: Mapping[str, str]) -> bool:
    """Whether a service manager that runs us after an agent's death starts another one."""
    return environment.get("SERVICE_RESULT") in _DEATHS
