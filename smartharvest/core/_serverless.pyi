"""Binding of simulated functions and workers (csrc/lab/serverless/)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANGE: np.dtype[np.void]
"""What happens to a worker: ``at_ns``, ``value`` (cores, or seconds of a notice), ``slot``,
``kind``, in the order of time."""
ARRIVES: int
RESIZED: int
NOTICED: int
EVICTED: int

class Random:
    """The random stream that a balancer of this seed and stream draws from."""

    def __init__(self, seed: int, stream: int) -> None: ...
    def below(self, count: int) -> int:
        """In 0..count-1."""

class Balancer:
    """One balancer of the simulator, alone: for holding it against the Python ones."""

    def __init__(
        self, kind: str, functions: int, slots: int, seed: int, stream: int, **options: float
    ) -> None: ...
    def choose(
        self,
        function: int,
        hash_: int,
        memory_mib: float,
        workers: Mapping[int, Any],
        now_s: float,
        name: str,
    ) -> int | None:
        """The slot of one of ``workers``, slot -> what is known of it; None if nobody may."""

def run(
    *,
    kind: str,
    options: Mapping[str, float],
    controllers: int,
    seed: int,
    retries: int,
    report_ns: int,
    keep_alive_ns: int,
    measure_until_ns: int,
    give_up_ns: int,
    changes: NDArray[np.void],
    worker_memory_mib: NDArray[np.float64],
    worker_min_cores: NDArray[np.float64],
    worker_regular: NDArray[np.uint8],
    function_hash: NDArray[np.uint32],
    function_memory_mib: NDArray[np.float64],
    function_cold_ns: NDArray[np.int64],
    function_regular: NDArray[np.uint8],
    function_idempotent: NDArray[np.uint8],
    arrival_ns: NDArray[np.int64],
    function: NDArray[np.uint32],
    work_ns: NDArray[np.int64],
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Runs everything; see csrc/lab/serverless/cluster_run.h for what the arrays are.
    ``progress`` gets the simulated time in nanoseconds, now and then.

    The result has an array each for ``end_ns``, ``worker``, ``cold``, ``attempts`` (an entry an
    invocation) and ``core_ns``, ``busy_core_ns`` (an entry a worker), and the counts ``retried``,
    ``handed_back``, ``evictions``, ``notices``, ``events``. Raises ValueError for arrays that do
    not fit one another.
    """
