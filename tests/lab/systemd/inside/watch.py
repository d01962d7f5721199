"""Whether the batch is ever without an agent's bounds."""

from __future__ import annotations

import threading
import time

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.host import read
from tests.lab.systemd.inside.report import Finding

RESET_S = 1.0
"""A daemon-reload has systemd 252 write cpu.idle = 0; until the agent sees it, at most so long."""


class Watch:
    """Looks at the batch every few milliseconds."""

    def __init__(self) -> None:
        self.looks = self.above = self.free = 0
        self.above_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        looked_s = time.monotonic()
        while not self._over.wait(0.005):
            now_s = time.monotonic()
            self.looks += 1
            if read(service.BATCH / "cpu.idle") != "1":
                self.above += 1
                self.above_s += now_s - looked_s
            looked_s = now_s
            self.free += service.batch_cpus() is None

    def tell(self, finding: Finding, *, above_s: float = 0.0) -> None:
        """It is broken if the batch ever was, or above cpu.idle for longer than ``above_s``."""
        finding.expect(
            self.above_s <= above_s,
            f"the batch was above cpu.idle {self.above} times, for {self.above_s:.2f} s",
        )
        finding.expect(self.free == 0, f"the batch was unconfined {self.free} times")
        finding.figures["above_idle_s"] = round(self.above_s, 3)
        finding.figures["looks"] = self.looks
