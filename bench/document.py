"""The one JSON document: machine, seed, goals, and every subject's figures."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence

from bench.machine import Disturbance, describe
from bench.statistics import rounded
from bench.subject import (
    LEAST_SHARE,
    ROUNDS,
    Effort,
    Figures,
    NotMeasurableError,
    Subject,
    Watch,
)

Clock = Callable[[], float]


class Progress(Watch):
    """Is told how the whole goes; this one keeps it to itself."""

    def begin(self, name: str, expected_s: float, left_s: float) -> None:
        """``name`` comes next and takes about so long, and from now on all together."""

    def end(self, name: str, outcome: str, /) -> None:
        """``name`` is done, or says why it is not."""


def build_document(
    subjects: Mapping[str, Subject],
    effort: Effort,
    progress: Progress,
    *,
    budget_s: float,
    clock: Clock = time.monotonic,
) -> Figures:
    """Measures ``subjects`` one after another; their goals are gathered under ``goals``.

    Each gets the share of ``effort``'s samples for which the time that is left suffices, were all
    that follow cut alike: whoever takes longer than announced shortens the rest, not the reader's
    patience. A subject that this machine cannot answer is ``{"skipped": why}``; one that failed,
    ``{"failed": why}``. After ctrl-C ``interrupted`` names the subject it came in, which has the
    rounds that were whole, if any.
    """
    figures: dict[str, Figures] = {}
    goals: Figures = {}
    took_s: Figures = {}
    interrupted: str | None = None
    began = clock()
    with Disturbance() as disturbance:
        for name, subject in subjects.items():
            subject_began = clock()
            left_s = budget_s - (subject_began - began)
            waiting = [other for n, other in subjects.items() if n not in figures]
            share = fair_share(waiting, left_s, effort)
            expected_s = [duration_s(other, share, effort.rounds) for other in waiting]
            progress.begin(name, expected_s[0], sum(expected_s))
            own_effort = dataclasses.replace(effort, share=share, watch=progress)
            own, outcome = _measure(subject, own_effort)
            took_s[name] = round(clock() - subject_began, 1)
            figures[name] = {**own, "share_of_samples": rounded(share)}
            own_goals = figures[name].pop("goals", {})
            assert isinstance(own_goals, dict)
            goals |= own_goals
            progress.end(name, outcome or f"{took_s[name]} s")
            if progress.interrupted:
                interrupted = name
                break
    return {
        "machine": {**describe(), **disturbance.figures},
        "seed": effort.seed,
        "rounds": effort.rounds,
        "seconds": rounded(clock() - began),
        "seconds_by_subject": took_s,
        "interrupted": interrupted,
        "not_begun": [name for name in subjects if name not in figures],
        "goals": goals,
        "subjects": figures,
    }


def duration_s(subject: Subject, share: float, rounds: int) -> float:
    """What it is expected to take with ``share`` of its samples."""
    full_s = subject.least_s + share * (subject.seconds - subject.least_s)
    return full_s * rounds / ROUNDS


def fair_share(waiting: Sequence[Subject], left_s: float, effort: Effort) -> float:
    """The share of the samples for which ``left_s`` is enough for all of ``waiting``."""
    least_s = sum(duration_s(subject, 0.0, effort.rounds) for subject in waiting)
    most_s = sum(duration_s(subject, 1.0, effort.rounds) for subject in waiting)
    share = (left_s - least_s) / (most_s - least_s) if most_s > least_s else 1.0
    return min(effort.share, max(LEAST_SHARE, share))


def _measure(subject: Subject, effort: Effort) -> tuple[Figures, str]:
    """The figures, and what came in the way."""
    try:
        return subject.measure(effort), ""
    except NotMeasurableError as reason:
        return {"skipped": str(reason)}, f"skipped: {reason}"
    except KeyboardInterrupt:
        effort.watch.interrupted = True
        return {"skipped": "interrupted"}, "interrupted"
    except Exception as error:
        # One broken subject must not cost the figures of the others.
        what = f"{type(error).__name__}: {error}"
        return {"failed": what}, f"failed: {what}"
