from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from smartharvest._learner import Decider
from smartharvest._lend_order import LendOrder
from smartharvest.window import Window

EFFECTIVE_MISMATCH: int
"""The error of a cpuset write that was taken but has another effect than what was written."""
MAX_CORES: int
MAX_ELASTIC_PROCESSES: int

class _KernelFiles(Protocol):
    def read(self, path: str, /) -> str: ...
    def write(self, path: str, value: str, /) -> None: ...

class _WritableBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

def monotonic_ns() -> int:
    """CLOCK_MONOTONIC as the loop reads it."""

class Sensor:
    """Base: what tells the loop who runs (csrc/sensor.h)."""

    def close(self) -> None:
        """Lets go of descriptors; the sensor must not be read afterwards."""

    @property
    def seam_address(self) -> int:
        """Of its struct sh_sensor, for benchmarks in C."""

    @property
    def sees_changes(self) -> bool:
        """It can weigh windows by time."""

    @property
    def tells_cpus_apart(self) -> bool:
        """It knows which CPUs the primary has used, and when."""

    @property
    def wakes(self) -> bool:
        """It can wake the loop when the idle buffer runs out."""

    def attend(self) -> None:
        """Does what the sensor needs to have done outside the loop; to be called often."""

    def read(self, now_ns: int, harvested: int = 0) -> tuple[int, int]:
        """(busy cores, demand in cores) now. Raises OSError with the sensor's errno."""

    def time_reads(self, repeat: int) -> list[int]:
        """Nanoseconds each of ``repeat`` readings took, reading the clock included."""

class FakeSensor(Sensor):
    """Plays a script of busy counts, or counts the cores marked busy (csrc/fake_sensor.h)."""

    def __init__(self, script: list[int] | None = None, core_count: int = 0) -> None: ...
    def set_busy(self, busy: int) -> None:
        """Marks the first ``busy`` cores busy, the others idle."""

    def set_free(self, core: int, free_ns: int) -> None:
        """Marks a core idle for so long, or busy with 0."""

    @property
    def exhausted_script(self) -> bool:
        """The last entry of the script is being repeated."""

class FakeEvents(Sensor):
    """Sees every change because it is told of it (csrc/fake_events.h)."""

    def __init__(self, now_ns: int = 0) -> None: ...
    def set_busy(self, now_ns: int, busy: int, demand: int = 0) -> None:
        """From ``now_ns`` on ``busy`` cores are busy and ``demand``, or as many, are wanted."""

    def fail(self, error: int) -> None:
        """Makes readings fail with this errno from now on; 0: they work again."""

class ProcSensor(Sensor):
    """Task states from /proc (csrc/proc_sensor.h).

    ``sources`` are (path, primary index): a `tasks` / `cgroup.threads` file or a /proc/PID/task
    directory; ``allocations`` the cores each primary may count for.
    """

    def __init__(
        self, sources: list[tuple[str, int]], allocations: list[int], rescan_ns: int = 5_000_000
    ) -> None: ...
    @property
    def tasks_seen(self) -> int:
        """Primary tasks at the last listing."""

class StatSensor(Sensor):
    """Idle counters of /proc/stat, for comparison (csrc/stat_sensor.h).

    ``lend_order`` is the pool in the order its cores are lent; ``allocation`` caps the answer.
    """

    def __init__(self, lend_order: list[int], elastic_min: int, allocation: int) -> None: ...

class PerfSensor(Sensor):
    """Records of every context switch, without BPF (csrc/perf_sensor.h).

    ``sources`` and ``allocations`` as of ProcSensor. Tasks that are moved into a group are seen
    after ``attend``, born ones at once. Raises OSError, with what failed as its text, where the
    kernel or the rights do not allow it.
    """

    def __init__(
        self, sources: list[tuple[str, int]], allocations: list[int], list_ns: int = 100_000_000
    ) -> None: ...
    @property
    def counts(self) -> dict[str, int]:
        """Since the start: records, overruns of a ring and corrections of who runs on a CPU; and
        the tasks known now."""

