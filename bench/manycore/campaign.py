"""Measures rounds in guests and adds each whole one to the samples file."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.machine import commit, cpu_model
from bench.manycore import samples
from bench.manycore.disk import MODULE, ready
from bench.manycore.guest import Guest, GuestEndedError, Shape, booted
from bench.manycore.interpreter import piece_ms
from bench.manycore.plan import Experiment, Step, next_round, rounds_of
from bench.probe import load_ns
from bench.progress import clock
from bench.real.conditions import Condition
from bench.statistics import rounded
from tests.lab.kernels import Kernel

BOOT_SILENT_S = 120.0
GUEST_FAILURES = 4
"""Crashes in a row after which it is not chance."""
SETTLED_S = 0.1
"""A slice after traffic that was for learning alone."""
LEARNING_SEED = 250_000
"""What such traffic is drawn from, beyond that of the first slice."""
OVERHEAD_GUESS_S = 6.0
"""Of the host's time a slice takes beyond its traffic, before any was measured."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Campaign:
    """What is to be measured on one kernel."""

    kernel: Kernel
    shape: Shape
    experiments: Sequence[Experiment]
    conditions: Sequence[Condition]
    seconds: float
    """A slice, guest time."""
    budget_s: float
    seed: int
    out: Path
    preempt: str = ""
    """The guest's preemption mode; empty: its kernel's own."""

    @property
    def booted(self) -> str:
        """The kernel, and what was asked of it, as samples name it."""
        release = self.kernel.release
        return f"{release}, preempt={self.preempt}" if self.preempt else release

    def slice_s(self, condition: Condition) -> float:
        """What one slice takes of the host's time, roughly."""
        return (self.seconds + condition.warm_up_s) * self.shape.dilation

    def learning_s(self, conditions: Sequence[Condition]) -> float:
        """What they take of it to learn an experiment."""
        return sum(one.learns_s for one in conditions) * self.shape.dilation

    def round_s(self, overhead_s: float) -> float:
        return sum(self.slice_s(one) + overhead_s for one in self.conditions)


class Bench:
    """A guest that answers; made by ``bench``."""

    def __init__(self, guest: Guest, silent_s: float) -> None:
        self._guest = guest
        self._silent_s = silent_s
        self._learned: set[tuple[str, str]] = set()
        self._hear("ready", BOOT_SILENT_S)
        guest.slow_down()
        self.told = self._hear("steps_per_ms", BOOT_SILENT_S)

    def _hear(self, key: str, silent_s: float) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in self._guest.lines(silent_s):
            found |= line
            if key in line:
                return found
            if "failed" in line:
                raise ValueError(line["failed"])
        raise GuestEndedError(self._guest.last_words())

    def unlearned(self, experiment: Experiment, conditions: Sequence[Condition]) -> list[Condition]:
        """Those that are yet to learn that experiment in this guest."""
        return [
            one
            for one in conditions
            if one.learns_s and (experiment.name, one.name) not in self._learned
        ]

    def learn(self, step: Step, say: Say) -> None:
        """Has an agent that remembers learn that experiment, once in this guest. As ``measure``."""
        condition = step.condition
        if not self.unlearned(step.experiment, [condition]):
            return
        say(f"{condition.name} learns {condition.learns_s:.0f} s of {step.experiment.name}")
        other = replace(step, seed=step.seed + LEARNING_SEED)
        result = self.measure(other, SETTLED_S, condition.learns_s)
        self._learned.add((step.experiment.name, condition.name))
        for at_s, said in result["said"]:
            say(f"  {at_s + condition.learns_s:.1f} s: {said}")

    def measure(self, step: Step, seconds: float, warm_up_s: float) -> dict[str, Any]:
        """Runs one slice. Raises ValueError, in the guest's words, if the guest refuses it."""
        experiment = step.experiment
        asked = {
            "experiment": experiment.name,
            "condition": step.condition.name,
            "warm_up_s": warm_up_s,
            "seed": step.seed,
            "seconds": seconds,
            "load": experiment.load,
            "batch": experiment.batch,
            "gaps": experiment.gaps,
            "service_us": experiment.service_us,
            "shape": list(experiment.shape),
            "primary": experiment.primary,
            "second": experiment.second,
            "second_load": experiment.second_load,
        }
        self._guest.say(json.dumps(asked))
        result: dict[str, Any] = self._hear("result", self._silent_s)["result"]
        return result


@contextmanager
def bench(campaign: Campaign) -> Iterator[Bench]:
    disk, initramfs = ready(campaign.kernel)
    drive = f"file={disk},if=virtio,format=raw,snapshot=on"
    longest_s = max(
        campaign.slice_s(one) + one.learns_s * campaign.shape.dilation
        for one in campaign.conditions
    )
    with booted(
        campaign.shape,
        campaign.kernel.image,
        initramfs,
        words=[
            f"lab.module={MODULE}",
            *([f"preempt={campaign.preempt}"] if campaign.preempt else []),
        ],
        disks=[drive],
    ) as guest:
        yield Bench(guest, 3 * longest_s + 120)


