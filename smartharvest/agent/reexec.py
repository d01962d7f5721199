"""An agent that is replaced, by a new program or by itself on other CPUs; the host stays arranged.

The old one takes its cores back to the elastic minimum and leaves all else in force: sets, weights,
journal, locks, guardian. The new one takes the originals from the journal, since the host no longer
shows them. The process stays the same (execve(2)), and with it the locks, the guardian's hold on it
and the service manager's main process. Should the new one die, hang or never come up, the guardian
restores, as it does for any agent.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smartharvest.config.settings import Settings, host_settings
from smartharvest.errors import SmartHarvestError
from smartharvest.guardian.guard import Guard
from smartharvest.guardian.supervisor import GuardianSupervisor
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process.events import ProcessEvents
from smartharvest.host.process.family import Family
from smartharvest.placement.capacity import PrimaryCpus

_log = logging.getLogger(__name__)

SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2})
"""Held back while there is nobody to take them."""
TRIAL_S = 20.0
"""How long the new program may take to start and read its configuration."""
KILL_TAKES_S = 1.0
_HANDOFF = "SMARTHARVEST_INHERITANCE"
_TRIAL = "SMARTHARVEST_TRIAL"


@dataclasses.dataclass(frozen=True)
class HandoffState:
    """What an agent leaves its successor."""

    journal: Journal
    """Open and locked."""
    keeper: GuardianSupervisor | None
    """The guardian's, in the same program."""
    guardian: int | None
    """Its pid, from another program."""
    primary_cpus: tuple[PrimaryCpus, ...]
    """With exclusive placement: what the primaries had."""
    may_nudge: bool
    root: str | None
    """Of a fake tree."""
    arrangement: Mapping[str, str]
    """The settings the host was arranged by."""
    paused: str | None = None
    evicted: bool = False
    held_groups: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """``Arrangement.held_groups``."""
    ran_s: float = 0.0
    usual_cores: int = 0
    """``Capacity.total`` with all CPUs there."""
    generation: int = 0
    """How often it was handed over before."""
    family: Family | None = None
    """Of an elastic process; births are heard all the while."""

    def fits(self, settings: Settings) -> bool:
        """Whether these settings want the host arranged in the same way."""
        default = host_settings(Settings())
        return all(
            self.arrangement.get(name, default[name]) == text
            for name, text in host_settings(settings).items()
        )

    def give_back(self) -> None:
        """Restores everything. Raises RightsError for what it may not put back."""
        files = CgroupTree.discover(self.root).files
        try:
            for line in HostWriter(files, self.journal, family=self.family).restore():
                _log.debug("put back: %s", line)
        finally:
            if self.keeper is not None:
                self.keeper.end()
            elif self.guardian is not None and (guard := Guard.watching(self.guardian)):
                guard.end()


def replace_program(left: HandoffState | None) -> None:
    """Runs the agent's command line again in this process; on failure it warns and returns."""
    environment = dict(os.environ)
    descriptors: Sequence[int] = ()
    members: int | None = None
    if left is not None:
        document, descriptors = _document(left), left.journal.descriptors
        if left.family is not None and (events := left.family.descriptor) is not None:
            members = _list_of(left.family)
            document["family"] = {"root": left.family.root, "events": events, "members": members}
            descriptors = (*descriptors, events, members)
        environment[_HANDOFF] = json.dumps(document)
    held = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        for descriptor in descriptors:
            os.set_inheritable(descriptor, True)
        sys.stdout.flush()
        os.execve(sys.executable, _command(), environment)
    except OSError as error:
        _log.warning("%s: %s; the old program goes on", sys.executable, error.strerror)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if members is not None:
            os.close(members)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _list_of(family: Family) -> int:
    """A descriptor to read its members from: there may be more than fit into a variable."""
    descriptor = os.memfd_create("members")
    with open(descriptor, "w", closefd=False) as file:
        json.dump({"known": list(family.members), "leaving": list(family.leaving)}, file)
    return descriptor


