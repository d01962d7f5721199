"""``smartharvest top``: what an agent does, live."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from smartharvest.cli.agent_request import places
from smartharvest.cli.command_group import examples
from smartharvest.cli.state_options import state_options
from smartharvest.cli.time_span import seconds_between
from smartharvest.errors import ConfigError, RightsError
from smartharvest.printable import printable
from smartharvest.telemetry.agents import pid_of
from smartharvest.telemetry.client import NoAgent, ask, sockets
from smartharvest.telemetry.protocol import ProtocolError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@click.command(epilog=examples("smartharvest top", "smartharvest top --pid 14219"))
@state_options
@click.option("--every", callback=seconds_between(0.05, 60), default="0.5", show_default=True,
              metavar="SECONDS", help="Time between two updates.")  # fmt: skip
def top(every: float, **options: Any) -> None:
    """Show live which side has which cores, and why.

    Keys: q quit, p pause the view, e expand, n next agent, P pause lending, R resume lending,
    ? help. A terminal of 30 lines or more also shows groups, a history of each CPU, and events.

    Needs rich: pip install 'smartharvest[top]'.
    """
    try:
        from rich.console import Console
        from rich.text import Text

        from smartharvest.telemetry.top_history import History
        from smartharvest.telemetry.view import as_ascii, draw
        from smartharvest.telemetry.view_large import help_screen
    except ImportError:
        raise ConfigError("top: rich is not installed; pip install 'smartharvest[top]'") from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("top: needs a terminal; use smartharvest status --json in scripts")
    state_dirs = [place["state_dir"] for place in places(options)]
    console = Console()
    ascii_only = not console.encoding.startswith("utf")
    histories: dict[str, History] = {}
    chosen, paused, expanded, helping = 0, False, False, False
    asking, said, whom = "", "", ""
    """The command that waits for a yes, the answer to the last, and the agent's socket."""
    shown: dict[str, Any] | None = None
    path = ""
    with suppress(KeyboardInterrupt), _keys() as key, _screen(console) as show:
        while True:
            paths = [path for state_dir in state_dirs for path in sockets(state_dir)]
            if not paused:
                path = paths[chosen % len(paths)] if paths else ""
                shown = _status(path) if path else None
                if shown is not None:
                    histories.setdefault(path, History()).add(shown)
            width, height = console.size
            if helping:
                lines = help_screen(height)
            elif shown is None:
                lines = [
                    Text(f"No agent is running (state directory {', '.join(state_dirs)})"),
                    Text("q quit", "reverse"),
                ]
            else:
                lines = draw(shown, histories[path], width, height, expanded=expanded)
                if asking or said:
                    question = f"{asking} lending of agent {pid_of(whom)}? y yes, any other key no"
                    lines[-1] = Text(question if asking else said, "reverse")
                elif paused:
                    lines[-1] = Text("paused: p continues, q quits", "reverse")
            for line in lines:  # one that wrapped would push the others out
                line.truncate(width, overflow="ellipsis")
            show([as_ascii(line) for line in lines] if ascii_only else lines)
            pressed = key(every)
            if asking and pressed:
                said = _steer(whom, asking) if pressed == "y" else "nothing was done"
                asking = ""
                continue
            if helping and pressed:
                helping = False
                continue
            if pressed == "q":
                return
            said = "" if pressed else said
            helping = pressed == "?" or helping
            if shown is not None and pressed:
                asking, whom = {"P": "pause", "R": "resume"}.get(pressed, ""), path
            paused ^= pressed in ("p", " ")
            expanded ^= pressed == "e"
            chosen += pressed == "n"


def _status(path: str) -> dict[str, Any] | None:
    """The agent's state; None while it does not answer."""
    try:
        answer = ask(path, "status", {}, timeout_s=1.0)
    except (NoAgent, TimeoutError, ProtocolError):
        return None
    return answer if isinstance(answer, dict) else None


def _steer(path: str, command: str) -> str:
    """What came of a command to the agent, for the last line."""
    try:
        answer = ask(path, command, {}, timeout_s=3.0)
    except (NoAgent, TimeoutError, ProtocolError, RightsError) as error:
        return printable(f"{command}: {error or 'the agent does not answer'}")
    if command == "pause":
        return "paused: nothing is lent until R, or smartharvest resume"
    return "the agent lends again" if answer["was_paused"] else "nothing was paused"


@contextmanager
def _screen(console: Console) -> Iterator[Callable[[list[Text]], None]]:
    """A function that shows lines: in place, or below one another on a dumb terminal."""
    from rich.console import Group
    from rich.live import Live

    if console.is_dumb_terminal:
        yield lambda lines: console.print(*lines, "", sep="\n")
    else:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            try:
                yield lambda lines: live.update(Group(*lines), refresh=True)
            finally:
                console.clear()  # tmux keeps some of it where its window has grown meanwhile


@contextmanager
def _keys() -> Iterator[Any]:
    """A function that waits that many seconds for a key; "" if none was pressed."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def wait(seconds: float) -> str:
        until_s = time.monotonic() + seconds
        while (left_s := until_s - time.monotonic()) > 0:
            try:
                ready, _, _ = select.select([descriptor], [], [], left_s)
            except InterruptedError:  # the window has another size
                return ""
            if ready:
                return os.read(descriptor, 1).decode(errors="replace") or "q"
        return ""

    tty.setcbreak(descriptor)
    try:
        yield wait
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
