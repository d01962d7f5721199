"""What simulated primaries are asked to do, and the four workloads of Table 1 of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

FOREVER_NS = 1 << 60


@dataclass(frozen=True, slots=True)
class Service:
    """The CPU time of one thread."""

    distribution: str
    """``deterministic``, ``exponential``, ``lognormal`` or ``erlang``"""
    mean_ns: float
    sigma: float = 0.0
    """lognormal: standard deviation of the logarithm"""
    shape: int = 1
    """erlang: stages; the coefficient of variation is 1 / sqrt(shape)"""


@dataclass(frozen=True, slots=True)
class Primary:
    """One VM: open-loop traffic on at most ``cores`` cores. A request ends with its last thread."""

    cores: int
    service: Service
    schedule: tuple[tuple[int, float], ...] = ()
    """(nanoseconds, requests a second), one after the other and then from the first again. The rate
    is the long-run mean, batches and bursts included."""
    arrivals: str = "poisson"
    """``poisson``, ``mmpp`` (bursts), ``deterministic`` (equal distances) or ``trace``"""
    multiplier: float = 1.0
    """mmpp: the rate while on over the rate while off; both last exponential times."""
    on_ns: float = 0.0
    off_ns: float = 0.0
    batch_mean: float = 1.0
    """Requests that arrive together: geometric, at least 1."""
    fork: tuple[int, int] = (1, 1)
    """Parallel threads of a request: uniform, both ends included."""
    trace_ns: tuple[int, ...] = ()
    """trace: when batches arrive, ascending; again from the first after ``trace_period_ns``."""
    trace_period_ns: int = FOREVER_NS
    send_ns: int = 0
    """CPU time of the thread that sends a request to the others, which it wakes; 0: they arrive by
    themselves. Each request has its own, but where each core has a queue of its own: there one
    thread sends all, and takes half of it, and half more for each that it wakes."""
    wake_ns: int = 0
    """CPU time that a thread takes to wake up and to go to sleep, only where each core has a queue
    of its own."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The primaries of one server."""

    name: str
    primaries: tuple[Primary, ...] = field(default=())
    shared_cores: int | None = None
    """Fewer than all of theirs together: then they queue on their own."""

    @property
    def cores(self) -> int:
        return self.shared_cores or sum(primary.cores for primary in self.primaries)

    def on_cores(self, cores: int) -> Workload:
        """The same traffic for one VM of another size."""
        if len(self.primaries) != 1:
            return self
        return replace(self, primaries=(replace(self.primaries[0], cores=cores),))


def steady(rate_qps: float) -> tuple[tuple[int, float], ...]:
    """The schedule of a rate that never changes."""
    return ((FOREVER_NS, rate_qps),)


def _lognormal(mean_us: float, sigma: float) -> Service:
    return Service("lognormal", mean_us * 1e3, sigma)


def _builtin(rate_qps: float, service: Service, **more: object) -> Primary:
    return Primary(10, service, steady(rate_qps), **more)  # type: ignore[arg-type]


WORKLOADS = {
    name: Workload(name, (primary,))
    for name, primary in {
        "indexserve": _builtin(500, _lognormal(1040, 0.6), fork=(1, 4)),
        "memcached": _builtin(40_000, _lognormal(57.5, 1.0)),
        "moses": _builtin(400, _lognormal(3750, 0.5), batch_mean=1.8),
        "img-dnn": _builtin(2000, _lognormal(850, 0.3), batch_mean=1.28),
    }.items()
}
"""Calibrated to Table 1: alone on 10 cores, mean busy cores and mean peaks of 25 ms are 1.3 / 7,
2.3 / 7.7, 1.5 / 5.2 and 1.7 / 6.9 within 5 %. The paper publishes no more of them: rates are the
paper's, the shapes are a fit and no measurement."""
