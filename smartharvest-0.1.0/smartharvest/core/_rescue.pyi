from collections.abc import Sequence

from smartharvest.core._sensors import Sensor

class Rescue:
    """A thread on each of ``cpus`` that ends displacements there (csrc/actuators/rescue.h).

    For an elastic group under cpu.idle, and a ``sensor`` that tells displacements. With a
    ``fifo_priority`` of 0 they are ordinary threads. Raises OSError.
    """

    def __init__(self, sensor: Sensor, cpus: Sequence[int], fifo_priority: int) -> None: ...
    def close(self) -> None:
        """Ends the threads; harmless when they have ended."""

    @property
    def rescues(self) -> int:
        """How often a thread has woken for it."""
