from array import array
from collections.abc import Sequence
from mmap import mmap

def set_parent_death_signal(signal_number: int) -> None:
    """Have the kernel send ``signal_number`` when the thread that started this process ends.

    See PR_SET_PDEATHSIG in prctl(2). Raises OSError.
    """

def process_cpu_ns(pid: int) -> int:
    """CPU time all threads of ``pid`` have used, nanoseconds; ProcessLookupError if it is gone."""

def calibrate() -> int:
    """Steps of work one CPU does in a millisecond. Takes about 40 ms."""

class Server:
    """A pool of ``workers`` sleeping threads; OSError if they cannot be started."""

    def __init__(self, workers: int) -> None: ...
    def serve(
        self,
        arrival_ns: array[int],
        work: array[int],
        latency_ns: array[int],
        steps_per_ms: int = 0,
    ) -> None:
        """Serve one slice of open-loop traffic; return when every request is complete.

        The three arrays are of type ``q`` and of one length (else ValueError): intended arrivals
        in nanoseconds after the call, ascending; steps of work, or with ``steps_per_ms`` (about)
        nanoseconds of CPU time; and, filled in, the latencies from the intended arrival in
        nanoseconds. The calling thread generates the load.
        """

    def stop(self) -> None: ...

class Bully:
    """Threads that sum integers while ``block`` says so; OSError if they cannot be started.

    ``block`` is shared memory of at least ``bully_block_size(threads)`` bytes (else ValueError);
    zeroed memory is a paused bully.
    """

    def __init__(self, block: mmap, threads: int) -> None: ...
    def stop(self) -> None: ...

def bully_block_size(threads: int) -> int:
    """Bytes of the shared memory of a bully of ``threads`` threads."""

def switch_bully(block: mmap, running: bool) -> None:
    """Let the bully of ``block`` run or sleep, from any process that shares it."""

def bully_units(block: mmap, threads: int) -> int:
    """Units of ``SH_BULLY_SUMS_PER_UNIT`` additions that all threads together have done."""

class StandstillWatch:
    """A thread of the highest real-time priority on each of ``cpus``, waking every ``period_ns``.

    Raises PermissionError without real-time rights, OSError for a CPU that is not there or not
    allowed, ValueError for none.
    """

    def __init__(self, cpus: Sequence[int], period_ns: int, least_late_ns: int) -> None: ...
    def gaps(self) -> list[list[tuple[int, int]]]:
        """For each CPU, ascending: from when until when (CLOCK_MONOTONIC) a thread slept that
        should have woken more than ``least_late_ns`` before. The first 1,024 of each are kept."""

    def stop(self) -> None: ...
