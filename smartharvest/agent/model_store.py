"""Keeps what a policy has learned over restarts of the agent: a learner's model, and evidence."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Protocol, runtime_checkable

from smartharvest.algorithm.learning.base import FEATURE_NAMES, Model
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.algorithm.learning.model_file import DamagedModel, Shape, read_model, write_model
from smartharvest.algorithm.policy import Policy
from smartharvest.algorithm.policy.fallback import in_force
from smartharvest.config.settings import Settings
from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.host.process.threads import has_started

_log = logging.getLogger(__name__)

MODEL_DIRECTORY = "/var/lib/smartharvest"
SAVE_PERIOD_NS = 60_000_000_000
SAVE_TAKES_S = 5.0
"""So long the last save may take; the model of the minute before is kept otherwise."""
MOST_AGE_S = 7 * 86_400.0
"""Older evidence is discarded: by then the host usually runs another mix of work."""
MACHINE_ID = "/etc/machine-id"


class Keepable(Protocol):
    """What can be kept: a learner (``Model``), or what a policy has found out (``Evidence``)."""

    @property
    def lessons(self) -> int:
        """How much it knows: saved whenever that changes."""

    def dump(self) -> bytes:
        """All that it knows, for ``load``."""

    def load(self, dumped: bytes) -> None:
        """Go on from what another dumped. Raises ValueError if it cannot."""


@runtime_checkable
class Evidence(Keepable, Protocol):
    """What a policy has found out about sharing, under ``conditions`` (values that JSON has)."""

    @property
    def conditions(self) -> Shape:
        """Elsewhere it says nothing."""


def model_path(settings: Settings) -> str | None:
    """Where the model of these settings is kept; None if it is not to be.

    By default a file for every set of primaries, since what is learned is theirs; next to the
    journal where that has been put elsewhere.
    """
    if settings.model == "off":
        return None
    if settings.model != "auto":
        return settings.model
    named = "\n".join(sorted(str(spec) for spec in settings.primary))
    if settings.state_dir == STATE_DIRECTORY:
        directory = MODEL_DIRECTORY
    else:
        directory = os.path.join(settings.state_dir, "models")
    return os.path.join(directory, hashlib.sha256(named.encode()).hexdigest()[:16] + ".model")


def model_shape(settings: Settings, total: int, learning_rate: float = 0.1) -> Shape:
    """What a saved model must have been learned with to be gone on with."""
    return {
        "learner": settings.learner,
        "classes": total + 1,
        "features": list(FEATURE_NAMES),
        "cost": settings.cost,
        "label": settings.label,
        "learning_rate": learning_rate,
        "window_ns": settings.window_ns,
        "primary": sorted(str(spec) for spec in settings.primary),
    }


def evidence_path(
    settings: Settings, total: int | None = None, usual_total: int | None = None
) -> str | None:
    """Where the evidence of a policy is kept: with the model, for each placement and budget; None
    if it is not to be. ``total``: as for ``open_model_store``."""
    path = model_path(settings)
    if path is None:
        return None
    kind = ".exclusive" if settings.placement == "exclusive" else ""
    if settings.protect != Settings.protect:
        kind += f".{settings.protect:g}"
    if settings.protect_of:
        texts = "\n".join(map(str, settings.protect_of))
        kind += f".{hashlib.sha256(texts.encode()).hexdigest()[:8]}"
    return f"{_with_cores(path, total, usual_total)}{kind}.evidence"


def _with_cores(path: str, total: int | None, usual_total: int | None) -> str:
    """What is learned while CPUs are missing is kept in a file of its own."""
    return path if usual_total in (None, total) else f"{path}.{total}-cores"


def evidence_shape(settings: Settings, conditions: Shape) -> Shape:
    """What must match before kept evidence is used: workloads, machine, kernel and way."""
    try:
        with open(MACHINE_ID, "rb") as file:
            machine = hashlib.sha256(file.read()).hexdigest()[:16]
    except OSError:
        machine = ""
    return {
        "evidence": 4,
        "policy": settings.policy,
        "primary": [str(spec) for spec in settings.primary],
        "elastic": str(settings.elastic),
        "machine": machine,
        "kernel": os.uname().release,
        "window_ns": settings.window_ns,
        **conditions,
    }


class ModelStore:
    """Loads what a learner or a policy knows once and saves it every minute and on request.

    The minute's save takes its state at once and writes it in a thread of its own: a disk that
    hangs must not hold up the plans. Failing to keep it is a warning, no error. What is older than
    ``most_age_s`` is not used. ``what`` names it.
    """

    def __init__(
        self,
        learner: Keepable,
        path: str,
        shape: Shape,
        *,
        what: str = "model",
        most_age_s: float | None = None,
    ) -> None:
        self._learner = learner
        self.path = path
        self._shape = shape
        self._what = what
        self._most_age_s = most_age_s
        self._saved_lessons = 0
        self._due_ns: int | None = None
        self._writing: threading.Thread | None = None
        self._warned = False
        self._left_s: float | None = None

    def keeps(self, learner: object) -> bool:
        """Whether it is this one that it keeps."""
        return self._learner is learner

    def enter(self) -> None:
        """What it keeps is in force from now on,"""
        self._left_s = None

    def leave(self) -> None:
        """... or no longer."""
        if self._left_s is None:
            self._left_s = time.monotonic()

    def _is_recent(self) -> bool:
        left_s, most_s = self._left_s, self._most_age_s
        return left_s is None or most_s is None or time.monotonic() - left_s <= most_s

    def take_the_place_of(self, before: ModelStore) -> None:
        """Writes its file from now on. The learner goes on from what the one before it knows, or
        from the file where that has learned otherwise."""
        self._writing = before._writing
        if before._shape == self._shape and before._is_recent():
            with contextlib.suppress(ValueError):  # of one that knew nothing
                self._learner.load(before._learner.dump())
                self._saved_lessons = -1  # may be not all of that is in the file
        else:
            self.load()

    def load(self) -> None:
        """Has the learner go on from the file; one of another shape or damaged is not used."""
        try:
            shape, lessons, payload = read_model(self.path)
        except FileNotFoundError:
            return
        except (DamagedModel, OSError) as error:
            _log.warning("%s not used: %s; a fresh one is begun", self._what, error)
            return
        if self._most_age_s is not None:
            age_s = time.time() - _number(shape.pop("saved_s", 0.0))
            if not 0 <= age_s <= self._most_age_s:
                _log.warning(
                    "%s not used: %s: it is %.0f days old; a fresh one is begun",
                    self._what, self.path, age_s / 86_400,
                )  # fmt: skip
                return
        for key in [*self._shape, *shape]:
            if shape.get(key) != self._shape.get(key):
                _log.warning(
                    "%s not used: %s: %s is %r there and %r here; a fresh one is begun",
                    self._what, self.path, key, shape.get(key), self._shape.get(key),
                )  # fmt: skip
                return
        try:
            self._learner.load(payload)
        except ValueError as error:
            _log.warning("%s not used: %s: %s; a fresh one is begun", self._what, self.path, error)
            return
        self._saved_lessons = self._learner.lessons
        _log.info("%s: %s, %d lessons", self._what.capitalize(), self.path, lessons)

    def save_if_due(self, now_ns: int) -> None:
        """Saves in the background once a minute; ``now_ns`` on any clock that only goes forward."""
        if self._due_ns is None:
            self._due_ns = now_ns + SAVE_PERIOD_NS
        if now_ns < self._due_ns or self._is_writing():
            return
        self._due_ns = now_ns + SAVE_PERIOD_NS
        if self._learner.lessons == self._saved_lessons:
            return
        self._write_in_thread()

    def save(self, until_s: float | None = None) -> None:
        """Saves now, if there is anything new, unless the disk does not answer in time: until then
        on the monotonic clock, for SAVE_TAKES_S if it is not given."""
        if until_s is None:
            until_s = time.monotonic() + SAVE_TAKES_S
        if self._writing is not None:
            self._writing.join(max(0.0, until_s - time.monotonic()))
        if self._learner.lessons != self._saved_lessons and not self._is_writing():
            self._write_in_thread()
            if self._writing is None:
                self._write(*self._taken())
            else:
                self._writing.join(max(0.0, until_s - time.monotonic()))
        if self._is_writing():
            _log.warning(
                "%s cannot be kept: %s: no answer from its disk for %g s",
                self._what, self.path, SAVE_TAKES_S,
            )  # fmt: skip

    def _is_writing(self) -> bool:
        return self._writing is not None and self._writing.is_alive()

    def _write_in_thread(self) -> None:
        thread = threading.Thread(target=self._write, args=self._taken(), daemon=True)
        self._writing = thread if has_started(thread) else None

    def _taken(self) -> tuple[int, bytes]:
        return self._learner.lessons, self._learner.dump()

    def _write(self, lessons: int, dumped: bytes) -> None:
        dated = {} if self._most_age_s is None else {"saved_s": round(time.time(), 3)}
        try:
            write_model(self.path, self._shape | dated, lessons, dumped)
        except OSError as error:
            if not self._warned:
                _log.warning("%s cannot be kept: %s: %s", self._what, self.path, error.strerror)
            self._warned = True
        else:
            self._saved_lessons = lessons


class PolicyStores:
    """Keeps what the policy in force knows, of ``total`` cores, also when another takes its place.

    What is learned while CPUs are missing, of the ``usual_total``, is kept in files of its own.
    """

    def __init__(self, total: int, usual_total: int) -> None:
        self._totals = total, usual_total
        self._stores: dict[str, ModelStore] = {}
        """By the file's path. One whose policy is no longer in force stays: that may come back."""
        self._before: dict[str, ModelStore] = {}
        """Those before the last change, which may be taken back."""

    def follow(self, policy: Policy, settings: Settings) -> None:
        """This policy is in force from now on, with its settings and the placement in force.

        It goes on from what the last of its kind knows, where that fits, else from a file.
        """
        total, usual_total = self._totals
        before = [*self._stores.values(), *self._before.values()]
        self._before = dict(self._stores)
        for left in self._stores.values():
            left.leave()
        for store in (
            open_model_store(settings, total, policy, usual_total, before),
            open_evidence_store(settings, policy, total, usual_total, before),
        ):
            if store is not None:
                store.enter()
                self._stores[store.path] = store

    def save_if_due(self, now_ns: int) -> None:
        """See ModelStore."""
        for store in self._stores.values():
            store.save_if_due(now_ns)

    def save(self) -> None:
        """Saves now what is new, as far as the disk answers in time."""
        until_s = time.monotonic() + SAVE_TAKES_S
        with ExitStack() as saving:  # one that fails keeps none of the others from it
            for store in self._stores.values():
                saving.callback(store.save, until_s)


