"""Whether the batch is ever without an agent's bounds."""

from __future__ import annotations

import threading

from tests.lab.systemd.inside import service
from tests.lab.systemd.inside.host import read
from tests.lab.systemd.inside.report import Finding


class Watch:
    """Looks at the batch every few milliseconds."""

    def __init__(self) -> None:
        self.looks = self.above = self.free = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.005):
            self.looks += 1
            self.above += read(service.BATCH / "cpu.idle") != "1"
            self.free += service.batch_cpus() is None

    def tell(self, finding: Finding) -> None:
        """It is broken if the batch ever was."""
        finding.expect(self.above == 0, f"the batch was above cpu.idle {self.above} times")
        finding.expect(self.free == 0, f"the batch was unconfined {self.free} times")
        finding.figures["looks"] = self.looks
