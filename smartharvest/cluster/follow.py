"""The loop of an adapter: reads the capacity from the agent, and has the engine follow it."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from smartharvest.cluster.engine import Engine, HoldsMemory
from smartharvest.cluster.keeper import Keeper
from smartharvest.cluster.reconcile import Hysteresis, Reconciler
from smartharvest.cluster.source import NoCapacity, Source, WhichGroup
from smartharvest.errors import EngineError, SmartHarvestError
from smartharvest.printable import counted

_log = logging.getLogger(__name__)

PATIENCE_S = 5.0
"""Beyond the grace: how long an engine may take to end work."""
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class FollowSettings:
    hysteresis: Hysteresis
    interval_s: float = 0.5
    follow: Literal["promised", "now"] = "promised"
    """The cores that will last, or those of the moment."""
    most: int | None = None
    """Never advertise more than this."""
    guaranteed: int | None = None
    """Used until an agent answers; None: one must answer at the start."""


def follow(
    source: Source,
    make_engine: Callable[[], Engine],
    settings: FollowSettings,
    until: Callable[[], bool],
) -> None:
    """Reconciles once in ``interval_s`` until ``until`` is true.

    However it ends, the engine keeps the guaranteed minimum: a second process sets it if this one
    is killed. The minimum also counts while the agent does not answer. Raises NoCapacity if no
    agent answers at the start and ``settings.guaranteed`` is None, WhichGroup if it has several
    elastic groups then and none is chosen, EngineError if the engine does not answer then.
    """
    try:
        guaranteed = int(source()["cores"]["guaranteed"])
    except NoCapacity:
        if settings.guaranteed is None:
            raise
        guaranteed = settings.guaranteed
    grace_s = settings.hysteresis.grace_s
    keeper = Keeper(lambda: leave(make_engine(), guaranteed, grace_s))
    try:
        try:
            engine = make_engine()
        except SmartHarvestError:
            keeper.dismiss()
            raise
        adapter = Adapter(source, engine, settings, guaranteed)
        try:
            next_s = time.monotonic()
            while not until():
                adapter.turn()
                next_s = max(next_s + settings.interval_s, time.monotonic())
                while not until() and (left_s := next_s - time.monotonic()) > 0:
                    time.sleep(min(left_s, _POLL_S))
        finally:
            leave(engine, guaranteed, grace_s)
        keeper.dismiss()
    finally:
        keeper.close()  # tries again what may just have failed


class Adapter:
    """One engine that follows one agent, a turn at a time."""

    def __init__(
        self, source: Source, engine: Engine, settings: FollowSettings, guaranteed: int
    ) -> None:
        self._source = source
        self._engine = engine
        self._settings = settings
        self._guaranteed = guaranteed
        self._reconciler = Reconciler(settings.hysteresis, guaranteed)
        self._advertised: int | None = None
        self._group = ""
        """Of the group that is followed, in the log; empty for the whole node."""
        self._least_memory: int | None = None
        self._troubles: dict[str, str] = {}

    def turn(self) -> None:
        offered = present = self._reconciler.guaranteed = self._guaranteed
        memory: int | None = None
        try:
            document = self._source()
            cores, memory = document["cores"], self._memory_of(document)
            self._group = f" of group {name}" if (name := document.get("name")) else ""
            # Less than at the start while a group's minimum is about to be evicted.
            self._reconciler.guaranteed = min(self._guaranteed, int(cores["guaranteed"]))
            offered, present = int(cores[self._settings.follow]), int(cores["now"])
            self._report("agent", None)
        except (NoCapacity, WhichGroup, KeyError, TypeError, ValueError) as error:
            self._report("agent", f"{error}; using the guaranteed minimum")
            memory = self._least_memory
        if self._settings.most is not None:
            offered = min(offered, self._settings.most)
            present = min(present, self._settings.most)
        engine = self._engine
        try:
            if memory is not None and isinstance(engine, HoldsMemory):
                engine.hold(memory)
            step = self._reconciler.step(
                time.monotonic(), offered, engine.in_use(), engine.verify(), present
            )
            if step.shed is not None:
                self._advertised = None
                engine.shed(step.shed, step.grace_s)
            elif step.advertise is not None:
                engine.advertise(step.advertise)
                if step.advertise != self._advertised:
                    _log.info("advertised %s%s", counted(step.advertise, "core"), self._group)
                self._advertised = step.advertise
            self._report("engine", None)
        except EngineError as error:
            self._report("engine", str(error))

    def _memory_of(self, document: dict[str, Any]) -> int | None:
        """Bytes that may be held now; None where memory is not bounded."""
        memory = document.get("memory")
        if not isinstance(memory, dict) or not isinstance(memory.get("now_bytes"), int):
            return None
        least = memory.get("guaranteed_bytes")
        self._least_memory = least if isinstance(least, int) else None
        return int(memory["now_bytes"])

    def _report(self, about: str, trouble: str | None) -> None:
        """Logs each trouble once, and its end."""
        if trouble is None:
            if self._troubles.pop(about, None) is not None:
                _log.info("the %s answers again", about)
        elif self._troubles.get(about) != trouble:
            self._troubles[about] = trouble
            _log.warning("%s", trouble)


def leave(engine: Engine, guaranteed: int, grace_s: float) -> None:
    """Gives the engine the guaranteed cores: work above that has the grace to end.

    Raises EngineError if the engine does not shrink in time, with what it refused last.
    """
    ends_s = time.monotonic() + grace_s
    refused: EngineError | None = None
    try:
        while (in_use := engine.in_use()) > guaranteed:
            now_s = time.monotonic()
            if now_s > ends_s + PATIENCE_S:
                raise refused or EngineError(
                    f"{counted(in_use, 'core')} still in use, {guaranteed} allowed"
                )
            try:
                engine.shed(guaranteed, max(0.0, ends_s - now_s))
            except EngineError as error:  # of some of the work; the rest takes time to end
                refused = error
            time.sleep(_POLL_S)
        if engine.verify() != guaranteed:
            engine.advertise(guaranteed)
    finally:
        engine.close()


class Signals:
    """Notes SIGINT and SIGTERM, which end the adapter."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True
