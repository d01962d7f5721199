"""Why a loop has halted, in the user's words."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, NoReturn

from smartharvest.core import _actuators, _loop
from smartharvest.errors import SensorError, TargetVanished, WriteRefused
from smartharvest.host.foreign.writes import ForeignWrite, likely_writers
from smartharvest.host.target.targets import PidTarget

if TYPE_CHECKING:
    from smartharvest.agent.session import Session

GONE = (errno.ENOENT, errno.ENODEV, errno.ESRCH)


def explain_halt(session: Session, loop: _loop.Loop) -> NoReturn:
    """Turns the loop's halt into the error the user gets."""
    halt = loop.halt
    assert halt is not None
    what, error = halt
    if what == "actuator":
        path, value = loop.actuator.failure()
        elastic = session.elastic
        if isinstance(elastic, PidTarget):
            path, value = str(elastic.spec), "the affinity of its threads"
        assert elastic is not None
        if error in GONE or not elastic.alive():
            raise TargetVanished(f"{path or elastic.spec}: is gone; all was given back")
        if error == _actuators.EFFECTIVE_MISMATCH:
            writer = session.other_writers.last(path)
            raise ForeignWrite(
                f"{path}: {value!r} was written but another set is in force; does somebody "
                f"else manage this group? ({f'last: {writer}' if writer else likely_writers()})"
            )
        raise WriteRefused(path, value, error)
    if what == "sensor" and error in GONE:
        gone = [str(t.spec) for t in session.primaries if not t.alive()]
        raise TargetVanished(f"{', '.join(gone) or 'a primary'}: is gone; all was given back")
    if what == "sensor" and error == errno.EOVERFLOW:
        raise SensorError("the primaries have more threads than can be watched through /proc")
    if what == "sensor" and error == errno.ENOLINK and session.sensing is not None:
        raise SensorError(
            f"sensor {session.sensing.name}: has been detached by somebody; "
            "with --sensor auto the next one takes over"
        )
    raise SensorError(f"the {what} of the polling loop failed: {os.strerror(error)}")
