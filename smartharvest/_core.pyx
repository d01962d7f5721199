# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the C core (csrc/). It converts and owns memory; it decides nothing.

The numbered rules of the loop are in csrc/loop.h.
"""

import os
from collections.abc import Sequence

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from smartharvest._c cimport (
    actuator,
    affinity,
    bpf_sensor,
    clock,
    cpuset,
    fake_actuator,
    fake_events,
    fake_sensor,
    handover,
    histogram,
    loop,
    nudge,
    perf_sensor,
    proc_sensor,
    rescue,
    sensor,
    stat_sensor,
    window,
)

from smartharvest._c.lend_order cimport sh_lend_order

from smartharvest.window import Window

EFFECTIVE_MISMATCH = cpuset.SH_ERR_EFFECTIVE
"""The error of a cpuset write that was taken but has another effect than what was written."""
MAX_CORES = window.SH_MAX_CORES
MAX_ELASTIC_PROCESSES = affinity.SH_AFFINITY_MAX_PROCESSES

_PACING = {
    "sleep": clock.SH_PACING_SLEEP,
    "spin": clock.SH_PACING_SPIN,
    "hybrid": clock.SH_PACING_HYBRID,
}
_HALTS = {
    loop.SH_HALT_NONE: None,
    loop.SH_HALT_SENSOR: "sensor",
    loop.SH_HALT_ACTUATOR: "actuator",
    loop.SH_HALT_CLOCK: "clock",
}
_SCHEDULING = {-1: None, 0: "fifo", 1: "short-slice", 2: "other"}


def monotonic_ns() -> int:
    """CLOCK_MONOTONIC as the loop reads it."""
    return clock.sh_monotonic_ns()


cdef void *allocate(size_t count, size_t size) except NULL:
    cdef void *memory = PyMem_Calloc(count, size)
    if memory is NULL:
        raise MemoryError
    return memory


cdef void *hold_slot(object slot, Py_buffer *held, size_t size) except NULL:
    """The address of ``slot``, whose memory stays until ``held`` is released.

    Of a memoryview its exporter is held: the collector empties a memoryview in a garbage cycle,
    whoever still uses its memory, which may be unmapped then.
    """
    cdef Py_buffer view
    PyObject_GetBuffer(slot, &view, PyBUF_WRITABLE)
    cdef void *address = view.buf
    cdef Py_ssize_t length = view.len
    PyBuffer_Release(&view)
    if length < <Py_ssize_t> size:
        raise ValueError(f"a slot of {length} bytes: {size} are written")
    PyObject_GetBuffer(slot.obj if isinstance(slot, memoryview) else slot, held, PyBUF_WRITABLE)
    return address


cdef class Sensor:
    """Base: what tells the loop who runs (csrc/sensor.h)."""

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

    def attend(self) -> None:
        """Does what the sensor needs to have done outside the loop; to be called often."""

    @property
    def seam_address(self) -> int:
        """Of its struct sh_sensor, for benchmarks in C."""
        return <size_t> &self.seam

    def close(self) -> None:
        """Lets go of descriptors; the sensor must not be read afterwards."""

    def read(self, now_ns: int, harvested: int = 0) -> tuple[int, int]:
        """(busy cores, demand in cores) now. Raises OSError with the sensor's errno."""
        cdef sensor.sh_reading reading
        cdef int err
        cdef int64_t now = now_ns
        cdef uint32_t lent = harvested
        with nogil:
            err = self.seam.read(self.seam.ctx, now, lent, &reading)
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
                    err = self.seam.read(self.seam.ctx, start, 0, &reading)
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
    """Plays a script of busy counts, or counts the cores marked busy (csrc/fake_sensor.h)."""

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
    """Sees every change because it is told of it (csrc/fake_events.h)."""

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


cdef class ProcSensor(Sensor):
    """Task states from /proc (csrc/proc_sensor.h).

    ``sources`` are (path, primary index): a `tasks` / `cgroup.threads` file or a /proc/PID/task
    directory; ``allocations`` the cores each primary may count for.
    """

    cdef proc_sensor.sh_proc_sensor *proc
    cdef object fds

    def __cinit__(
        self, sources: list[tuple[str, int]], allocations: list[int], rescan_ns: int = 5_000_000
    ) -> None:
        cdef proc_sensor.sh_proc_source *source
        if len(sources) > proc_sensor.SH_PROC_MAX_SOURCES:
            raise ValueError(f"more than {proc_sensor.SH_PROC_MAX_SOURCES} primary groups")
        if len(allocations) > proc_sensor.SH_PROC_MAX_SOURCES:
            raise ValueError(f"more than {proc_sensor.SH_PROC_MAX_SOURCES} primaries")
        for path, primary in sources:
            if not 0 <= primary < len(allocations):
                raise ValueError(f"{path}: primary {primary} has no allocation")
        self.fds = []
        self.proc = <proc_sensor.sh_proc_sensor *> allocate(1, sizeof(proc_sensor.sh_proc_sensor))
        for path, primary in sources:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self.fds.append(fd)
            source = &self.proc.sources[self.proc.source_count]
            source.fd = fd
            source.directory = os.path.isdir(path)
            source.primary = primary
            self.proc.source_count += 1
        for i, allocation in enumerate(allocations):
            self.proc.allocations[i] = allocation
        self.proc.primary_count = len(allocations)
        self.fds = tuple(self.fds)
        self.proc.rescan_ns = rescan_ns
        proc_sensor.sh_proc_sensor_init(self.proc, &self.seam)

    def __dealloc__(self) -> None:
        self.close()
        PyMem_Free(self.proc)

    def close(self) -> None:
        if self.proc is not NULL:
            proc_sensor.sh_proc_sensor_close(self.proc)
            self.proc.source_count = 0
        fds, self.fds = self.fds, ()
        for fd in fds or ():
            os.close(fd)

    @property
    def tasks_seen(self) -> int:
        """Primary tasks at the last listing."""
        return self.proc.tasks_seen


