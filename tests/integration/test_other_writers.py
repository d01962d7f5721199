"""Somebody else writes the groups of an agent: who it was is told."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.host.foreign.writer_trace import FileEventTrace
from smartharvest.host.foreign.writes import ForeignWrite
from tests.integration.hosts import Host
from tests.integration.processes import Processes
from tests.integration.supervisors import Script, run_until
from tests.integration.test_sensor_faults import settings_of

pytestmark = [pytest.mark.timing, pytest.mark.root]


def write_and_stay(processes: Processes, path: str) -> int:
    """A shell that has written a mask that nobody expects, and lives on; its process id."""
    shell = processes.start(["sh", "-c", f"echo 0 > {path}; echo; read line"])
    assert shell.stdout is not None
    shell.stdout.readline()
    return shell.pid


def write_and_end(path: str) -> int:
    with subprocess.Popen(["sh", "-c", f"echo 0 > {path}"]) as shell:
        return shell.pid


@pytest.fixture
def trace() -> Iterator[FileEventTrace]:
    try:
        made = FileEventTrace()
    except OSError as error:
        pytest.skip(f"not here: {error.strerror}")
    yield made
    made.close()


def test_a_writer_that_lives_is_named_with_its_process_id(
    host: Host, trace: FileEventTrace, processes: Processes
) -> None:
    path = host.batch.cpus_file
    trace.watch([path])
    pid = write_and_stay(processes, path)
    told = trace.writer(path)
    assert told is not None
    assert told.startswith(f"sh (pid {pid})")


def test_a_writer_that_has_ended_is_told_at_least_by_its_process_id(
    host: Host, trace: FileEventTrace
) -> None:
    path = host.batch.cpus_file
    trace.watch([path])
    pid = write_and_end(path)
    assert trace.look()
    told = trace.writer(path)
    assert told is not None
    assert f"(pid {pid})" in told


def test_own_writes_and_those_to_other_groups_are_nobody_elses(
    host: Host, trace: FileEventTrace
) -> None:
    path = host.batch.cpus_file
    trace.watch([path])
    host.tree.files.write(path, "0\n")
    write_and_end(host.web.cpus_file)
    assert not trace.look()
    assert trace.writer(path) is None


def step_aside(host: Host, processes: Processes) -> tuple[str, int]:
    """What an agent says whose elastic mask a shell has written; the shell's process id."""
    os.kill(host.spinner, signal.SIGSTOP)
    path, writers = host.batch.cpus_file, list[int]()

    def interfere(_window: Window, decision: Decision) -> bool:
        if not writers and decision.harvest_cores:
            writers.append(write_and_stay(processes, path))
        return False

    session = Supervisor(settings_of(host, guardian=False))
    total = len(host.tree.online_cpus())
    with pytest.raises(ForeignWrite) as caught, session:
        run_until(session, Script(total - 1, total=total), interfere)
    return str(caught.value), writers[0]


def test_a_foreign_shell_that_writes_the_elastic_mask_is_named_by_the_agent(
    host: Host, processes: Processes
) -> None:
    told, writer = step_aside(host, processes)
    if "last: " not in told:
        pytest.skip("this kernel tells nobody who writes a file")
    assert f"last: sh (pid {writer})" in told
