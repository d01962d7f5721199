# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the sensors in C (csrc/sensors/). It converts and owns memory; it decides nothing."""

import os
from collections.abc import Collection, Sequence

cimport cython
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from smartharvest.core._c cimport (
    bpf_sensor,
    clock,
    fake_events,
    fake_sensor,
    perf_sensor,
    proc_sensor,
    sensor,
    stat_sensor,
)
from smartharvest.core._c.memory cimport allocate
from smartharvest.core._c.task_list cimport (
    SH_MAX_TASK_SOURCES,
    sh_task_source,
    sh_task_sources,
)


cdef class Sensor:
    """Base: what tells the loop who runs (csrc/sensors/sensor.h)."""

    def __cinit__(self, *_: object, **__: object) -> None:
        self.seam.wake_fd = -1

    @property
    def sees_changes(self) -> bool:
        """It can weigh windows by time."""
        return self.seam.collect is not NULL

    @property
    def tells_cpus_apart(self) -> bool:
        """It knows which CPUs the primary has used, and when."""
        return self.seam.free_for is not NULL

    @property
    def wakes(self) -> bool:
        """It can wake the loop when the idle buffer runs out."""
        return self.seam.wake_fd >= 0

    @property
    def tells_waits(self) -> bool:
        """It sees each dispatch of the primaries' tasks: how long they waited and ran."""
        return False

    @property
    def tells_harm(self) -> bool:
        """It sees what lending costs each primary (BpfSensor.harm)."""
        return False

    @property
    def tells_runners(self) -> bool:
        """It knows who runs on each CPU."""
        return False

    @property
    def tells_displacements(self) -> bool:
        """It sees that an elastic task gets a CPU that others wait for (Rescue)."""
        return self.displacements_seam.signal is not NULL

    @property
    def wants_visits(self) -> bool:
        """``attend`` has something to do, which cannot wait long."""
        return False

    def attend(self) -> None:
        """Does what the sensor needs to have done outside the loop; to be called often."""

    def resync(self) -> int:
        """Has it put itself right, once a second. By how much it was wrong, in CPUs and tasks.

        Raises OSError.
        """
        return 0

    @property
    def overruns(self) -> int:
        """How often the kernel reported less than happened."""
        return 0

    @property
    def displacements(self) -> int:
        """How often an elastic task got a CPU that others waited for, while somebody rescues."""
        return 0

    def count_minimum(self, counts: bool) -> None:
        """Whether from now on what the elastic group has with nothing lent counts as lent in what
        the sensor tells of harm."""

    def excuse_caps(self, excuses: bool) -> None:
        """Whether from now on what a primary waits since its own group has used up its CPU time is
        left out of the harm that the sensor tells; at first it is not."""

    def mind_affinity(self, minds: bool) -> None:
        """Whether from now on what runs on CPUs that a primary's task may not use is left out of
        the harm that the sensor tells; at first it is not, nor is it to be where lending is what
        takes them from it."""

    def primary_times_ns(self, cpu: int) -> tuple[int, int]:
        """How long primary tasks have run on ``cpu``, and of that while it was lent; 0 and 0 where
        it cannot tell."""
        return 0, 0

    def busy_core_ns(self) -> int | None:
        """Nanoseconds that cores ran the primaries since the start, summed up to now; None: it
        tells only who looks again and again, as the loop does."""
        return None

    def runner(self, cpu: int) -> str:
        """Who runs on ``cpu`` now: primary, elastic, other, idle or unknown."""
        return "unknown"

    @property
    def seam_address(self) -> int:
        """Of its struct sh_sensor, for benchmarks in C."""
        return <size_t> &self.seam

    def close(self) -> None:
        """Lets go of descriptors; the sensor must not be read afterwards."""

    def read(self, now_ns: int) -> tuple[int, int]:
        """(busy cores, demand in cores) now. Raises OSError with the sensor's errno."""
        cdef sensor.sh_reading reading
        cdef int err
        cdef int64_t now = now_ns
        with nogil:
            err = self.seam.read(self.seam.ctx, now, &reading)
        if err:
            raise OSError(-err, os.strerror(-err))
        return reading.busy, reading.demand

    def time_reads(self, repeat: int) -> list[int]:
        """Nanoseconds each of ``repeat`` readings took, reading the clock included."""
        cdef sensor.sh_reading reading
        cdef int64_t start, end, i, count = repeat
        cdef int err = 0
        cdef int64_t *took = <int64_t *> allocate(max(1, count), sizeof(int64_t))
        try:
            with nogil:
                start = clock.sh_monotonic_ns()
                for i in range(count):
                    err = self.seam.read(self.seam.ctx, start, &reading)
                    if err:
                        break
                    end = clock.sh_monotonic_ns()
                    took[i] = end - start
                    start = end
            if err:
                raise OSError(-err, os.strerror(-err))
            return [took[i] for i in range(count)]
        finally:
            PyMem_Free(took)


