"""Where an agent's doings can be read: its audit log, its metrics, and its last warnings."""

from __future__ import annotations

import logging
from typing import Any

from smartharvest.agent.web_page import WebPage
from smartharvest.config.settings import Settings
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.metrics import Metrics
from smartharvest.telemetry.status import Warnings

_package_log = logging.getLogger("smartharvest")


class Outputs:
    """Of one supervisor. Warnings are collected between ``begin`` and ``close``.

    The ``page`` outlives it.
    """

    def __init__(self, settings: Settings, page: WebPage) -> None:
        self._settings = settings
        self._page = page
        self.audit: AuditLog | None = None
        self.metrics: Metrics | None = None
        self.warnings = Warnings()

    def begin(self) -> None:
        """Collects warnings from now on."""
        _package_log.addHandler(self.warnings)

    def open(self) -> None:
        """Once no other agent can have them open: a second start of one configuration has not.

        Raises Unavailable.
        """
        settings = self._settings
        if settings.audit_log is not None:
            self.audit = AuditLog(settings.audit_log, settings.audit_size_bytes)
            self.warnings.record_in(self.audit)
        if settings.metrics is not None:
            self.metrics = Metrics(settings.metrics)
        self._page.open(settings)

    def event(self, kind: str, **details: Any) -> None:
        """Notes something that was done, if there is an audit log."""
        if self.audit is not None:
            self.audit.event(kind, **details)

    def close(self, why: str) -> None:
        """The audit log ends with ``why``."""
        _package_log.removeHandler(self.warnings)
        if self.metrics is not None:
            self.metrics.close()
            self.metrics = None
        if self.audit is not None:
            self.audit.event("ended", why=why)
            self.audit.close()
