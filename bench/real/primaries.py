"""Real latency-sensitive servers on loopback: memcached, search over a Xapian index, digits."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from bench.compiling import build_program
from bench.real.traffic import etc_key_sizes, etc_value_sizes, zipf_ranks
from bench.subject import NotMeasurableError

HERE = Path(__file__).parent
START_S = 60.0
DIGIT_IMAGES = 1797
"""In scikit-learn's bundled set."""


class Primary(Protocol):
    """A server; it is started inside the primary's group and killed by its caller."""

    name: str
    terminator: str
    """What an answer ends with."""
    connections: int

    def command(self, port: int, directory: Path, /) -> Sequence[str]:
        """What to run; ``directory`` is for its files and lives as long as it."""

    def fill(self, port: int, rng: np.random.Generator, /) -> None:
        """Called once, when the server answers."""

    def requests(self, count: int, rng: np.random.Generator) -> list[bytes]:
        """So many requests."""


class Memcached:
    """Debian's memcached, GETs of keys and values as large as those of the ETC pool."""

    name = "memcached"
    terminator = "END\r\n"
    connections = 16
    keys = 20_000
    popularity = 0.99
    """Exponent of the keys' Zipf distribution."""

    def __init__(self) -> None:
        self._keys: list[bytes] = []

    def command(self, port: int, _directory: Path, /) -> Sequence[str]:
        program = _required("memcached", "memcached")
        threads = str(os.cpu_count() or 1)
        user = ["-u", "root"] if os.geteuid() == 0 else []
        return [program, "-l", "127.0.0.1", "-p", str(port), "-t", threads, "-m", "256", *user]

    def fill(self, port: int, rng: np.random.Generator, /) -> None:
        sizes = zip(etc_key_sizes(self.keys, rng), etc_value_sizes(self.keys, rng), strict=True)
        self._keys = []
        with socket.create_connection(("127.0.0.1", port)) as connection:
            for number, (key_bytes, value_bytes) in enumerate(sizes):
                key = b"%08d" % number + b"k" * (int(key_bytes) - 8)
                self._keys.append(key)
                head = b"set %s 0 0 %d noreply\r\n" % (key, value_bytes)
                connection.sendall(head + bytes(int(value_bytes)) + b"\r\n")
            connection.sendall(b"version\r\n")
            connection.recv(64)

    def requests(self, count: int, rng: np.random.Generator) -> list[bytes]:
        ranks = zipf_ranks(count, len(self._keys), self.popularity, rng)
        return [b"get %s\r\n" % self._keys[rank] for rank in ranks]


class Search:
    """Ranked search over a Xapian index of Python's own library, a thread a connection."""

    name = "search"
    terminator = "\n"
    connections = 32
    query_terms = (1, 3)

    def __init__(self, most_files: int | None = None) -> None:
        """``most_files``: how many are indexed; None for all."""
        self._most_files = most_files
        self._terms: list[bytes] = []
        self._weights: np.ndarray[tuple[int], np.dtype[np.float64]] = np.empty(0)

    def command(self, port: int, directory: Path, /) -> Sequence[str]:
        server = build_program(HERE / "search_server.cpp", "-lxapian", "-pthread")
        indexer = build_program(HERE / "search_index.cpp", "-lxapian")
        library = sysconfig.get_paths()["stdlib"]
        texts = sorted(glob.glob(f"{library}/*.py") + glob.glob(f"{library}/*/*.py"))
        texts = texts[: self._most_files]
        index = directory / "index"
        listed = subprocess.run(
            [indexer, index], input="\n".join(texts), capture_output=True, text=True, check=True
        )
        rows = [line.split() for line in listed.stdout.splitlines()]
        self._terms = [term.encode() for _, term in rows]
        weights = np.array([float(documents) for documents, _ in rows])
        self._weights = weights / weights.sum()
        return [str(server), str(port), str(index)]

    def fill(self, _port: int, _rng: np.random.Generator, /) -> None:
        """The index is the content."""

    def requests(self, count: int, rng: np.random.Generator) -> list[bytes]:
        lengths = rng.integers(self.query_terms[0], self.query_terms[1] + 1, count)
        drawn = iter(rng.choice(len(self._terms), int(lengths.sum()), p=self._weights))
        return [
            b" ".join(self._terms[next(drawn)] for _ in range(length)) + b"\n" for length in lengths
        ]


class Digits:
    """Inference of a small neural network, a process a worker."""

    name = "digits"
    terminator = "\n"
    connections = 32

    def command(self, port: int, _directory: Path, /) -> Sequence[str]:
        workers = str((os.cpu_count() or 1) + 1)
        return [sys.executable, "-m", "bench.real.digits_server", str(port), workers]

    def fill(self, _port: int, _rng: np.random.Generator, /) -> None:
        """The images are the server's own."""

    def requests(self, count: int, rng: np.random.Generator) -> list[bytes]:
        return [b"%d\n" % number for number in rng.integers(0, DIGIT_IMAGES, count)]


PRIMARIES: dict[str, type[Memcached] | type[Search] | type[Digits]] = {
    "memcached": Memcached,
    "search": Search,
    "digits": Digits,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_it_answers(port: int, server: subprocess.Popen[bytes], name: str) -> None:
    """Returns once ``port`` accepts; NotMeasurableError if the server ends or is silent."""
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        if server.poll() is not None:
            raise NotMeasurableError(f"{name}: ended at its start with status {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise NotMeasurableError(f"{name}: does not answer after {START_S:.0f} s")


def _required(program: str, package: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise NotMeasurableError(f"{program} is not installed; apt install {package}")
    return path