def run(campaign: Campaign, say: Say) -> int:
    """How many whole rounds were added. Ends in time, or with ctrl-C, which keeps them.

    The experiments take turns, a round each, so that whatever time there is serves all of them; a
    guest that crashes costs its round, and what agents have learned in it.
    """
    _host_piece_ms()  # before a guest takes the host
    began_s = time.monotonic()
    ends_s = began_s + campaign.budget_s
    added = failures = 0
    overhead_s = OVERHEAD_GUESS_S
    unable: set[tuple[str, str]] = set()
    while not added or (
        time.monotonic() + campaign.learning_s(campaign.conditions) + campaign.round_s(overhead_s)
        < ends_s
    ):
        try:
            with bench(campaign) as guest:
                say(f"{campaign.kernel.name} is up, {clock(ends_s - time.monotonic())} left")
                while able := _able(campaign, unable):
                    for experiment in able:
                        unlearned = guest.unlearned(experiment, campaign.conditions)
                        needed_s = campaign.learning_s(unlearned) + campaign.round_s(overhead_s)
                        if added and time.monotonic() + needed_s > ends_s:
                            return added
                        _learn(campaign, experiment, guest, unable, say)
                        round_began_s = time.monotonic()
                        if not _round(campaign, experiment, guest, unable, ends_s, say):
                            continue
                        added, failures = added + 1, 0
                        took_s = time.monotonic() - round_began_s
                        overhead_s = (took_s - campaign.round_s(0)) / len(campaign.conditions)
                return added
        except GuestEndedError as error:
            failures += 1
            say(f"the guest ended ({error}); another is booted")
            if failures == GUEST_FAILURES:
                raise
        except KeyboardInterrupt:
            say(f"interrupted; {added} whole rounds are kept")
            return added
    return added


def _able(campaign: Campaign, unable: set[tuple[str, str]]) -> list[Experiment]:
    """Those that the guest has not refused under every condition."""
    return [
        experiment
        for experiment in campaign.experiments
        if any((experiment.name, one.name) not in unable for one in campaign.conditions)
    ]


def _learn(
    campaign: Campaign,
    experiment: Experiment,
    guest: Bench,
    unable: set[tuple[str, str]],
    say: Say,
) -> None:
    """Has those that remember learn, if they have not in this guest."""
    for condition in campaign.conditions:
        if (experiment.name, condition.name) in unable:
            continue
        try:
            guest.learn(Step(experiment, condition, 0, campaign.seed * 1000), say)
        except ValueError as error:
            say(f"{condition.name}: {error}")
            unable.add((experiment.name, condition.name))


def _round(
    campaign: Campaign,
    experiment: Experiment,
    guest: Bench,
    unable: set[tuple[str, str]],
    ends_s: float,
    say: Say,
) -> bool:
    """Every condition once, and whether any did; all are in the file afterwards, or none."""
    there = samples.read(campaign.out)
    number = next_round(there, experiment.name, campaign.booted)
    (steps,) = rounds_of(experiment, campaign.conditions, 1, number, campaign.seed)
    found = []
    for place, step in enumerate(steps, 1):
        if (experiment.name, step.condition.name) in unable:
            continue
        say(
            f"{experiment.name} round {number + 1}, {place}/{len(steps)} {step.condition.name}; "
            f"{clock(max(0.0, ends_s - time.monotonic()))} left"
        )
        try:
            result = guest.measure(step, campaign.seconds, step.condition.warm_up_s)
        except ValueError as error:  # the guest goes on, and so do the others
            say(f"{step.condition.name}: {error}")
            unable.add((experiment.name, step.condition.name))
            continue
        found.append(_sample(campaign, step, result))
    samples.append(campaign.out, found)
    return bool(found)


def _sample(campaign: Campaign, step: Step, result: dict[str, Any]) -> dict[str, Any]:
    shape = campaign.shape
    return {
        "host": cpu_model(),
        "commit": commit(),
        "kernel": campaign.booted,
        "cpus": shape.cpus,
        "dilation": shape.dilation,
        "share": shape.share,
        "slot_us": shape.slot_us,
        "seed": step.seed,
        "experiment": step.experiment.name,
        "condition": step.condition.name,
        "round": step.round,
        "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "learned_s": step.condition.learns_s,
        "load_ns": rounded(load_ns()),
        "host_python_ms": rounded(_host_piece_ms()),
        **result,
    }


@functools.cache
def _host_piece_ms() -> float:
    return piece_ms()


def to_terminal(line: str) -> None:
    print(f"manycore: {line}", file=sys.stderr, flush=True)