cdef class FakeSensor(Sensor):
    """Plays a script of busy counts, or counts the cores marked busy (fake_sensor.h)."""

    cdef fake_sensor.sh_fake_sensor fake
    cdef int32_t *script
    cdef uint8_t *cores
    cdef int64_t *free_ns

    def __cinit__(self, script: list[int] | None = None, core_count: int = 0) -> None:
        cdef Py_ssize_t i
        if script is not None:
            self.script = <int32_t *> allocate(max(1, len(script)), sizeof(int32_t))
            for i in range(len(script)):
                self.script[i] = script[i]
            self.fake.script = self.script
            self.fake.script_length = len(script)
        self.cores = <uint8_t *> allocate(max(1, core_count), 1)
        self.fake.cores = <const fake_sensor.atomic_uint8_t *> self.cores
        self.fake.core_count = core_count
        self.free_ns = <int64_t *> allocate(max(1, core_count), sizeof(int64_t))
        self.fake.free_ns = <const fake_sensor.atomic_int64_t *> self.free_ns
        fake_sensor.sh_fake_sensor_init(&self.fake, &self.seam)

    def __dealloc__(self) -> None:
        PyMem_Free(self.script)
        PyMem_Free(self.cores)
        PyMem_Free(self.free_ns)

    def set_busy(self, busy: int) -> None:
        """Marks the first ``busy`` cores busy, the others idle."""
        cdef size_t i
        for i in range(self.fake.core_count):
            self.cores[i] = i < <size_t> busy

    def set_free(self, core: int, free_ns: int) -> None:
        """Marks a core idle for so long, or busy with 0."""
        if not 0 <= core < <Py_ssize_t> self.fake.core_count:
            raise ValueError(f"there is no core {core}")
        self.cores[core] = free_ns == 0
        self.free_ns[core] = free_ns

    @property
    def exhausted_script(self) -> bool:
        """The last entry of the script is being repeated."""
        return self.fake.position + 1 >= self.fake.script_length


# C code, in the loop's thread even, uses what these classes hold until __dealloc__. Hence
# no_gc_clear and tuples: the collector empties lists that are in a garbage cycle or behind one. It
# calls every __del__ before, where the loop ends its thread.
@cython.no_gc_clear
cdef class FakeEvents(Sensor):
    """Sees every change because its owner reports it (csrc/sensors/fake_events.h)."""

    cdef fake_events.sh_fake_events fake

    def __cinit__(self, now_ns: int = 0) -> None:
        cdef int err = fake_events.sh_fake_events_init(&self.fake, now_ns, &self.seam)
        if err:
            raise OSError(-err, os.strerror(-err))

    def __dealloc__(self) -> None:
        if self.seam.wake_fd >= 0:
            fake_events.sh_fake_events_destroy(&self.fake)

    def set_busy(self, now_ns: int, busy: int, demand: int = 0) -> None:
        """From ``now_ns`` on ``busy`` cores are busy and ``demand``, or as many, are wanted."""
        fake_events.sh_fake_events_set(&self.fake, now_ns, busy, demand)

    def fail(self, error: int) -> None:
        """Makes readings fail with this errno from now on; 0: they work again."""
        fake_events.sh_fake_events_fail(&self.fake, -error)


