"""What is typed in an emergency finds every agent and every orphan, whatever else is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cli import agent_request
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.journal import registry
from smartharvest.host.journal.journal import Journal
from smartharvest.telemetry import client
from smartharvest.telemetry.server import ControlSocket
from tests.commands import smartharvest_here
from tests.served import served

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "reference" / "status.schema.json").read_text()
)
BATCH = next(iter(PosixFiles().mounts()), "/sys/fs/cgroup") + "/no/such/batch"
STEERING = ("pause", "evict", "resume", "reload")


@pytest.fixture(autouse=True)
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual state directory, on a machine of the test's own."""
    directory = tmp_path / "run"
    monkeypatch.setattr(registry, "DIRECTORY", str(directory / "agents"))
    monkeypatch.setattr(registry, "_guarded", lambda: iter(()))
    monkeypatch.setattr(agent_request, "STATE_DIRECTORY", str(directory))
    monkeypatch.setattr(client, "PATIENCE_S", 0.0)
    return directory


def orphan(directory: Path) -> int:
    """Lets an agent with this state directory begin and be killed; its pid."""
    code = (
        "import os, sys\n"
        "from smartharvest.host.journal import registry\n"
        "from smartharvest.host.journal.journal import Journal\n"
        "registry.DIRECTORY = sys.argv[2]\n"
        "journal = Journal(sys.argv[1], claims=[sys.argv[3]])\n"
        "registry.note(journal.path)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(directory), registry.DIRECTORY, BATCH]
    )
    process.wait()
    return process.pid


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[Path, list[str]]]:
    """The state directory of an agent that runs, and what it was asked."""
    directory = tmp_path / "else where"
    journal = Journal(str(directory))
    registry.note(journal.path)
    asked: list[str] = []

    def answer(name: str) -> Any:
        def note(_arguments: object) -> dict[str, bool]:
            asked.append(name)
            return {"was_paused": False}

        return note

    path = journal.path.replace(".journal", ".sock")
    socket = ControlSocket(path, {name: answer(name) for name in STEERING})
    with served(socket):
        yield directory, asked
    journal.close()


def test_a_steering_command_finds_an_agent_in_any_state_directory(
    elsewhere: tuple[Path, list[str]],
) -> None:
    for command in ("pause", "evict", "resume"):
        outcome = smartharvest_here(command)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.endswith(f"(pid {os.getpid()})\n")
    assert elsewhere[1] == ["pause", "evict", "resume"]
    assert smartharvest_here("resume").out.startswith("nothing was paused")


def test_an_agent_that_does_not_answer_shields_no_other(
    elsewhere: tuple[Path, list[str]], tmp_path: Path
) -> None:
    mute = Journal(str(tmp_path / "a mute one"))  # lives, and has no socket
    registry.note(mute.path)
    outcome = smartharvest_here("pause")
    mute.close()
    assert outcome.code == 1
    assert "its agent is starting, ending or being replaced" in outcome.failure
    assert elsewhere[1] == ["pause"]


def test_a_state_directory_that_is_named_is_the_only_one(
    elsewhere: tuple[Path, list[str]], tmp_path: Path
) -> None:
    outcome = smartharvest_here("pause", "--state-dir", str(tmp_path / "none"))
    assert outcome.code == 3
    assert outcome.failure.startswith(f"No agent is running (state directory {tmp_path / 'none'})")
    assert elsewhere[1] == []


@pytest.mark.parametrize(
    "slip", ["windw = 3\n", "window = \n", 'policy = "magic"\n', "keep_idle = -1\n[broken\n"]
)
def test_a_slip_elsewhere_in_the_configuration_does_not_matter(
    elsewhere: tuple[Path, list[str]], tmp_path: Path, slip: str
) -> None:
    file = tmp_path / "agent.toml"
    file.write_text(f'state_dir = "{elsewhere[0]}"\n{slip}')
    outcome = smartharvest_here("pause", "--config", str(file))
    assert (outcome.code, outcome.err) == (0, "")
    assert elsewhere[1] == ["pause"]


