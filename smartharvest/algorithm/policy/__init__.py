"""The policies by the names the command line knows them by; a new one is a file and a line here.

A policy's module is imported when the policy is made: names are checked without numpy, whose import
takes longer than a command such as ``pause``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import cast

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy.base import PROTECT, Policy, PolicySettings, ProtectOf
from smartharvest.errors import ConfigError

__all__ = [
    "LENDS_NOTHING",
    "POLICY_NAMES",
    "Policy",
    "PolicySettings",
    "check_policy",
    "chooses_spare",
    "is_shared",
    "make_policy",
]

LENDS_NOTHING = "no-harvest"

_PLAIN = {
    "smartharvest": "smartharvest:make_smartharvest",
    LENDS_NOTHING: "no_harvest:NoHarvest",
    "prev-peak": "prev_peak:PrevPeak",
    "adaptive": "adaptive:Adaptive",
    "adaptive-quiet": "adaptive_quiet:AdaptiveQuiet",
    "everywhere": "one_way:make_everywhere",
}
"""Name -> ``module:maker`` of a policy made from PolicySettings."""
_NUMBERED = {
    "fixed-buffer": "fixed_buffer:FixedBuffer",
    "prev-peak": "prev_peak:PrevPeak",
    "part": "one_way:make_part",
    "spare": "one_way:make_spare",
    "wait": "one_way:make_wait",
}
"""The same of policies whose name a number follows, which their maker takes too."""
_UNITS = {"wait": "us"}
"""What follows the number."""

POLICY_NAMES = (*_PLAIN, *(f"{name}:N{_UNITS.get(name, '')}" for name in _NUMBERED))
"""The accepted spellings, N being a number from 1 to 9999."""

_SHARED = ("everywhere", "part", "spare")
_FROM_ZERO = ("spare",)
"""Those whose number may be 0."""

_NUMBER = re.compile(r"(0|[1-9][0-9]{0,3})([a-z]*)")


def make_policy(
    spec: str,
    *,
    total: int,
    cost: str = "skewed",
    safeguard: str = "conservative",
    learner: str = "vw",
    options: LearningOptions | None = None,
    preempts: bool = False,
    protect: float = PROTECT,
    protect_of: tuple[ProtectOf, ...] = (),
    asked_as: Callable[[str], str] = str,
    spares: tuple[int, ...] = (),
    freezes: bool = False,
    exclusive: bool = False,
    smallest: int = 0,
) -> Policy:
    """The policy spelled ``spec`` for a primary that can have ``total`` cores at most.

    ``cost``, ``safeguard``, ``learner`` and ``options`` concern ``smartharvest`` and what uses its
    prediction; the others react to exhaustion as the paper has it. ``preempts``, ``protect``,
    ``protect_of``, ``asked_as``, ``spares``, ``freezes``, ``exclusive`` and ``smallest`` are for
    ``adaptive`` (PolicySettings). Raises ConfigError for what is unknown or malformed.
    """
    name, number = _parsed(spec)
    settings = PolicySettings(
        total,
        cost,
        safeguard,
        learner,
        options or LearningOptions(),
        preempts,
        protect,
        spares,
        freezes,
        exclusive,
        protect_of,
        asked_as,
        smallest,
    )
    module, _, maker = (_PLAIN if number is None else _NUMBERED)[name].partition(":")
    make = getattr(import_module(f"{__name__}.{module}"), maker)
    return cast(Policy, make(settings) if number is None else make(settings, number))


def check_policy(spec: str) -> None:
    """Raises ConfigError if ``spec`` is not the spelling of a policy."""
    _parsed(spec)


def is_shared(spec: str) -> bool:
    """Whether the policy needs a primary that preempts the elastic group wherever they meet."""
    return spec.partition(":")[0] in _SHARED


def chooses_spare(spec: str) -> bool:
    """Whether the policy is one number of CPUs that the kernel keeps idle for who wakes."""
    return spec.partition(":")[0] == "spare"


def _parsed(spec: str) -> tuple[str, int | None]:
    """Name and number."""
    name, colon, after = spec.partition(":")
    if not colon and name in _PLAIN:
        return name, None
    number = _NUMBER.fullmatch(after)
    is_numbered = name in _NUMBERED and number and number[2] == _UNITS.get(name, "")
    if is_numbered and number and (number[1] != "0" or name in _FROM_ZERO):
        return name, int(number[1])
    raise ConfigError(
        f"policy: {spec!r} is unknown; use one of {', '.join(POLICY_NAMES)} (N: 1 to 9999)"
    )