cdef tuple open_sources(
    sh_task_sources *opened, sources: list[tuple[str, int]], allocations: list[int]
):
    """Fills ``*opened``; the descriptors, which the caller closes."""
    cdef sh_task_source *source
    if len(sources) > SH_MAX_TASK_SOURCES:
        raise ValueError(f"more than {SH_MAX_TASK_SOURCES} primary groups")
    if len(allocations) > SH_MAX_TASK_SOURCES:
        raise ValueError(f"more than {SH_MAX_TASK_SOURCES} primaries")
    for path, primary in sources:
        if not 0 <= primary < len(allocations):
            raise ValueError(f"{path}: primary {primary} has no allocation")
    for i, allocation in enumerate(allocations):
        opened.allocations[i] = allocation
    opened.primary_count = len(allocations)
    fds = []
    try:
        for path, primary in sources:
            fds.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            source = &opened.source[opened.count]
            source.fd = fds[-1]
            source.directory = os.path.isdir(path)
            source.primary = primary
            opened.count += 1
    except BaseException:
        for fd in fds:
            os.close(fd)
        opened.count = 0
        raise
    return tuple(fds)


cdef class ProcSensor(Sensor):
    """Task states from /proc (csrc/sensors/proc_sensor.h).

    ``sources`` are (path, primary index): a `tasks` / `cgroup.threads` file or a /proc/PID/task
    directory; ``allocations`` the cores each primary may count for.
    """

    cdef proc_sensor.sh_proc_sensor *proc
    cdef object fds

    def __cinit__(
        self, sources: list[tuple[str, int]], allocations: list[int], rescan_ns: int = 5_000_000
    ) -> None:
        self.proc = <proc_sensor.sh_proc_sensor *> allocate(1, sizeof(proc_sensor.sh_proc_sensor))
        self.fds = open_sources(&self.proc.sources, sources, allocations)
        self.proc.rescan_ns = rescan_ns
        proc_sensor.sh_proc_sensor_init(self.proc, &self.seam)

    def __dealloc__(self) -> None:
        self.close()
        PyMem_Free(self.proc)

    def close(self) -> None:
        if self.proc is not NULL:
            proc_sensor.sh_proc_sensor_close(self.proc)
            self.proc.sources.count = 0
        fds, self.fds = self.fds, ()
        for fd in fds or ():
            os.close(fd)

    @property
    def tasks_seen(self) -> int:
        """Primary tasks at the last listing."""
        return self.proc.tasks_seen


cdef class StatSensor(Sensor):
    """Idle counters of /proc/stat, for comparison (csrc/sensors/stat_sensor.h).

    ``pool`` are the CPUs that count while they are not lent; ``allocation`` caps the answer.
    """

    cdef stat_sensor.sh_stat_sensor *stat
    cdef int fd

    def __cinit__(self, pool: Sequence[int], allocation: int) -> None:
        self.fd = -1
        if len(pool) > stat_sensor.SH_STAT_MAX_CPUS:
            raise ValueError(f"more than {stat_sensor.SH_STAT_MAX_CPUS} CPUs")
        self.stat = <stat_sensor.sh_stat_sensor *> allocate(1, sizeof(stat_sensor.sh_stat_sensor))
        for i, cpu in enumerate(pool):
            if not 0 <= cpu < stat_sensor.SH_STAT_MAX_CPUS:
                raise ValueError(f"CPU {cpu} is beyond what is read of /proc/stat")
            self.stat.pool[i] = cpu
        self.stat.core_count = len(pool)
        self.stat.allocation = allocation
        self.fd = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self.stat.fd = self.fd
        stat_sensor.sh_stat_sensor_init(self.stat, &self.seam)

    def __dealloc__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        PyMem_Free(self.stat)