@pytest.mark.parametrize("text", [None, 'state_dir = "relative"\n', "state_dir = 7\n"])
def test_a_configuration_that_does_not_say_where_is_named_and_every_agent_is_meant(
    elsewhere: tuple[Path, list[str]], tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "agent.toml"
    if text is not None:
        file.write_text(text)
    outcome = smartharvest_here("pause", "--config", str(file))
    assert outcome.code == 0
    assert outcome.err.startswith(f"smartharvest: {file}")
    assert outcome.err.endswith("; looking at every agent instead\n")
    assert elsewhere[1] == ["pause"]


def test_where_none_runs_the_exit_code_is_3(usual: Path) -> None:
    for command in ("pause", "evict", "resume", "reload", "explain --capacity"):
        outcome = smartharvest_here(*command.split())
        assert outcome.code == 3
        assert outcome.failure.startswith(f"No agent is running (state directory {usual})")
    outcome = smartharvest_here("status")
    assert (outcome.code, outcome.out) == (3, f"No agent is running (state directory {usual})\n")
    outcome = smartharvest_here("status", "--json")
    assert outcome.code == 3
    assert json.loads(outcome.out) == {"agents": [], "silent": [], "orphans": []}


@pytest.mark.parametrize("where", ["run", "else where"])
def test_what_a_killed_agent_left_is_told_with_what_to_type_and_that_works(
    tmp_path: Path, where: str
) -> None:
    pid = orphan(tmp_path / where)
    journal = tmp_path / where / f"agent-{pid}.journal"
    fix = f"smartharvest restore --state-dir '{tmp_path / where}'"
    if " " not in str(tmp_path / where):
        fix = fix.replace("'", "")
    told = f"{journal}: its agent (pid {pid}) was killed; {fix} puts the host back"
    for command in ("pause", "evict"):
        outcome = smartharvest_here(command)
        assert (outcome.code, outcome.failure.split(" (see ")[0]) == (4, told)
    assert smartharvest_here("pause", "--pid", str(pid)).code == 4
    outcome = smartharvest_here("status")
    assert (outcome.code, outcome.out) == (4, f"{told}\n")
    (left,) = json.loads(smartharvest_here("status", "--json").out)["orphans"]
    assert set(left) == set(SCHEMA["properties"]["orphans"]["items"]["required"])
    assert left == {
        "journal": str(journal), "pid": pid, "claims": [BATCH], "fix": fix,
    }  # fmt: skip
    assert smartharvest_here("restore").code == 0
    assert not journal.exists()
    assert smartharvest_here("status").code == 3


def test_restore_without_arguments_is_for_every_orphan_of_the_machine(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("run", "one", "two")]
    for place in places:
        orphan(place)
    assert smartharvest_here("restore", "--state-dir", str(places[1])).code == 0
    assert [any(place.glob("*.journal")) for place in places] == [True, False, True]
    assert smartharvest_here("restore").code == 0
    assert not any(list(place.glob("*.journal")) for place in places)


def test_an_orphan_beside_an_agent_that_runs_is_not_overlooked(
    elsewhere: tuple[Path, list[str]], tmp_path: Path
) -> None:
    orphan(tmp_path / "run")
    assert smartharvest_here("pause").code == 0
    assert elsewhere[1] == ["pause"]
    assert smartharvest_here("status").code == 4
    assert smartharvest_here("restore").code == 0


def test_a_pid_that_is_no_agents_is_called_so() -> None:
    outcome = smartharvest_here("pause", "--pid", "1")
    assert outcome.code == 3
    assert outcome.failure.startswith("pid 1 is no agent; smartharvest status lists the agents")
    nobody = 2**22 + 1  # PID_MAX_LIMIT of a 64-bit kernel
    assert f"pid {nobody} is no process" in smartharvest_here("evict", "--pid", str(nobody)).failure


def test_what_was_changed_is_said_in_a_sentence_and_as_json_only_if_asked() -> None:
    answer = {"changed": ["max_harvest", "policy"], "restarts": True, "kept": ["max_harvest"]}
    assert agent_request.format_changes(answer, as_json=False).split("\n") == [
        "changed: max_harvest, policy; the agent gives everything back and starts again",
        "kept until --reset or a restart: max_harvest",
    ]
    assert json.loads(agent_request.format_changes(answer, as_json=True)) == answer
    nothing: dict[str, Any] = {"changed": [], "restarts": False}
    said = agent_request.format_changes(nothing, as_json=False)
    assert said == "nothing changed: the agent has these settings"
