import numpy as np
from numpy.typing import NDArray

from smartharvest.core._actuators import Actuator
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import Sensor

UNSEEN: int
"""As busy and demand: nobody looked."""
CHANGE: np.dtype[np.void]
"""From ``time_ns`` on, until the next change, so many cores are busy and wanted."""

Changes = NDArray[np.void]

class RecordingSensor(Sensor):
    """Passes the readings of ``inner`` on and notes their changes (csrc/lab/recorder.h)."""

    def __init__(self, inner: Sensor, poll_ns: int, gap_ns: int) -> None: ...
    @property
    def inner(self) -> Sensor: ...
    def take(self, most: int = 1 << 16) -> tuple[Changes, int]:
        """(changes, oldest first; the time up to which they tell all, 0 before the first)."""

    @property
    def counts(self) -> dict[str, int]:
        """changes noted, gaps among them, and changes lost because nobody took them in time."""

class TraceHost(Sensor):
    """A recorded host to run the loop on in virtual time (csrc/lab/trace_host.h).

    ``total`` is what the primary has when nothing is lent; ``actuator`` its other seam.
    """

    def __init__(self, total: int) -> None: ...
    @property
    def actuator(self) -> Actuator: ...
    def feed(self, changes: Changes, until_ns: int) -> None:
        """The next stretch of the trace, ascending CHANGEs that tell all up to ``until_ns``."""

    def play(self, loop: Loop, deadline_ns: int, until_ns: int) -> tuple[int, int]:
        """Drives the loop's polls before ``until_ns``; see sh_trace_host_play.

        (the next poll's deadline, 0 or the negative errno the loop halted on). Stops early when a
        window waits to be taken.
        """

    @property
    def shortage(self) -> dict[str, int]:
        """Cores wanted and not held: seen_ns, short_ns, short_core_ns, short_spells, short_most."""

    def waits(self) -> tuple[tuple[int, int], ...]:
        """How long each missing core was missing: (upper edge in ns, count), without empty ones."""
