"""csoaa in C, with the scores of Vowpal Wabbit bit for bit (csrc/csoaa.h)."""

from __future__ import annotations

import struct

from smartharvest._learner import Csoaa
from smartharvest.learning.costs import Costs

_HEAD = struct.Struct("<ffQ")  # least and highest cost, lessons


class NativeCsoaa(Csoaa):
    """A csoaa learner over the classes 0..total with a constant learning rate."""

    def __init__(self, costs: Costs, learning_rate: float = 0.1) -> None:
        """``costs[label, class]`` as from ``cost_table``: square, one row for every label."""
        # The rest is in Csoaa.__cinit__, which has already run with the same arguments.

    def dump(self) -> bytes:
        *head, state = self.state()
        return _HEAD.pack(*head) + state

    def load(self, dumped: bytes) -> None:
        if len(dumped) < _HEAD.size:
            raise ValueError("too short for a model")
        least, highest, lessons = _HEAD.unpack_from(dumped)
        self.adopt(least, highest, lessons, dumped[_HEAD.size :])
