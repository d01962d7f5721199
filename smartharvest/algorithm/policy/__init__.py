"""The policies by the names the command line knows them by; a new one is a file and a line here."""

from __future__ import annotations

import re
from collections.abc import Callable

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy.adaptive_buffer import AdaptiveBuffer
from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import Policy, PolicySettings
from smartharvest.algorithm.policy.fixed_buffer import FixedBuffer
from smartharvest.algorithm.policy.idle_first import IdleFirst
from smartharvest.algorithm.policy.no_harvest import NoHarvest
from smartharvest.algorithm.policy.prev_peak import PrevPeak
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.smartharvest_plus import make_smartharvest_plus
from smartharvest.errors import ConfigError

__all__ = [
    "LENDS_NOTHING",
    "POLICY_NAMES",
    "SHARED_POLICIES",
    "Policy",
    "PolicySettings",
    "check_policy",
    "make_policy",
]

LENDS_NOTHING = "no-harvest"

_PLAIN: dict[str, Callable[[PolicySettings], Policy]] = {
    "smartharvest": make_smartharvest,
    LENDS_NOTHING: NoHarvest,
    "prev-peak": PrevPeak,
    "smartharvest+": make_smartharvest_plus,
    "adaptive-buffer": AdaptiveBuffer,
    "adaptive-quiet": AdaptiveQuiet,
    "idle-first": IdleFirst,
}
_NUMBERED: dict[str, Callable[[PolicySettings, int], Policy]] = {
    "fixed-buffer": FixedBuffer,
    "prev-peak": PrevPeak,
}

POLICY_NAMES = (*_PLAIN, *(f"{name}:N" for name in _NUMBERED))
"""The accepted spellings, N being a number from 1 to 9999."""

SHARED_POLICIES = ("idle-first",)
"""Those that need a primary that preempts the elastic group wherever they meet."""

_NUMBER = re.compile(r"[1-9][0-9]{0,3}")


def make_policy(
    spec: str,
    *,
    total: int,
    cost: str = "skewed",
    safeguard: str = "conservative",
    learner: str = "vw",
    options: LearningOptions | None = None,
) -> Policy:
    """The policy spelled ``spec`` for a primary that can have ``total`` cores at most.

    ``cost``, ``safeguard``, ``learner`` and ``options`` concern ``smartharvest`` alone; the others
    react to exhaustion as the paper has it. Raises ConfigError for what is unknown or malformed.
    """
    check_policy(spec)
    settings = PolicySettings(total, cost, safeguard, learner, options or LearningOptions())
    name, colon, number = spec.partition(":")
    if colon:
        return _NUMBERED[name](settings, int(number))
    return _PLAIN[name](settings)


def check_policy(spec: str) -> None:
    """Raises ConfigError if ``spec`` is not the spelling of a policy."""
    name, colon, number = spec.partition(":")
    known = _NUMBER.fullmatch(number) if colon else True
    if name not in (_NUMBERED if colon else _PLAIN) or not known:
        raise ConfigError(
            f"policy: {spec!r} is unknown; use one of {', '.join(POLICY_NAMES)} (N: 1 to 9999)"
        )