cdef class StatSensor(Sensor):
    """Idle counters of /proc/stat, for comparison (csrc/stat_sensor.h).

    ``lend_order`` is the pool in the order its cores are lent; ``allocation`` caps the answer.
    """

    cdef stat_sensor.sh_stat_sensor *stat
    cdef int fd

    def __cinit__(self, lend_order: list[int], elastic_min: int, allocation: int) -> None:
        self.fd = -1
        if len(lend_order) > stat_sensor.SH_STAT_MAX_CPUS:
            raise ValueError(f"more than {stat_sensor.SH_STAT_MAX_CPUS} CPUs")
        self.stat = <stat_sensor.sh_stat_sensor *> allocate(1, sizeof(stat_sensor.sh_stat_sensor))
        for i, cpu in enumerate(lend_order):
            if not 0 <= cpu < stat_sensor.SH_STAT_MAX_CPUS:
                raise ValueError(f"CPU {cpu} is beyond what is read of /proc/stat")
            self.stat.lend_order[i] = cpu
        self.stat.core_count = len(lend_order)
        self.stat.elastic_min = elastic_min
        self.stat.allocation = allocation
        self.fd = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)
        self.stat.fd = self.fd
        stat_sensor.sh_stat_sensor_init(self.stat, &self.seam)

    def __dealloc__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        PyMem_Free(self.stat)


