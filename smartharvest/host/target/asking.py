"""Questions to somebody who may never answer, asked by threads: nobody waits for one for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from smartharvest.host.process.threads import has_started

PATIENCE_S = 2.0
"""How long all first answers together are waited for."""

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class _Open(threading.Thread, Generic[Question, Answer]):
    """A question that has been asked."""

    answer: Answer | None = None

    def __init__(self, ask: Callable[[Question], Answer | None], question: Question) -> None:
        super().__init__(name="sh-asking", daemon=True)
        self._ask = ask
        self._question = question

    def run(self) -> None:
        self.answer = self._ask(self._question)


class Asker(Generic[Question, Answer]):
    """``ask`` gives an answer or None, takes what time it wants, and runs in a thread.

    One thread for each question at most, so that a mute one holds up no other.
    """

    def __init__(
        self, ask: Callable[[Question], Answer | None], patience_s: float = PATIENCE_S
    ) -> None:
        self._ask = ask
        self._left_s = patience_s
        self._open: dict[Question, _Open[Question, Answer]] = {}
        self._known: set[Question] = set()

    def answer(self, question: Question) -> Answer | None:
        """What was answered since this was last called; None if nothing was, or is yet.

        Asks if the question is not open. Waits the first time only, as long as patience is left.
        """
        asked = self._open.get(question)
        if asked is None:
            asked = _Open(self._ask, question)
            if not has_started(asked):
                return None
            self._open[question] = asked
        if question not in self._known:
            self._known.add(question)
            began_s = time.monotonic()
            asked.join(max(0.0, self._left_s))
            self._left_s -= time.monotonic() - began_s
        if asked.is_alive():
            return None
        del self._open[question]
        return asked.answer
