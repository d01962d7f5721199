"""What completes values, apart from any shell."""

from __future__ import annotations

from pathlib import Path

from click.shell_completion import ShellComplete

from smartharvest.cli import cli
from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import ControlSocket
from tests.served import served


def completed(*arguments: str) -> list[str]:
    *typed, incomplete = arguments
    shell = ShellComplete(cli, {}, "smartharvest", "_SMARTHARVEST_COMPLETE")
    return [item.value for item in shell.get_completions(list(typed), incomplete)]


def test_policies_and_choices() -> None:
    assert completed("agent", "--policy", "fixed") == ["fixed-buffer:"]
    assert completed("agent", "--sensor", "p") == ["perf", "proc"]
    assert completed("set-policy", "every") == ["everywhere"]


def test_groups_that_exist(tmp_path: Path) -> None:
    for name in ("web", "web/one", "batch", "system.slice/a.service"):
        (tmp_path / "cpuset" / name).mkdir(parents=True, exist_ok=True)
    tree = ("agent", "--cgroup-root", str(tmp_path), "--primary")
    assert "cgroup:" in completed(*tree, "")
    assert completed(*tree, "cgroup:") == ["cgroup:batch", "cgroup:system.slice", "cgroup:web"]
    assert completed(*tree, "cgroup:web/") == ["cgroup:web/one"]
    assert completed(*tree, "systemd:a") == ["systemd:a.service"]
    assert completed("agent", "--cgroup-root", "/nowhere", "--primary", "cgroup:") == []


def test_agents_that_run(tmp_path: Path) -> None:
    Path(socket_path(str(tmp_path), 4711)).touch()
    tmp_path.chmod(0o700)
    assert completed("pause", "--state-dir", str(tmp_path), "--pid", "") == ["4711"]


def test_elastic_groups_of_agents(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    seen = {"elastic": [{"name": "training"}, {"name": "encoding"}]}
    agent = ControlSocket(socket_path(str(tmp_path), 4711), {"status": lambda _arguments: seen})
    with served(agent):
        asked = ("--state-dir", str(tmp_path), "--group")
        assert completed("pause", *asked, "") == ["encoding", "training"]
        assert completed("run", *asked, "t") == ["training"]
        assert completed("run", *asked, "c") == ["cgroup:"]


def test_what_cannot_be_read_is_left_out() -> None:
    assert completed("pause", "--state-dir", "/nowhere/at/all", "--pid", "") == []
    assert completed("agent", "--elastic", "pid:") == []
