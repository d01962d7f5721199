"""Settings of the learner, among them the choices Algorithm 1 leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from smartharvest.errors import ConfigError

CostName = Literal["skewed", "symmetric", "hinged"]
LearnerName = Literal["vw", "native"]
FeaturesAfterExhaustion = Literal["kept", "broken"]
ExhaustedWindows = Literal["skipped", "trained"]
Label = Literal["demand", "busy"]


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """Raises ConfigError, naming the key, for an invalid value."""

    learning_rate: float = 0.1
    """Constant, as section 4 has it; above 0."""
    features_after_exhaustion: FeaturesAfterExhaustion = "kept"
    """Which features the window after a broken one is trained with.

    ``kept`` reads Algorithm 1 literally: line 17 did not run, so they are those from before the
    broken window, which led to the underprediction. ``broken`` takes the partial window's.
    """
    exhausted_windows: ExhaustedWindows = "skipped"
    """Whether an exhausted window is a lesson.

    Its peak only bounds the true one from below, so line 12 passes the training over:
    ``skipped``. ``trained`` learns that bound as if it were the peak.
    """

    label: Label = "busy"
    """Which peak of a window is its label.

    ``busy`` is the paper's: cores in use. ``demand`` adds the tasks that waited for one, where the
    sensor sees them, which the paper's agent could not.
    """

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < float("inf"):
            raise ConfigError(f"learning_rate: {self.learning_rate} is not a rate; use such as 0.1")
        _check("features_after_exhaustion", self.features_after_exhaustion, FeaturesAfterExhaustion)
        _check("exhausted_windows", self.exhausted_windows, ExhaustedWindows)
        _check("label", self.label, Label)


def _check(key: str, value: str, accepted: object) -> None:
    choices = get_args(accepted)
    if value not in choices:
        raise ConfigError(f"{key}: {value!r} is unknown; use one of {', '.join(choices)}")
