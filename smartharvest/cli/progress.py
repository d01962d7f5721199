"""Progress of a long command on standard error, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click


class Progress:
    """Called with (done, total): prints how many ``things`` are done, on a terminal in one line.

    Elsewhere it prints a line for each tenth.
    """

    def __init__(self, things: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._things = things
        self._clock = clock
        self._terminal = sys.stderr.isatty()
        self._shown = -1
        self._began_s: float | None = None

    def __call__(self, done: int, total: int) -> None:
        now_s = self._clock()
        if self._began_s is None:
            self._began_s = now_s
        tenth = 10 * done // total if total else 10
        if not self._terminal and tenth == self._shown:
            return
        self._shown = tenth
        text = f"{done} of {total} {self._things}"
        if 0 < done < total:
            text += f", {left(now_s - self._began_s, done, total)} left"
        if self._terminal:
            text = f"{text:60}" + ("\r" if done < total else "\n")
        else:
            text += "\n"
        click.echo(text, err=True, nl=False)


def left(passed_s: float, done: int, total: int) -> str:
    """About how long the rest takes if it goes on as before."""
    rest_s = passed_s * (total - done) / done
    if rest_s < 100:
        return f"about {max(1, round(rest_s))} s"
    minutes = round(rest_s / 60)
    return f"about {minutes} min" if minutes < 100 else f"about {round(minutes / 60)} h"
