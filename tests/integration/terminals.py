"""Terminals (tmux) in which a test reads the screen and presses keys."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.processes import wait_until

_numbers = itertools.count(1)


def needs_tmux() -> None:
    """Skips the calling module where there is none."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is missing (make test-tools installs it)", allow_module_level=True)


class Terminal:
    """A terminal of its own, on a server of its own, of 80x24."""

    def __init__(self, command: str, directory: Path, **environment: str) -> None:
        self._name = f"smartharvest-test-{os.getpid()}-{next(_numbers)}"
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        # What it says stays to be read when the command has ended.
        shell = f"{settings} {command}; echo ended with $?; exec sleep 600"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", shell,
                   cwd=directory)  # fmt: skip

    def _tmux(self, *arguments: str, cwd: Path | None = None) -> str:
        command = ["tmux", "-u", "-L", self._name, *arguments]
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        for size in ("COLUMNS", "LINES"):  # a worker of xdist has them, a terminal's programs obey
            environment.pop(size, None)
        return subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=cwd, env=environment
        ).stdout

    @property
    def screen(self) -> list[str]:
        return self._tmux("capture-pane", "-p").splitlines()

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def wait_for(self, *words: str) -> list[str]:
        """The screen, once all of these are on it."""
        seen: list[str] = []

        def there() -> bool:
            seen[:] = self.screen
            return all(word in "\n".join(seen) for word in words)

        wait_until(there, lambda: (words, *seen))
        return seen

    def wait_for_change(self, before: list[str]) -> list[str]:
        wait_until(lambda: self.screen != before, lambda: before)
        return self.screen

    def close(self) -> None:
        self._tmux("kill-server")
