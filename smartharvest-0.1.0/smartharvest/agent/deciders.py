"""Who decides, by the settings: the policy, its twin in the loop, the long-term safeguard."""

from __future__ import annotations

import logging

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import SHARED_POLICIES, Policy, check_policy, make_policy
from smartharvest.algorithm.policy.fallback import Fallback, with_stand_ins
from smartharvest.algorithm.policy.smartharvest import SmartHarvest
from smartharvest.algorithm.safeguard import LongTermSafeguard
from smartharvest.config.settings import Settings
from smartharvest.core._learner import Csoaa, Decider
from smartharvest.errors import ConfigError

_log = logging.getLogger(__name__)


def choose_policy(settings: Settings, spec: str, total: int, *, preempts: bool) -> Policy:
    """The policy spelled ``spec`` for ``total`` cores. Should it fail, simpler ones take over.

    Raises ConfigError for one that is unknown, or that needs a primary which ``preempts`` the
    elastic group wherever they meet where this one does not.
    """
    check_policy(spec)
    if spec in SHARED_POLICIES and not preempts:
        raise ConfigError(
            f"policy: {spec} lets the primary preempt the elastic group everywhere, and "
            f"{settings.elastic} is not under cpu.idle (a group, shared placement and Linux "
            "5.15); use another --policy"
        )

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
            preempts=preempts,
            protect=settings.protect,
        )

    return with_stand_ins(spec, make, total, _log.warning)


def decider_of(settings: Settings, policy: Policy, keep_idle: int) -> Decider | None:
    """What decides in the loop as ``policy`` would; None where only the agent can."""
    chosen = policy.in_force if isinstance(policy, Fallback) else policy
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
