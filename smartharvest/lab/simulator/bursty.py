"""Workloads that are hard on a policy: bursts, forks, batches, steps and company."""

from __future__ import annotations

from smartharvest.lab.simulator.workloads import Primary, Service, Workload, steady

_MS = 1_000_000
_S = 1_000_000_000


def _lognormal(mean_us: float, sigma: float) -> Service:
    return Service("lognormal", mean_us * 1e3, sigma)


def _named(primaries: dict[str, tuple[Primary, ...]]) -> dict[str, Workload]:
    return {name: Workload(name, several) for name, several in primaries.items()}


BURSTY = _named(
    {
        "mmpp": (
            Primary(10, _lognormal(100, 0.8), steady(20_000), "mmpp", 8.0, 5 * _MS, 45 * _MS),
        ),
        "fork-150us": (Primary(10, _lognormal(150, 0.3), steady(1_500), fork=(8, 8)),),
        "fork-1ms": (Primary(10, _lognormal(1_000, 0.3), steady(250), fork=(8, 8)),),
        "batches": (Primary(10, _lognormal(200, 0.5), steady(10_000), batch_mean=4.0),),
        "steps": (
            Primary(10, _lognormal(30, 0.7), ((_S, 80_000.0), (_S, 20_000.0), (_S, 160_000.0))),
        ),
        "two": (
            Primary(5, _lognormal(57.5, 1.0), steady(20_000)),
            Primary(5, _lognormal(1_040, 0.6), steady(250), fork=(1, 4)),
        ),
    }
) | {
    "small": Workload(
        "small",
        (Primary(8, _lognormal(80, 0.8), steady(4_000), "mmpp", 6.0, 20 * _MS, 180 * _MS),),
        shared_cores=2,
    )
}
"""MMPP; requests of eight short or long threads; batches; steps of the rate; two primaries; and a
server of eight threads on two cores, which queues on its own."""

HELD_OUT = _named(
    {
        "slow-bursts": (
            Primary(10, _lognormal(250, 0.6), steady(6_000), "mmpp", 4.0, 200 * _MS, 1_800 * _MS),
        ),
        "fork-4": (Primary(10, _lognormal(500, 0.5), steady(800), fork=(4, 4)),),
        "paced": (Primary(10, Service("exponential", 300_000.0), steady(8_000), "deterministic"),),
        "heavy-tail": (Primary(10, _lognormal(200, 2.0), steady(5_000)),),
        "waves": (
            Primary(
                10,
                Service("erlang", 400_000.0, shape=4),
                tuple((250 * _MS, rate) for rate in (2e3, 5e3, 9e3, 12e3, 9e3, 5e3)),
            ),
        ),
        "large": (Primary(32, _lognormal(120, 0.8), steady(60_000), batch_mean=2.0),),
        "handed-over": (Primary(10, _lognormal(400, 0.6), steady(6_000), send_ns=15_000),),
        "fanned-out": (
            Primary(10, _lognormal(300, 0.5), steady(1_800), fork=(4, 4), send_ns=30_000),
        ),
    }
) | {
    "crowded": Workload(
        "crowded",
        (
            Primary(8, _lognormal(300, 0.8), steady(9_000), batch_mean=3.0),
            Primary(8, _lognormal(900, 0.5), steady(1_200), fork=(1, 4)),
        ),
        shared_cores=10,
    )
}
"""To confirm on: nobody looked at them while a policy was tuned. Three are exceptions: ``crowded``,
and ``handed-over`` and ``fanned-out``, since policies know which threads wake each other."""
