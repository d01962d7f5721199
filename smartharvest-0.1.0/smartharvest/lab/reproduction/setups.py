"""One simulated run of the evaluation: what it is of, and what came out."""

from __future__ import annotations

from dataclasses import dataclass, field

from smartharvest.core.window import Window
from smartharvest.lab.simulator.machine import LoopSettings, Machine
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.run import Experiment, simulate
from smartharvest.lab.simulator.workloads import Workload

SECONDS = 60.0
"""The length of a run of section 5.2."""


@dataclass(frozen=True)
class Setup:
    """A policy on a workload; everything else is the paper's (section 4) unless said."""

    workload: Workload
    policy: str = "smartharvest"
    mechanism: str = "cpugroups"
    window_ms: float = 25.0
    cost: str = "skewed"
    safeguard: str = "conservative"
    long_term: str | None = None
    """None: SmartHarvest has the long-term safeguard; its rivals (section 5.1) have none."""
    seconds: float = SECONDS
    phase_s: float | None = None
    """Report the latency of each phase of this many seconds, too."""
    shown_s: tuple[float, float] | None = None
    """The windows that end in this part of the run are kept."""


@dataclass(frozen=True)
class Run:
    """What one seed gave. Latencies in us, one of each primary; changes are fractions."""

    harvested: float
    p99_us: tuple[float, ...]
    baseline_us: tuple[float, ...]
    busy: float
    peak: float
    clairvoyant: float
    short: int
    long: int
    under: int
    phases_us: tuple[float, ...] = ()
    """P99 of each phase, of all primaries."""
    windows: tuple[tuple[float, int, int], ...] = ()
    """(end in s, peak of the cores wanted, cores held)"""

    @property
    def changes(self) -> tuple[float, ...]:
        return tuple(
            p99 / alone - 1 for p99, alone in zip(self.p99_us, self.baseline_us, strict=True)
        )

    @property
    def change(self) -> float:
        """That of the primary it hurt most."""
        return max(self.changes)


def run_setup(setup: Setup, seed: int) -> Run:
    """Simulates ``setup``; the same seed gives the same traffic under every policy."""
    experiment = Experiment(
        setup.workload,
        mechanism=make_mechanism(setup.mechanism),
        seconds=setup.seconds,
        seed=seed,
        cores=setup.workload.cores,
        loop=LoopSettings(window_ns=round(setup.window_ms * 1e6)),
        long_term=setup.long_term or ("paper" if setup.policy == "smartharvest" else "off"),
    )
    watch = _Watch(setup)
    outcome = simulate(
        experiment,
        setup.policy,
        cost=setup.cost,
        safeguard=setup.safeguard,
        window_ended=watch.note if setup.phase_s or setup.shown_s else None,
        started=watch.start,
    )
    watch.finish()
    return Run(
        harvested=outcome.harvested_cores,
        p99_us=tuple(primary["p99"] for primary in outcome.primaries),
        baseline_us=tuple(primary["baseline_p99"] for primary in outcome.primaries),
        busy=outcome.busy_cores,
        peak=outcome.mean_peak,
        clairvoyant=outcome.clairvoyant_cores,
        short=outcome.safeguards["short"],
        long=outcome.safeguards["long"],
        under=outcome.under_predictions,
        phases_us=tuple(watch.phases_us),
        windows=tuple(watch.windows),
    )


@dataclass
class _Watch:
    """Takes the phases' latencies and the windows from a run while it goes on."""

    setup: Setup
    phases_us: list[float] = field(default_factory=list)
    windows: list[tuple[float, int, int]] = field(default_factory=list)
    machine: Machine | None = None

    def start(self, machine: Machine) -> None:
        self.machine = machine

    def note(self, window: Window) -> None:
        at_s = window.end_ns / 1e9
        phase_s, shown_s = self.setup.phase_s, self.setup.shown_s
        if phase_s is not None and at_s >= (len(self.phases_us) + 1) * phase_s:
            self._end_phase()
        if shown_s is not None and shown_s[0] <= at_s <= shown_s[1]:
            wanted = max(window.busy_max, window.demand_max)
            self.windows.append((at_s, wanted, window.primary_cores))

    def finish(self) -> None:
        """The last phase ends with the run, a moment after its last window."""
        phase_s = self.setup.phase_s
        if phase_s is not None and len(self.phases_us) < round(self.setup.seconds / phase_s):
            self._end_phase()

    def _end_phase(self) -> None:
        assert self.machine is not None
        self.phases_us.append(self.machine.simulation.latency_us([0.99])[0])
        self.machine.simulation.forget_latencies()
