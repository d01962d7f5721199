"""The one JSON document: machine, seed, goals, and every subject's figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bench.machine import Disturbance, describe
from bench.statistics import rounded
from bench.subject import Effort, Figures, NotMeasurableError

Measure = Callable[[Effort], Figures]


def build_document(
    subjects: Mapping[str, Measure], effort: Effort, progress: Callable[[str], None]
) -> Figures:
    """Measures ``subjects`` one after another; their goals are gathered under ``goals``.

    A subject that this machine cannot answer is ``{"skipped": why}``.
    """
    figures: dict[str, Figures] = {}
    goals: Figures = {}
    began = time.monotonic()
    with Disturbance() as disturbance:
        for name, measure in subjects.items():
            subject_began = time.monotonic()
            try:
                figures[name] = measure(effort)
            except NotMeasurableError as reason:
                figures[name] = {"skipped": str(reason)}
            own_goals = figures[name].pop("goals", {})
            assert isinstance(own_goals, dict)
            goals |= own_goals
            outcome = figures[name].get("skipped", f"{time.monotonic() - subject_began:.1f} s")
            progress(f"{name}: {outcome}")
    return {
        "machine": {**describe(), **disturbance.figures},
        "seed": effort.seed,
        "rounds": effort.rounds,
        "share_of_samples": effort.share,
        "seconds": rounded(time.monotonic() - began),
        "goals": goals,
        "subjects": figures,
    }
