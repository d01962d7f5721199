"""A second socket, which only tells: for a group whose members may watch and not steer.

Who may connect is said by the modes of the socket and its directory, which is a part of the state
directory that the group may enter. The same answer is given for ANSWER_LASTS_S, so that asking
often costs the agent nothing.
"""

from __future__ import annotations

import contextlib
import grp
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from smartharvest.errors import ConfigError
from smartharvest.host.journal.places import STATUS_DIRECTORY
from smartharvest.telemetry.server import Command, ControlSocket
from smartharvest.trusted import open_directory

LONGEST_QUESTION = 4096
ANSWER_LASTS_S = 0.1


class StatusSocket(ControlSocket):
    """Listens in STATUS_DIRECTORY next to the control socket at ``path``, for the ``group``.

    ``commands`` change nothing and take no arguments. Raises ConfigError if there is no such group
    any more, OSError if creating the socket fails.
    """

    longest_request = LONGEST_QUESTION

    def __init__(
        self,
        path: str,
        group: str,
        commands: Mapping[str, Command],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        directory = os.path.join(os.path.dirname(path), STATUS_DIRECTORY)
        self._group_id = group_id(group, "status_group")
        _make_directory(directory, self._group_id)
        super().__init__(
            os.path.join(directory, os.path.basename(path)),
            kept_for_a_while(commands, clock),
            clock,
        )

    def _allow(self, path: str) -> None:
        os.chown(path, -1, self._group_id)
        os.chmod(path, 0o660)

    def _admits(self, uid: int) -> bool:  # noqa: ARG002
        return True  # the modes have said so

    def _unknown(self, command: str) -> str:
        known = ", ".join(sorted(self.commands))
        return f"{command!r} is not answered here, only {known}; steer the agent as its own user"


def kept_for_a_while(
    commands: Mapping[str, Command], clock: Callable[[], float] = time.monotonic
) -> dict[str, Command]:
    """The ``commands``, of which each gives the same answer for ANSWER_LASTS_S."""
    return {name: _Kept(command, clock) for name, command in commands.items()}


class _Kept:
    """A command whose answer is kept for a while."""

    def __init__(self, command: Command, clock: Callable[[], float]) -> None:
        self._command = command
        self._clock = clock
        self._answer: Any = None
        self._until_s = float("-inf")

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        if arguments:
            raise ConfigError("no arguments are taken here")
        if self._clock() >= self._until_s:
            self._answer = self._command({})
            self._until_s = self._clock() + ANSWER_LASTS_S
        return self._answer


def group_id(name: str, key: str) -> int:
    """Raises ConfigError, naming ``key``, if this host has no such group."""
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise ConfigError(f"{key}: there is no group {name!r} on this host") from None


def _make_directory(path: str, group: int) -> None:
    above = open_directory(os.path.dirname(path))
    try:
        # Others may go through, to names that they know; every file there is its owner's alone.
        os.fchmod(above, os.fstat(above).st_mode & 0o7777 | 0o011)
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.basename(path), 0o700, dir_fd=above)
    finally:
        os.close(above)
    made = open_directory(path)
    try:
        os.fchown(made, -1, group)
        os.fchmod(made, 0o750)
    finally:
        os.close(made)
