"""What a user without rights may try at an agent of root's, for the tests of hostile users."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.commands import Outcome, as_command
from tests.integration.processes import RunningAgent
from tests.integration.worlds import World, make_world

PLANTED = "import os; os.open({!r}, os.O_CREAT | os.O_WRONLY); raise SystemExit('planted')"


@dataclass
class Scene:
    """``open`` is a directory as /tmp, ``precious`` a file of root's there must be no way to."""

    world: World
    place: Path
    agent: RunningAgent | None = None

    @property
    def open(self) -> Path:
        return self.place / "open"

    @property
    def precious(self) -> Path:
        return self.place / "precious"

    def run(self, *arguments: str, cwd: Path | None = None) -> Outcome:
        """A command of root's, to its end."""
        done = subprocess.run(
            as_command(arguments), cwd=cwd, capture_output=True, text=True, timeout=90, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def start(self, *more: str, state: Path | None = None, cwd: Path | None = None) -> Outcome:
        """An agent of root's that runs for a moment."""
        state_dir = str(state or self.world.state_dir)
        return self.run(
            *("agent", "--cgroup-root", self.world.tree.root, "--state-dir", state_dir),
            *(*self.world.targets, "--duration", "200ms", "--model", "off", *more),
            cwd=cwd,
        )


Attempt = Callable[[Scene], None]


def refused(outcome: Outcome, code: int, why: str) -> None:
    assert outcome.code == code, outcome.err
    assert why in outcome.err
    assert outcome.err.count("\n") == 1, outcome.err
    assert "Traceback" not in outcome.err


def told_in_lines(text: str) -> None:
    """Nobody's name has become a line of its own, or moves a cursor."""
    lines = text.split("\n")
    assert all(line.startswith("smartharvest: ") for line in lines[:-1]), lines
    assert not any(line.startswith("smartharvest: all is well") for line in lines), lines
    assert not any(not c.isprintable() for c in text.replace("\n", "")), lines


@contextlib.contextmanager
def made_scene() -> Iterator[Scene]:
    """In a directory that everybody may pass; an intruder that cannot get there proves nothing."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o755)
        (place / "open").mkdir()
        (place / "open").chmod(0o1777)
        (place / "precious").write_text("as it was")
        (place / "precious").chmod(0o600)
        yield Scene(make_world(place, 2), place)
