from collections.abc import Iterable, Sequence

def confine_threads(lists: Iterable[str], cpus: Iterable[int], passes: int = 1) -> int:
    """Gives all threads in ``lists`` the affinity ``cpus``; how many affinities were set.

    A list is a /proc/PID/task directory, or a group's `tasks` or `cgroup.threads`; it is read
    ``passes`` times, or until nobody has another affinity, since a thread may be born meanwhile.
    Lists that are gone, and threads that have ended or may not have these CPUs, are passed over.
    Raises ValueError for a CPU number beyond the mask.
    """

def give_back(
    tids: Sequence[int],
    known: Sequence[Iterable[int]],
    every: Iterable[int],
    within: Iterable[int],
) -> list[int]:
    """Gives threads the affinity ``known[0]``, unless they have one that is not ``known``.

    Where that is all a cpuset has, and it has all of ``within``, a thread gets ``every`` CPU: no
    affinity of its own. For each thread the number of the known one that it had; ``len(known)`` if
    it stays as it is; ``-errno`` if the kernel refused. Raises ValueError for a CPU number beyond
    the mask.
    """