def open_model_store(
    settings: Settings,
    total: int,
    policy: Policy,
    usual_total: int | None = None,
    before: Sequence[ModelStore] = (),
) -> ModelStore | None:
    """A store that has loaded what there is; None for a policy that learns nothing, or if off.

    ``total``, ``usual_total``: see PolicyStores; ``before`` are the stores so far.
    """
    path = model_path(settings)
    learner = getattr(policy, "learner", None)
    if not isinstance(learner, Model) or path is None:
        return None
    for one in before:
        if one.keeps(learner):
            return one
    path = _with_cores(path, total, usual_total)
    # `adaptive` learns natively, whatever is set for others: each goes on from its own.
    kind = "native" if isinstance(learner, NativeCsoaa) else settings.learner
    if kind != settings.learner:
        path += f".{kind}"
    store = ModelStore(learner, path, {**model_shape(settings, total), "learner": kind})
    store.load()
    return store


def open_evidence_store(
    settings: Settings,
    policy: Policy,
    total: int | None = None,
    usual_total: int | None = None,
    before: Sequence[ModelStore] = (),
) -> ModelStore | None:
    """As ``open_model_store``, for what the policy has found out; None for one that does not.

    ``settings`` have the placement in force.
    """
    path = evidence_path(settings, total, usual_total)
    found = in_force(policy)
    if not isinstance(found, Evidence) or path is None:
        return None
    for one in before:
        if one.keeps(found):
            return one
    shape = evidence_shape(settings, found.conditions)
    store = ModelStore(found, path, shape, what="evidence", most_age_s=MOST_AGE_S)
    for one in before:
        if one.path == path:
            store.take_the_place_of(one)
            return store
    store.load()
    return store


def _number(value: object) -> float:
    """Of anything else, a moment long ago."""
    return float(value) if isinstance(value, int | float) else 0.0
