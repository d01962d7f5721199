"""What every engine goes through: 1 -> 4 -> 1 cores, and everything that may die on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable

from smartharvest.cluster.engine import Engine
from smartharvest.errors import EngineError
from tests.cluster.agents import agent_process, wait_until

SETTINGS = ("--every", "200ms", "--grow-after", "100ms", "--grace", "500ms")


def travel(
    engine: Engine,
    adapter: tuple[str, ...],
    state_dir: str,
    restart_engine: Callable[[], None] | None = None,
    within_s: float = 90.0,
) -> None:
    """Ends with one core advertised and in use; the engine must have work for four all the time.

    ``adapter`` are the arguments of ``smartharvest adapter``. The adapter is followed up, down,
    through a restart of the engine, through the agent's death by SIGKILL, and through its own; each
    step within ``within_s``.
    """

    def has(cores: int) -> Callable[[], bool]:
        def reached() -> bool:
            with contextlib.suppress(EngineError):
                return (engine.in_use(), engine.verify()) == (cores, cores)
            return False

        return reached

    running: subprocess.Popen[bytes] | None = None
    try:
        with agent_process(state_dir) as agent:
            running = subprocess.Popen(
                [sys.executable, "-m", "smartharvest", "adapter", adapter[0], "--state-dir",
                 state_dir, *SETTINGS, *adapter[1:]],
                start_new_session=True,
            )  # fmt: skip
            wait_until(has(1), within_s)
            agent.offer(4)
            wait_until(has(4), within_s)
            if restart_engine is not None:
                restart_engine()
                wait_until(has(4), within_s)
            agent.offer(1)
            wait_until(has(1), within_s)
            agent.offer(4)
            wait_until(has(4), within_s)
            agent.kill()
            wait_until(has(1), within_s)
        with agent_process(state_dir) as agent:
            agent.offer(4)
            wait_until(has(4), within_s)
            os.killpg(running.pid, signal.SIGKILL)
            wait_until(has(1), within_s)
            assert running.wait() == -signal.SIGKILL
    finally:
        if running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
