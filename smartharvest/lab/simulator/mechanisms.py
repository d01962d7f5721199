"""How cores change hands on a simulated server, and how long that takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources

Quantiles = tuple[tuple[float, int], ...]
"""(share of the delays up to it, nanoseconds), from share 0 to 1, joined by straight lines; none at
all is no delay."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The elastic group runs under ``cpu.idle`` where the primaries may run too and is preempted at
    once, but for these (csrc/lab/simulator/machine.h, struct sh_sim_sharing)."""

    stall_share: float
    """Of the preemptions that have to wait, up to a tick, until the batch leaves the kernel."""
    turn_share: float
    """Of the cores that fall free while threads wait, those that the batch gets first."""
    tick_ns: int = 4_000_000
    queues: bool = False
    """Each core has a queue of its own, as on Linux (csrc/lab/simulator/queues.h)."""
    turn_ns: int = 0
    """With ``queues``: how long a turn lasts, and up to a tick more."""
    let_go_ns: int = 0
    """Above 0, with ``queues``: the elastic group is in a class below all, as many lent cores are
    kept idle as a plan says, and so long takes one to change sides."""


QUEUES = Sharing(
    stall_share=1.0, turn_share=0.25, tick_ns=4_000_000, queues=True, turn_ns=2_800_000
)
"""Linux 7.3 on eight or more CPUs, with a batch that computes."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The delays from the call to its effect."""

    name: str
    lend: Quantiles
    """Until the elastic group has a core that the primaries have lost (it grows)."""
    give_back: Quantiles
    """Until the primaries have it back (the elastic group shrinks)."""
    per_core: bool = True
    """Each core has a delay of its own; otherwise those of one change arrive together."""
    sleep_ns: int = 0
    """The agent does not poll for so long after a change."""
    sharing: Sharing | None = None
    """None: a core is either side's."""


def _uniform(low_us: float, high_us: float) -> Quantiles:
    return ((0.0, round(low_us * 1e3)), (1.0, round(high_us * 1e3)))


def _measured(name: str) -> Mechanism:
    text = resources.files("smartharvest.lab.simulator").joinpath(f"{name}.json").read_text("utf-8")
    document = json.loads(text)

    def quantiles(key: str) -> Quantiles:
        return tuple((share, round(us * 1e3)) for share, us in document[key])

    return Mechanism(name, quantiles("lend_us"), quantiles("give_back_us"), per_core=False)


_MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    # Hyper-V as it is: not preemptive, so a change waits for each core's next scheduling event
    # (section 4 and figure 14a); the agent sleeps after every change.
    "cpugroups": lambda: Mechanism(
        "cpugroups", _uniform(0, 5_000), _uniform(0, 10_000), sleep_ns=10_000_000
    ),
    # Hyper-V with the paper's merge-call and interrupts (figure 14b).
    "ipi": lambda: Mechanism("ipi", _uniform(60, 130), _uniform(60, 130)),
    # One in-place cpuset write, as this project measured it (linux.json says where and how).
    "linux": lambda: _measured("linux"),
    # The same with the elastic group under cpu.idle, and a batch that stays in user space or one
    # that forks and is often in the kernel. The shares of preemptions that go wrong are those seen
    # here with memcached at 30 % load, waits over 200 us; how often a turn goes wrong is a guess.
    "cpu-idle": lambda: Mechanism("cpu-idle", (), (), sharing=Sharing(0.0003, 0.02)),
    "cpu-idle-kernel": lambda: Mechanism("cpu-idle-kernel", (), (), sharing=Sharing(0.008, 0.1)),
    # A queue for each core, as on Linux 7.3 with its lazy preemption: a batch that another core's
    # task wakes somebody over goes on until the next tick. turn_share is fitted to one pair on
    # eight emulated CPUs (docs/research/manycore.md); the times are the kernel's own.
    "cpu-idle-7.3": lambda: Mechanism("cpu-idle-7.3", (), (), sharing=QUEUES),
    # The same with the batch in a class below all. A core changes sides in a wake-up's lateness.
    "strict": lambda: Mechanism("strict", (), (), sharing=replace(QUEUES, let_go_ns=50_000)),
    "instant": lambda: Mechanism("instant", (), ()),
}

MECHANISM_NAMES = tuple(_MECHANISMS)


def make_mechanism(name: str) -> Mechanism:
    """The mechanism of that name (``MECHANISM_NAMES``); KeyError for any other."""
    return _MECHANISMS[name]()
