"""What one poll costs: reading a fake sensor, the window's histogram, applying the plan."""

from __future__ import annotations

from collections.abc import Callable

from bench import probe
from bench.statistics import compare, median_us
from bench.subject import Effort, Figures, Subject, goal, interleave
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core.plan import Plan

CORES = (2, 64, 256)
POLL_NS = 50_000
POLLS = 2000  # 100 ms of the loop's time: four windows are closed and handed over on the way
BATCHES = 40


def measure(effort: Effort) -> Figures:
    """A sample is the mean over 2,000 polls; the floor a turn of an empty loop."""
    batches = effort.samples(BATCHES)

    def polls(cores: int) -> Callable[[], list[float]]:
        return lambda: [half_busy_loop(cores).time_steps(POLLS) for _ in range(batches)]

    cases: dict[str, Callable[[], list[float]]] = {f"cores_{n}": polls(n) for n in CORES}
    floors = dict.fromkeys(cases, "empty_loop")
    cases["empty_loop"] = lambda: [probe.empty_loop_ns(POLLS) for _ in range(batches)]
    figures = compare(interleave(cases, effort), floors)
    return {
        "polls_per_sample": POLLS,
        **figures,
        "goals": {"poll_of_64_cores_us": goal(1.0, median_us(figures["cores_64"]))},
    }


def half_busy_loop(cores: int) -> _loop.Loop:
    """Half the cores are busy and, where there are enough, a quarter is lent."""
    sensor = _sensors.FakeSensor(core_count=cores)
    sensor.set_busy(cores // 2)
    loop = _loop.Loop(
        sensor=sensor, actuator=_actuators.FakeActuator(), total=cores, poll_ns=POLL_NS
    )
    # Time zero is where the timed polls begin; the plan is taken up by the one before.
    loop.step(-2 * POLL_NS, -2 * POLL_NS)
    loop.post(Plan(1, 3 * cores // 4, cores))
    loop.step(-POLL_NS, -POLL_NS)
    return loop


SUBJECT = Subject(
    measure,
    seconds=2.0,
    title="One poll",
    about="""\
A sample is the mean of 2,000 polls: reading a sensor that costs nothing, the window's histogram,
applying the plan; four windows are closed on the way. The floor is a turn of an empty loop.""",
)
