"""Domains of libvirt as targets: the group that holds a domain's emulator and vCPUs now.

With systemd it is ``machine.slice/machine-qemu\\x2dID\\x2dNAME.scope``, without
``machine/qemu-ID-NAME.libvirt-qemu``. From 7.1 on, under cgroup v2, libvirt works in ``libvirt``
below it, and leaves the scope itself to systemd; so do we. Below are ``emulator``, ``vcpuN`` and
``iothreadN`` (src/util/vircgroup.c, src/util/vircgroupv2.c). The id changes with each start, so a
domain that ended or moved away and came back has another group.

What counts is what libvirt says when it is asked, which is once a second. Its events only make that
sooner: the next question makes up for one that was lost when the daemon restarted. Those
who ask are threads: an answer may take as long as a domain that is moved takes to move.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from smartharvest.errors import ConfigError, RightsError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.target.base import Kind
from smartharvest.host.target.spec import TargetSpec, is_zero

_SCOPE = re.compile(r"machine-qemu\\x2d([0-9]+)\\x2d(.*)\.scope|qemu-([0-9]+)-(.*)\.libvirt-qemu")
_ODD = re.compile(r"\\x[0-9a-f]{2}|[^A-Za-z0-9]")
"""What libvirt leaves out of a domain's name, which it also cuts off, or systemd escapes."""
PLACES = ("machine.slice", "machine")
INNER = "libvirt"
ASK_S = 1.0
FIRST_ANSWER_S = 5.0

Question = tuple[str, str | None]
"""The name of a domain and libvirt's URI, None for its default."""


def find(spec: TargetSpec, tree: CgroupTree) -> list[TargetSpec]:
    """The group of the domain that ``spec`` names; none if it does not run here.

    Raises ConfigError without libvirt's Python package and RightsError if libvirt does not answer.
    """
    number = running_id(spec.value)
    if number is None:
        return []
    groups = {
        path
        for mount in set(tree.hierarchies.values())
        for path in _groups(tree, mount, number, spec.value)
    }
    return [TargetSpec("cgroup", path) for path in sorted(groups)]


def changed() -> bool:
    """Whether libvirt has said something new since this was last asked."""
    return _asked.take_change()


def running_id(name: str, uri: str | None = None) -> int | None:
    """The id of the running domain, as last reported; None if unknown or not running.

    The first question about a domain waits for the answer, for FIRST_ANSWER_S. Raises RightsError
    if libvirt does not answer.
    """
    return _asked.running_id((name, uri))


class Asked:
    """What libvirt has said of the domains that were asked for."""

    def __init__(self) -> None:
        self._questions: list[Question] = []
        self._answers: dict[Question, int | RightsError | None] = {}
        self._connections: dict[str | None, Any] = {}
        self._changed, self._wanted = threading.Event(), threading.Event()
        self._answered = threading.Condition()

    def running_id(self, question: Question) -> int | None:
        if question not in self._questions:
            self._start(question)
            with self._answered:
                self._answered.wait_for(lambda: question in self._answers, FIRST_ANSWER_S)
        mute = RightsError(
            f"libvirt:{question[0]}: libvirt does not answer within {FIRST_ANSWER_S:g} s"
        )
        answer = self._answers.get(question, mute)
        if isinstance(answer, RightsError):
            raise RightsError(str(answer))
        return answer

    def take_change(self) -> bool:
        if not self._changed.is_set():
            return False
        self._changed.clear()
        return True

    def ask_again(self) -> None:
        """Asks everything that was asked before, and what is new."""
        for question in list(self._questions):
            now = self._ask(question)
            with self._answered:
                is_new = question not in self._answers
                before = self._answers.get(question)
                self._answers[question] = now
                self._answered.notify_all()
            if not is_new and str(now) != str(before):
                self._changed.set()

    def _start(self, question: Question) -> None:
        """Has the thread that asks take the question up."""
        try:
            import libvirt
        except ImportError:
            raise ConfigError(
                f"libvirt:{question[0]}: needs libvirt's Python package; "
                "pip install 'smartharvest[libvirt]'"
            ) from None
        self._questions.append(question)
        self._wanted.set()
        if len(self._questions) > 1:
            return
        self._libvirt = libvirt
        _take_events(libvirt)
        threading.Thread(target=self._go_on_asking, name="libvirt-asking", daemon=True).start()

    def _go_on_asking(self) -> None:
        while True:
            self._wanted.wait(ASK_S)
            self._wanted.clear()
            self.ask_again()

    def _ask(self, question: Question) -> int | RightsError | None:
        libvirt, (name, uri) = self._libvirt, question
        try:
            if uri not in self._connections or not self._connections[uri].isAlive():
                self._connections[uri] = self._connect(uri)
            domain = self._connections[uri].lookupByName(name)
            return int(domain.ID()) if domain.isActive() else None
        except libvirt.libvirtError as error:
            if error.get_error_code() == libvirt.VIR_ERR_NO_DOMAIN:
                return None
            self._connections.pop(uri, None)
            return RightsError(f"libvirt:{name}: libvirt does not answer: {error}")

    def _connect(self, uri: str | None) -> Any:
        libvirt = self._libvirt
        connection = libvirt.openReadOnly(uri)
        want: Callable[..., None] = lambda *_: self._wanted.set()  # noqa: E731
        connection.domainEventRegisterAny(None, libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE, want, None)
        connection.registerCloseCallback(want, None)
        return connection


_asked = Asked()


@cache
def _take_events(libvirt: Any) -> None:
    """Starts the thread that takes libvirt's events, before there is a connection."""
    libvirt.registerErrorHandler(lambda _context, _error: None, None)  # it prints them otherwise
    libvirt.virEventRegisterDefaultImpl()

    def take() -> None:
        while True:
            libvirt.virEventRunDefaultImpl()

    threading.Thread(target=take, name="libvirt-events", daemon=True).start()


def _groups(tree: CgroupTree, mount: str, number: int, name: str) -> list[str]:
    found = []
    for place in PLACES:
        try:
            directories = tree.files.subdirectories(os.path.join(mount, place))
        except OSError:
            continue
        for directory in directories:
            match = _SCOPE.fullmatch(directory)
            if match is None or int(match[1] or match[3]) != number:
                continue
            if not _ODD.sub("", name).startswith(_ODD.sub("", match[2] or match[4] or "")):
                continue  # of another daemon
            inner = os.path.join(place, directory, INNER)
            is_there = tree.files.exists(os.path.join(mount, inner))
            found.append(inner if is_there else os.path.join(place, directory))
    return found


KIND = Kind(
    "libvirt:DOMAIN",
    "the domain's name",
    names_one=lambda value: bool(value) and not is_zero(value),
    is_machine=True,
    is_pattern=bool,
    find=find,
)
