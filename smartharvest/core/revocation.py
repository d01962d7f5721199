"""What lending rests on and may end without us, as the loop's thread hears of it."""

from __future__ import annotations

from typing import Protocol


class Revocation(Protocol):
    """Says when nothing may be lent any more, and when something may again."""

    @property
    def slot(self) -> memoryview:
        """Four bytes that others write: not 0 while nothing may be lent."""

    @property
    def fd(self) -> int:
        """Readable by then; -1: the loop looks at the slot when it would look anyway."""
