"""What a primary and a batch are put through: a Linux user's own means, and the agent's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Condition:
    """One row of a table."""

    name: str
    about: str
    policy: str | None = None
    """The agent's; None if no agent runs."""
    batch: bool = True
    phase: str = ""
    """What is arranged without an agent; DemoGroups.enter_phase knows it."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Of the agent, beyond the defaults."""
    without: str | None = None
    """What of the agent is switched off that no setting switches; a key of bench.real.without."""
    slices: int = 1
    """A round; more for what all others are compared with."""
    warm_up_s: float = 0.0
    """Traffic before the slice: for a policy that tries before it decides."""
    learns_s: float = 0.0
    """Traffic before its first slice: for a policy that remembers, which a run would otherwise
    measure while it tries what an agent that lives for days has long found out."""


BASELINE = "alone"
RIVAL = "cpu.idle"
UNCHANGED = "default"
"""Of ablations."""
RECOMMENDED = "adaptive"
OURS = ("adaptive-quiet", RECOMMENDED)
WARM_UP_S = 4.0
"""What it held before is held again after a tenth of a second, and looked at less often after three
seconds."""
LEARNS_S = 50.0
"""Its first trials of every way on two CPUs, the second of those that failed, and five rests."""

ALONE = Condition(BASELINE, "no batch runs", batch=False, slices=2)
CPU_IDLE = Condition(RIVAL, "the batch on every CPU under cpu.idle=1", phase="cpu-idle")

CONDITIONS = (
    ALONE,
    Condition("alone again", "the same once more: what differs is noise", batch=False),
    Condition(
        "sensing only",
        "no batch, but an agent that senses and lends nothing: our own tax",
        policy="no-harvest",
        batch=False,
    ),
    Condition("nice 19", "the batch on every CPU with nice 19", phase="nice-19"),
    CPU_IDLE,
    Condition(
        "static half",
        "cpu.idle=1 and half of the CPUs, for good",
        phase="static-half",
    ),
    Condition("fixed-buffer:1", "one idle core is always kept", policy="fixed-buffer:1"),
    Condition(
        "fixed-buffer:1, freezer",
        "with no core lent the batch is frozen instead of sharing the last one under cpu.idle",
        policy="fixed-buffer:1",
        settings={"park": "freeze"},
    ),
    Condition("prev-peak", "the last window's peak is kept", policy="prev-peak"),
    *(
        Condition(name, about, policy=name, settings={"long_term": "off"})
        for name, about in (
            ("everywhere", "cpu.idle=1 on every CPU, for good, with the rescue"),
            ("part:1", "the same on all CPUs but one"),
            ("wait:500us", "lends everything, takes it back on a wait, for half a millisecond"),
        )
    ),
    Condition("smartharvest", "the paper's agent, with Vowpal Wabbit", policy="smartharvest"),
    Condition("adaptive-quiet", "cores that have been idle are lent", policy="adaptive-quiet"),
    Condition(
        RECOMMENDED,
        "the boldest way of sharing whose measured harm is small",
        policy=RECOMMENDED,
        warm_up_s=WARM_UP_S,
        learns_s=LEARNS_S,
    ),
    Condition(
        f"{RECOMMENDED}, 25 %",
        "the same with protect = 25 %",
        policy=RECOMMENDED,
        settings={"protect": 0.25},
        warm_up_s=WARM_UP_S,
        learns_s=LEARNS_S,
    ),
)


@dataclass(frozen=True)
class Experiment:
    """A primary, a batch and a load."""

    name: str
    primary: str
    batch: str
    load: float
    """Share of this machine's CPUs that the server and its load generator use when alone."""
    about: str
    shape: tuple[float, ...] = (1.0,)
    """Steps of the load within a slice, as multiples of it."""
    gaps: bool = True
    """Whether the traffic pauses for some tenths of a second every now and then. Where it does not,
    a window without a moment at which two CPUs are busy is rare, and two are all there are."""
    rows: tuple[str, ...] = ()
    """Names of the conditions; empty for all."""
    weight: float = 1.2
    """Its part of the time that all have: with more rows more, so that each has as much traffic."""


CASE = (
    *(BASELINE, "alone again", RIVAL, "static half", "everywhere", "wait:500us"),
    *("part:1", "smartharvest", RECOMMENDED, f"{RECOMMENDED}, 25 %"),
)
"""Whether cpu.idle is enough somewhere, and what else is."""


EXPERIMENTS = (
    Experiment(
        "memcached-build-30",
        "memcached",
        "build",
        0.30,
        "A batch of forks, page faults and files, most of it inside the kernel, which gives way "
        "later than user code.",
        weight=1.6,
    ),
    Experiment(
        "search-sort-40",
        "search",
        "sort",
        0.40,
        "Queries take hundreds of microseconds; the batch sorts files. Both need caches and memory "
        "bandwidth.",
        weight=1.6,
    ),
    Experiment(
        "digits-regression-30",
        "digits",
        "regression",
        0.30,
        "The primary infers in Python processes; the batch trains with linear algebra.",
        rows=(*CASE, "nice 19", "fixed-buffer:1", "prev-peak", "sensing only"),
        weight=1.45,
    ),
    Experiment(
        "memcached-bully-10",
        "memcached",
        "bully",
        0.10,
        "A lightly loaded primary and a batch that only computes: what cpu.idle is best at.",
        rows=CASE,
    ),
    Experiment(
        "memcached-bully-50",
        "memcached",
        "bully",
        0.50,
        "A busier primary: its threads often wait for each other on one CPU, and a scheduler that "
        "shares by weight then lets the idle group have whole ticks. The load is steady: every "
        "window of 25 ms has a moment at which two CPUs are busy.",
        gaps=False,
        rows=CASE,
    ),
    Experiment(
        "memcached-build-steps",
        "memcached",
        "build",
        0.20,
        "The load goes from middle to a quarter of that and to double, as in the paper's Table 2.",
        shape=(1.0, 0.25, 2.0),
        rows=(*CASE, "sensing only"),
        weight=1.25,
    ),
    Experiment(
        "search-stream-40",
        "search",
        "stream",
        0.40,
        "A batch that streams through arrays larger than the caches: it takes their content and "
        "the memory's bandwidth from the primary, which no CPU's owner can give back.",
        rows=CASE,
    ),
    Experiment(
        "memcached-slices-30",
        "memcached",
        "slices",
        0.30,
        "Batch threads ask for time slices of 100 ms (sched_setattr(2)); one that has a CPU keeps "
        "it.",
        rows=CASE,
    ),
    Experiment(
        "memcached-guests-30",
        "memcached",
        "guests",
        0.30,
        "The batch is virtual: a guest on each CPU, emulated, as the paper's ElasticVM is one.",
        rows=CASE,
    ),
)
