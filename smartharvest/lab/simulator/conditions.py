"""The conditions that a policy was made for: a figure of it under others says nothing about it."""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.algorithm.learning.options import Label
from smartharvest.algorithm.policy import chooses_spare, is_shared
from smartharvest.errors import ConfigError

PAPERS = ("smartharvest", "fixed-buffer", "prev-peak", "no-harvest", "clairvoyant", "instant")
"""The paper's policies and the bounds, by name without number."""

PREEMPTED = ("adaptive", "wait")
"""Those that lend more where the primary preempts the elastic group, by name without number."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How the loop looks, what is learned, which waits stop the lending, how cores move."""

    events: bool
    """Whether the loop acts on each change, or polls and samples."""
    label: Label
    long_term: str
    mechanism: str

    def as_options(self) -> str:
        """As they are spelled on the command line."""
        look = "--events" if self.events else "--sampled"
        return (
            f"{look} --label {self.label} --long-term {self.long_term} --mechanism {self.mechanism}"
        )


PAPERS_CONDITIONS = Conditions(False, "busy", "paper", "cpugroups")
"""A look every 50 us, windows sampled by them, every wait counted, Hyper-V's cpugroups."""


def made_for(policy: str) -> Conditions:
    """The conditions that the policy spelled ``policy`` was made for.

    The paper's have the paper's. Every other acts on what a sensor sees that misses nothing, and
    the long-term safeguard is as an agent has it by default.
    """
    if is_papers(policy):
        return PAPERS_CONDITIONS
    if chooses_spare(policy):
        return Conditions(True, "demand", "auto", "strict")
    shares = is_shared(policy) or policy.partition(":")[0] in PREEMPTED
    return Conditions(True, "demand", "auto", "cpu-idle" if shares else "linux")


def is_papers(policy: str) -> bool:
    """Whether the policy is one of the paper's, or a bound."""
    return policy.partition(":")[0] in PAPERS


def check_conditions(policy: str, conditions: Conditions) -> None:
    """Raises ConfigError if ``policy`` cannot do its work under ``conditions``."""
    if not is_papers(policy) and not conditions.events:
        raise ConfigError(
            f"policy: {policy} acts on events and on how long tasks wait; leave out --sampled"
        )