cdef class PerfSensor(Sensor):
    """Records of every context switch, without BPF (csrc/sensors/perf_sensor.h).

    ``sources`` and ``allocations`` as of ProcSensor. Tasks that are moved into a group are seen
    after ``attend``, born ones at once. Raises OSError, with what failed as its text, where the
    kernel or the rights do not allow it.
    """

    cdef perf_sensor.sh_perf_sensor *perf
    cdef object fds
    cdef bint opened

    def __cinit__(
        self, sources: list[tuple[str, int]], allocations: list[int], list_ns: int = 100_000_000
    ) -> None:
        cdef const char *reason = NULL
        cdef int err
        self.perf = <perf_sensor.sh_perf_sensor *> allocate(1, sizeof(perf_sensor.sh_perf_sensor))
        self.fds = open_sources(&self.perf.sources, sources, allocations)
        self.perf.list_ns = list_ns
        with nogil:
            err = perf_sensor.sh_perf_sensor_open(self.perf, &self.seam, &reason)
        if err:
            what = (<bytes> reason).decode()
            raise OSError(-err, f"{what}: {os.strerror(-err)}")
        self.opened = True

    def __dealloc__(self) -> None:
        self.close()
        PyMem_Free(self.perf)

    def close(self) -> None:
        if self.opened:
            perf_sensor.sh_perf_sensor_close(self.perf)
            self.opened = False
        fds, self.fds = self.fds, ()
        for fd in fds or ():
            os.close(fd)

    @property
    def wants_visits(self) -> bool:
        return True

    @property
    def overruns(self) -> int:
        """Of a ring."""
        return self.perf.counts.overruns

    def attend(self) -> None:
        """Lists the tasks if it is time to; what fails fails the next reading."""
        if self.opened:
            with nogil:
                perf_sensor.sh_perf_sensor_list(self.perf, clock.sh_monotonic_ns())

    @property
    def counts(self) -> dict[str, int]:
        """Since the start: records, overruns of a ring and corrections of who runs on a CPU; and
        the tasks known now."""
        return dict(self.perf.counts)


_HIERARCHIES = {
    "pid": bpf_sensor.SH_BPF_PROCESS,
    "v2": bpf_sensor.SH_BPF_V2,
    "cpuset": bpf_sensor.SH_BPF_V1_CPUSET,
    "cpu": bpf_sensor.SH_BPF_V1_CPU,
}


_PARTS = {
    "waits": bpf_sensor.SH_BPF_WAITS,
    "levels": bpf_sensor.SH_BPF_LEVELS,
    "demand": bpf_sensor.SH_BPF_DEMAND,
    "runs": bpf_sensor.SH_BPF_RUNS,
    "harm": bpf_sensor.SH_BPF_HARM,
}
BPF_PARTS = tuple(_PARTS)
_RUNNERS = {
    bpf_sensor.SH_BPF_UNKNOWN: "unknown",
    bpf_sensor.SH_BPF_IDLE: "idle",
    bpf_sensor.SH_BPF_OTHER: "other",
    bpf_sensor.SH_BPF_ELASTIC: "elastic",
    bpf_sensor.SH_BPF_PRIMARY: "primary",
}