BPF_PARTS: tuple[str, ...]

class BpfSensor(Sensor):
    """The scheduler's own view, by a program at every context switch (csrc/bpf_sensor.h).

    ``targets`` are (hierarchy, id, index of the primary, or -1 for the elastic side): hierarchy is
    ``v2``, ``cpuset`` or ``cpu`` (the id being the inode of the group's directory) or ``pid``.
    ``pull`` hooks nothing and looks at the run queues at each reading instead. ``parts`` are those
    of BPF_PARTS the program shall have; pulling knows demand only. ``lend_order`` are the CPUs in
    the order they are lent, those of the elastic minimum first. Raises OSError, with what failed as
    its text, where the kernel or the rights do not allow it.
    """

    def __init__(
        self,
        targets: list[tuple[str, int, int]],
        allocations: list[int],
        pull: bool = False,
        wait_threshold_ns: int = 50_000,
        parts: Collection[str] = ...,
        lend_order: Sequence[int] = (),
        elastic_min: int = 0,
    ) -> None: ...
    def rescue(self, cpus: Sequence[int], fifo_priority: int) -> None:
        """Starts a thread on each of ``cpus`` that ends displacements there (csrc/rescue.h).

        For an elastic group under cpu.idle. Raises OSError.
        """

    def follow(self, order: LendOrder) -> None:
        """Has what is lent told by a LendOrder, which holds this sensor and is the loop's; before
        the loop runs. It must not be held here: a cycle would have the collector clear what C code
        still uses."""

    @property
    def rescues(self) -> int:
        """How often such a thread has woken for it."""

    @property
    def displacements(self) -> int:
        """How often an elastic task got a CPU that others waited for, while somebody rescues."""

    def primary_times_ns(self, cpu: int) -> tuple[int, int]:
        """How long primary tasks have run on ``cpu``, and of that while it was lent."""

    def runner(self, cpu: int) -> str:
        """Who runs on ``cpu`` now: primary, elastic, other, idle or unknown."""

    def waits(self) -> BpfWaits:
        """A copy of all dispatch waits since the start."""

    def runs(self) -> BpfRuns:
        """A copy of all run times since the start."""

    def levels(self) -> tuple[list[int], list[int]]:
        """Nanoseconds since the start with exactly i busy cores, and with i tasks wanting one."""

    def pending(self) -> dict[str, int]:
        """The waits that still go on; walks all tasks. Raises OSError."""

    def resync(self) -> dict[str, int]:
        """Puts the state right by the run queues and says by how much it was wrong."""

