"""The agent as a user without rights but for the capabilities that the documentation names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.hosts import Host, need_a_free_cpu
from tests.integration.processes import Processes

pytestmark = [pytest.mark.timing, pytest.mark.root]

DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "least-rights.md"


def documented() -> list[str]:
    """The capabilities of the how-to's unit, as setpriv spells them."""
    line = re.search(r"^AmbientCapabilities=(.*)$", DOCUMENT.read_text(), re.MULTILINE)
    assert line is not None
    return [name.removeprefix("CAP_").lower() for name in line[1].split()]


def test_the_documented_capabilities_are_enough(processes: Processes, tmp_path: Path) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing")
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    caps = ",".join(f"+{name}" for name in documented())
    try:
        host.populate()
        before = host.files()
        done = subprocess.run(
            [
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
                f"--inh-caps=-all,{caps}", f"--ambient-caps=-all,{caps}",
                f"--bounding-set=-all,{caps}", "--",
                sys.executable, "-m", "smartharvest", "agent", *host.targets, *host.state,
                "--duration", "1s", "--json", "--model", "off",
            ],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert host.files() == before
    finally:
        host.remove()
    report = json.loads(done.stdout)
    assert report["windows"] > 0
    assert "running without cpu.idle" not in done.stderr
    if Path("/sys/kernel/btf/vmlinux").exists():
        assert report["sensor"] == "bpf", done.stderr
    assert report["scheduling"] == "fifo", done.stderr
