"""Parts of the agent that no setting switches off, switched off for an ablation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from smartharvest.algorithm import safeguard
from smartharvest.core.window import Window
from smartharvest.mechanism.cpuset import CpusetMechanism


class _Nothing:
    """Instead of a short-term safeguard: an exhausted buffer stays as it is."""

    def __init__(self, total: int) -> None:
        self._total = total

    def observe(self, _window: Window) -> None:
        """Nothing to remember."""

    def safe_cores(self, primary_cores: int) -> int:
        return min(self._total, primary_cores)


NEVER = property(lambda _self: False, lambda _self, _value: None)

PATCHES: dict[str, Any] = {
    "short-term safeguard": lambda: mock.patch.dict(
        safeguard.SHORT_TERM_SAFEGUARDS, {"none": _Nothing}
    ),
    "nudge": lambda: mock.patch.object(CpusetMechanism, "may_nudge", NEVER, create=True),
}


@contextmanager
def without(part: str | None) -> Iterator[None]:
    """Inside it, an agent that starts lacks ``part``; with None it lacks nothing."""
    if part is None:
        yield
        return
    with PATCHES[part]():
        yield
