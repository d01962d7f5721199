"""Workers of Spark's standalone cluster that come and go with the lent cores, one for each core.

A running worker's cores cannot change, so a core that is gained starts a worker and a core that is
lost decommissions one (SIGPWR, ``spark.decommission.enabled``): it takes no new work, its tasks
finish, and its blocks move to other executors where the application asks for that
(``spark.storage.decommission.enabled``). What has not ended within the grace is killed, and Spark
runs its tasks again; the loss of a decommissioned executor counts against no task
(``spark.task.maxFailures``). Nothing is remembered: the workers are those of this user's processes
that work in ``directory``, and the master says what each has. Tested with Spark 4.3.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any

from smartharvest.cluster.http_json import ask_json
from smartharvest.errors import ConfigError, EngineError
from smartharvest.host.process import start, tasks
from smartharvest.trusted import open_trusted

TRIED = "4.3"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_DECOMMISSIONED = "DECOMMISSIONED"
_MASTER = re.compile(
    r"spark://[A-Za-z0-9_.\-]{1,255}:[0-9]{1,5}(,[A-Za-z0-9_.\-]{1,255}:[0-9]{1,5})*"
)
_MEMORY = re.compile(r"[1-9][0-9]{0,8}[mg]", re.IGNORECASE)
_MOST_CORES = 1 << 20
_OPTIONS = (
    "-Dspark.decommission.enabled=true",
    "-Dspark.worker.cleanup.enabled=true",
    "-Dspark.port.maxRetries=0",  # the port says which worker it is
)


@dataclass(frozen=True, slots=True)
class _Worker:
    """One process, and what the master says of it."""

    pid: int
    started: int
    """In clock ticks since boot."""
    state: str
    """The master's word, such as ALIVE; empty as long as the master does not know it."""
    cores_used: int