cdef class PerfSensor(Sensor):
    """Records of every context switch, without BPF (csrc/perf_sensor.h).

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
        cdef perf_sensor.sh_perf_source *source
        cdef const char *reason = NULL
        cdef int err
        if len(sources) > perf_sensor.SH_PERF_MAX_SOURCES:
            raise ValueError(f"more than {perf_sensor.SH_PERF_MAX_SOURCES} primary groups")
        if len(allocations) > perf_sensor.SH_PERF_MAX_SOURCES:
            raise ValueError(f"more than {perf_sensor.SH_PERF_MAX_SOURCES} primaries")
        for path, primary in sources:
            if not 0 <= primary < len(allocations):
                raise ValueError(f"{path}: primary {primary} has no allocation")
        self.fds = []
        self.perf = <perf_sensor.sh_perf_sensor *> allocate(1, sizeof(perf_sensor.sh_perf_sensor))
        for path, primary in sources:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self.fds.append(fd)
            source = &self.perf.sources[self.perf.source_count]
            source.fd = fd
            source.directory = os.path.isdir(path)
            source.primary = primary
            self.perf.source_count += 1
        for i, allocation in enumerate(allocations):
            self.perf.allocations[i] = allocation
        self.perf.primary_count = len(allocations)
        self.perf.list_ns = list_ns
        self.fds = tuple(self.fds)
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
    """The scheduler's own view, by a program at every context switch (csrc/bpf_sensor.h).

    ``targets`` are (hierarchy, id, index of the primary, or -1 for the elastic side): hierarchy is
    ``v2``, ``cpuset`` or ``cpu`` (the id being the inode of the group's directory) or ``pid``.
    ``pull`` hooks nothing and looks at the run queues at each reading instead. ``parts`` are those
    of BPF_PARTS the program shall have; pulling knows demand only. ``lend_order`` are the CPUs in
    the order they are lent, those of the elastic minimum first. Raises OSError, with what failed as
    its text, where the kernel or the rights do not allow it.
    """

    cdef bpf_sensor.sh_bpf_sensor *bpf
    cdef bint opened
    cdef rescue.sh_rescue rescuer

    def __cinit__(
        self,
        targets: list[tuple[str, int, int]],
        allocations: list[int],
        pull: bool = False,
        wait_threshold_ns: int = 50_000,
        parts: Collection[str] = BPF_PARTS,
        lend_order: Sequence[int] = (),
        elastic_min: int = 0,
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
        config.pull = pull
        for part in parts:
            config.parts |= _PARTS[part]
        config.wait_threshold_ns = wait_threshold_ns
        if len(lend_order) > bpf_sensor.SH_BPF_MAX_CPUS:
            raise ValueError(f"more than {bpf_sensor.SH_BPF_MAX_CPUS} CPUs")
        for i, cpu in enumerate(lend_order):
            config.lend_order[i] = cpu
        config.lendable = len(lend_order)
        config.elastic_min = elastic_min
        self.rescuer.stop_fd = -1
        self.bpf = <bpf_sensor.sh_bpf_sensor *> allocate(1, sizeof(bpf_sensor.sh_bpf_sensor))
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_open(self.bpf, &config, &self.seam, &reason)
        if err:
            what = (<bytes> reason).decode() if reason is not NULL else "the BPF sensor"
            raise OSError(-err, f"{what}: {os.strerror(-err)}")
        self.opened = True

    def __dealloc__(self) -> None:
        if self.opened:
            self.end_rescues()
            bpf_sensor.sh_bpf_sensor_close(self.bpf)
        PyMem_Free(self.bpf)

    def close(self) -> None:
        self.end_rescues()

    cdef void end_rescues(self):
        if self.rescuer.threads is not NULL:
            with nogil:
                rescue.sh_rescue_stop(&self.rescuer)
            PyMem_Free(self.rescuer.threads)
            self.rescuer.threads = NULL

    def rescue(self, cpus: Sequence[int], fifo_priority: int) -> None:
        """Starts a thread on each of ``cpus`` that ends displacements there (csrc/rescue.h).

        For an elastic group under cpu.idle. Raises OSError.
        """
        cdef int err
        self.end_rescues()
        self.rescuer.threads = <rescue.sh_rescue_thread *> allocate(
            max(1, len(cpus)), sizeof(rescue.sh_rescue_thread)
        )
        for i, cpu in enumerate(cpus):
            self.rescuer.threads[i].cpu = cpu
        self.rescuer.count = len(cpus)
        self.rescuer.bpf = self.bpf
        self.rescuer.fifo_priority = fifo_priority
        with nogil:
            err = rescue.sh_rescue_start(&self.rescuer)
        if err:
            PyMem_Free(self.rescuer.threads)
            self.rescuer.threads = NULL
            raise OSError(-err, os.strerror(-err))

    def follow(self, order: object) -> None:
        """Has what is lent told by a LendOrder, which holds this sensor and is the loop's; before
        the loop runs. It must not be held here: a cycle would have the collector clear what C code
        still uses."""
        bpf_sensor.sh_bpf_sensor_follow(self.bpf, <sh_lend_order *> <size_t> order.address)

    @property
    def rescues(self) -> int:
        """How often such a thread has woken for it."""
        return self.rescuer.rescues

    @property
    def displacements(self) -> int:
        """How often an elastic task got a CPU that others waited for, while somebody rescues."""
        return bpf_sensor.sh_bpf_sensor_displacements(self.bpf)

    def primary_times_ns(self, cpu: int) -> tuple[int, int]:
        """How long primary tasks have run on ``cpu``, and of that while it was lent."""
        cdef uint64_t total_ns = 0, lent_ns = 0
        bpf_sensor.sh_bpf_sensor_primary_time(self.bpf, cpu, &total_ns, &lent_ns)
        return total_ns, lent_ns

    def runner(self, cpu: int) -> str:
        """Who runs on ``cpu`` now: primary, elastic, other, idle or unknown."""
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

    def levels(self) -> tuple[list[int], list[int]]:
        """Nanoseconds since the start with exactly i busy cores, and with i tasks wanting one."""
        cdef uint64_t busy[bpf_sensor.SH_BPF_MAX_LEVEL + 1]
        cdef uint64_t wanting[bpf_sensor.SH_BPF_MAX_LEVEL + 1]
        cdef uint32_t i, count = bpf_sensor.SH_BPF_MAX_LEVEL + 1
        cdef int err = bpf_sensor.sh_bpf_sensor_levels(self.bpf, count, busy, wanting)
        if err:
            raise OSError(-err, os.strerror(-err))
        return [busy[i] for i in range(count)], [wanting[i] for i in range(count)]

    def pending(self) -> dict[str, int]:
        """The waits that still go on; walks all tasks. Raises OSError."""
        cdef bpf_sensor.sh_bpf_pending pending
        cdef int err
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_pending(self.bpf, &pending)
        if err:
            raise OSError(-err, os.strerror(-err))
        return dict(pending)

    def resync(self) -> dict[str, int]:
        """Puts the state right by the run queues and says by how much it was wrong."""
        cdef bpf_sensor.sh_bpf_drift drift
        cdef int err
        with nogil:
            err = bpf_sensor.sh_bpf_sensor_resync(self.bpf, &drift)
        if err:
            raise OSError(-err, os.strerror(-err))
        return dict(drift)


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

    def longer_than(self, wait_ns: int) -> int:
        """Waits longer than ``wait_ns``, by whole buckets: 512 ns up to 131 us, then 6 %."""
        return bpf_sensor.sh_bpf_waits_longer(&self.c, wait_ns)

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


cdef class Actuator:
    """Base: what gives the elastic group its cores (csrc/actuator.h)."""

    def assign(self, harvested: int) -> None:
        """Leaves the elastic group its minimum + ``harvested`` cores. Raises OSError if refused."""
        cdef uint32_t level = harvested
        cdef int err
        with nogil:
            err = self.seam.assign(self.seam.ctx, level)
        if err:
            raise OSError(-err, os.strerror(-err))

    @property
    def seam_address(self) -> int:
        """Of its struct sh_actuator, for benchmarks in C."""
        return <size_t> &self.seam

    def failure(self) -> tuple[str, str]:
        """(file, value) of the last write that was refused."""
        return "", ""


cdef class FakeActuator(Actuator):
    """Remembers the last 4096 assignments (csrc/fake_actuator.h)."""

    cdef fake_actuator.sh_fake_actuator *fake

    def __cinit__(self) -> None:
        self.fake = <fake_actuator.sh_fake_actuator *> allocate(
            1, sizeof(fake_actuator.sh_fake_actuator)
        )
        fake_actuator.sh_fake_actuator_init(self.fake, &self.seam)

    def __dealloc__(self) -> None:
        PyMem_Free(self.fake)

    def fail(self, number: int, error: int) -> None:
        """Makes the assignment with this number, counted from 0, fail with ``error``."""
        self.fake.fail_with = error
        self.fake.fail_at = number

    @property
    def assigned(self) -> list[int]:
        """The harvests assigned so far, oldest first."""
        count = self.fake.count
        first = max(0, count - fake_actuator.SH_FAKE_ACTUATOR_KEPT)
        return [
            self.fake.levels[i % fake_actuator.SH_FAKE_ACTUATOR_KEPT] for i in range(first, count)
        ]


cdef int files_write(void *ctx, int handle, const char *value, size_t length) noexcept with gil:
    cdef FilesActuator self = <FilesActuator> ctx
    try:
        self.kernel_files.write(self.paths[handle], value[:length].decode())
    except OSError as error:
        return -(error.errno or 5)
    except BaseException:
        return -5
    return 0


cdef ssize_t files_read(void *ctx, int handle, char *value, size_t size) noexcept with gil:
    cdef FilesActuator self = <FilesActuator> ctx
    try:
        text = self.kernel_files.read(self.paths[handle]).encode()
    except OSError as error:
        return -(error.errno or 5)
    except BaseException:
        return -5
    cdef size_t length = min(<size_t> len(text), size)
    memcpy(value, <const char *> text, length)
    return <ssize_t> length


@cython.no_gc_clear
cdef class FilesActuator(Actuator):
    """What moves cores by files: the kernel's, or those that ``kernel_files`` answers for."""

    def __cinit__(self) -> None:
        self.paths, self.fds = [], []

    def __dealloc__(self) -> None:
        for fd in self.fds or ():
            os.close(fd)

    cdef int open(self, str path, int flags) except -1:
        fd = os.open(path, flags | os.O_CLOEXEC)
        self.fds.append(fd)
        return fd

    cdef int handle(self, str path, int flags) except -1:
        """A descriptor for the kernel's files, an index into ``paths`` for a made tree's."""
        if self.kernel_files is not None:
            self.paths.append(path)
            return len(self.paths) - 1
        fd = self.open(path, flags)
        while len(self.paths) <= fd:
            self.paths.append("")
        self.paths[fd] = path
        return fd


@cython.no_gc_clear
cdef class CpusetActuator(FilesActuator):
    """One in-place cpuset write moves the cores (csrc/cpuset.h).

    ``files`` lists (cpus path, effective path or None, masks), a group before its children; the
    masks have one entry per number of harvested cores. ``added_cpu[level]`` is the CPU a level has
    and the one below lacks, -1 if there is none. ``primary_files`` are the same of the primaries,
    whose sets shrink as the harvest grows. ``kernel_files`` answers instead of the kernel. With a
    ``fifo_priority`` real-time threads hold each core while it changes hands (csrc/handover.h). An
    ``order`` makes the masks as it chooses, and those of ``files`` are not used.
    """

    cdef cpuset.sh_cpuset *c
    cdef object masks
    cdef readonly object order
    cdef Py_buffer slot
    cdef int32_t *added
    cdef const char **mask_table
    cdef handover.sh_handover handover

    def __cinit__(
        self,
        files: list[tuple[str, str | None, list[str]]],
        added_cpu: list[int],
        tasks_path: str | None = None,
        freezer: tuple[str, str, str] | None = None,
        kernel_files: object = None,
        nudge_slot: object = None,
        primary_files: Sequence[tuple[str, str | None, list[str]]] = (),
        fifo_priority: int = 0,
        order: object = None,
    ) -> None:
        cdef Py_ssize_t i, level
        cdef Py_ssize_t levels = len(added_cpu)
        cdef Py_ssize_t elastic_count = len(files)
        files = [*files, *primary_files]
        if len(files) > cpuset.SH_CPUSET_MAX_FILES:
            raise ValueError(f"more than {cpuset.SH_CPUSET_MAX_FILES} groups to write")
        self.kernel_files = kernel_files
        self.masks = []
        self.c = <cpuset.sh_cpuset *> allocate(1, sizeof(cpuset.sh_cpuset))
        self.added = <int32_t *> allocate(levels, sizeof(int32_t))
        self.mask_table = <const char **> allocate(levels * len(files), sizeof(char *))
        if kernel_files is None:
            cpuset.sh_file_ops_posix(&self.c.ops)
        else:
            self.c.ops.write = files_write
            self.c.ops.read = files_read
            self.c.ops.ctx = <void *> self
        for level in range(levels):
            self.added[level] = added_cpu[level]
        for i in range(len(files)):
            cpus_path, effective_path, masks = files[i]
            for level in range(levels if order is None else 0):
                mask = masks[level].encode()
                self.masks.append(mask)
                self.mask_table[i * levels + level] = <const char *> mask
            self.c.files[i].cpus = self.handle(cpus_path, os.O_RDWR)
            self.c.files[i].effective = (
                self.handle(effective_path, os.O_RDONLY) if effective_path else -1
            )
            self.c.files[i].masks = &self.mask_table[i * levels]
            self.c.files[i].primary = i >= elastic_count
        self.c.file_count = len(files)
        self.c.levels = levels
        self.c.added_cpu = self.added
        if order is not None:
            self.order = order
            self.c.order = <sh_lend_order *> <size_t> order.address
            self.c.added_cpu = self.c.order.added
            if self.c.order.file_count != len(files) or self.c.order.levels != levels:
                raise ValueError("the order is for other files or levels")
        self.c.nudge.tasks_fd = self.open(tasks_path, os.O_RDONLY) if tasks_path else -1
        self.c.freezer = -1
        if freezer is not None:
            path, freeze, thaw = (freezer[0], freezer[1].encode(), freezer[2].encode())
            self.masks += [freeze, thaw]
            self.c.freezer = self.handle(path, os.O_RDWR)
            self.c.freeze = <const char *> freeze
            self.c.thaw = <const char *> thaw
        if nudge_slot is not None:
            self.c.nudge.pinned_tid = <nudge.atomic_int32_t *> hold_slot(
                nudge_slot, &self.slot, sizeof(int32_t)
            )
        self.paths, self.fds, self.masks = tuple(self.paths), tuple(self.fds), tuple(self.masks)
        cpuset.sh_cpuset_init(self.c, &self.seam)
        if fifo_priority > 0:
            self.hold_by(fifo_priority)

    cdef int hold_by(self, fifo_priority: int) except -1:
        cdef uint32_t count = 0
        self.handover.fifo_priority = fifo_priority
        cpus = [self.added[level] for level in range(self.c.levels)]
        if self.order is not None:
            cpus = self.order.cpus[self.c.order.fixed:]
        self.handover.threads = <handover.sh_handover_thread *> allocate(
            max(1, len(cpus)), sizeof(handover.sh_handover_thread)
        )
        for cpu in cpus:
            if 0 <= cpu < handover.SH_HANDOVER_MAX_CPUS:
                self.handover.threads[count].cpu = cpu
                count += 1
        self.handover.count = count
        error = handover.sh_handover_start(&self.handover)
        if error:
            raise OSError(-error, os.strerror(-error))
        self.c.handover = &self.handover
        return 0

    def __dealloc__(self) -> None:
        handover.sh_handover_stop(&self.handover)
        PyMem_Free(self.handover.threads)
        if self.c != NULL:
            nudge.sh_nudge_close(&self.c.nudge)
        PyBuffer_Release(&self.slot)
        PyMem_Free(self.c)
        PyMem_Free(self.added)
        PyMem_Free(self.mask_table)

    def failure(self) -> tuple[str, str]:
        cdef uint32_t index = self.c.failed_file
        cdef uint32_t level = self.c.failed_level
        if index < self.c.file_count:
            mask = (<bytes> cpuset.sh_cpuset_mask(self.c, index, level)).decode()
            return self.paths[self.c.files[index].cpus], mask
        if self.c.freezer < 0:
            return "", ""
        value = self.c.thaw if level else self.c.freeze
        return self.paths[self.c.freezer], (<bytes> value).decode()

    @property
    def writes(self) -> int:
        return self.c.writes

    @property
    def skipped(self) -> int:
        """Writes that were not needed: the mask was in force already."""
        return self.c.skipped

    @property
    def nudges(self) -> int:
        return self.c.nudge.nudges


cdef void fill_mask(affinity.sh_affinity_mask *mask, object cpus) except *:
    for cpu in cpus:
        if not 0 <= cpu < affinity.SH_AFFINITY_BYTES * 8:
            raise ValueError(f"CPU {cpu} is beyond the affinity mask")
        mask.bits[cpu // 64] |= (<unsigned long> 1) << (cpu % 64)


cdef object cpus_of(const affinity.sh_affinity_mask *mask):
    cdef Py_ssize_t word, bit
    cdef set cpus = set()
    for word in range(affinity.SH_AFFINITY_BYTES // 8):
        if mask.bits[word]:
            for bit in range(64):
                if mask.bits[word] >> bit & 1:
                    cpus.add(64 * word + bit)
    return frozenset(cpus)


cdef class ThreadsActuator(Actuator):
    """Base: moves threads one by one (csrc/affinity.h)."""

    def given(self, tid: int) -> frozenset[int] | None:
        """The CPUs that a thread was given last, if it was there; None amid a move."""
        cdef affinity.sh_affinity_mask mask
        cdef int64_t level = self.threads.current
        if level < 0:
            return None
        affinity.sh_affinity_wanted(self.threads, <uint32_t> level, tid, &mask)
        return cpus_of(&mask)

    @property
    def strays(self) -> list[tuple[int, frozenset[int], frozenset[int]]]:
        """(thread, CPUs it had, CPUs it had been given) of those that a move met with others.

        The first so many. One that has just come to a group is among them.
        """
        cdef uint32_t i
        return [
            (
                self.threads.strays[i].tid,
                cpus_of(&self.threads.strays[i].found),
                cpus_of(&self.threads.strays[i].given),
            )
            for i in range(self.threads.stray_count)
        ]


@cython.no_gc_clear
cdef class AffinityActuator(ThreadsActuator):
    """Affinity of the threads of ``pids`` (csrc/affinity.h); ``cpus[level]`` per level.

    ``pins`` are the CPUs that single threads are to stay within, as far as they have any of them.
    """

    cdef affinity.sh_affinity c
    cdef affinity.sh_affinity_mask *masks
    cdef affinity.sh_affinity_pin *pins
    cdef object fds

    def __cinit__(self, pids: list[int], cpus: list[list[int]], pins: object = None) -> None:
        if len(pids) > affinity.SH_AFFINITY_MAX_PROCESSES:
            raise ValueError(f"more than {affinity.SH_AFFINITY_MAX_PROCESSES} elastic processes")
        self.fds = []
        self.masks = <affinity.sh_affinity_mask *> allocate(
            len(cpus), sizeof(affinity.sh_affinity_mask)
        )
        pins = pins or {}
        self.pins = <affinity.sh_affinity_pin *> allocate(
            max(1, len(pins)), sizeof(affinity.sh_affinity_pin)
        )
        for level, level_cpus in enumerate(cpus):
            fill_mask(&self.masks[level], level_cpus)
        for i, tid in enumerate(sorted(pins)):
            self.pins[i].tid = tid
            fill_mask(&self.pins[i].mask, pins[tid])
        for i, pid in enumerate(pids):
            fd = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self.fds.append(fd)
            self.c.task_dirs[i] = fd
        self.c.process_count = len(pids)
        self.c.masks = self.masks
        self.c.levels = len(cpus)
        self.c.pins = self.pins
        self.c.pin_count = len(pins)
        self.threads = &self.c
        affinity.sh_affinity_init(&self.c, &self.seam)

    def __dealloc__(self) -> None:
        for fd in self.fds or ():
            os.close(fd)
        PyMem_Free(self.masks)
        PyMem_Free(self.pins)

    def follow(self, slot: int, pid: int) -> None:
        """Confines another process like the others, from now on.

        ``slot`` is the next free one, from 1 (MAX_ELASTIC_PROCESSES in all), or that of a process
        that has ended. Only one thread may call this. Raises OSError; ESRCH: it has ended, and the
        slot is taken all the same.
        """
        cdef int err
        cdef uint32_t at = slot
        cdef bint new = at == self.c.process_count
        cdef int fd = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with nogil:
            err = affinity.sh_affinity_follow(&self.c, at, fd)
        if new and self.c.process_count > at:
            self.fds.append(fd)
        if err:
            raise OSError(-err, os.strerror(-err))

    def failure(self) -> tuple[str, str]:
        return "sched_setaffinity", "the elastic processes' threads"

    @property
    def writes(self) -> int:
        return self.c.writes


cdef class WindowStatistics:
    """The loop's window by itself (csrc/window.h), for tests and benchmarks."""

    cdef window.sh_window c

    def __cinit__(self) -> None:
        window.sh_window_reset(&self.c, 0)

    def add(self, busy: int, demand: int = 0, count: int = 1) -> None:
        cdef uint32_t b = busy, d = max(busy, demand)
        cdef Py_ssize_t _
        for _ in range(count):
            window.sh_window_add(&self.c, b, d)

    def features(self) -> tuple[float, float, float, float, float]:
        """(min, max, mean, std, median) in cores."""
        cdef window.sh_features f
        window.sh_window_features(&self.c, &f)
        return f.min, f.max, f.mean, f.std, f.median

    def time_features(self, repeat: int) -> float:
        """Mean nanoseconds of computing the features ``repeat`` times, without Python's share."""
        cdef window.sh_features f
        cdef int64_t start, _, count = repeat
        with nogil:
            start = clock.sh_monotonic_ns()
            for _ in range(count):
                window.sh_window_features(&self.c, &f)
            start = clock.sh_monotonic_ns() - start
        return start / repeat


@cython.no_gc_clear
cdef class Loop:
    """The polling loop (csrc/loop.h): one thread without the GIL, or ``step`` by ``step``.

    Times in nanoseconds, cores in 0..total. ``cpus`` is where the thread may run (None: anywhere),
    ``realtime_cpus`` where once it runs as SCHED_FIFO (None: there too);
    ``fifo_priority`` 0 asks for no real-time scheduling; ``beat_slot`` is eight bytes for the time
    of the last poll. With a sensor that sees changes, ``exact`` weighs windows by time; with one
    that wakes, ``event_driven`` does without polling. ``whole_harvests`` are how many of 0..total
    cores can be lent as whole ones. Raises ValueError for settings out of range.
    """

    def __cinit__(
        self,
        *,
        sensor: Sensor,  # no-cython-lint
        actuator: Actuator,  # no-cython-lint
        total: int,
        window_ns: int = 25_000_000,
        poll_ns: int = 50_000,
        plan_ttl_ns: int = 0,
        stale_ns: int = 0,
        max_harvest: int | None = None,
        max_shared: int | None = None,
        keep_idle: int = 1,
        whole_harvests: Sequence[int] | None = None,
        pacing: str = "sleep",
        cpus: list[int] | None = None,
        realtime_cpus: list[int] | None = None,
        fifo_priority: int = 0,
        beat_slot: object = None,
        exact: bool = False,
        event_driven: bool = False,
    ) -> None:
        cdef loop.sh_loop_config config
        if exact and not sensor.sees_changes:
            raise ValueError("this sensor does not see every change")
        if event_driven and not sensor.wakes:
            raise ValueError("this sensor does not wake anybody")
        config.window_ns = window_ns
        config.poll_ns = poll_ns
        config.plan_ttl_ns = plan_ttl_ns or max(4 * window_ns, 100_000_000)
        # Event-driven, a quiet primary is looked at once a window.
        config.stale_ns = stale_ns or max(window_ns * (1 + event_driven), 20 * poll_ns)
        config.exact = exact
        config.event_driven = event_driven
        config.total = total
        config.max_harvest = total if max_harvest is None else max_harvest
        config.max_shared = config.max_harvest if max_shared is None else max_shared
        config.keep_idle = max(1, keep_idle)
        config.whole_harvests = NULL
        if whole_harvests is not None:
            if len(whole_harvests) != total + 1:
                raise ValueError(f"{len(whole_harvests)} whole harvests for 0..{total}")
            self.whole = <uint16_t *> allocate(total + 1, sizeof(uint16_t))
            for i in range(<Py_ssize_t> total + 1):
                if not 0 <= whole_harvests[i] <= i:
                    raise ValueError(f"of {i} cores {whole_harvests[i]} cannot be lent")
                self.whole[i] = whole_harvests[i]
            config.whole_harvests = self.whole
        self.sensor = sensor
        self.actuator = actuator
        self.total = total
        self.c = <loop.sh_loop *> allocate(1, sizeof(loop.sh_loop))
        self.c.event_fd = self.c.plan_fd = -1
        cdef int err = loop.sh_loop_init(self.c, &config)
        if err:
            raise ValueError(f"loop settings out of range: {os.strerror(-err)}")
        self.c.sensor = sensor.seam
        self.c.actuator = actuator.seam
        clock.sh_clock_monotonic(&self.c.clock, _PACING[pacing])
        for cpu in cpus or ():
            if cpu < loop.SH_MAX_CPU_WORDS * 64:
                self.c.cpus[cpu // 64] |= (<unsigned long long> 1) << (cpu % 64)
        for cpu in realtime_cpus or cpus or ():
            if cpu < loop.SH_MAX_CPU_WORDS * 64:
                self.c.realtime_cpus[cpu // 64] |= (<unsigned long long> 1) << (cpu % 64)
        self.c.fifo_priority = fifo_priority
        if beat_slot is not None:
            self.c.beat = <loop.atomic_int64_t *> hold_slot(
                beat_slot, &self.beat, sizeof(int64_t)
            )

    def __del__(self) -> None:
        if self.c is not NULL:
            self.stop()

    def __dealloc__(self) -> None:
        if self.c is not NULL:
            with nogil:
                loop.sh_loop_destroy(self.c)
            PyMem_Free(self.c)
        PyMem_Free(self.whole)
        PyBuffer_Release(&self.beat)

    def start(self) -> None:
        """Starts the thread. Raises OSError if it cannot be made."""
        cdef int err
        with nogil:
            err = loop.sh_loop_start(self.c)
        if err:
            raise OSError(-err, os.strerror(-err))

    def stop(self) -> None:
        """Gives everything back and ends the thread; harmless when it does not run."""
        with nogil:
            loop.sh_loop_stop(self.c)

    def step(self, deadline_ns: int, now_ns: int) -> int:
        """One poll without a thread: 0, or the negative errno the loop halted on."""
        cdef int64_t deadline = deadline_ns, now = now_ns
        cdef int err
        with nogil:
            err = loop.sh_loop_step(self.c, deadline, now)
        return err

    def post(
        self,
        seq: int,
        primary_cores: int,
        safe_cores: int,
        buffer: int = 0,
        quiet_ns: int | None = None,
        shared: bool = False,
    ) -> None:
        """Hands the loop the plan that answers window ``seq``."""
        cdef loop.sh_plan plan
        plan.seq = seq & 0xffffff
        plan.primary_cores = primary_cores
        plan.safe_cores = safe_cores
        plan.buffer = buffer
        plan.patient = quiet_ns is not None
        plan.quiet_ns = quiet_ns or 0
        plan.shared = shared
        loop.sh_loop_post(self.c, &plan)

    def decide_with(self, decider: object) -> None:
        """Windows are answered by ``decider`` from the start on; the loop keeps it alive."""
        self.c.decide = (
            <loop.sh_decide *> PyCapsule_GetPointer(decider.capsule, "smartharvest.decide")
        )[0]
        self.decider = decider

    def permit(self, until_ns: int) -> None:
        """The decider may lend until then; 0: no longer."""
        loop.sh_loop_permit(self.c, until_ns)

    def hurry(self, hurry: bool) -> None:
        """Whether a window wakes who waits; if not, half a ring does (SH_RING_WINDOWS)."""
        loop.sh_loop_hurry(self.c, hurry)

    def wait(self, timeout_ms: int, other_fd: int = -1) -> bool:
        """Waits for a window, or for ``other_fd``, without the GIL; False after the timeout.

        Signal handlers run.
        """
        cdef int ready, timeout = timeout_ms, other = other_fd
        with nogil:
            ready = loop.sh_loop_wait(self.c, timeout, other)
        PyErr_CheckSignals()
        return ready > 0

    def take(self) -> Window | None:
        """The oldest window not yet taken, or None."""
        taken = self.take_answered()
        return None if taken is None else taken[0]

    def take_answered(self) -> tuple[Window, tuple[int, int, int | None] | None] | None:
        """The same with what the decider answered: (primary cores, safe cores, label)."""
        cdef loop.sh_summary s
        if not loop.sh_loop_take(self.c, &s):
            return None
        label = None if s.label < 0 else s.label
        answer = (s.planned_cores, s.planned_safe_cores, label) if s.decided else None
        found = Window(
            seq=s.seq,
            start_ns=s.start_ns,
            end_ns=s.end_ns,
            polls=s.polls,
            busy_min=int(s.features.min),
            busy_max=s.busy_max,
            busy_mean=s.features.mean,
            busy_std=s.features.std,
            busy_median=s.features.median,
            busy_last=s.busy_last,
            demand_max=s.demand_max,
            primary_cores=s.primary_cores,
            exhausted=bool(s.flags & loop.SH_WINDOW_EXHAUSTED),
            stale=bool(s.flags & (loop.SH_WINDOW_STALE | loop.SH_WINDOW_HALTED)),
        )
        return found, answer

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up: sensor, actuator or clock."""
        why = _HALTS[self.c.halt]
        return None if why is None else (why, self.c.error)

    @property
    def primary_cores(self) -> int:
        return self.total - <int> self.c.harvested

    @property
    def harvested(self) -> int:
        return self.c.harvested

    @property
    def scheduling(self) -> str | None:
        """What the thread runs as: fifo, short-slice or other; None before it runs."""
        return _SCHEDULING[self.c.scheduling]

    @property
    def tid(self) -> int:
        return self.c.tid

    @property
    def cpu_ns(self) -> int:
        """CPU time the thread has used."""
        return self.c.cpu_ns

    def counters(self) -> dict[str, int]:
        """Everything counted since the start (csrc/loop.h, struct sh_counters)."""
        return dict(self.c.counters)

    def lateness_ns(self, q: float) -> int:
        """Quantile ``q`` of how late polls were, within 12.5 %; q = 1 is the exact maximum."""
        if q >= 1.0:
            return self.c.lateness.max_ns
        return histogram.sh_histogram_quantile(&self.c.lateness, q)

    def lateness(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How late polls were: (upper edge of a bucket in ns, count), and the sum in ns."""
        return histogram.durations(&self.c.lateness), self.c.lateness.sum_ns

    def moves(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How long moving cores took, in the same form; nothing in virtual time."""
        return histogram.durations(&self.c.moves), self.c.moves.sum_ns

    def time_steps(self, repeat: int) -> float:
        """Mean nanoseconds of a poll over ``repeat`` polls driven back to back in virtual time."""
        cdef int64_t start, i, count = repeat
        with nogil:
            start = clock.sh_monotonic_ns()
            for i in range(count):
                loop.sh_loop_step(self.c, i * 50000, i * 50000)
            start = clock.sh_monotonic_ns() - start
        return start / repeat
