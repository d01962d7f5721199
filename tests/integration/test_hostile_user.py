"""A user without rights beside an agent of root's: every attempt is refused, or harmless.

Another attempt is another function with ``@before_a_start`` or ``@beside_an_agent``.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import grp
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from smartharvest.host.journal.contents import VERSION, boot_id
from smartharvest.host.process import tasks
from smartharvest.host.target import guests
from smartharvest.host.target.spec import TargetSpec
from smartharvest.telemetry.client import ask, socket_path
from smartharvest.telemetry.protocol import ProtocolError
from tests.commands import Outcome, as_command
from tests.integration.hosts import Host, need_a_free_cpu
from tests.integration.intruder import GID, UID, as_nobody, nobody_keeps
from tests.integration.processes import Processes, RunningAgent, wait_until
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing

PLANTED = "import os; os.open({!r}, os.O_CREAT | os.O_WRONLY); raise SystemExit('planted')"


@dataclass
class Scene:
    """``open`` is a directory as /tmp, ``precious`` a file of root's there must be no way to."""

    world: World
    place: Path
    agent: RunningAgent | None = None

    @property
    def open(self) -> Path:
        return self.place / "open"

    @property
    def precious(self) -> Path:
        return self.place / "precious"

    def run(self, *arguments: str, cwd: Path | None = None) -> Outcome:
        """A command of root's, to its end."""
        done = subprocess.run(
            as_command(arguments), cwd=cwd, capture_output=True, text=True, timeout=90, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def start(self, *more: str, state: Path | None = None, cwd: Path | None = None) -> Outcome:
        """An agent of root's that runs for a moment."""
        state_dir = str(state or self.world.state_dir)
        return self.run(
            *("agent", "--cgroup-root", self.world.tree.root, "--state-dir", state_dir),
            *(*self.world.targets, "--duration", "200ms", "--model", "off", *more),
            cwd=cwd,
        )


Attempt = Callable[[Scene], None]
BEFORE: dict[str, Attempt] = {}
BESIDE: dict[str, Attempt] = {}


def before_a_start(attempt: Attempt) -> Attempt:
    """Made where no agent runs: what root does then still works, or is refused in one line."""
    BEFORE[attempt.__name__] = attempt
    return attempt


def beside_an_agent(attempt: Attempt) -> Attempt:
    """Made beside an agent, which goes on as before."""
    BESIDE[attempt.__name__] = attempt
    return attempt


def refused(outcome: Outcome, code: int, why: str) -> None:
    assert outcome.code == code, outcome.err
    assert why in outcome.err
    assert outcome.err.count("\n") == 1, outcome.err
    assert "Traceback" not in outcome.err


def told_in_lines(text: str) -> None:
    """Nobody's name has become a line of its own, or moves a cursor."""
    lines = text.split("\n")
    assert all(line.startswith("smartharvest: ") for line in lines[:-1]), lines
    assert not any(line.startswith("smartharvest: all is well") for line in lines), lines
    assert not any(not c.isprintable() for c in text.replace("\n", "")), lines


# --- before a start -------------------------------------------------------------------------------


@before_a_start
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


@before_a_start
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


@before_a_start
def plants_a_drop_in_beside_a_configuration_of_roots(scene: Scene) -> None:
    config = scene.open / "agent.toml"
    config.write_text("keep_idle = 1\n")
    config.chmod(0o600)

    def plant() -> None:
        (scene.open / "agent.toml.d").mkdir()
        (scene.open / "agent.toml.d" / "evil.toml").write_text(f'audit_log = "{scene.precious}"\n')

    as_nobody(plant)
    refused(scene.start("--config", str(config)), 2, "belongs to nobody")


@before_a_start
def puts_a_drop_in_into_roots_sticky_directory(scene: Scene) -> None:
    config = scene.place / "agent.toml"
    config.write_text("keep_idle = 1\n")
    drop_ins = scene.place / "agent.toml.d"
    drop_ins.mkdir()
    drop_ins.chmod(0o1777)
    as_nobody(lambda: (drop_ins / "evil.toml").write_text("keep_idle = 0\n"))
    refused(scene.start("--config", str(config)), 2, "belongs to nobody")


@before_a_start
def makes_its_own_file_the_configuration_by_a_link(scene: Scene) -> None:
    def plant() -> None:
        (scene.open / "mine.toml").write_text("keep_idle = 0\n")
        (scene.open / "agent.toml").symlink_to(scene.open / "mine.toml")

    as_nobody(plant)
    refused(scene.start("--config", str(scene.open / "agent.toml")), 2, "belongs to nobody")


@before_a_start
def gives_another_name_to_a_file_of_roots(scene: Scene) -> None:
    scene.precious.chmod(0o644)
    link = scene.open / "agent.toml"
    if as_nobody(lambda: os.link(scene.precious, link)) is not None:
        return  # the kernel refuses it (fs.protected_hardlinks)
    refused(scene.start("--config", str(link)), 2, "hard links")


@before_a_start
def makes_the_state_directory_first(scene: Scene) -> None:
    state = scene.open / "state"
    as_nobody(state.mkdir)
    refused(scene.start(state=state), 3, "belongs to nobody")


@before_a_start
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


@before_a_start
def plants_a_journal_where_root_restores(scene: Scene) -> None:
    as_nobody(lambda: planted_journal(scene, scene.open))
    state = ("--state-dir", str(scene.open), "--cgroup-root", scene.world.tree.root)
    refused(scene.run("restore", *state), 1, "others may put files there")
    refused(scene.start(state=scene.open), 3, "others may put files there")


@before_a_start
def leaves_a_directory_with_a_journal_for_root_to_restore(scene: Scene) -> None:
    state = scene.open / "state"

    def plant() -> None:
        state.mkdir()
        planted_journal(scene, state)

    as_nobody(plant)
    where = ("--state-dir", str(state), "--cgroup-root", scene.world.tree.root)
    refused(scene.run("restore", *where), 1, "belongs to nobody")


@before_a_start
def has_root_copy_its_journal(scene: Scene) -> None:
    """Root has been talked into making it its own."""
    state = scene.world.state_dir
    state.mkdir(mode=0o700)
    planted_journal(scene, state)
    outcome = scene.run("restore", *scene.world.arguments)
    refused(outcome, 9, "the journal is damaged")
    for path in state.iterdir():
        path.unlink()


@before_a_start
def leads_the_audit_log_to_a_file_of_roots(scene: Scene) -> None:
    log = scene.open / "audit.jsonl"
    as_nobody(lambda: log.symlink_to(scene.precious))
    refused(scene.start("--audit-log", str(log)), 13, "audit_log: ")


@before_a_start
def leaves_a_pipe_where_the_audit_log_will_be(scene: Scene) -> None:
    log = scene.open / "audit.jsonl"
    as_nobody(lambda: os.mkfifo(log))
    assert scene.start("--audit-log", str(log)).code == 13


@before_a_start
def leaves_a_model_to_learn_from(scene: Scene) -> None:
    model = scene.open / "model"
    as_nobody(lambda: model.write_bytes(b"smartharvest-model 1 planted"))
    outcome = scene.start("--model", str(model))
    assert outcome.code == 0, outcome.err
    assert "model not used" in outcome.err
    assert "belongs to nobody" in outcome.err


@before_a_start
def leaves_a_pipe_and_an_endless_file_to_be_read(scene: Scene) -> None:
    """Neither waits for a writer nor fills the memory."""

    def plant() -> None:
        os.mkfifo(scene.open / "pipe.toml")
        with (scene.open / "endless").open("wb") as file:
            file.truncate(1 << 40)

    as_nobody(plant)
    refused(scene.start("--config", str(scene.open / "pipe.toml")), 2, "is no regular file")
    refused(scene.start("--config", str(scene.open / "endless")), 2, "belongs to nobody")
    outcome = scene.start("--model", str(scene.open / "endless"))
    assert outcome.code == 0, outcome.err
    assert "belongs to nobody" in outcome.err


@before_a_start
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


@before_a_start
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


@before_a_start
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


@before_a_start
def names_a_group_like_lines_and_commands(scene: Scene) -> None:
    """Where a user may make groups (Delegate=yes), it names them."""
    scene.world.add_group("we`id`$(id)\rsmartharvest: all is well\x1b[2J")  # newline: EINVAL
    outcome = scene.start("--primary", "cgroup:we?id*")
    assert outcome.code == 0, outcome.err
    told_in_lines(outcome.err)
    named = "systemd:`id`\nsmartharvest: all is well.service"
    refused(scene.start("--primary", "cgroup:none", "--primary", named + "/"), 2, "names no unit")
    told_in_lines(scene.start("--primary", named).err)


# --- beside an agent ------------------------------------------------------------------------------


def _state_socket(scene: Scene) -> str:
    assert scene.agent is not None
    return socket_path(str(scene.world.state_dir), scene.agent.pid)


def _telling_socket(scene: Scene) -> str:
    assert scene.agent is not None
    return socket_path(str(scene.world.state_dir / "status"), scene.agent.pid)


@beside_an_agent
def steers_it(scene: Scene) -> None:
    for command in ("pause", "evict", "set-limit", "restart", "status"):
        assert as_nobody(lambda: ask(_state_socket(scene), command, {})) == "RightsError"  # noqa: B023


@beside_an_agent
def steers_it_by_the_socket_that_tells(scene: Scene) -> None:
    for command in ("pause", "evict", "reload", "restart"):
        said = as_nobody(lambda: ask(_telling_socket(scene), command, {}))  # noqa: B023
        assert said == ProtocolError.__name__
    assert as_nobody(lambda: ask(_telling_socket(scene), "status", {})["pid"]) == scene.agent.pid  # type: ignore[union-attr]


@beside_an_agent
def reads_its_journal(scene: Scene) -> None:
    state = scene.world.state_dir
    assert as_nobody(lambda: os.listdir(state)) == "PermissionError"
    for name in os.listdir(state):
        path = state / name
        assert as_nobody(lambda: os.open(path, os.O_RDWR)) in (  # noqa: B023
            *("PermissionError", "IsADirectoryError", "OSError"),
        )


@beside_an_agent
def crowds_the_socket_that_tells(scene: Scene) -> None:
    path = _telling_socket(scene)

    def crowd() -> list[socket.socket]:
        made = []
        for number in range(40):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(0.2)
            with contextlib.suppress(OSError):
                connection.connect(path)
                connection.send((b"[" * 4000, b"x" * 70_000, b'{"v":1', b"\n" * 500)[number % 4])
            made.append(connection)
        return made

    with nobody_keeps(crowd):
        for _ in range(3):
            assert ask(_state_socket(scene), "status", {})["pid"] > 0


@beside_an_agent
def floods_the_socket_that_tells(scene: Scene) -> None:
    path, line = _telling_socket(scene), b'{"v":1,"command":"status"}\n'

    def flood() -> list[socket.socket]:
        made = []
        for _ in range(12):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.setblocking(False)
            with contextlib.suppress(OSError):
                connection.send(line * 1000)  # and never reads an answer
            made.append(connection)
        return made

    with nobody_keeps(flood):
        before = ask(_state_socket(scene), "status", {})["agent"]["cpu_seconds"]
        time.sleep(1.0)
        assert ask(_state_socket(scene), "status", {})["agent"]["cpu_seconds"] < before + 1.0


@beside_an_agent
def kills_the_guardian_and_the_agent(scene: Scene) -> None:
    assert scene.agent is not None
    pid = scene.agent.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for one in (pid, *map(int, children)):
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT):
            assert as_nobody(lambda: os.kill(one, number)) == "PermissionError"  # noqa: B023


