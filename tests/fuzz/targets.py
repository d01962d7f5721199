"""All targets, by name."""

from __future__ import annotations

from tests.fuzz import engines, files, fleets, sockets, texts
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    one.name: one
    for one in (*texts.TARGETS, *files.TARGETS, *sockets.TARGETS, *engines.TARGETS, *fleets.TARGETS)
}
