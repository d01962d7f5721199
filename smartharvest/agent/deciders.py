"""What decides, by the settings: policy, controller, twin in the loop, long-term safeguard."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import (
    Policy,
    check_policy,
    chooses_spare,
    is_shared,
    make_policy,
)
from smartharvest.algorithm.policy.fallback import in_force, with_stand_ins
from smartharvest.algorithm.policy.smartharvest import SmartHarvest
from smartharvest.algorithm.policy.ways import spares_of
from smartharvest.algorithm.safeguard import LongTermSafeguard
from smartharvest.config.settings import Settings
from smartharvest.core._learner import Csoaa, Decider
from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.preemption import Preemption
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.strict import caches_of
from smartharvest.placement.capacity import Capacity
from smartharvest.sensor.waits import WaitReader

_log = logging.getLogger(__name__)


def choose_policy(
    settings: Settings,
    spec: str,
    total: int,
    *,
    preempts: bool,
    found: Preemption | None = None,
    spares: tuple[int, ...] = (),
    freezes: bool = False,
    smallest: int = 0,
    asked_as: Callable[[str], str] = str,
) -> Policy:
    """The policy spelled ``spec`` for ``total`` cores. Should it fail, simpler ones take over.

    ``found`` is what the running kernel was seen to do, ``spares`` what ``spares_for``
    answers; ``freezes``: the policy may freeze the elastic group; ``smallest``: the fewest cores to
    be lent to one that is frozen otherwise (0: it is not); ``asked_as``: what the settings call a
    primary of that name. Raises ConfigError for a policy that is
    unknown, or that needs a primary which ``preempts`` the elastic group wherever they meet, or a
    kernel that keeps CPUs idle, where that is not so.
    """
    check_policy(spec)
    if is_shared(spec) and not preempts:
        raise ConfigError(
            f"policy: {spec} lets the primary preempt the elastic group everywhere, and "
            f"{settings.elastic} is not under cpu.idle (a group, shared placement and Linux "
            "5.15); use another --policy"
        )
    if chooses_spare(spec) and not spares:
        raise ConfigError(
            f"policy: {spec} has the kernel keep CPUs idle, which only strict does; use "
            "--mechanism strict, or another --policy"
        )
    if chooses_spare(spec) and settings.strict_spare is not None:
        raise ConfigError(
            f"policy: {spec} and strict_spare = {settings.strict_spare} both say how many CPUs are "
            "kept idle; give one of them"
        )
    if is_shared(spec) and found is not None and found.defence == "confinement":
        _log.warning("policy: %s relies on cpu.idle, and %s", spec, found.reason)
    # Where that is not known a policy that measures harm finds out.
    relied_on = preempts and (found is None or found.gives_way is not False)

    def make(spec: str) -> Policy:
        return make_policy(
            spec,
            total=total,
            cost=settings.cost,
            safeguard=settings.safeguard,
            learner=settings.learner,
            options=LearningOptions(
                features_after_exhaustion=settings.features_after_exhaustion,
                exhausted_windows=settings.exhausted_windows,
                label=settings.label,
            ),
            preempts=relied_on,
            protect=settings.protect,
            protect_of=settings.protect_of,
            asked_as=asked_as,
            spares=spares,
            freezes=freezes,
            exclusive=settings.placement == "exclusive",
            smallest=smallest,
        )

    return with_stand_ins(spec, make, total, _log.warning)


def spares_for(
    settings: Settings, mechanism: Mechanism, tree: CgroupTree, pool: Collection[int]
) -> tuple[int, ...]:
    """Of how many CPUs that the kernel keeps idle for who wakes a policy may choose; empty where it
    keeps none. The user's number stands by itself."""
    if not mechanism.keeps_spare:
        return ()
    if settings.strict_spare is not None:
        return (settings.strict_spare,)
    return spares_of(max(map(len, caches_of(tree, pool)), default=1))


def decider_of(settings: Settings, policy: Policy, keep_idle: int) -> Decider | None:
    """What decides in the loop as ``policy`` would; None where only the agent can."""
    chosen = in_force(policy)
    if settings.decisions == "agent" or not isinstance(chosen, SmartHarvest):
        return None
    if not isinstance(chosen.learner, Csoaa):
        return None
    return Decider(
        chosen.learner,
        keep_idle=keep_idle,
        label_demand=settings.label == "demand",
        aggressive=settings.safeguard == "aggressive",
        train_exhausted=settings.exhausted_windows == "trained",
        broken_features=settings.features_after_exhaustion == "broken",
    )


def long_term_of(settings: Settings) -> LongTermSafeguard | None:
    """The long-term safeguard, at rest; None if it is off."""
    return None if settings.long_term == "off" else make_long_term(settings)


def judged_waits_of(settings: Settings) -> str:
    """Which waits the long-term safeguard counts (``controller.JUDGED_WAITS``)."""
    return "paper" if settings.long_term == "off" else settings.long_term


def make_long_term(settings: Settings) -> LongTermSafeguard:
    """One with the numbers of ``settings``, at rest."""
    return LongTermSafeguard(
        wait_threshold_ns=settings.long_term_threshold_ns,
        share=settings.long_term_share,
        periods=settings.long_term_periods,
        period_ns=settings.long_term_period_ns,
        rest_ns=settings.long_term_rest_ns,
        min_dispatches=settings.long_term_min_dispatches,
        stuck_ns=settings.long_term_stuck_ns,
    )


def make_controller(settings: Settings, capacity: Capacity, policy: Policy) -> Controller:
    """What turns windows into plans within ``capacity``, as ``policy`` has it."""
    return Controller(
        policy,
        total=capacity.total,
        keep_idle=capacity.keep_idle,
        label_kind=settings.label,
        long_term=long_term_of(settings),
        judged_waits=judged_waits_of(settings),
        window_ns=settings.window_ns,
        can_lend=capacity.max_shared > 0,
        note=_log.warning,
    )


def make_wait_reader(settings: Settings, total: int) -> WaitReader | None:
    """What reads the waits that the long-term safeguard judges; None if it is off."""
    if settings.long_term == "off":
        return None
    return WaitReader(
        total=total,
        period_ns=settings.long_term_period_ns,
        threshold_ns=settings.long_term_threshold_ns,
        attributed=settings.long_term in ("auto", "attributed"),
        exclusive=settings.placement == "exclusive",
        wait_source=settings.waits,
    )