class BpfWaits:
    """Dispatch waits of the primaries: counts and a histogram."""

    def since(self, earlier: BpfWaits) -> BpfWaits:
        """What happened after ``earlier``."""

    def quantile_ns(self, q: float) -> int:
        """The middle of the bucket with quantile ``q``; 0 if nobody was dispatched."""

    def longer_than(self, wait_ns: int) -> int:
        """Waits longer than ``wait_ns``, by whole buckets: 512 ns up to 131 us, then 6 %."""

    def durations(self) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count), ascending, without the empty ones."""

    @property
    def counts(self) -> dict[str, int]:
        """waits, total_ns, and of those longer than the threshold: longer, longer_while_lent,
        longer_after_elastic, longer_throttled and longer_blamed (on the harvest)."""

class BpfRuns:
    """Run times of the primaries' tasks: CPU time from waking up to going to sleep again."""

    def since(self, earlier: BpfRuns) -> BpfRuns:
        """What happened after ``earlier``."""

    def quantile_ns(self, q: float) -> int:
        """Quantile ``q`` within 2.2 % (from 512 ns on); 0 if nobody ran."""

    def durations(self) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count), ascending, without the empty ones."""

    @property
    def counts(self) -> dict[str, int]:
        """runs and their total_ns."""

class Actuator:
    """Base: what gives the elastic group its cores (csrc/actuator.h)."""

    def assign(self, harvested: int) -> None:
        """Leaves the elastic group its minimum + ``harvested`` cores. Raises OSError if refused."""

    @property
    def seam_address(self) -> int:
        """Of its struct sh_actuator, for benchmarks in C."""

    def failure(self) -> tuple[str, str]:
        """(file, value) of the last write that was refused."""

class FakeActuator(Actuator):
    """Remembers the last 4096 assignments (csrc/fake_actuator.h)."""

    def fail(self, number: int, error: int) -> None:
        """Makes the assignment with this number, counted from 0, fail with ``error``."""

    @property
    def assigned(self) -> list[int]:
        """The harvests assigned so far, oldest first."""

class CpusetActuator(Actuator):
    """One in-place cpuset write moves the cores (csrc/cpuset.h).

    ``files`` lists (cpus path, effective path or None, masks), a group before its children; the
    masks have one entry per number of harvested cores. ``added_cpu[level]`` is the CPU a level has
    and the one below lacks, -1 if there is none. ``primary_files`` are the same of the primaries,
    whose sets shrink as the harvest grows. ``kernel_files`` answers instead of the kernel. With a
    ``fifo_priority`` real-time threads hold each core while it changes hands (csrc/handover.h). An
    ``order`` makes the masks as it chooses, and those of ``files`` are not used.
    """

    def __init__(
        self,
        files: list[tuple[str, str | None, list[str]]],
        added_cpu: list[int],
        tasks_path: str | None = None,
        freezer: tuple[str, str, str] | None = None,
        kernel_files: _KernelFiles | None = None,
        nudge_slot: _WritableBuffer | None = None,
        primary_files: Sequence[tuple[str, str | None, list[str]]] = (),
        fifo_priority: int = 0,
        order: LendOrder | None = None,
    ) -> None: ...
    @property
    def order(self) -> LendOrder | None: ...
    @property
    def writes(self) -> int: ...
    @property
    def skipped(self) -> int:
        """Writes that were not needed: the mask was in force already."""

    @property
    def nudges(self) -> int: ...

class ThreadsActuator(Actuator):
    """Base: moves threads one by one (csrc/affinity.h)."""

    def given(self, tid: int) -> frozenset[int] | None:
        """The CPUs that a thread was given last, if it was there; None amid a move."""

    @property
    def strays(self) -> list[tuple[int, frozenset[int], frozenset[int]]]:
        """(thread, CPUs it had, CPUs it had been given) of those that a move met with others.

        The first so many. One that has just come to a group is among them.
        """

class AffinityActuator(ThreadsActuator):
    """Affinity of the threads of ``pids`` (csrc/affinity.h); ``cpus[level]`` per level.

    ``pins`` are the CPUs that single threads are to stay within, as far as they have any of them.
    """

    def __init__(
        self,
        pids: list[int],
        cpus: list[list[int]],
        pins: Mapping[int, Iterable[int]] | None = None,
    ) -> None: ...
    def follow(self, slot: int, pid: int) -> None:
        """Confines another process like the others, from now on.

        ``slot`` is the next free one, from 1 (MAX_ELASTIC_PROCESSES in all), or that of a process
        that has ended. Only one thread may call this. Raises OSError; ESRCH: it has ended, and the
        slot is taken all the same.
        """

    @property
    def writes(self) -> int: ...

class WindowStatistics:
    """The loop's window by itself (csrc/window.h), for tests and benchmarks."""

    def add(self, busy: int, demand: int = 0, count: int = 1) -> None: ...
    def features(self) -> tuple[float, float, float, float, float]:
        """(min, max, mean, std, median) in cores."""

    def time_features(self, repeat: int) -> float:
        """Mean nanoseconds of computing the features ``repeat`` times, without Python's share."""