cdef class BpfSensor(Sensor):
    """The scheduler's own view, by a program at every context switch (csrc/sensors/bpf_sensor.h).

    ``targets`` are (hierarchy, id, index of the primary, or -1 for the elastic side): hierarchy is
    ``v2``, ``cpuset`` or ``cpu`` (the id being the inode of the group's directory) or ``pid``.
    ``parts`` are those of BPF_PARTS the program shall have. ``used_cpus`` are those whose use it
    looks at all the time, so that it can tell how long each was free; ``pool`` those that a waiting
    task might have used (all that this process may, if empty). Raises OSError, with what failed as
    its text, where the kernel or the rights do not allow it.
    """

    cdef bpf_sensor.sh_bpf_sensor *bpf
    cdef bint opened

    def __cinit__(
        self,
        targets: list[tuple[str, int, int]],
        allocations: list[int],
        wait_threshold_ns: int = 50_000,
        parts: Collection[str] = BPF_PARTS,
        used_cpus: Sequence[int] = (),
        pool: Collection[int] = (),
    ) -> None:
        cdef bpf_sensor.sh_bpf_config config
        cdef const char *reason = NULL
        cdef int err
        if len(targets) > bpf_sensor.SH_BPF_MAX_TARGETS:
            raise ValueError(f"more than {bpf_sensor.SH_BPF_MAX_TARGETS} groups and processes")
        if not 0 < len(allocations) <= bpf_sensor.SH_BPF_MAX_PRIMARIES:
            raise ValueError(f"1 to {bpf_sensor.SH_BPF_MAX_PRIMARIES} primaries can be told apart")
        memset(&config, 0, sizeof(config))
        for i, (hierarchy, number, primary) in enumerate(targets):
            if not -1 <= primary < len(allocations):
                raise ValueError(f"there is no primary {primary}")
            config.targets[i].hierarchy = _HIERARCHIES[hierarchy]
            config.targets[i].id = number
            config.targets[i].runner = (
                bpf_sensor.SH_BPF_ELASTIC if primary < 0 else bpf_sensor.SH_BPF_PRIMARY + primary
            )
        config.target_count = len(targets)
        for i, allocation in enumerate(allocations):
            config.allocations[i] = allocation
        config.primary_count = len(allocations)
        for part in parts:
            config.parts |= _PARTS[part]
        config.wait_threshold_ns = wait_threshold_ns
        if len(used_cpus) > bpf_sensor.SH_BPF_MAX_CPUS:
            raise ValueError(f"more than {bpf_sensor.SH_BPF_MAX_CPUS} CPUs")
        for i, cpu in enumerate(used_cpus):
            config.used_cpus[i] = cpu
        config.used_count = len(used_cpus)
        pool = sorted(pool or os.sched_getaffinity(0))
        if len(pool) > bpf_sensor.SH_BPF_MAX_CPUS:
            raise ValueError(f"more than {bpf_sensor.SH_BPF_MAX_CPUS} CPUs")
        for i, cpu in enumerate(pool):
            config.pool[i] = cpu
        config.pool_count = len(pool)
        self.bpf = <bpf_sensor.sh_bpf_sensor *> allocate(1, sizeof(bpf_sensor.sh_bpf_sensor))
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_open(self.bpf, &config, &self.seam, &reason)
        if err:
            what = (<bytes> reason).decode() if reason is not NULL else "the BPF sensor"
            raise OSError(-err, f"{what}: {os.strerror(-err)}")
        self.opened = True
        bpf_sensor.sh_bpf_sensor_tells(self.bpf, &self.displacements_seam)

    def __dealloc__(self) -> None:
        if self.opened:
            bpf_sensor.sh_bpf_sensor_close(self.bpf)
        PyMem_Free(self.bpf)

    @property
    def tells_waits(self) -> bool:
        return self.sees_changes

    @property
    def tells_harm(self) -> bool:
        return bpf_sensor.sh_bpf_sensor_tells_harm(self.bpf)

    @property
    def tells_runners(self) -> bool:
        return self.sees_changes

    @property
    def displacements(self) -> int:
        return bpf_sensor.sh_bpf_sensor_displacements(self.bpf)

    def count_minimum(self, counts: bool) -> None:
        bpf_sensor.sh_bpf_sensor_count_minimum(self.bpf, clock.sh_monotonic_ns(), counts)

    def excuse_caps(self, excuses: bool) -> None:
        bpf_sensor.sh_bpf_sensor_excuse_caps(self.bpf, excuses)

    def mind_affinity(self, minds: bool) -> None:
        bpf_sensor.sh_bpf_sensor_mind_affinity(self.bpf, minds)

    def primary_times_ns(self, cpu: int) -> tuple[int, int]:
        cdef uint64_t total_ns = 0, lent_ns = 0
        bpf_sensor.sh_bpf_sensor_primary_time(self.bpf, cpu, &total_ns, &lent_ns)
        return total_ns, lent_ns

    def runner(self, cpu: int) -> str:
        cdef uint32_t runner = bpf_sensor.sh_bpf_sensor_runner(self.bpf, cpu)
        return _RUNNERS[min(runner, <uint32_t> bpf_sensor.SH_BPF_PRIMARY)]

    def waits(self) -> BpfWaits:
        """A copy of all dispatch waits since the start."""
        waits = BpfWaits()
        bpf_sensor.sh_bpf_sensor_waits(self.bpf, &waits.c)
        return waits

    def runs(self) -> BpfRuns:
        """A copy of all run times since the start."""
        runs = BpfRuns()
        bpf_sensor.sh_bpf_sensor_runs(self.bpf, &runs.c)
        return runs

    def harm(self, primary: int) -> Harm:
        """A copy of what all dispatches of a primary's tasks have met since the start."""
        harm = Harm()
        bpf_sensor.sh_bpf_sensor_harm(self.bpf, primary, &harm.c)
        return harm

    def busy_core_ns(self) -> int | None:
        cdef uint64_t busy[bpf_sensor.SH_BPF_MAX_LEVEL + 1]
        cdef uint64_t sum = 0
        cdef uint32_t i, count = bpf_sensor.SH_BPF_MAX_LEVEL + 1
        if bpf_sensor.sh_bpf_sensor_levels(self.bpf, count, busy, NULL):
            return None
        for i in range(1, count):
            sum += i * busy[i]
        return sum

    def pending(self) -> dict[str, int]:
        """The waits that still go on; walks all tasks. Raises OSError."""
        cdef bpf_sensor.sh_bpf_pending pending
        cdef int err
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_pending(self.bpf, &pending)
        if err:
            raise OSError(-err, os.strerror(-err))
        return dict(pending)

    def resync(self) -> int:
        """By the run queues."""
        cdef bpf_sensor.sh_bpf_drift drift
        cdef int err
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_resync(self.bpf, &drift)
        if err:
            raise OSError(-err, os.strerror(-err))
        return drift.cpus + abs(drift.busy) + abs(drift.wanting)