@beside_an_agent
def starts_agents_of_its_own(scene: Scene) -> None:
    """It cannot write the groups; its locks are its own."""

    def lock() -> list[int]:
        from smartharvest.host.journal.group_locks import lock_groups

        root = scene.world.tree.root
        own = str(scene.open / "own")
        os.mkdir(own, 0o700)
        return lock_groups([f"{root}/web", f"{root}/batch"], root, frozenset(), own)

    as_nobody(lock)
    assert ask(_state_socket(scene), "resume", {})["paused"] is False


@beside_an_agent
def calls_a_process_a_machine(scene: Scene) -> None:
    program = scene.open / "qemu-system-x86_64"
    name = "intruded"

    def run() -> None:
        shutil.copy("/bin/sh", program)
        subprocess.Popen([program, "-c", "sleep 60; :", "-name", name], close_fds=False)

    def is_there() -> bool:
        return any(
            tasks.name(int(one)) == "qemu-system-x86"
            for one in os.listdir("/proc")
            if one.isdigit()
        )

    with nobody_keeps(run) as parent:
        wait_until(is_there)
        try:
            assert guests.find(TargetSpec("qemu", name)) == []
            named = guests.find(TargetSpec("qemu", f"{name},user={UID}"))
            assert len(named) == 1  # what the operator asks for
        finally:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)


