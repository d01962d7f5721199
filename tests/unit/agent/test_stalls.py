"""Who stood still for want of memory, as a share of the time between two looks."""

from __future__ import annotations

from smartharvest.agent.group_memory import Stalls

SECOND_NS = 1_000_000_000


def test_a_share_is_of_the_time_since_the_last_look() -> None:
    stalls = Stalls()
    shares = []
    for second, total_us in enumerate((500_000, 750_000, 750_000)):
        stalls.begin()
        shares.append(stalls.share("web", second * SECOND_NS, total_us))
    assert shares == [0.0, 0.25, 0.0]


def test_what_is_not_known_is_no_stall() -> None:
    stalls = Stalls()
    assert stalls.share("web", 0, None) == 0.0


def test_who_was_not_in_the_last_look_is_forgotten() -> None:
    """Primaries of a pattern come and go for years."""
    stalls = Stalls()
    stalls.begin()
    stalls.share("web", 0, 0)
    stalls.begin()
    stalls.begin()
    assert stalls.share("web", 2 * SECOND_NS, 1_000_000) == 0.0
