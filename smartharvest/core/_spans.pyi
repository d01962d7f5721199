"""How many spans were how long, in C."""

from collections.abc import Iterable

class SpanCounts:
    """How many were how long, to 1.1 percent; counts may fade, and be taken away again."""

    @property
    def total(self) -> float:
        """Of all spans."""

    def add(self, durations: Iterable[tuple[int, float]], times: float = 1) -> None:
        """Of (middle of a bucket a sixteenth of an octave wide, in ns, count) each ``times`` as
        many; -1 takes integer counts away again."""

    def scale(self, factor: float) -> None:
        """All count ``factor`` times as much."""

    def clear(self) -> None:
        """Forgets all."""

    def beyond(self, limit_ns: float, delays: SpanCounts | None = None) -> float:
        """How many are longer, each with one of the ``delays``, if there are any, on top."""

    def quantile_ns(self, q: float, delays: SpanCounts | None = None) -> float:
        """What the share ``q`` is at most as long as, with such delays; 0 without spans."""

    def by_time(self, q: float) -> SpanCounts:
        """Each counts for its nanoseconds, but for the longest beyond the share ``q``: ``beyond``
        and ``quantile_ns`` of these tell of the time that all take."""

    def longest(self, share: float) -> SpanCounts:
        """The longest ones, that share of all."""
