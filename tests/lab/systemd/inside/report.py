"""What a scenario finds out, and how it is told: a line of JSON on the answer's serial line."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

ANSWER = "/dev/ttyS1"


@dataclass
class Finding:
    """What came of one scenario so far."""

    broken: list[str] = field(default_factory=list)
    """What did not hold; none of it is what a scenario is for."""
    figures: dict[str, float] = field(default_factory=dict)
    """Seconds of the guest's time, or counts."""
    notes: list[str] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> bool:
        """Takes ``what`` for broken unless it ``holds``."""
        if not holds:
            self.broken.append(what)
        return holds

    def took(self, name: str, seconds: float, what: str) -> bool:
        """A figure; ``what`` is broken if it never came (-1)."""
        if seconds >= 0:
            self.figures[name] = seconds
        return self.expect(seconds >= 0, what)

    def note(self, text: str) -> None:
        self.notes.append(text)


def tell(**what: Any) -> None:
    """One line to whoever started the guest."""
    line = os.open(ANSWER, os.O_WRONLY | os.O_NOCTTY)
    try:
        os.write(line, json.dumps(what).encode() + b"\n")
    finally:
        os.close(line)


def tell_of(name: str, finding: Finding, seconds: float) -> None:
    """The scenario's result."""
    outcome = "broken" if finding.broken else "held"
    tell(scenario=name, outcome=outcome, seconds=round(seconds, 1), **asdict(finding))
