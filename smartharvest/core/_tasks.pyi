from collections.abc import Sequence

def start_times(tids: Sequence[int]) -> list[int]:
    """When each of these threads started, in clock ticks since boot; -1 for one that is gone."""
