"""Progress of a long command on standard error, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

import click

FIRST_AFTER_S = 1.0
"""What takes no longer shows nothing."""
EVERY_S = 0.1
_ERASE = "\r\x1b[K"


class Progress:
    """Called with (done, total): shows how many ``things`` are done, in one line of a terminal.

    Elsewhere it is silent, and where the output is JSON (not ``wanted``). The line goes away when
    its block ends, however that is, so that what is printed next begins a line.
    """

    def __init__(
        self, things: str, wanted: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._things = things
        self._clock = clock
        self._seen = wanted and sys.stderr.isatty()
        self._began_s: float | None = None
        self._next_s = 0.0
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            click.echo(_ERASE, err=True, nl=False)
            self._shown = False

    def __call__(self, done: float, total: float) -> None:
        """Of the numbers only whole ones are shown; ``done`` begins with what was done before."""
        if not self._seen:
            return
        now_s = self._clock()
        if self._began_s is None:
            self._began_s = now_s
            self._next_s = now_s + FIRST_AFTER_S
        if now_s < self._next_s:
            return
        self._next_s = now_s + EVERY_S
        text = f"{done:.0f} of {total:.0f} {self._things}"
        if 0 < done < total:
            text += f", {left(now_s - self._began_s, done, total)} left"
        click.echo(f"{_ERASE}{text}", err=True, nl=False)
        self._shown = True


def left(passed_s: float, done: float, total: float) -> str:
    """About how long the rest takes if it goes on as before."""
    rest_s = passed_s * (total - done) / done
    if rest_s < 100:
        return f"about {max(1, round(rest_s))} s"
    minutes = round(rest_s / 60)
    return f"about {minutes} min" if minutes < 100 else f"about {round(minutes / 60)} h"
