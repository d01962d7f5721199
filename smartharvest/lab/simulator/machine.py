"""A simulated server with the polling loop on it: windows out, plans in, until a time."""

from __future__ import annotations

import errno
from dataclasses import dataclass

from smartharvest.core._simulator import Simulation
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.mechanisms import Mechanism
from smartharvest.lab.simulator.workloads import Workload

MAX_SIMULATED_CORES = 1024


@dataclass(frozen=True, slots=True)
class Model:
    """What is modelled beyond cores and queues; simulator/machine.h says what each assumes."""

    queue_in_transit: bool = True
    """A woken thread that finds no idle core is queued on one of its group's at random, and stays
    there if that one is still being handed over."""
    dispatch_every_ns: int = 100_000
    """Service between two dispatches that wait for nothing, as threads sleep and wake; 0: none."""
    preempt_running: bool = False
    """Cores are lent by number; a thread that runs on one is put back to the head of the queue."""
    cold_ns: int = 0
    """How much longer a core's first thread takes after it was lent: cold caches."""
    late_ns: int = 0
    """With a queue for each core: how late a woken thread begins on a free core; the mean."""
    agent_ns: int = 0
    """With a queue for each core: how long, and how often, the agent's guardian takes a core from
    everybody; 0: never."""
    agent_every_ns: int = 0


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The polling loop's, as on a host."""

    window_ns: int = 25_000_000
    poll_ns: int = 50_000
    max_harvest: int | None = None
    keep_idle: int = 1
    exact: bool = False
    """Windows are weighed by time, as with a sensor that sees every change; else sampled."""
    event_driven: bool = False
    """The loop sleeps until the buffer runs out, a plan comes or a window ends; also exact."""


class Machine:
    """One server in virtual time, from 0. The seed settles everything that happens."""

    def __init__(
        self,
        workload: Workload,
        mechanism: Mechanism,
        *,
        cores: int,
        seed: int,
        loop: LoopSettings | None = None,
        model: Model | None = None,
        long_wait_ns: int = 50_000,
        every_poll: bool = False,
        given: list[int] | None = None,
        elastic_min: int = 0,
    ) -> None:
        """``given``: without a loop, so many cores are lent from each window's beginning on.

        ``elastic_min``: so many of the cores are the elastic group's at any time; it needs a
        mechanism that shares.
        """
        loop, model = loop or LoopSettings(), model or Model()
        self.workload = workload
        self.cores = cores
        self.simulation = Simulation(
            cores=cores,
            primaries=list(workload.primaries),
            mechanism=mechanism,
            seed=seed,
            window_ns=loop.window_ns,
            poll_ns=loop.poll_ns,
            max_harvest=loop.max_harvest,
            keep_idle=loop.keep_idle,
            exact=loop.exact,
            event_driven=loop.event_driven,
            queue_in_transit=model.queue_in_transit,
            preempt_running=model.preempt_running,
            cold_ns=model.cold_ns,
            late_ns=model.late_ns,
            agent_ns=model.agent_ns,
            agent_every_ns=model.agent_every_ns,
            dispatch_every_ns=model.dispatch_every_ns,
            long_wait_ns=long_wait_ns,
            every_poll=every_poll,
            given=given,
            elastic_min=elastic_min,
        )

    def advance(self, until_ns: int) -> Window | None:
        """Runs up to ``until_ns``; the window that ended before, or None. Raises ConfigError for a
        load that the cores can never serve."""
        try:
            return self.simulation.advance(until_ns)
        except OSError as error:
            if error.errno != errno.EOVERFLOW:
                raise
            raise ConfigError(
                f"workload: {self.workload.name}: the queue only grows, {self.cores} cores cannot "
                "serve it; lower rate_qps or mean_us"
            ) from None
