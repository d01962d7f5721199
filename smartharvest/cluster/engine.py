"""What an adapter needs of a cluster engine."""

from __future__ import annotations

from subprocess import TimeoutExpired
from typing import Protocol, runtime_checkable

from smartharvest.errors import ConfigError, EngineError
from smartharvest.host.process import start

_TIMEOUT_S = 10.0


class Engine(Protocol):
    """One node of a cluster engine. Any call may raise EngineError, and may be repeated."""

    def advertise(self, cores: int) -> None:
        """Sets how many cores this node has for new work."""

    def in_use(self) -> int:
        """Cores that running work has."""

    def shed(self, cores: int, grace_s: float) -> None:
        """Brings the use down to ``cores``; called repeatedly with what is left of the grace.

        From the first call on no new work takes a core that becomes free, as far as the engine
        allows; the advertised number falls with the use. At a grace of 0 the youngest work is
        ended, in a way that lets the engine run it again.
        """

    def verify(self) -> int | None:
        """The number of cores that the engine has now; None if it has lost it."""

    def close(self) -> None:
        """Disconnects, and leaves the engine as it is."""


@runtime_checkable
class HoldsMemory(Protocol):
    """An engine that follows the node's memory, too. It may raise EngineError."""

    def hold(self, size: int) -> None:
        """Has the work hold at most ``size`` bytes from now on."""


def run_command(*command: str, package: str) -> tuple[str, str | None]:
    """(what the engine's command prints, why it failed in one line or None).

    Raises ConfigError, which names the ``package``, if there is no such command, EngineError if it
    does not answer.
    """
    try:
        ran = start.run_command(*command, timeout_s=_TIMEOUT_S)
    except FileNotFoundError:
        raise ConfigError(f"{command[0]}: not found; install {package}") from None
    except TimeoutExpired:
        raise EngineError(f"{command[0]}: no answer within {_TIMEOUT_S:g} s") from None
    if ran.returncode == 0:
        return ran.stdout, None
    return ran.stdout, " ".join((ran.stderr or ran.stdout).split())[:200]