class Loop:
    """The polling loop (csrc/loop.h): one thread without the GIL, or ``step`` by ``step``.

    Times in nanoseconds, cores in 0..total. ``cpus`` is where the thread may run (None: anywhere),
    ``realtime_cpus`` where once it runs as SCHED_FIFO (None: there too);
    ``fifo_priority`` 0 asks for no real-time scheduling; ``beat_slot`` is eight bytes for the time
    of the last poll. With a sensor that sees changes, ``exact`` weighs windows by time; with one
    that wakes, ``event_driven`` does without polling. ``whole_harvests`` are how many of 0..total
    cores can be lent as whole ones. Raises ValueError for settings out of range.
    """

    def __init__(
        self,
        *,
        sensor: Sensor,
        actuator: Actuator,
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
        beat_slot: _WritableBuffer | None = None,
        exact: bool = False,
        event_driven: bool = False,
    ) -> None: ...
    @property
    def sensor(self) -> Sensor: ...
    @property
    def actuator(self) -> Actuator: ...
    @property
    def total(self) -> int: ...
    def start(self) -> None:
        """Starts the thread. Raises OSError if it cannot be made."""

    def stop(self) -> None:
        """Gives everything back and ends the thread; harmless when it does not run."""

    def step(self, deadline_ns: int, now_ns: int) -> int:
        """One poll without a thread: 0, or the negative errno the loop halted on."""

    def post(
        self,
        seq: int,
        primary_cores: int,
        safe_cores: int,
        buffer: int = 0,
        quiet_ns: int | None = None,
        shared: bool = False,
    ) -> None:
        """Hands the loop the plan that answers window ``seq``.

        With a ``buffer`` above 0 the loop keeps so many cores idle. With ``quiet_ns`` it takes one
        from the primary only after so long without need, and leaves ``primary_cores`` at least.
        A ``shared`` plan keeps the elastic group off so many cores whoever is busy: the primary
        preempts it on the others.
        """

    def hurry(self, hurry: bool) -> None:
        """Whether a window wakes who waits; if not, half a ring does (SH_RING_WINDOWS)."""

    def wait(self, timeout_ms: int, other_fd: int = -1) -> bool:
        """Waits for a window, or for ``other_fd``, without the GIL; False after the timeout.

        Signal handlers run.
        """

    def decide_with(self, decider: Decider) -> None:
        """Windows are answered by ``decider`` from the start on, in the loop's thread.

        To be called before ``start``. It lends only as long as ``permit`` says.
        """

    def permit(self, until_ns: int) -> None:
        """The decider may lend until then (CLOCK_MONOTONIC); 0: no longer. What is lent already
        comes back with the next window, or with a plan that is posted."""

    def take(self) -> Window | None:
        """The oldest window not yet taken, or None."""

    def take_answered(self) -> tuple[Window, tuple[int, int, int | None] | None] | None:
        """The same with what the decider answered, if it did: (primary cores, safe cores,
        label)."""

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up: sensor, actuator or clock."""

    @property
    def primary_cores(self) -> int: ...
    @property
    def harvested(self) -> int: ...
    @property
    def scheduling(self) -> str | None:
        """What the thread runs as: fifo, short-slice or other; None before it runs."""

    @property
    def tid(self) -> int: ...
    @property
    def cpu_ns(self) -> int:
        """CPU time the thread has used."""

    def counters(self) -> dict[str, int]:
        """Everything counted since the start (csrc/loop.h, struct sh_counters)."""

    def lateness_ns(self, q: float) -> int:
        """Quantile ``q`` of how late polls were, within 12.5 %; q = 1 is the exact maximum."""

    def lateness(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How late polls were: (upper edge of a bucket in ns, count), and the sum in ns."""

    def moves(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How long moving cores took, in the same form; nothing in virtual time."""

    def time_steps(self, repeat: int) -> float:
        """Mean nanoseconds of a poll over ``repeat`` polls driven back to back in virtual time."""
