"""When an invocation that an eviction ended is tried again."""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.serverless.view import Function


@dataclass(frozen=True, slots=True)
class Retries:
    """``most`` further attempts, of functions that are declared idempotent and of no others."""

    most: int = 0

    def allowed(self, function: Function, attempts: int) -> bool:
        """Whether one more may follow ``attempts`` that have begun."""
        return function.idempotent and attempts <= self.most