cdef class BpfWaits:
    """Dispatch waits of the primaries: counts and a histogram."""

    cdef bpf_sensor.sh_bpf_waits c

    def since(self, earlier: BpfWaits) -> BpfWaits:
        """What happened after ``earlier``."""
        waits = BpfWaits()
        waits.c = self.c
        bpf_sensor.sh_bpf_waits_since(&waits.c, &earlier.c)
        return waits

    def quantile_ns(self, q: float) -> int:
        """The middle of the bucket with quantile ``q``; 0 if nobody was dispatched."""
        return bpf_sensor.sh_bpf_waits_quantile(&self.c, q)

    def durations(self) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count), ascending, without the empty ones."""
        cdef uint32_t i
        return tuple([
            (bpf_sensor.sh_bpf_wait_middle(i), self.c.histogram[i])
            for i in range(<uint32_t> bpf_sensor.SH_BPF_WAIT_BUCKETS)
            if self.c.histogram[i]
        ])

    @property
    def counts(self) -> dict[str, int]:
        """waits, total_ns, and of those longer than the threshold: longer, longer_while_lent,
        longer_after_elastic, longer_throttled and longer_blamed (on the harvest)."""
        return dict(self.c.counts)


cdef class BpfRuns:
    """Run times of the primaries' tasks: CPU time from waking up to going to sleep again."""

    cdef bpf_sensor.sh_bpf_runs c

    def since(self, earlier: BpfRuns) -> BpfRuns:
        """What happened after ``earlier``."""
        runs = BpfRuns()
        runs.c = self.c
        bpf_sensor.sh_bpf_runs_since(&runs.c, &earlier.c)
        return runs

    def quantile_ns(self, q: float) -> int:
        """Quantile ``q`` within 2.2 % (from 512 ns on); 0 if nobody ran."""
        return bpf_sensor.sh_bpf_runs_quantile(&self.c, q)

    def durations(self) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count), ascending, without the empty ones."""
        cdef uint32_t i
        return tuple([
            (bpf_sensor.sh_bpf_run_middle(i), self.c.histogram[i])
            for i in range(<uint32_t> bpf_sensor.SH_BPF_RUN_BUCKETS)
            if self.c.histogram[i]
        ])

    @property
    def counts(self) -> dict[str, int]:
        """runs and their total_ns."""
        return dict(self.c.counts)


_SIDES = {"not_lent": 0, "lent": 1}


cdef class Harm:
    """What the dispatches of a primary's tasks have met, apart for those that something was lent in
    (``lent``, from the wake-up on) and the others (``not_lent``)."""

    cdef bpf_sensor.sh_bpf_harm c

    def since(self, earlier: Harm) -> Harm:
        """What happened after ``earlier``."""
        harm = Harm()
        harm.c = self.c
        bpf_sensor.sh_bpf_harm_since(&harm.c, &earlier.c)
        return harm

    @property
    def lost(self) -> int:
        """Tasks that went to sleep and whose wake-up is not known."""
        return self.c.lost

    def counts(self, side: str) -> dict[str, int]:
        """wait_ns and wake_to_sleep_ns, sums; agent_ns of the waits, in which a thread of this
        process had the CPU; long_waits (longer than 200 us), and of these behind_elastic,
        behind_elastic_here and unjudged (docs/reference/sensors.md)."""
        return dict(self.c.sides[_SIDES[side]].counts)

    def waits(self, side: str) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count) of the dispatches, ascending, without empty ones."""
        return _durations(self.c.sides[_SIDES[side]].waits)

    def wakes_to_sleeps(self, side: str) -> tuple[tuple[int, int], ...]:
        """The same of how long tasks took from waking up to going to sleep again."""
        return _durations(self.c.sides[_SIDES[side]].wakes_to_sleeps)

    def harmed(self) -> tuple[tuple[int, int], ...]:
        """The same of the lent ones, and for each task that was held up for longer than from one
        of its wake-ups to the next mostly, so many more as it had woken up for meanwhile."""
        return _durations(self.c.harmed)

    def unharmed(self) -> tuple[tuple[int, int], ...]:
        """The same without the waits from when an elastic task had a CPU."""
        return _durations(self.c.unharmed)

    def harmed_waits(self) -> tuple[tuple[int, int], ...]:
        """The same of the lent waits, with a timer's lateness, and of one for each span more that
        ``harmed`` has."""
        return _durations(self.c.harmed_waits)

    def unharmed_waits(self) -> tuple[tuple[int, int], ...]:
        """The same without what lending held them up for."""
        return _durations(self.c.unharmed_waits)

    @property
    def idle_answer_ns(self) -> int:
        """How long a task waits for a CPU that is idle, its timer's lateness included, in the mean;
        0 if none has."""
        answers: object = self.c.idle_answers
        return int(self.c.idle_answer_ns) // answers if answers else 0

    @property
    def woken_by_own(self) -> int:
        """Wake-ups by a task of the same primary that ran, or an interrupt that came to one."""
        return self.c.woken_by_own


cdef tuple _durations(const uint64_t *histogram):
    cdef uint32_t i
    return tuple([
        (bpf_sensor.sh_bpf_wait_middle(i), histogram[i])
        for i in range(<uint32_t> bpf_sensor.SH_BPF_HARM_BUCKETS)
        if histogram[i]
    ])
