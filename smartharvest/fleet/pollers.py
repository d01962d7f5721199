"""Threads that keep a view of the cluster fresh; who does not answer grows stale, and no more."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from smartharvest.cluster.source import NoCapacity, WhichGroup, from_http, of_group
from smartharvest.errors import SmartHarvestError
from smartharvest.fleet.extender_view import View

_log = logging.getLogger(__name__)
ASKED_AT_ONCE = 16


class Poller:
    """Takes a turn every ``every_s`` seconds until closed."""

    def __init__(self, name: str, every_s: float) -> None:
        self._every_s = every_s
        self._end = threading.Event()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def turn(self) -> None:
        """Asks once."""
        raise NotImplementedError

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        while not self._end.is_set():
            began_s = time.monotonic()
            try:
                self.turn()
                self._failed = False
            except SmartHarvestError as error:
                if not self._failed:
                    _log.warning("%s; what is known of the cluster grows old", error)
                self._failed = True
            self._end.wait(max(0.0, began_s + self._every_s - time.monotonic()))


class CapacityPoller(Poller):
    """Asks the agent of every node in ``view``; ``url`` has ``{node}`` for the node's name.

    ``group`` is the elastic group that pods run in, where agents have several.
    """

    def __init__(self, view: View, url: str, every_s: float, group: str | None = None) -> None:
        super().__init__("capacity", every_s)
        self._view, self._url, self._group = view, url, group
        self._said: set[str] = set()
        self._pool = ThreadPoolExecutor(ASKED_AT_ONCE)

    def turn(self) -> None:
        list(self._pool.map(self._ask, list(self._view.known.at)))
        self._view.renew(time.monotonic())

    def close(self) -> None:
        super().close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, name: str) -> None:
        try:
            source = of_group(from_http(self._url.replace("{node}", name)), self._group)
            self._view.hear(name, source(), time.monotonic())
        except WhichGroup as error:
            if str(error) not in self._said:
                self._said.add(str(error))
                _log.warning("%s: %s; it promises nothing", name, error)
        except NoCapacity as error:
            _log.debug("%s", error)
