"""What a user without rights does before root starts an agent is refused, or harmless.

What root does then still works, or is refused in one line. Another attempt is another function with
``@attempt``.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from smartharvest.host.journal.contents import VERSION, boot_id
from tests.integration.intruder import as_nobody, nobody_keeps
from tests.integration.intrusions import PLANTED, Attempt, Scene, made_scene, refused, told_in_lines

pytestmark = pytest.mark.timing

ATTEMPTS: dict[str, Attempt] = {}


def attempt(function: Attempt) -> Attempt:
    """One more that is made."""
    ATTEMPTS[function.__name__] = function
    return function


@attempt
def locks_every_group_and_the_state_directory(scene: Scene) -> None:
    def lock() -> list[int]:
        root = Path(scene.world.tree.root)
        # Not the tree's root: by a lock on it this tree plays the kernel.
        held = [os.open(path, os.O_RDONLY) for path in (root / "web", root / "batch")]
        for fd in held:
            fcntl.flock(fd, fcntl.LOCK_EX)
        held.append(os.open(scene.world.state_dir, os.O_RDONLY))
        fcntl.flock(held[-1], fcntl.LOCK_EX)
        return held

    scene.world.state_dir.mkdir(mode=0o755)
    with nobody_keeps(lock):
        outcome = scene.start()
    assert outcome.code == 0, outcome.err


@attempt
def plants_code_in_the_working_directory(scene: Scene) -> None:
    here = scene.open / "here"
    trace = here / "was-run"

    def plant() -> None:
        here.mkdir()
        for name in ("json", "select", "ctypes", "struct", "smartharvest", "sitecustomize"):
            (here / f"{name}.py").write_text(PLANTED.format(str(trace)))

    as_nobody(plant)
    # As a service starts it: `python -m` by hand is the caller's own choice of a directory.
    program = os.path.join(os.path.dirname(sys.executable), "smartharvest")
    command = [program, "agent", *scene.world.arguments, *scene.world.targets]
    outcome = subprocess.run(
        [*command, "--duration", "200ms", "--model", "off"],
        cwd=here, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert not trace.exists()


@attempt
def plants_a_drop_in_beside_a_configuration_of_roots(scene: Scene) -> None:
    config = scene.open / "agent.toml"
    config.write_text("keep_idle = 1\n")
    config.chmod(0o600)

    def plant() -> None:
        (scene.open / "agent.toml.d").mkdir()
        (scene.open / "agent.toml.d" / "evil.toml").write_text(f'audit_log = "{scene.precious}"\n')

    as_nobody(plant)
    refused(scene.start("--config", str(config)), 2, "belongs to nobody")


@attempt
def puts_a_drop_in_into_roots_sticky_directory(scene: Scene) -> None:
    config = scene.place / "agent.toml"
    config.write_text("keep_idle = 1\n")
    drop_ins = scene.place / "agent.toml.d"
    drop_ins.mkdir()
    drop_ins.chmod(0o1777)
    as_nobody(lambda: (drop_ins / "evil.toml").write_text("keep_idle = 0\n"))
    refused(scene.start("--config", str(config)), 2, "belongs to nobody")


@attempt
def makes_its_own_file_the_configuration_by_a_link(scene: Scene) -> None:
    def plant() -> None:
        (scene.open / "mine.toml").write_text("keep_idle = 0\n")
        (scene.open / "agent.toml").symlink_to(scene.open / "mine.toml")

    as_nobody(plant)
    refused(scene.start("--config", str(scene.open / "agent.toml")), 2, "belongs to nobody")


@attempt
def gives_another_name_to_a_file_of_roots(scene: Scene) -> None:
    scene.precious.chmod(0o644)
    link = scene.open / "agent.toml"
    if as_nobody(lambda: os.link(scene.precious, link)) is not None:
        return  # the kernel refuses it (fs.protected_hardlinks)
    refused(scene.start("--config", str(link)), 2, "hard links")


@attempt
def makes_the_state_directory_first(scene: Scene) -> None:
    state = scene.open / "state"
    as_nobody(state.mkdir)
    refused(scene.start(state=state), 3, "belongs to nobody")


@attempt
def leads_the_state_directory_elsewhere(scene: Scene) -> None:
    state = scene.open / "state"
    as_nobody(lambda: state.symlink_to(scene.place / "elsewhere"))
    refused(scene.start(state=state), 3, "belongs to nobody")
    assert not (scene.place / "elsewhere").exists()


def planted_journal(scene: Scene, directory: Path) -> None:
    """As a dead agent's, with the wish to write into ``precious``."""
    document = {
        "version": VERSION, "boot_id": boot_id(), "pid": 2**22 + 1, "start_time": 1, "claims": [],
        "minimum": [[str(scene.precious), "planted"]], "ours": {},
        "entries": [{"kind": "file", "path": str(scene.precious), "original": "planted"}],
    }  # fmt: skip
    (directory / f"agent-{2**22 + 1}.journal").write_text(json.dumps(document))


@attempt
def plants_a_journal_where_root_restores(scene: Scene) -> None:
    as_nobody(lambda: planted_journal(scene, scene.open))
    state = ("--state-dir", str(scene.open), "--cgroup-root", scene.world.tree.root)
    refused(scene.run("restore", *state), 1, "others may put files there")
    refused(scene.start(state=scene.open), 3, "others may put files there")


