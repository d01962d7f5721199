"""What a batch's processes have used."""

from __future__ import annotations

import builtins
import os
from typing import Any

import pytest

from bench.real.processes import cpu_s


@pytest.mark.parametrize("error", [FileNotFoundError, ProcessLookupError])
def test_one_that_ends_while_it_is_read_counts_nothing(
    monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    real = builtins.open

    def ends(path: Any, *options: Any, **more: Any) -> Any:
        if path == f"/proc/{os.getpid()}/task/{os.getpid()}/children":
            raise error
        return real(path, *options, **more)

    monkeypatch.setattr(builtins, "open", ends)
    assert cpu_s(os.getpid()) == 0.0
