"""``smartharvest top`` in a real terminal (tmux): its screens, its keys, other sizes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.telemetry.client import sockets
from tests.integration.processes import Processes, wait_until
from tests.integration.terminals import Terminal, needs_tmux
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing

pytest.importorskip("rich")
needs_tmux()
EVERYTHING = (
    *("smartharvest  agent", "cgroup:web → cgroup:batch", "policy fixed-buffer:2", "cpus", "lent"),
    *("busy", "demand", "granted", "buffer", "waits", "safeguards", "learner", "of a core"),
)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An agent that runs as long as these tests do."""
    processes = Processes()
    try:
        world = make_world(tmp_path_factory.mktemp("top"), 2, primary=(processes.asleep(),))
        agent = processes.agent(*world.arguments, *world.targets, "--policy", "fixed-buffer:2")
        agent.wait_until(lambda: bool(sockets(str(world.state_dir))))
        yield world
    finally:
        processes.end()


@pytest.fixture
def terminal(watched: World, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(top(watched.state_dir), tmp_path)
    yield made
    made.close()


def top(state_dir: Path) -> str:
    command = [sys.executable, "-m", "smartharvest", "top", "--every", "0.1"]
    return shlex.join([*command, "--state-dir", str(state_dir)])


def test_all_of_it_is_to_be_seen_in_an_old_terminal(terminal: Terminal) -> None:
    screen = terminal.wait_for(*EVERYTHING, "q quit")
    assert len(screen) == 24
    assert [line for line in screen if line][-1].startswith("q quit")
    assert screen[0].startswith("smartharvest  agent")


def test_p_holds_the_view_and_lets_it_go_on(terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    terminal.press("p")
    held = terminal.wait_for("paused: p continues")
    terminal.press("p")
    terminal.wait_for("q quit")
    # How long the agent has been up goes on.
    assert terminal.wait_for_change(held) != held


def test_e_expands_it_and_folds_it_again(terminal: Terminal) -> None:
    terminal.resize(100, 40)
    terminal.wait_for("q quit")
    terminal.press("e")
    terminal.wait_for("safety give-backs", "reassignment")
    terminal.press("e")
    wait_until(lambda: "safety give-backs" not in "\n".join(terminal.screen))


def test_lending_is_paused_and_resumed_only_after_a_yes(terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    terminal.press("P")
    terminal.wait_for("pause lending of agent", "y yes")
    terminal.press("n")
    terminal.wait_for("nothing was done")
    terminal.press("P")
    terminal.wait_for("pause lending of agent")
    terminal.press("y")
    terminal.wait_for("lends nothing: paused")
    terminal.press("R")
    terminal.wait_for("resume lending of agent")
    terminal.press("y")
    terminal.wait_for("the agent lends again")


def test_a_question_mark_shows_the_keys(terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    terminal.press("?")
    terminal.wait_for("Keys", "resume lending", "any key goes back")
    terminal.press("x")
    terminal.wait_for("q quit")


def test_it_follows_the_size_of_the_terminal(terminal: Terminal) -> None:
    terminal.wait_for("q quit")
    for width, height in ((132, 50), (40, 12), (20, 4)):
        terminal.resize(width, height)
        terminal.wait_for("q quit", "smartharvest  agent")
        assert len(terminal.screen) == height


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_it_ends_and_leaves_the_terminal_as_it_was(terminal: Terminal, key: str) -> None:
    terminal.wait_for("q quit")
    terminal.press(key)
    screen = terminal.wait_for("ended with 0")
    assert "smartharvest  agent" not in "\n".join(screen)


def test_without_an_agent_it_says_so(tmp_path: Path) -> None:
    terminal = Terminal(top(tmp_path / "state"), tmp_path)
    terminal.wait_for("No agent is running", "q quit")
    terminal.close()


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "dumb"}, {"TERM": "vt100"}, {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}],
    ids=["dumb", "vt100", "latin-1"],
)
def test_terminals_that_can_do_little_show_it_too(
    watched: World, tmp_path: Path, environment: dict[str, str]
) -> None:
    terminal = Terminal(top(watched.state_dir), tmp_path, **environment)
    try:
        terminal.wait_for("cgroup:web", "cpus", "granted", "learner", "q quit")
        terminal.press("q")
        terminal.wait_for("ended with 0")
    finally:
        terminal.close()
