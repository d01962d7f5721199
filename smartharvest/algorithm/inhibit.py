"""Why nothing is lent: one reason for each cause, counted each time one comes up."""

from __future__ import annotations

import logging
from collections import Counter

_log = logging.getLogger(__name__)


class InhibitReasons:
    """While any cause has a reason, nothing is lent."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        """How often each cause came up."""

    @property
    def reason(self) -> str | None:
        """All reasons there are now; None: cores may be lent."""
        return "; ".join(self._reasons.values()) or None

    def of(self, cause: str) -> str | None:
        """The reason that ``cause`` has now, if any."""
        return self._reasons.get(cause)

    def set(self, cause: str, reason: str | None) -> bool:
        """Sets the reason of ``cause``, None for none; True if lending stops with this call."""
        inhibited = bool(self._reasons)
        if reason is None:
            if self._reasons.pop(cause, None) is not None and not self._reasons:
                _log.info("Cores can be lent again")
            return False
        if cause not in self._reasons:
            self.counts[cause] += 1
            _log.warning("%s; nothing is lent until that changes", reason)
        self._reasons[cause] = reason
        return not inhibited
