"""csoaa in C, with the scores of Vowpal Wabbit bit for bit (csrc/learner/csoaa.h)."""

from __future__ import annotations

import struct

from smartharvest.core._learner import Csoaa

_HEAD = struct.Struct("<ffQ")  # least and highest cost, lessons


class NativeCsoaa(Csoaa):
    """A csoaa learner over the classes 0..total with a constant learning rate.

    ``costs[label, class]`` are as from ``cost_table``: square, one row for every label.
    """

    def dump(self) -> bytes:
        *head, state = self.state()
        return _HEAD.pack(*head) + state

    def load(self, dumped: bytes) -> None:
        if len(dumped) < _HEAD.size:
            raise ValueError("too short for a model")
        least, highest, lessons = _HEAD.unpack_from(dumped)
        self.adopt(least, highest, lessons, dumped[_HEAD.size :])
