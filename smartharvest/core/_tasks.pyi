from collections.abc import Sequence

def start_times(tids: Sequence[int]) -> list[int]:
    """When each of these threads started, in clock ticks since boot; -1 for one that is gone."""

def ask_for_slice(slice_ns: int) -> None:
    """The slice of the calling thread, 0.1 to 100 ms, or 0 for the kernel's own.

    Without effect on a real-time thread and before Linux 6.12. Raises OSError.
    """
