"""Where a control loop's decisions go: into the last quarter of an hour, and into the audit log."""

from __future__ import annotations

import time

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.safeguard import PeriodWaits
from smartharvest.core import _loop
from smartharvest.core.window import Window
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.recent import Recent
from smartharvest.telemetry.spans import Span, SpanBuilder


class Recorder:
    """Of one run. ``every``: whether the audit log has each decision, or a span a second."""

    def __init__(self, recent: Recent, audit: AuditLog | None, *, every: bool) -> None:
        self._recent = recent
        self._audit = audit
        self.every = every and audit is not None
        """Whether each window is recorded by itself."""
        self._builder = SpanBuilder()

    def decision(self, window: Window, decision: Decision, lent: int, held_by: str | None) -> None:
        """``lent``: cores that the elastic group has; ``held_by``: why the plan is not in force."""
        at_s = time.time() - (_loop.monotonic_ns() - window.end_ns) / 1e9
        self._recent.note(window, decision, held_by, at_s)
        if self._audit is not None and self.every:
            self._audit.decision(window, decision, lent, held_by)
        span = self._builder.add(window, decision, lent, held_by, at_s)
        if span is not None:
            self._keep(span)

    def waits(self, waits: PeriodWaits) -> None:
        """What a period of the long-term safeguard has seen."""
        self._builder.add_waits(waits)

    def close(self) -> None:
        """Records the span that has not ended."""
        span = self._builder.take()
        if span is not None:
            self._keep(span)

    def _keep(self, span: Span) -> None:
        self._recent.add(span)
        if self._audit is not None and not self.every:
            self._audit.span(span)
