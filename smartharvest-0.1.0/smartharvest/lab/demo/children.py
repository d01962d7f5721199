"""The parent's ends of the server's and the bully's processes."""

from __future__ import annotations

import mmap
import os
import select
import subprocess
import time
from array import array
from typing import Self

from smartharvest.core import _demo
from smartharvest.errors import SmartHarvestError
from smartharvest.host.process.start import start_python
from smartharvest.lab.demo.traffic import draw_traffic

ANSWER_TIMEOUT_S = 30.0
"""How long a child may keep silent beyond the time its work takes."""


class _Child:
    """A child process that ends with its parent, with its input, or at ``close``.

    To be created by a thread that outlives it: the kernel takes the end of the creating thread
    for the end of the parent.
    """

    def __init__(self, module: str, *arguments: int, pass_fds: tuple[int, ...] = ()) -> None:
        self._module = module
        self._process = start_python(
            module,
            str(os.getpid()),
            *map(str, arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=pass_fds,
            process_group=0,  # ctrl-C is for the parent, which then closes its children
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End the process at once and reap it; harmless the second time."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise self._ended() from None

    def _answer(self, keyword: str) -> list[str]:
        """The words after ``keyword`` in the child's next line."""
        line = b""
        while not line.endswith(b"\n"):
            line += self._read(1, ANSWER_TIMEOUT_S)
        words = line.decode().split()
        if words[:1] != [keyword]:
            raise SmartHarvestError(f"{self._module}: answered {line!r} instead of {keyword!r}")
        return words[1:]

    def _read(self, count: int, timeout_s: float) -> bytes:
        """Exactly ``count`` bytes; each piece within ``timeout_s``."""
        assert self._process.stdout is not None
        data = bytearray()
        while len(data) < count:
            ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
            if not ready:
                raise SmartHarvestError(f"{self._module}: no answer within {timeout_s:.0f} s")
            piece = os.read(self._process.stdout.fileno(), count - len(data))
            if not piece:
                raise self._ended()
            data += piece
        return bytes(data)

    def _ended(self) -> SmartHarvestError:
        self._process.kill()
        status = self._process.wait()
        return SmartHarvestError(f"{self._module}: ended early with status {status}")


class ServerProcess(_Child):
    """The latency-sensitive server with its load generator, sized for ``cpus`` CPUs."""

    def __init__(self, cpus: int) -> None:
        super().__init__("smartharvest.lab.demo.server", cpus)
        self._cpus = cpus
        self._arrivals_ns = array("q")
        self._deadline = 0.0
        self._seconds = 0.0

    def start(self) -> None:
        """Calibrate and start the threads, in the group the process is in by now."""
        self._tell("start")
        self._answer("ready")

    def prepare(self, seconds: float, seed: int) -> int:
        """Draw the traffic of the next slice; the number of its requests."""
        self._tell(f"slice {seconds!r} {seed}")
        self._arrivals_ns = draw_traffic(seconds, self._cpus, seed).arrival_ns
        count = int(self._answer("drawn")[0])
        assert count == len(self._arrivals_ns)
        self._seconds = seconds
        return count

    def go(self) -> None:
        """Begin to serve what was prepared."""
        self._tell("go")
        self._deadline = time.monotonic() + self._seconds

    def latencies_ns(self) -> array[int]:
        """Wait for the slice's last request; all latencies, in the order of arrival."""
        timeout_s = max(0.0, self._deadline - time.monotonic()) + ANSWER_TIMEOUT_S
        latencies = array("q")
        latencies.frombytes(self._read(8 * len(self._arrivals_ns), timeout_s))
        return latencies

    def arrivals_ns(self) -> array[int]:
        """Intended arrivals of what was prepared, nanoseconds after ``go``, ascending."""
        return self._arrivals_ns


class BullyProcess(_Child):
    """CPUBully with ``threads`` threads; paused until started."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        size = _demo.bully_block_size(threads)
        # No name in any file system: nothing can be left behind.
        block_fd = os.memfd_create("smartharvest-demo-bully")
        try:
            os.truncate(block_fd, size)
            self._block = mmap.mmap(block_fd, size)
            super().__init__("smartharvest.lab.demo.bully", block_fd, threads, pass_fds=(block_fd,))
        finally:
            os.close(block_fd)

    def start(self) -> None:
        """Start the threads, in the group the process is in by now."""
        self._tell("start")
        self._answer("ready")

    def run(self) -> None:
        _demo.switch_bully(self._block, True)

    def pause(self) -> None:
        """Let the threads sleep after the unit each is at."""
        _demo.switch_bully(self._block, False)

    def units(self) -> int:
        """Units of work (a million integer sums each) done so far."""
        return _demo.bully_units(self._block, self._threads)

    def cpu_ns(self) -> int:
        """CPU time used so far, nanoseconds."""
        return _demo.process_cpu_ns(self.pid)
