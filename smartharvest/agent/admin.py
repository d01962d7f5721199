"""What an operator asks of a running agent: over its socket, or by SIGHUP. All of it is audited."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smartharvest.agent.reexec import Trial, TrialFailed
from smartharvest.config.settings import FIELDS, RESTARTING, Settings, setting_name
from smartharvest.core import _loop
from smartharvest.errors import ConfigError, SmartHarvestError
from smartharvest.telemetry.server import Command

if TYPE_CHECKING:
    from smartharvest.agent.control_loop import Run
    from smartharvest.agent.session import Session

_log = logging.getLogger(__name__)

LIMITS = ("max_harvest", "keep_idle")
POLICY = ("policy", "safeguard")


class Steering:
    """The operator's hand on one run."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session = session
        self._run = run
        self._trial: Trial | None = None

    def commands(self) -> dict[str, Command]:
        """By the names they have on the socket."""
        return {
            "pause": self.pause,
            "resume": self.resume,
            "evict": self.evict,
            "set-policy": lambda arguments: self._set(arguments, POLICY),
            "set-limit": lambda arguments: self._set(arguments, LIMITS),
            "reload": lambda _arguments: self.reload(),
            "restart": lambda _arguments: self.restart(),
        }

    def pause(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Takes everything back but the elastic minimum, until ``resume``."""
        _only(arguments, ())
        self._run.hold("paused by the operator")
        self._session.audit_event("paused")
        return {"paused": True}

    def resume(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Ends ``pause`` and ``evict``."""
        _only(arguments, ())
        if self._session.evicted:
            self._session.thaw()
        self._run.hold(None)
        self._session.audit_event("resumed")
        return {"paused": False}

    def evict(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Takes back even the elastic minimum (section 3.2 of the paper): freezes the group.

        Raises TargetError or WriteRefused if it cannot be frozen; it is paused then.
        """
        _only(arguments, ())
        self._run.hold("evicted by the operator")
        self._session.freeze()
        self._session.audit_event("evicted")
        return {"paused": True, "evicted": True}

    def _set(self, arguments: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        _only(arguments, names)
        if not arguments:
            raise ConfigError(f"nothing to set: give {', '.join(names)}")
        parsed = {
            FIELDS[name].name: FIELDS[name].metadata["parse"](value, name)
            for name, value in arguments.items()
        }
        return self._apply(dataclasses.replace(self._session.settings, **parsed), "set")

    def reload(self) -> dict[str, Any]:
        """Reads the configuration again; with a mistake in it the old one stays in force."""
        service = self._session.service
        service.reloading(_loop.monotonic_ns())
        try:
            return self._reload()
        finally:
            if self._session.replacement is None:  # otherwise it is ready once that runs
                service.ready(f"harvesting with {self._session.settings.policy}")

    def _reload(self) -> dict[str, Any]:
        session = self._session
        try:
            if session.load is None:
                raise ConfigError("reload: this agent was started without a way to read it again")
            new = session.load()
            new.require_targets()
        except ConfigError as error:
            _log.warning("%s; the configuration in force stays", error)
            session.audit_event("reload refused", why=str(error))
            raise
        restarting = sorted(_changed(session.settings, new) & RESTARTING)
        if not restarting:
            return self._apply(new, "reloaded")
        _log.info("reload: %s changed: starting anew", ", ".join(restarting))
        session.audit_event("reloaded", changed=restarting, restarts=True)
        session.replacement = new
        session.stop()
        return {"changed": restarting, "restarts": True}

    def restart(self) -> dict[str, Any]:
        """Tries whether the program starts anew with its configuration, and if so hands over to it.

        Raises ConfigError if it cannot even be tried.
        """
        self._session.restart_requested = False
        try:
            self._trial = self._trial or Trial()
        except TrialFailed as error:
            self._refuse_restart(error)
            raise ConfigError(str(error)) from error
        self._session.restart_refused = None
        return {"restarting": True, "generation": self._session.generation}

    def look_after_restart(self) -> None:
        """Between two windows: begins a restart that was asked for, and goes on with one."""
        if self._session.restart_requested:
            with contextlib.suppress(ConfigError):  # it has been told
                self.restart()
        if self._trial is None:
            return
        try:
            if not self._trial.passed():
                return
        except TrialFailed as error:
            self._refuse_restart(error)
        else:
            _log.info("restart: handing over to a new program")
            self._session.audit_event("restarting")
            self._session.hand_over(restarting=True)
        self._trial = None

    def _refuse_restart(self, error: TrialFailed) -> None:
        _log.warning("%s; the program that runs goes on", error)
        self._session.audit_event("restart refused", why=str(error))
        self._session.restart_refused = str(error)

    def close(self) -> None:
        """Ends a trial that still goes on."""
        if self._trial is not None:
            self._trial.end()
            self._trial = None

    def _apply(self, new: Settings, kind: str) -> dict[str, Any]:
        session = self._session
        changed = sorted(_changed(session.settings, new))
        try:
            self._run.take_up(new)
        except (SmartHarvestError, OSError) as error:
            _log.warning("%s: %s; the configuration in force stays", kind, error)
            session.audit_event(f"{kind} refused", changed=changed, why=str(error))
            raise ConfigError(f"{error}; the configuration in force stays") from error
        values = {name: str(getattr(new, FIELDS[name].name)) for name in changed}
        _log.info("%s: %s", kind, values or "nothing has changed")
        session.audit_event(kind, **values)
        return {"changed": changed, "restarts": False}


def _changed(old: Settings, new: Settings) -> set[str]:
    """Names of the settings that differ."""
    return {
        setting_name(item)
        for item in dataclasses.fields(Settings)
        if getattr(old, item.name) != getattr(new, item.name)
    }


def _only(arguments: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in known:
            raise ConfigError(f"unknown argument {name!r}; known are {', '.join(known) or 'none'}")
