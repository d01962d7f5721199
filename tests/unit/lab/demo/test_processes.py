"""The real server and bully as plain processes: counts and lifetimes, never times."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from mmap import mmap

import pytest

from smartharvest.core import _demo
from smartharvest.errors import SmartHarvestError
from smartharvest.host.process.start import python_command
from smartharvest.lab.demo.children import BullyProcess, ServerProcess
from smartharvest.lab.demo.traffic import draw_traffic

SLICE_S = 0.3
PATIENCE_S = 20.0


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether ``condition`` comes true; the limit only ends a test that fails."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def ends(pid_fd: int) -> bool:
    return bool(select.select([pid_fd], [], [], PATIENCE_S)[0])


@pytest.mark.timing
def test_every_request_of_every_slice_gets_its_latency() -> None:
    traffic = draw_traffic(SLICE_S, 2, seed=3)
    with ServerProcess(2) as server:
        server.start()
        for _ in range(2):
            assert server.prepare(SLICE_S, seed=3) == len(traffic.arrival_ns) > 0
            server.go()
            latencies_ns = server.latencies_ns()
            assert len(latencies_ns) == len(traffic.arrival_ns)
            assert min(latencies_ns) > 0


def test_threads_appear_only_after_the_start_so_that_a_process_can_be_moved_before() -> None:
    with ServerProcess(2) as server, BullyProcess(2) as bully:
        for child in (server, bully):
            tasks = f"/proc/{child.pid}/task"
            assert len(os.listdir(tasks)) == 1
            child.start()
            assert len(os.listdir(tasks)) == {server: 1 + 3, bully: 1 + 2}[child]


@pytest.mark.timing
def test_the_bully_works_only_while_it_runs() -> None:
    with BullyProcess(2) as bully:
        bully.start()
        assert bully.units() == 0
        bully.run()
        assert eventually(lambda: bully.units() >= 5)
        assert bully.cpu_ns() > 0
        bully.pause()
        assert eventually(lambda: rests(bully))


@pytest.mark.timing
def test_the_bully_keeps_counting_when_confined_to_one_cpu() -> None:
    with BullyProcess(2) as bully:
        bully.start()
        bully.run()
        cpu = min(os.sched_getaffinity(0))
        for tid in os.listdir(f"/proc/{bully.pid}/task"):
            os.sched_setaffinity(int(tid), {cpu})
        units = bully.units()
        assert eventually(lambda: bully.units() >= units + 5)


def rests(bully: BullyProcess) -> bool:
    """Every thread sleeps, so that the counters stand still."""
    before = bully.units()
    for tid in os.listdir(f"/proc/{bully.pid}/task"):
        with open(f"/proc/{bully.pid}/task/{tid}/stat", encoding="ascii") as stat:
            if stat.read().rpartition(")")[2].split()[0] != "S":
                return False
    return bully.units() == before


def test_a_child_that_ends_early_is_an_error_that_names_it() -> None:
    with ServerProcess(2) as server:
        server.start()
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(SmartHarvestError, match=r"demo\.server: ended early with status -9"):
            server.prepare(SLICE_S, seed=1)


@pytest.mark.timing
@pytest.mark.parametrize("module", ["server", "bully"])
@pytest.mark.parametrize("begin", [b"", b"start\n"])
def test_a_child_ends_when_its_input_does(module: str, begin: bytes) -> None:
    with tempfile.TemporaryFile() as block:
        block.truncate(_demo.bully_block_size(2))
        arguments = {"server": ["2"], "bully": [str(block.fileno()), "2"]}[module]
        child = subprocess.run(
            python_command(f"smartharvest.lab.demo.{module}", str(os.getpid()), *arguments),
            input=begin,
            pass_fds=[block.fileno()],
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
    assert child.stdout.startswith(b"ready") == bool(begin)


def test_a_child_whose_parent_is_already_gone_does_not_start() -> None:
    command = python_command("smartharvest.lab.demo.server", "1", "2")
    child = subprocess.run(
        command, stdin=subprocess.PIPE, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert child.returncode == 1
    assert b"is gone" in child.stderr


PARENT = """
import signal
import time
from smartharvest.lab.demo.children import BullyProcess, ServerProcess
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` ignores it
with ServerProcess(2) as server, BullyProcess(2) as bully:
    server.start()
    bully.start()
    bully.run()
    server.prepare(20.0, seed=1)
    server.go()
    print(server.pid, bully.pid, flush=True)
    time.sleep(20)
"""


@pytest.mark.timing
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_both_children_end_with_their_parent_even_in_the_middle_of_a_slice(
    sent: signal.Signals,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        pid_fds = [os.pidfd_open(pid) for pid in pids]
        parent.send_signal(sent)
        assert parent.wait(PATIENCE_S) == -sent
        assert [ends(pid_fd) for pid_fd in pid_fds] == [True, True]
    for pid_fd in pid_fds:
        os.close(pid_fd)


def test_a_server_refuses_arrays_of_different_lengths_and_work_after_its_stop() -> None:
    one, two = array("q", [0]), array("q", [0, 0])
    server = _demo.Server(1)
    with pytest.raises(ValueError, match="one length"):
        server.serve(one, one, two)
    server.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        server.serve(one, one, one)


def test_impossible_numbers_of_threads_are_refused() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        _demo.Server(0)
    with mmap(-1, 4096) as block, pytest.raises(ValueError, match="too small"):
        _demo.Bully(block, 4096)
