"""Groups of our own on this host, the programs in them, and an agent that lends to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from bench.subject import NotMeasurableError
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import NoAgent, ask, socket_path
from smartharvest.telemetry.heartbeat import read_beats

CONTROLLERS = ("cpuset", "cpu", "cpuacct", "freezer")
STARTS_WITHIN_S = 120.0
LOADS = {"spinner": "spin", "locked": "locked", "beats": "beats"}
"""Name of a group -> what runs in it (loads.py)."""


class Groups:
    """``web``, and below ``batch`` the group of each load and ``all`` for all of them."""

    def __init__(self, directory: Path) -> None:
        self.tree = CgroupTree.discover()
        self.directory = directory
        self.name = f"smartharvest-bench-groups-{os.getpid()}"
        self._made: list[str] = []
        self._stack = ExitStack()
        self.programs: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Self:
        self._stack.callback(self._remove)
        try:
            for name in ("", "/web", "/batch", "/batch/all", *(f"/batch/{one}" for one in LOADS)):
                self._make(name)
            for name, kind in LOADS.items():
                self.programs[name] = self._start(kind, f"/batch/{name}")
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def group(self, name: str) -> Group:
        return self.tree.group(f"{self.name}{name}")

    def beats(self, name: str) -> Path:
        return self.directory / f"{name}.beats"

    def _make(self, name: str) -> None:
        group, above = self.group(name), self.tree.group(os.path.dirname(f"{self.name}{name}"))
        if self.tree.version == 2 and name in ("", "/batch"):
            self.tree.files.write(f"{above.path}/cgroup.subtree_control", "+cpuset +cpu")
        for directory in {group.directory(one) for one in CONTROLLERS}:
            if directory is not None and os.path.isdir(os.path.dirname(directory)):
                os.mkdir(directory)
                self._made.append(directory)
        if self.tree.version == 1:
            mems = self.tree.files.read(f"{above.path}/cpuset.mems").strip()
            self.tree.files.write(f"{group.path}/cpuset.mems", mems)
            cpus = format_cpulist(self.tree.online_cpus())
            self.tree.files.write(f"{group.path}/cpuset.cpus", cpus)
        elif name in ("", "/batch"):
            self.tree.files.write(f"{group.path}/cgroup.subtree_control", "+cpuset +cpu")

    def _start(self, kind: str, name: str) -> subprocess.Popen[str]:
        path = str(self.beats(os.path.basename(name)))
        count = str(len(self.tree.online_cpus()))
        program = subprocess.Popen(
            [sys.executable, "-m", "bench.groups.loads", kind, count, path],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(_end, program)
        assert program.stdout is not None
        program.stdout.readline()
        self.place(program, name)
        return program

    def place(self, program: subprocess.Popen[str], name: str) -> None:
        """Moves the program with all its processes."""
        group = self.group(name)
        for pid in (program.pid, *tasks.descendants(program.pid)):
            for directory in {group.directory(one) for one in CONTROLLERS}:
                if directory is not None and os.path.isdir(directory):
                    self.tree.files.write(f"{directory}/cgroup.procs", str(pid))

    def stop(self, name: str, *, go_on: bool = False) -> None:
        """Has a program do nothing, or go on."""
        pid = self.programs[name].pid
        for one in (pid, *tasks.descendants(pid)):
            os.kill(one, signal.SIGCONT if go_on else signal.SIGSTOP)

    def counted(self, names: Sequence[str]) -> dict[str, int]:
        """Heartbeats of each so far."""
        return {name: read_beats(str(self.beats(name))) or 0 for name in names}

    def gather(self, *, together: bool) -> None:
        """Has all programs in one group, or each in its own."""
        for name, program in self.programs.items():
            self.place(program, "/batch/all" if together else f"/batch/{name}")

    def add_primary(self, name: str, cpus: str) -> None:
        """Makes ``/NAME`` with these CPUs, in each hierarchy."""
        self._make(f"/{name}")
        self.tree.files.write(self.group(f"/{name}").cpus_file, cpus)

    def remove_primary(self, name: str) -> None:
        """The one made last."""
        group = self.group(f"/{name}")
        for directory in {group.directory(one) for one in CONTROLLERS}:
            if directory is not None and directory in self._made:
                os.rmdir(directory)
                self._made.remove(directory)

    @contextmanager
    def bursting(self) -> Iterator[Path]:
        """A primary that bursts; the file has how long each burst took."""
        program = self._start("bursts", "/web")
        try:
            yield self.beats("web")
        finally:
            _end(program)

    def tables(self, more: Mapping[str, Mapping[str, str]] | None = None) -> str:
        """The ``[[elastic]]`` tables; ``more`` keys by name."""
        text = ""
        for name in LOADS:
            text += f'\n[[elastic]]\nname = "{name}"\ntarget = "cgroup:{self.name}/batch/{name}"\n'
            if name != "spinner":
                text += f'heartbeats = "{self.beats(name)}"\n'
            text += "".join(
                f"{key} = {value}\n" for key, value in (more or {}).get(name, {}).items()
            )
        return text

    def _remove(self) -> None:
        for directory in reversed(self._made):
            for _ in range(50):
                try:
                    os.rmdir(directory)
                    break
                except OSError:
                    time.sleep(0.1)  # the last of its processes is just ending


def _end(program: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        program.kill()
    program.wait()


class Agent:
    """``smartharvest agent`` with a configuration; ended, with the host as it was, at the exit."""

    def __init__(self, groups: Groups, name: str, elastic: str, settings: Sequence[str]) -> None:
        self.file = groups.directory / f"{name}.toml"
        self.audit = groups.directory / f"{name}-audit.jsonl"
        self.state = groups.directory / f"{name}-state"
        self._head = [f'primary = ["cgroup:{groups.name}/web*"]', f'state_dir = "{self.state}"']
        self._head += [f'audit_log = "{self.audit}"', "lend_shared = true", *settings]
        self.configure(elastic)
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, elastic: str) -> None:
        self.file.write_text("\n".join([*self._head, elastic]))

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "smartharvest", "agent", "--config", str(self.file)]
        with (self.file.with_suffix(".log")).open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            if self.wait_until(lambda: bool(self.status()), STARTS_WITHIN_S) is None:
                raise NotMeasurableError(f"the agent did not start within {STARTS_WITHIN_S:g} s")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
            self.process.wait(STARTS_WITHIN_S)

    def reload(self) -> None:
        try:
            self.ask("reload")
        except (NoAgent, SmartHarvestError, TimeoutError, OSError) as error:
            raise NotMeasurableError(f"the agent did not take the reload: {error}") from None

    def ask(self, command: str) -> Any:
        assert self.process is not None
        return ask(socket_path(str(self.state), self.process.pid), command, {})

    def status(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self.ask("status")
        except (NoAgent, SmartHarvestError, TimeoutError, OSError):
            return None
        return found

    def rows(self) -> dict[str, dict[str, Any]]:
        """By name what the status says of each group; empty if the agent does not answer."""
        return {row["name"]: row for row in (self.status() or {}).get("elastic", ())}

    def wait_until(self, what: Any, most_s: float) -> float | None:
        """Seconds until ``what()`` holds; None: not within ``most_s``.

        Raises NotMeasurableError if the agent ends.
        """
        began_s = time.monotonic()
        while not what():
            assert self.process is not None
            if self.process.poll() is not None:
                raise NotMeasurableError(f"the agent ended: {self.log()}")
            if time.monotonic() > began_s + most_s:
                return None
            time.sleep(0.02)
        return time.monotonic() - began_s

    def log(self) -> str:
        return self.file.with_suffix(".log").read_text()[-2000:]


def as_json(document: Any) -> str:
    return json.dumps(document, indent=1)