@attempt
def leaves_a_directory_with_a_journal_for_root_to_restore(scene: Scene) -> None:
    state = scene.open / "state"

    def plant() -> None:
        state.mkdir()
        planted_journal(scene, state)

    as_nobody(plant)
    where = ("--state-dir", str(state), "--cgroup-root", scene.world.tree.root)
    refused(scene.run("restore", *where), 1, "belongs to nobody")


@attempt
def has_root_copy_its_journal(scene: Scene) -> None:
    """Root has been talked into making it its own."""
    state = scene.world.state_dir
    state.mkdir(mode=0o700)
    planted_journal(scene, state)
    outcome = scene.run("restore", *scene.world.arguments)
    refused(outcome, 9, "the journal is damaged")
    for path in state.iterdir():
        path.unlink()


@attempt
def leads_the_audit_log_to_a_file_of_roots(scene: Scene) -> None:
    log = scene.open / "audit.jsonl"
    as_nobody(lambda: log.symlink_to(scene.precious))
    refused(scene.start("--audit-log", str(log)), 13, "audit_log: ")


@attempt
def leaves_a_pipe_where_the_audit_log_will_be(scene: Scene) -> None:
    log = scene.open / "audit.jsonl"
    as_nobody(lambda: os.mkfifo(log))
    assert scene.start("--audit-log", str(log)).code == 13


@attempt
def leaves_a_model_to_learn_from(scene: Scene) -> None:
    model = scene.open / "model"
    as_nobody(lambda: model.write_bytes(b"smartharvest-model 1 planted"))
    outcome = scene.start("--policy=smartharvest", "--model", str(model))
    assert outcome.code == 0, outcome.err
    assert "model not used" in outcome.err
    assert "belongs to nobody" in outcome.err


@attempt
def leaves_a_pipe_and_an_endless_file_to_be_read(scene: Scene) -> None:
    """Neither waits for a writer nor fills the memory."""

    def plant() -> None:
        os.mkfifo(scene.open / "pipe.toml")
        with (scene.open / "endless").open("wb") as file:
            file.truncate(1 << 40)

    as_nobody(plant)
    refused(scene.start("--config", str(scene.open / "pipe.toml")), 2, "is no regular file")
    refused(scene.start("--config", str(scene.open / "endless")), 2, "belongs to nobody")
    outcome = scene.start("--policy=smartharvest", "--model", str(scene.open / "endless"))
    assert outcome.code == 0, outcome.err
    assert "belongs to nobody" in outcome.err


@attempt
def reaches_its_own_root_by_a_process(scene: Scene) -> None:
    """/proc/PID/root and /proc/PID/cwd are links that their owner aims."""

    def keep() -> int:
        (scene.open / "agent.toml").write_text("keep_idle = 0\n")
        os.chdir(scene.open)
        return 1

    with nobody_keeps(keep) as pid:
        refused(scene.start("--config", f"/proc/{pid}/cwd/agent.toml"), 2, "belongs to nobody")
        state = Path(f"/proc/{pid}/cwd/state")
        refused(scene.start(state=state), 3, "belongs to nobody")


@attempt
def holds_the_ports_of_metrics_and_page(scene: Scene) -> None:
    def hold() -> list[socket.socket]:
        return [socket.create_server(("127.0.0.1", port)) for port in ports]

    free = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [one.getsockname()[1] for one in free]
    for one in free:
        one.close()
    addresses = [f"127.0.0.1:{port}" for port in ports]
    with nobody_keeps(hold):
        outcome = scene.start("--metrics", addresses[0], "--web", addresses[1])
    assert outcome.code == 0, outcome.err
    for address in addresses:
        assert f"{address}: Address already in use" in outcome.err


@attempt
def leads_the_state_directory_elsewhere_while_it_is_made(scene: Scene) -> None:
    """What is checked is what is used, however often the link changes in between."""
    target = scene.place / "elsewhere"
    state = scene.open / "state"

    def swap() -> bool:
        def run() -> None:
            while True:
                with contextlib.suppress(OSError):
                    state.mkdir()
                with contextlib.suppress(OSError):
                    state.rmdir()
                with contextlib.suppress(OSError):
                    state.symlink_to(target)
                with contextlib.suppress(OSError):
                    state.unlink()

        threading.Thread(target=run, daemon=True).start()
        return True

    with nobody_keeps(swap):
        for _ in range(3):
            outcome = scene.start(state=state)
            assert outcome.code in (0, 3), outcome.err
            assert "Traceback" not in outcome.err
    assert not target.exists()


@attempt
def names_a_group_like_lines_and_commands(scene: Scene) -> None:
    """Where a user may make groups (Delegate=yes), it names them."""
    scene.world.add_group("we`id`$(id)\rsmartharvest: all is well\x1b[2J")  # newline: EINVAL
    outcome = scene.start("--primary", "cgroup:we?id*")
    assert outcome.code == 0, outcome.err
    told_in_lines(outcome.err)
    named = "systemd:`id`\nsmartharvest: all is well.service"
    refused(scene.start("--primary", "cgroup:none", "--primary", named + "/"), 2, "names no unit")
    told_in_lines(scene.start("--primary", named).err)


@pytest.mark.rights
@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_before_a_start_is_refused_or_harmless(name: str) -> None:
    with made_scene() as scene:
        files = scene.world.files()
        ATTEMPTS[name](scene)
        assert scene.precious.read_text() == "as it was"
        changed = {path for path, was in files.items() if scene.world.files().get(path) != was}
        assert not changed
        assert scene.world.journals() == []
