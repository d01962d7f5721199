"""What the guest's primary (``load web``) and its batch (``load batch``) do."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

SELF_PINNED = "self-pinned"
ITS_CPUS = frozenset({1})


def work(busy_s: float, asleep_s: float) -> None:
    """A thread that runs and sleeps in turn, for good."""
    while True:
        end_s = time.monotonic() + busy_s
        while time.monotonic() < end_s:
            pass
        time.sleep(asleep_s)


def pinned() -> None:
    """A thread of the batch that has chosen its CPU, its class and its name itself."""
    while True:
        with suppress(OSError):  # where its group may not run there now
            os.sched_setaffinity(0, ITS_CPUS)
            break
        time.sleep(0.1)
    os.nice(5)
    Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(SELF_PINNED)
    work(0.001, 0.1)


def births() -> None:
    """Children that live for seconds, and some whose parent has gone."""
    for count in range(sys.maxsize):
        if os.fork() == 0:
            if count % 3 == 0 and os.fork() > 0:
                os._exit(0)
            time.sleep(6)
            os._exit(0)
        time.sleep(1.5)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


def main() -> None:
    """Never returns."""
    if sys.argv[1] == "web":
        threads: list[Callable[[], None]] = [partial(work, 0.002, 0.03)] * 2
    else:
        threads = [*[partial(work, 0.005, 0.06)] * 3, pinned]
    for function in threads:
        threading.Thread(target=function, daemon=True).start()
    if sys.argv[1] == "batch":
        births()
    threading.Event().wait()


if __name__ == "__main__":
    main()