@beside_an_agent
def answers_as_a_monitor_does(scene: Scene) -> None:
    path = str(scene.open / "qmp.sock")
    vcpus = json.dumps({"return": [{"thread-id": os.getpid()}]}).encode()
    answers = (b'{"QMP": {}}', b'{"return": {}}', vcpus, b'{"return": {"running": true}}')

    def serve(listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            with contextlib.suppress(OSError):
                for answer in answers:
                    connection.send(answer + b"\n")
                    connection.recv(1 << 16)

    def listen() -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(8)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        return listener

    with nobody_keeps(listen):
        assert guests.find(TargetSpec("qemu", path)) == []
        assert guests.find(TargetSpec("qemu", f"{path},user={UID}")) == []  # it is no QEMU


@beside_an_agent
def fills_the_directories_it_can_write(scene: Scene) -> None:
    def fill() -> None:
        for number in range(2000):
            (scene.open / f"agent-{number}.journal").write_text("{")

    as_nobody(fill)
    outcome = scene.run("status", "--state-dir", str(scene.world.state_dir), "--json")
    assert outcome.code == 0, outcome.err


# --- the tests ------------------------------------------------------------------------------------


@contextlib.contextmanager
def made_scene() -> Iterator[Scene]:
    """In a directory that everybody may pass; an intruder that cannot get there proves nothing."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o755)
        (place / "open").mkdir()
        (place / "open").chmod(0o1777)
        (place / "precious").write_text("as it was")
        (place / "precious").chmod(0o600)
        yield Scene(make_world(place, 2), place)


@pytest.mark.rights
@pytest.mark.parametrize("attempt", BEFORE)
def test_an_attempt_before_a_start_is_refused_or_harmless(attempt: str) -> None:
    with made_scene() as scene:
        files = scene.world.files()
        BEFORE[attempt](scene)
        assert scene.precious.read_text() == "as it was"
        changed = {path for path, was in files.items() if scene.world.files().get(path) != was}
        assert not changed
        assert scene.world.journals() == []


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    processes = Processes()
    with made_scene() as made:
        before = made.world.files()
        try:
            made.agent = processes.agent(
                *made.world.arguments, *made.world.targets, "--model", "off",
                "--status-group", grp.getgrgid(GID).gr_name,
            )  # fmt: skip
            made.agent.wait_until(lambda: os.path.exists(_telling_socket(made)))
            yield made
            ended = made.agent.send(signal.SIGINT)
            assert ended.code == 0, ended.err
            assert made.world.files() == before
            assert set(made.world.journals()) <= {"status"}
        finally:
            processes.end()


@pytest.mark.rights
@pytest.mark.parametrize("attempt", BESIDE)
def test_an_attempt_beside_an_agent_is_refused_or_harmless(scene: Scene, attempt: str) -> None:
    BESIDE[attempt](scene)
    assert scene.precious.read_text() == "as it was"
    assert scene.agent is not None
    seen = ask(_state_socket(scene), "status", {})
    assert seen["pid"] == scene.agent.pid
    assert "operator" not in str(seen["safeguards"]["lends_nothing_because"])


@pytest.mark.root
def test_a_crowd_of_pinned_threads_leaves_the_agent_of_a_host_alone(
    processes: Processes, tmp_path: Path
) -> None:
    """Many sleep on the CPUs that the agent lends."""
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)

    def crowd() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 18, 1 << 18))
        threading.stack_size(1 << 16)
        own_cpu = max(os.sched_getaffinity(0))
        for _ in range(300):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        ctypes.CDLL(None).prctl(15, b"`id`\nsmarthar", 0, 0, 0)  # PR_SET_NAME
        for tid in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(tid), {own_cpu})

    try:
        host.populate()
        before = host.files()
        with nobody_keeps(crowd):
            agent = processes.agent(*host.targets, *host.state, "--model", "off", "--lend-shared")
            path = socket_path(str(host.state_dir), agent.pid)
            agent.wait_until(lambda: os.path.exists(path))
            agent.wait_until(lambda: ask(path, "status", {}, 30.0)["loop"]["windows"] > 40)
            ended = agent.send(signal.SIGINT)
        assert ended.code == 0, ended.err
        told_in_lines(ended.err)
        assert host.files() == before
    finally:
        host.remove()


@pytest.mark.root
def test_groups_that_are_nested_without_end_end_no_agent(
    processes: Processes, tmp_path: Path
) -> None:
    """By whom the batch's group was delegated to."""
    host = Host(processes, tmp_path / "state")
    need_a_free_cpu(host.tree)
    try:
        host.populate()
        before = host.files()
        agent = processes.agent(*host.targets, *host.state, "--model", "off", "--lend-shared")
        path = socket_path(str(host.state_dir), agent.pid)
        agent.wait_until(lambda: os.path.exists(path))
        os.chown(host.batch.path, UID, GID)
        with nested(host.batch.path, "d", 1200):
            windows = ask(path, "status", {}, 30.0)["loop"]["windows"]
            agent.wait_until(
                lambda: ask(path, "status", {}, 30.0)["loop"]["windows"] > windows + 80
            )
            ended = agent.send(signal.SIGINT)
        assert ended.code == 0, ended.err
        assert host.files() == before
    finally:
        host.remove()


@contextlib.contextmanager
def nested(place: str, name: str, depth: int) -> Iterator[None]:
    """Meanwhile nobody's directories stand in ``place``, each in the one before."""

    def nest() -> None:
        at = os.open(place, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=at)
            at, above = os.open(name, os.O_RDONLY, dir_fd=at), at
            os.close(above)

    try:
        assert as_nobody(nest) is None
        yield
    finally:
        flatten = ("find", place, "-mindepth", "1", "-type", "d", "-delete")
        subprocess.run(flatten, check=False)
