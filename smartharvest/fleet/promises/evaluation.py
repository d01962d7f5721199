"""How much promises are worth: coverage, width and error by horizon, and of rivals. Pure.

Split by time: a forecast knows what was over when it was made, no more. With several clusters each
is forecast by a forest that has learned from the others only, so it has never seen it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError
from smartharvest.fleet.promises.blend import blended
from smartharvest.fleet.promises.cohorts import Lives
from smartharvest.fleet.promises.evidence import FEWEST, busyness, counted, independent
from smartharvest.fleet.promises.intervals import Forecasts, Score, intervals, score, tracked
from smartharvest.fleet.promises.learning import edges_of, walk
from smartharvest.fleet.promises.model import Learned, Model
from smartharvest.fleet.promises.rivals import Intervals, koordinator, survival_curve
from smartharvest.fleet.promises.views import HORIZONS_S, TARGETS, History
from smartharvest.fleet.tables import DAY_S, Floats

NOMINAL = 0.95
RECENT_S = 14 * DAY_S
RETRAIN_S = 14 * DAY_S
_FEWEST_STEPS = 24
"""After the split, whose outcome is known."""


@dataclass(frozen=True, slots=True)
class Series:
    """Of one cluster, target and horizon; arrays (steps)."""

    outcome: Floats
    said: Floats
    lower: Floats
    upper: Floats
    declined: NDArray[np.bool_] | None = None
    """Where nothing is promised; None: nowhere."""


@dataclass(frozen=True, slots=True)
class Result:
    target: str
    horizon_s: float
    score: Score
    rivals: Mapping[str, Score]
    series: Sequence[Series]
    """One a cluster."""

    def document(self) -> dict[str, object]:
        return {
            "target": self.target,
            "horizon_s": self.horizon_s,
            **asdict(self.score),
            "rivals": {name: asdict(one) for name, one in self.rivals.items()},
        }


def horizons_within(
    steps: int, step_s: float, split: float, asked: Sequence[float] | None
) -> list[float]:
    """The horizons of which outcomes are known after the split: those asked for, or of HORIZONS_S.

    Raises ConfigError if one that was asked for is too long, or none fits.
    """
    longest = (steps - round(steps * split) - _FEWEST_STEPS) * step_s
    for span in asked or ():
        if span > longest:
            raise ConfigError(
                f"--horizon: {span / 3600:g} h is longer than what the trace knows after the split "
                f"({max(0.0, longest) / 3600:.0f} h); ask for less, or split earlier"
            )
        if span < step_s:
            raise ConfigError(
                f"--horizon: {span:g} s is shorter than a step of the trace ({step_s:g} s)"
            )
    found = list(asked) if asked else [span for span in HORIZONS_S if step_s <= span <= longest]
    if not found:
        raise ConfigError(
            f"--split: {split:g} leaves {max(0.0, longest) / 3600:.1f} h of the trace, and no "
            "horizon is over by then; split earlier, or bring a longer trace"
        )
    return found


def evaluate(
    histories: Sequence[History],
    split: float,
    retrain_s: float,
    seed: int,
    model: Model | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    apart: bool = False,
) -> list[Result]:
    """A result for each target and horizon of ``histories``, which have the same.

    ``progress`` gets how many of them there are. With ``apart`` they are clusters of their own and
    not parts of one, so what is known of the others is evidence, too; they begin at one moment.

    ``split`` is the share of the trace before the first forecast that counts; a forest learns again
    every ``retrain_s`` (0: never). A ``model`` that has these horizons is asked as it is. Raises
    ConfigError if scikit-learn is missing and there is no model.
    """
    seen = histories[0].seen
    retrain = round(retrain_s / seen.step_s)
    edges = edges_of(seen.steps, split, retrain)
    rivals = [_Rivals(koordinator(one.seen, one.size), one.started.lives()) for one in histories]
    wanted = [(target, span) for target in TARGETS for span in histories[0].views]
    first, results = round(seen.steps * split), []
    for done, (target, span) in enumerate(wanted):
        progress(done, len(wanted))
        results.append(
            _evaluate(histories, rivals, target, span, edges, first, seed, model, apart=apart)
        )
    return results


@dataclass(frozen=True, slots=True)
class _Rivals:
    """What those with intervals of their own know of a cluster."""

    koordinator: Mapping[str, Intervals]
    lives: Lives


def _evaluate(
    histories: Sequence[History],
    rivals: Sequence[_Rivals],
    target: str,
    span: float,
    edges: list[int],
    first: int,
    seed: int,
    model: Model | None,
    *,
    apart: bool,
) -> Result:
    said: list[Floats] = []
    newest: list[Floats] = []
    learned = None if model is None else model.learned[target, span]
    for one in histories:
        view = one.views[span]
        newest.append(view.newest[target])
        if learned is not None:
            said.append(learned.say(view, target, 0, len(view.rows)))
            continue
        others = [each.views[span] for each in histories if each is not one or len(histories) == 1]
        forest = walk(view, others, target, edges, seed)
        outcome, most = view.outcome[target], one.most[target]
        said.append(blended(forest, newest[-1], outcome, view.horizon, most))
    ours = _promised(histories, target, span, said, first, learned, apart=apart)
    koordinators, curves = [], []
    for one, rival in zip(histories, rivals, strict=True):
        view = one.views[span]
        curve = survival_curve(
            rival.lives, view.outcome["cores"], view.horizon, edges, one.most["cores"]
        )
        koordinators.append(_late(view.outcome[target], rival.koordinator[target], first))
        curves.append(_late(view.outcome[target], curve[target], first))
    # Neighbouring steps have nearly one outcome, and so have parts of one cluster.
    alike = histories[0].views[span].horizon * (1 if apart else len(histories))
    series = {
        "persistence": _promised(histories, target, span, newest, first, apart=apart),
        "koordinator": koordinators,
        "survival-curve": curves,
    }
    scores = {name: _score(one, alike) for name, one in series.items()}
    total = _score(ours, alike)
    if total is None:
        raise ConfigError(
            f"--min: after the split there is never room for one VM whose {span / 3600:g} h end "
            "within the trace; ask for less, or give more --nodes"
        )
    found = {name: one for name, one in scores.items() if one is not None}
    return Result(target, span, total, found, ours)


def _promised(
    histories: Sequence[History],
    target: str,
    span: float,
    said: Sequence[Floats],
    first: int,
    learned: Learned | None = None,
    *,
    apart: bool,
) -> list[Series]:
    pool: list[Forecasts] = []
    shared = _shared(histories, target, span, said) if apart and len(histories) > 1 else None
    for one, forecast in zip(histories, said, strict=True):
        view = one.views[span]
        alive = one.started if target == "survival" else None
        errors_known = np.isfinite(forecast + view.outcome[target])
        evidence = independent(busyness(one.seen), errors_known, view.horizon)
        if shared is not None:
            evidence = np.maximum(evidence, shared[len(pool)])
        pool.append(
            Forecasts(
                forecast,
                view.outcome[target],
                view.horizon,
                one.most[target],
                evidence if learned is None else evidence + learned.independent,
                alive,
                one.reach(target),
            )
        )
    recent = round(RECENT_S / histories[0].seen.step_s)
    known = None if learned is None else learned.errors
    found = []
    for each in pool:
        # From half way on, so that it is known at the split how often they were missed.
        ends = tracked(each, *intervals(each, pool, first // 2, recent, known))
        said_there = np.clip(each.said, 0.0, each.most)
        late = _late(each.outcome, (said_there, *ends), first)
        found.append(replace(late, declined=each.independent < FEWEST))
    return found


def _shared(
    histories: Sequence[History], target: str, span: float, said: Sequence[Floats]
) -> Floats:
    """(clusters, steps) how many independent errors all know together that say something of each.

    How alike they are is found once a day.
    """
    views = [one.views[span] for one in histories]
    horizon = views[0].horizon
    errors = [view.outcome[target] - one for view, one in zip(views, said, strict=True)]
    busy = [busyness(one.seen) for one in histories]
    known = [np.isfinite(error) for error in errors]
    own = np.stack([independent(*one, horizon) for one in zip(busy, known, strict=True)])
    part = np.full(own.shape[1], 1.0 / len(views))
    again = max(1, round(DAY_S / histories[0].seen.step_s))
    for step in range(horizon, own.shape[1], again):
        so_far = [error[: step - horizon + 1] for error in errors]
        part[step : step + again] = counted(so_far, float(own[:, step].mean()))
    found = np.zeros(own.shape)
    for cluster, now in enumerate(busy):
        for one in zip(busy, known, strict=True):
            found[cluster] += part * independent(*one, horizon, now)
    return found


def _late(outcome: Floats, said: Intervals, first: int) -> Series:
    late = np.arange(len(outcome)) >= first
    return Series(outcome, *(np.where(late, part, np.nan) for part in said))


def _score(series: Sequence[Series], alike: float) -> Score | None:
    columns = zip(
        *((one.said, one.lower, one.upper, one.outcome, _declined(one)) for one in series),
        strict=True,
    )
    said, lower, upper, outcome, declined = (np.concatenate(column) for column in columns)
    return score(said, lower, upper, outcome, declined.astype(bool), alike)


def _declined(one: Series) -> NDArray[np.bool_]:
    return np.zeros(len(one.said), dtype=bool) if one.declined is None else one.declined
