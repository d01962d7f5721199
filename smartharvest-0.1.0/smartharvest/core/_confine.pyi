from collections.abc import Iterable

def confine_threads(lists: Iterable[str], cpus: Iterable[int], passes: int = 1) -> int:
    """Gives all threads in ``lists`` the affinity ``cpus``; how many affinities were set.

    A list is a /proc/PID/task directory, or a group's `tasks` or `cgroup.threads`; it is read
    ``passes`` times, or until nobody has another affinity, since a thread may be born meanwhile.
    Lists that are gone, and threads that have ended or may not have these CPUs, are passed over.
    Raises ValueError for a CPU number beyond the mask.
    """
