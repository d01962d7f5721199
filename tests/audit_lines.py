"""Lines of an audit log, as an agent writes them."""

from __future__ import annotations

import json


def decision(at_s: float, lent: int) -> str:
    """The line of a decision while ``lent`` cores are lent."""
    numbers = dict.fromkeys(("seq", "primary", "harvest", "safe", "busy", "demand", "had"), 1)
    said = {"reason": "x", "exhausted": False, "held_by": None, **numbers, "lent": lent}
    return json.dumps({"t": at_s, "kind": "decision", **said}) + "\n"
