"""A build with as many jobs as elastic cores (``smartharvest run --jobserver``)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable

from smartharvest.cluster.follow import FollowSettings, follow
from smartharvest.cluster.jobserver import JobServer
from smartharvest.cluster.reconcile import Hysteresis
from smartharvest.cluster.source import Source
from smartharvest.errors import ConfigError

_MAKES = ("make", "gmake")
_WITH_FIFO = (4, 4)
_INTERVAL_S = 0.1
_LONGEST_JOB_S = 3600.0
"""How long a build whose adapter was killed may take to shrink to the minimum."""


def run_build(command: tuple[str, ...], source: Source, join: Callable[[], None]) -> int:
    """Runs ``command`` with as many jobs as the node has elastic cores; its exit code.

    ``join`` runs in the started process before the command and moves it into its group. Raises
    ConfigError if the start fails, NoCapacity if no agent answers.
    """
    server = JobServer()
    fds = server.inheritable_fds() if _is_old_make(command[0]) else None
    environment = {**os.environ, "MAKEFLAGS": server.makeflags(fds)}
    build: subprocess.Popen[bytes] | None = None

    def ended() -> bool:
        nonlocal build
        if build is None:  # only now: the build must not inherit the pipe that the keeper reads
            build = _start(command, environment, fds or (), join)
        if build.poll() is None:
            return False
        server.end()
        return True

    # The build's own first job needs no token, so nothing waits for the first turn.
    settings = FollowSettings(
        Hysteresis(grow_after_s=0.0, grace_s=_LONGEST_JOB_S), _INTERVAL_S, follow="now"
    )
    try:
        follow(source, lambda: server, settings, ended)
    finally:
        for fd in fds or ():
            os.close(fd)
        if build is not None:
            build.wait()
    assert build is not None
    code = build.returncode
    return 128 - code if code < 0 else code


def _start(
    command: tuple[str, ...],
    environment: dict[str, str],
    fds: tuple[int, ...],
    join: Callable[[], None],
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            env=environment,
            pass_fds=fds,
            preexec_fn=join,  # noqa: PLW1509 - there is one thread
        )
    except OSError as error:
        raise ConfigError(f"{command[0]}: cannot be started: {error.strerror}") from None


def _is_old_make(command: str) -> bool:
    if os.path.basename(command) not in _MAKES:
        return False
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"GNU Make (\d+)\.(\d+)", version.stdout)
    return found is not None and (int(found[1]), int(found[2])) < _WITH_FIFO
