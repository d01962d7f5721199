from __future__ import annotations

from smartharvest.agent.backoff import LONGEST_S, SHORTEST_S, Backoff


def test_who_is_disturbed_again_and_again_waits_twice_as_long_each_time() -> None:
    retreat = Backoff()
    waits = [retreat.next_wait_s(1.0) for _ in range(10)]
    assert waits[:4] == [SHORTEST_S, 20.0, 40.0, 80.0]
    assert waits[-1] == LONGEST_S
    assert retreat.times == 10


def test_after_a_long_time_in_peace_the_wait_is_short_again() -> None:
    retreat = Backoff()
    for _ in range(3):
        retreat.next_wait_s(1.0)
    assert retreat.next_wait_s(1000.0) == SHORTEST_S
