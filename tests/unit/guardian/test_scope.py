"""Asking systemd for a unit of the guardian's own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from smartharvest.guardian import scope
from smartharvest.guardian.scope import ScopeRequest
from tests.commands import LONGEST_S


@pytest.fixture
def busctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands in for it; it notes its arguments."""
    program = tmp_path / "busctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >{tmp_path}/said.new; mv {tmp_path}/said.new {tmp_path}/said\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(scope, "BUSCTL", str(program))
    monkeypatch.setattr(scope, "SYSTEMD", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return program


def test_systemd_is_asked_for_a_scope_with_the_guardian_in_it(busctl: Path) -> None:
    request = ScopeRequest(42)
    deadline = time.monotonic() + LONGEST_S
    while request.is_open:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    said = (busctl.parent / "said").read_text()
    assert "StartTransientUnit ssa(sv)a(sa(sv)) smartharvest-guardian-42.scope fail 2 " in said
    assert said.endswith(" PIDs au 1 42 0\n")
    request.end()


def test_a_mute_systemd_keeps_nobody_waiting(busctl: Path) -> None:
    busctl.write_text("#!/bin/sh\nexec sleep 3600\n")
    request = ScopeRequest(42)
    assert request.is_open
    request.end()
    assert not request.is_open


@pytest.mark.parametrize("lacks", ["BUSCTL", "SYSTEMD"])
def test_without_systemd_nobody_is_asked(
    busctl: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, lacks, str(busctl.parent / "missing"))
    request = ScopeRequest(42)
    assert not request.is_open
    request.end()
    assert not (busctl.parent / "said").exists()