def _inherit_family(document: Mapping[str, int] | None) -> Family | None:
    if document is None:
        return None
    with open(document["members"]) as file:
        file.seek(0)
        members = json.load(file)
    events = document["events"]
    return Family(
        document["root"],
        open_events=lambda: ProcessEvents.inherit(events),
        known=members["known"],
        leaving=members["leaving"],
    )


def _command() -> list[str]:
    return [sys.executable, *sys.orig_argv[1:]]


def _document(left: HandoffState) -> dict[str, Any]:
    # Its keys, and the variable's name, are what earlier releases write and read.
    lock, *groups = left.journal.descriptors
    return {
        "journal": left.journal.path,
        "lock": lock,
        "groups": groups,
        "guardian": left.guardian if left.keeper is None else left.keeper.pid,
        "held": [
            [sorted(one.cpus), one.quota_cores, sorted(one.pinned)] for one in left.primary_cpus
        ],
        "may_nudge": left.may_nudge,
        "root": left.root,
        "usual_cores": left.usual_cores,
        "arrangement": dict(left.arrangement),
        "paused": left.paused,
        "evicted": left.evicted,
        "held_groups": dict(left.held_groups),
        "ran_s": left.ran_s,
        "generation": left.generation,
    }


def handed_off() -> HandoffState | None:
    """What the program before this one in this process has left, once; None if there was none.

    Raises JournalError for a journal that this release does not know; the program that left it
    is dead then, and its guardian restores.
    """
    text = os.environ.pop(_HANDOFF, "")
    if not text:
        return None
    document = json.loads(text)
    return HandoffState(
        journal=Journal.inherit(document["journal"], document["lock"], document["groups"]),
        keeper=None,
        guardian=document["guardian"],
        primary_cpus=tuple(
            PrimaryCpus(frozenset(cpus), quota, frozenset(pinned))
            for cpus, quota, pinned in document["held"]
        ),
        may_nudge=document["may_nudge"],
        root=document["root"],
        usual_cores=document["usual_cores"],
        arrangement=document["arrangement"],
        paused=document["paused"],
        evicted=document["evicted"],
        held_groups=document.get("held_groups", {}),  # an earlier release has none
        ran_s=document["ran_s"],
        generation=document["generation"],
        family=_inherit_family(document.get("family")),
    )


def is_trial() -> bool:
    """Whether this process only finds out if the program starts with its configuration."""
    return bool(os.environ.get(_TRIAL))


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """What must not be interrupted: giving back, handing over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class TrialFailed(SmartHarvestError):
    """The program does not start; the agent that runs goes on."""


class Trial:
    """Starts the agent's command line next to the running one, as far as reading its configuration.

    A program or a configuration that is broken is found out before anything is handed over to it.
    """

    def __init__(self) -> None:
        """Raises TrialFailed."""
        self._until_s = time.monotonic() + TRIAL_S
        try:
            self._process = subprocess.Popen(
                _command(),
                env={**os.environ, _TRIAL: "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise TrialFailed(f"restart: {sys.executable}: {error.strerror}") from error

    def passed(self) -> bool:
        """Whether it went well; False while it goes on. Raises TrialFailed. Never waits."""
        code = self._process.poll()
        if code is None:
            if time.monotonic() < self._until_s:
                return False
            self.end()
            raise TrialFailed(f"restart: the new program took more than {TRIAL_S:.0f} s to start")
        said = self._said()
        self.end()
        if code:
            raise TrialFailed(f"restart: the new program ended with {code}: {said}")
        return True

    def _said(self) -> str:
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)  # others may have it open
        said = (self._process.stderr.read() or b"").decode(errors="replace")
        return said.strip().rpartition("\n")[2][-500:] or "it said nothing"

    def end(self) -> None:
        """Ends it, if it still goes on."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # in state D it ends when that does
            self._process.wait(KILL_TAKES_S)
        if self._process.stderr is not None:
            self._process.stderr.close()
