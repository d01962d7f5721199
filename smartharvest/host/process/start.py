"""Starting other programs, so that nobody else chooses what runs.

A child finds its code where its parent found it: never in the working directory, which is ``/``.
It inherits standard input, output and error and what it is passed, no other descriptor.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from smartharvest.errors import SmartHarvestError
from smartharvest.host.process import isolated

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext

Job = TypeVar("Job")
Result = TypeVar("Result")

DIRECTORY = "/"
_RUNNER = os.path.abspath(isolated.__file__)


def python_command(module: str, *arguments: str, site: bool = True) -> list[str]:
    """The command line that runs ``module`` of a package that this process has imported.

    Without ``site`` there are no packages but the standard library's and the module's own.
    """
    top = module.partition(".")[0]
    package = os.path.dirname(os.path.abspath(str(sys.modules[top].__file__)))
    flags = ["-I"] if site else ["-I", "-S"]
    return [sys.executable, *flags, _RUNNER, package, module, *arguments]


def start_python(
    module: str,
    *arguments: str,
    site: bool = True,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Starts ``module`` in a Python of its own; ``options`` are Popen's. Raises OSError.

    ``environment`` is this process's by default; the child's Python does not obey it.
    """
    return subprocess.Popen(
        python_command(module, *arguments, site=site),
        cwd=DIRECTORY,
        env=environment,
        close_fds=True,
        pass_fds=pass_fds,
        bufsize=0,
        **options,
    )


def run_command(*command: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs another program to its end and keeps what it prints.

    Raises OSError, TimeoutExpired. A relative entry of PATH means nothing to it.
    """
    return subprocess.run(
        command,
        cwd=DIRECTORY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )


def start_command(*command: str) -> subprocess.Popen[bytes]:
    """Starts another program, which hears nothing and whose output nobody reads. Raises OSError."""
    return subprocess.Popen(
        command,
        cwd=DIRECTORY,
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def start_detached(*command: str, environment: Mapping[str, str], log: int) -> int:
    """Starts another program that outlives this process, in a session of its own: its id.

    Its output goes to the descriptor ``log``. Raises OSError.
    """
    return subprocess.Popen(
        command,
        cwd=DIRECTORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    ).pid


def worker_context() -> SpawnContext:
    """What pools of worker processes are made with: they are started, never forked."""
    import multiprocessing  # the agent has no workers

    os.environ["PYTHONSAFEPATH"] = "1"  # multiprocessing has no other way to tell its children
    return multiprocessing.get_context("spawn")


def in_workers(
    work: Callable[[Job], Result], jobs: Sequence[Job], processes: int
) -> Generator[tuple[int, Result], None, None]:
    """Does all ``jobs`` in that many worker processes: (number of the job, result), as they come.

    A ctrl-C is left to this process, which ends the workers at once. They inherit that it is
    blocked: one that still starts would show a traceback. Raises SmartHarvestError if somebody
    ends a worker, and what ``work`` raises.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it unblocks signals once it has started
    others = multiprocessing.active_children()
    executor = ProcessPoolExecutor(max(1, processes), mp_context=worker_context())
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        numbers = {executor.submit(work, job): number for number, job in enumerate(jobs)}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        for done in as_completed(numbers):
            yield numbers.pop(done), done.result()
    except BrokenProcessPool as error:
        raise SmartHarvestError(
            "a worker process ended early: was it killed for want of memory? try again"
        ) from error
    except BaseException:
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
