"""Binding of the choice of cores (csrc/actuators/lend_order.h). It converts and owns memory."""

from collections.abc import Collection, Sequence

from smartharvest.core._sensors import Sensor

MAX_CPUS: int
"""CPU numbers are below."""
SLOT_BYTES: int
"""Of a set of CPUs: bit c of the little-endian number is CPU c."""

class LendOrder:
    """Which core is lent next: the one longest free of the primary, as ``sensor`` tells.

    ``cpus`` is the static order, whole cores of ``unit`` CPUs; the first ``fixed`` stay where they
    are, and ``elastic_min`` of them are the elastic group's at level 0 of ``levels``. ``kinds``
    tells cores apart that are better or worse to lend for any user, the best being 0.
    ``rules`` are (own, always) of each file: its mask is what is lent of its own CPUs, and those it
    always has. ``slots`` has room for two sets. Raises ValueError for invalid values.
    """

    def __init__(
        self,
        cpus: Sequence[int],
        kinds: Sequence[int],
        *,
        unit: int,
        fixed: int,
        elastic_min: int,
        levels: int,
        rules: Sequence[tuple[Collection[int], Collection[int]]],
        sensor: Sensor,
        slots: memoryview | bytearray | None = None,
    ) -> None: ...
    @property
    def sensor(self) -> Sensor: ...
    @property
    def address(self) -> int:
        """Of its struct sh_lend_order, for an actuator and a loop."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """All that can be lent, those that are first."""

    @property
    def masks(self) -> list[str]:
        """What each file has. Wrong while the loop moves cores: ask whether it has."""
