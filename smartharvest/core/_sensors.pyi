from collections.abc import Collection, Sequence

class Sensor:
    """Base: what tells the loop who runs (csrc/sensors/sensor.h)."""

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

    @property
    def tells_waits(self) -> bool:
        """It sees each dispatch of the primaries' tasks: how long they waited and ran."""

    @property
    def tells_harm(self) -> bool:
        """It sees what lending costs each primary (BpfSensor.harm)."""

    @property
    def tells_runners(self) -> bool:
        """It knows who runs on each CPU."""

    @property
    def tells_displacements(self) -> bool:
        """It sees that an elastic task gets a CPU that others wait for (Rescue)."""

    @property
    def wants_visits(self) -> bool:
        """``attend`` has something to do, which cannot wait long."""

    def attend(self) -> None:
        """Does what the sensor needs to have done outside the loop; to be called often."""

    def resync(self) -> int:
        """Has it put itself right, once a second. By how much it was wrong, in CPUs and tasks.

        Raises OSError.
        """

    @property
    def overruns(self) -> int:
        """How often the kernel reported less than happened."""

    @property
    def displacements(self) -> int:
        """How often an elastic task got a CPU that others waited for, while somebody rescues."""

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

    def busy_core_ns(self) -> int | None:
        """Nanoseconds that cores ran the primaries since the start, summed up to now; None: it
        tells only who looks again and again, as the loop does."""

    def runner(self, cpu: int) -> str:
        """Who runs on ``cpu`` now: primary, elastic, other, idle or unknown."""

    def read(self, now_ns: int) -> tuple[int, int]:
        """(busy cores, demand in cores) now. Raises OSError with the sensor's errno."""

    def time_reads(self, repeat: int) -> list[int]:
        """Nanoseconds each of ``repeat`` readings took, reading the clock included."""

class FakeSensor(Sensor):
    """Plays a script of busy counts, or counts the cores marked busy (fake_sensor.h)."""

    def __init__(self, script: list[int] | None = None, core_count: int = 0) -> None: ...
    def set_busy(self, busy: int) -> None:
        """Marks the first ``busy`` cores busy, the others idle."""

    def set_free(self, core: int, free_ns: int) -> None:
        """Marks a core idle for so long, or busy with 0."""

    @property
    def exhausted_script(self) -> bool:
        """The last entry of the script is being repeated."""

class FakeEvents(Sensor):
    """Sees every change because its owner reports it (csrc/sensors/fake_events.h)."""

    def __init__(self, now_ns: int = 0) -> None: ...
    def set_busy(self, now_ns: int, busy: int, demand: int = 0) -> None:
        """From ``now_ns`` on ``busy`` cores are busy and ``demand``, or as many, are wanted."""

    def fail(self, error: int) -> None:
        """Makes readings fail with this errno from now on; 0: they work again."""

class ProcSensor(Sensor):
    """Task states from /proc (csrc/sensors/proc_sensor.h).

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
    """Idle counters of /proc/stat, for comparison (csrc/sensors/stat_sensor.h).

    ``pool`` are the CPUs that count while they are not lent; ``allocation`` caps the answer.
    """

    def __init__(self, pool: Sequence[int], allocation: int) -> None: ...

class PerfSensor(Sensor):
    """Records of every context switch, without BPF (csrc/sensors/perf_sensor.h).

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
    """The scheduler's own view, by a program at every context switch (csrc/sensors/bpf_sensor.h).

    ``targets`` are (hierarchy, id, index of the primary, or -1 for the elastic side): hierarchy is
    ``v2``, ``cpuset`` or ``cpu`` (the id being the inode of the group's directory) or ``pid``.
    ``parts`` are those of BPF_PARTS the program shall have. ``used_cpus`` are those whose use it
    looks at all the time, so that it can tell how long each was free; ``pool`` those that a waiting
    task might have used (all that this process may, if empty). Raises OSError, with what failed as
    its text, where the kernel or the rights do not allow it.
    """

    def __init__(
        self,
        targets: list[tuple[str, int, int]],
        allocations: list[int],
        wait_threshold_ns: int = 50_000,
        parts: Collection[str] = ...,
        used_cpus: Sequence[int] = (),
        pool: Collection[int] = (),
    ) -> None: ...
    def waits(self) -> BpfWaits:
        """A copy of all dispatch waits since the start."""

    def runs(self) -> BpfRuns:
        """A copy of all run times since the start."""

    def harm(self, primary: int) -> Harm:
        """A copy of what all dispatches of a primary's tasks have met since the start."""

    def pending(self) -> dict[str, int]:
        """The waits that still go on; walks all tasks. Raises OSError."""

class BpfWaits:
    """Dispatch waits of the primaries: counts and a histogram."""

    def since(self, earlier: BpfWaits) -> BpfWaits:
        """What happened after ``earlier``."""

    def quantile_ns(self, q: float) -> int:
        """The middle of the bucket with quantile ``q``; 0 if nobody was dispatched."""

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

class Harm:
    """What the dispatches of a primary's tasks have met, apart for those that something was lent in
    (``lent``, from the wake-up on) and the others (``not_lent``)."""

    def since(self, earlier: Harm) -> Harm:
        """What happened after ``earlier``."""

    @property
    def lost(self) -> int:
        """Tasks that went to sleep and whose wake-up is not known."""

    def counts(self, side: str) -> dict[str, int]:
        """wait_ns and wake_to_sleep_ns, sums; agent_ns of the waits, in which a thread of this
        process had the CPU; long_waits (longer than 200 us), and of these behind_elastic,
        behind_elastic_here and unjudged (docs/reference/sensors.md)."""

    def waits(self, side: str) -> tuple[tuple[int, int], ...]:
        """(middle of a bucket in ns, count) of the dispatches, ascending, without empty ones."""

    def wakes_to_sleeps(self, side: str) -> tuple[tuple[int, int], ...]:
        """The same of how long tasks took from waking up to going to sleep again."""

    def harmed(self) -> tuple[tuple[int, int], ...]:
        """The same of the lent ones, and for each task that was held up for longer than from one
        of its wake-ups to the next mostly, so many more as it had woken up for meanwhile."""

    def unharmed(self) -> tuple[tuple[int, int], ...]:
        """The same without the waits from when an elastic task had a CPU."""

    def harmed_waits(self) -> tuple[tuple[int, int], ...]:
        """The same of the lent waits, with a timer's lateness, and of one for each span more that
        ``harmed`` has."""

    def unharmed_waits(self) -> tuple[tuple[int, int], ...]:
        """The same without what lending held them up for."""

    @property
    def idle_answer_ns(self) -> int:
        """How long a task waits for a CPU that is idle, its timer's lateness included, in the mean;
        0 if none has."""

    @property
    def woken_by_own(self) -> int:
        """Wake-ups by a task of the same primary that ran, or an interrupt that came to one."""