class SparkNode:
    """Implements engine.Engine for this host's workers of the cluster of ``master``.

    ``page`` is the address of the master's web pages, ``directory`` where the workers work and keep
    their logs, ``memory`` what each has, as Spark writes it. ``within`` is a command that starts
    the command it is given. Raises ConfigError if Spark is missing or a value is wrong, EngineError
    if the master does not answer.
    """

    def __init__(
        self, master: str, page: str, directory: str, memory: str = "1g", within: str = ""
    ) -> None:
        if not _MASTER.fullmatch(master):
            raise ConfigError(f"adapter spark: --master: {master!r} is no spark://HOST:PORT")
        if not _MEMORY.fullmatch(memory):
            raise ConfigError(f"adapter spark: --memory: {memory!r} is no size such as 1g")
        try:
            self._within = shlex.split(within)
        except ValueError as error:
            raise ConfigError(f"adapter spark: --within: {error}") from None
        if self._within and shutil.which(self._within[0]) is None:
            raise ConfigError(f"adapter spark: --within: {self._within[0]}: no such command")
        self._master, self._memory = master, memory
        self._page = page.rstrip("/") + "/json/"
        self._home = _spark_home()
        self._directory = os.path.abspath(directory)
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"adapter spark: --directory: {self._directory}: {error.strerror}"
            ) from None
        self._children: dict[int, tuple[int, str]] = {}
        """Port and directory: in its first moments a process has no command line to read."""
        self._leaving: set[int] = set()
        self._told_to_leave: set[int] = set()
        self._told()

    def advertise(self, cores: int) -> None:
        staying = [worker for worker in self._workers() if not self._is_leaving(worker)]
        self._decommission(staying, len(staying) - cores)
        for _ in range(cores - len(staying)):
            self._start()

    def in_use(self) -> int:
        """Also ends workers that have been decommissioned and have nothing left to do."""
        workers = self._workers()
        for worker in workers:
            if worker.state == _DECOMMISSIONED and worker.cores_used == 0:
                _signal(worker.pid, signal.SIGTERM)
            elif worker.state == _DECOMMISSIONED:
                self._decommission_executors(worker)
        return sum(worker.cores_used for worker in workers)

    def shed(self, cores: int, grace_s: float) -> None:
        """Idle workers go first, then the youngest."""
        workers = self._workers()
        staying = [worker for worker in workers if not self._is_leaving(worker)]
        self._decommission(staying, len(staying) - cores)
        if grace_s > 0:
            return
        excess = sum(worker.cores_used for worker in workers) - cores
        for worker in sorted(workers, key=lambda worker: worker.started, reverse=True):
            if excess <= 0:
                break
            if self._is_leaving(worker):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGKILL)  # its executors are in its session
                excess -= worker.cores_used

    def verify(self) -> int | None:
        return sum(
            worker.state == "ALIVE" and not self._is_leaving(worker) for worker in self._workers()
        )

    def close(self) -> None:
        """The workers go on."""

    def _start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = probe.getsockname()[1]
        taken = {os.path.basename(work) for _, _, work in self._processes()}
        name = next(name for n in range(len(taken) + 1) if (name := f"worker-{n}") not in taken)
        environment = dict(os.environ)
        environment["SPARK_HOME"] = self._home
        environment["SPARK_WORKER_OPTS"] = " ".join(
            [*environment.get("SPARK_WORKER_OPTS", "").split(), *_OPTIONS]
        )
        work = os.path.join(self._directory, name)
        try:
            log = open_trusted(f"{work}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                pid = start.start_detached(
                    *self._within,
                    *(os.path.join(self._home, "bin", "spark-class"), _WORKER),
                    *("--cores", "1", "--memory", self._memory),
                    *("--port", str(port), "--webui-port", "0"),
                    *("--work-dir", work, self._master.split(",")[0]),
                    environment=environment,
                    log=log,
                )
            finally:
                os.close(log)
        except OSError as error:
            raise EngineError(f"spark: a worker cannot be started: {error}") from None
        self._children[pid] = port, work

    def _decommission(self, workers: Iterable[_Worker], excess: int) -> None:
        order = sorted(workers, key=lambda worker: (worker.cores_used > 0, -worker.started))
        for worker in order[: max(0, excess)]:
            if worker.state:
                _signal(worker.pid, signal.SIGPWR)
                self._leaving.add(worker.pid)
            else:  # it is starting: it has no handler yet, and nothing to lose
                _signal(worker.pid, signal.SIGKILL)

    def _decommission_executors(self, worker: _Worker) -> None:
        """The driver has not heard of an executor that was starting when its worker was."""
        for pid in _executors(worker.pid):
            if pid not in self._told_to_leave:
                _signal(pid, signal.SIGPWR)
                self._told_to_leave.add(pid)

    def _is_leaving(self, worker: _Worker) -> bool:
        return worker.pid in self._leaving or worker.state == _DECOMMISSIONED

    def _workers(self) -> list[_Worker]:
        told = self._told()
        workers = []
        for pid, port, _ in self._processes():
            state, used = told.get(port, ("", 0))
            if state == _DECOMMISSIONED:  # the master never hears of the end of its executors
                used = min(used, len(_executors(pid)))
            workers.append(_Worker(pid, tasks.start_time(pid) or 0, state, used))
        self._leaving &= {worker.pid for worker in workers}
        self._told_to_leave = {pid for pid in self._told_to_leave if tasks.alive(pid)}
        return workers

    def _processes(self) -> list[tuple[int, int, str]]:
        """(id, port, directory) of each worker that runs or starts in our directory."""
        for child in list(self._children):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(child, os.WNOHANG) == (0, 0):
                    continue
            del self._children[child]
        found = [(pid, *worker) for pid, worker in self._children.items()]
        for pid in tasks.process_ids():
            if pid in self._children:
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
                    continue
                line = _command_line(pid)
                if _WORKER in line:
                    work = line[line.index("--work-dir") + 1]
                    if os.path.dirname(work) == self._directory and os.getpgid(pid) == pid:
                        found.append((pid, int(line[line.index("--port") + 1]), work))
        return found

    def _told(self) -> dict[int, tuple[str, int]]:
        """Port -> (state, cores in use) of the workers of this host that the master knows."""
        document = ask_json(self._page, "spark")
        workers = document.get("workers") if isinstance(document, dict) else None
        if not isinstance(workers, list):
            raise EngineError(f"spark: {self._page}: the answer is no state of a master")
        here = _addresses()
        told: dict[int, tuple[str, int]] = {}
        for worker in workers:
            port, state, used = _checked(worker, self._page)
            if worker.get("host") in here and state != "DEAD":
                told[port] = (state, used)
        return told


def _checked(worker: Any, page: str) -> tuple[int, str, int]:
    if isinstance(worker, dict):
        port, state, used = (worker.get(name) for name in ("port", "state", "coresused"))
        if isinstance(port, int) and isinstance(used, int) and 0 <= used <= _MOST_CORES:
            return port, str(state), used
    raise EngineError(f"spark: {page}: {str(worker)[:80]!r} is no worker")


def _addresses() -> set[str]:
    """What workers of this host may call it: Spark takes the first address unless it is named."""
    names = {socket.gethostname(), socket.getfqdn(), "localhost", "127.0.0.1"}
    names |= {os.environ.get(name, "") for name in ("SPARK_LOCAL_HOSTNAME", "SPARK_LOCAL_IP")}
    with contextlib.suppress(OSError):
        names |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return names


def _spark_home() -> str:
    """Where Spark is: ``SPARK_HOME``, or the package pyspark."""
    home = os.environ.get("SPARK_HOME")
    if home is None:
        package = util.find_spec("pyspark")
        home = os.path.dirname(package.origin) if package and package.origin else None
    if home is None or not os.access(os.path.join(home, "bin", "spark-class"), os.X_OK):
        raise ConfigError(
            "adapter spark: there is no Spark; set SPARK_HOME, or pip install 'smartharvest[spark]'"
        )
    return home


def _executors(worker: int) -> list[int]:
    """The executors that this worker has started and that live."""
    return [pid for pid in tasks.descendants(worker) if _EXECUTOR in _command_line(pid)]


def _command_line(pid: int) -> list[str]:
    """Empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
