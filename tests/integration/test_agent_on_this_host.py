"""The agent on this machine's own hierarchies, in groups that the test makes and removes."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from smartharvest.host import tasks
from smartharvest.host.cgroup import CgroupTree, Group
from smartharvest.host.cpulist import parse_cpulist
from tests.commands import LONGEST_S, as_command, smartharvest
from tests.integration.processes import Processes, wait_until
from tests.integration.worlds import left_behind

pytestmark = pytest.mark.root

CONTROLLERS = ("cpuset", "cpu", "freezer")
WATCHED = (
    *("cpuset.cpus", "cpu.idle", "cpu.shares", "cpu.weight", "freezer.state", "cgroup.freeze"),
    *("tasks", "cgroup.threads"),
)
_numbers = itertools.count(1)


class Host:
    """A primary that spins and sleeps, an elastic group that spins; ``batch`` weighs 512 or 50."""

    def __init__(self, processes: Processes, state_dir: Path) -> None:
        self.tree = CgroupTree.discover()
        self.state_dir = state_dir
        self._processes = processes
        self._made: list[str] = []
        self._name = f"smartharvest-test-{os.getpid()}-{next(_numbers)}"

    def make(self, name: str, controllers: tuple[str, ...] = CONTROLLERS) -> Group:
        """The group of that name in the hierarchies of ``controllers``, with all its parent has."""
        group = self.tree.group(f"{self._name}-{name}")
        directories = {group.directory(controller) for controller in controllers}
        for directory in filter(None, directories):
            os.mkdir(directory)
            self._made.append(directory)
        if group.cpuset_path is None:
            pytest.skip("the root group gives its children no cpuset controller")
        if self.tree.version == 1:
            for file in ("cpuset.cpus", "cpuset.mems"):
                above = self.tree.files.read(f"{os.path.dirname(group.path)}/{file}")
                self.tree.files.write(f"{group.path}/{file}", above)
        return group

    def place(self, pid: int, group: Group) -> int:
        for controller in CONTROLLERS:
            directory = group.directory(controller)
            if directory and os.path.exists(f"{directory}/cgroup.procs"):
                self.tree.files.write(f"{directory}/cgroup.procs", str(pid))
        return pid

    def populate(self) -> None:
        self.web, self.batch = self.make("web"), self.make("batch")
        self.spinner = self.place(self._processes.spinning(), self.web)
        self.place(self._processes.asleep(), self.web)
        self.worker = self.place(self._processes.spinning(), self.batch)
        weight_file = self.batch.weight_file
        if weight_file is not None:
            self.tree.files.write(weight_file, "512" if self.tree.version == 1 else "50")

    @property
    def state(self) -> tuple[str, ...]:
        return ("--state-dir", str(self.state_dir))

    @property
    def targets(self) -> tuple[str, ...]:
        return ("--primary", f"cgroup:{self.web}", "--elastic", f"cgroup:{self.batch}")

    def files(self) -> dict[str, bytes]:
        """The watched files of every group that is there with this host's name, byte for byte."""
        found: dict[str, bytes] = {}
        for mount in {self.tree.hierarchies[c] for c in CONTROLLERS if c in self.tree.hierarchies}:
            for directory in Path(mount).glob(f"{self._name}-*"):
                for file in sorted(directory.rglob("*")):
                    if file.name in WATCHED:
                        found[str(file)] = file.read_bytes()
        return found

    def remove(self) -> None:
        for mount in set(self.tree.hierarchies.values()):
            for freeze_file in Path(mount).glob(f"{self._name}-*/freezer.state"):
                freeze_file.write_text("THAWED")
            for freeze_file in Path(mount).glob(f"{self._name}-*/cgroup.freeze"):
                freeze_file.write_text("0")
        self._processes.end()
        for directory in reversed(self._made):
            _remove_group(directory)


def _remove_group(directory: str) -> None:
    deadline = time.monotonic() + LONGEST_S
    with suppress(FileNotFoundError):
        for name in [entry.name for entry in os.scandir(directory) if entry.is_dir()]:
            _remove_group(f"{directory}/{name}")
        while True:
            try:
                os.rmdir(directory)
                return
            except FileNotFoundError:
                return
            except OSError:  # a killed task takes a moment to leave
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


@pytest.fixture
def host(processes: Processes, tmp_path: Path) -> Iterator[Host]:
    made = Host(processes, tmp_path / "state")
    online = made.tree.online_cpus()
    if len(online) < 2 or set(tasks.foreign_cpus(online, ())) >= online:
        pytest.skip("needs a CPU that nobody else is confined to, and another one")
    try:
        made.populate()
        yield made
    finally:
        made.remove()


def is_confined(host: Host) -> bool:
    """The worker runs on the mask of its group and that is not all CPUs any more."""
    mask = parse_cpulist(host.tree.files.read(host.batch.cpus_file))
    return mask < host.tree.online_cpus() and os.sched_getaffinity(host.worker) == mask


def test_the_batch_is_confined_while_the_agent_runs_and_free_afterwards(
    host: Host, processes: Processes
) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, "--duration", "1s", "--json")
    agent.wait_until(lambda: is_confined(host))
    if host.batch.idle_file:
        assert host.tree.files.read(host.batch.idle_file) == "1\n"
    outcome = agent.outcome()
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["busy_cores"] > 0  # the spinner was seen
    assert report["polls"] > 0
    assert host.files() == before
    assert left_behind(host.state_dir) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_frees_the_batch(host: Host, processes: Processes, number: signal.Signals) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets)
    agent.wait_until(lambda: is_confined(host))
    outcome = agent.send(number)
    assert outcome.code == 0, outcome.err
    assert host.files() == before


def test_restore_frees_the_batch_after_a_kill(host: Host, processes: Processes) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, "--no-guardian")
    agent.wait_until(lambda: is_confined(host))
    agent.send(signal.SIGKILL)
    assert host.files() != before
    outcome = smartharvest("restore", *host.state)
    assert outcome.code == 0, outcome.err
    assert f"put back: {host.batch.cpus_file}:" in outcome.out
    assert host.files() == before
    assert smartharvest("restore", *host.state).out == "nothing to restore\n"
    assert os.sched_getaffinity(host.worker) == host.tree.online_cpus()


def test_exclusive_sets_are_apart_and_come_back_after_a_kill(
    host: Host, processes: Processes
) -> None:
    os.kill(host.spinner, signal.SIGSTOP)  # an idle primary has cores to lend
    before = host.files()
    agent = processes.agent(
        *host.state,
        *host.targets,
        *("--placement", "exclusive", "--lend-shared", "--elastic-min", "1"),
        "--no-guardian",
    )

    def are_apart() -> bool:
        primary, elastic = (
            parse_cpulist(host.tree.files.read(group.cpus_file)) for group in (host.web, host.batch)
        )
        return not primary & elastic and primary | elastic == host.tree.online_cpus()

    agent.wait_until(are_apart)
    agent.send(signal.SIGKILL)
    assert host.files() != before
    assert smartharvest("restore", *host.state).code == 0
    assert host.files() == before


def test_a_parked_batch_can_be_frozen(host: Host, processes: Processes) -> None:
    freeze_file = host.batch.freeze_file
    assert freeze_file is not None
    before = host.files()
    agent = processes.agent(
        *host.state, *host.targets, "--elastic-min", "0", "--park", "freeze", "--policy=no-harvest"
    )
    agent.wait_until(lambda: host.tree.files.read(freeze_file) in ("FROZEN\n", "1\n"))
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before


def test_children_of_the_batch_are_confined_and_freed_with_it(
    host: Host, processes: Processes
) -> None:
    if host.tree.version == 2:
        pytest.skip("in v2 the kernel confines the children")
    first = min(host.tree.online_cpus())
    for name, cpus in (("low", str(first)), ("low/leaf", str(first)), ("empty", "")):
        child = f"{host.batch.path}/{name}"
        os.mkdir(child)
        for file, value in (("cpuset.cpus", cpus), ("cpuset.mems", "0")):
            host.tree.files.write(f"{child}/{file}", value)
    leaf = f"{host.batch.path}/low/leaf"
    host.tree.files.write(f"{leaf}/tasks", str(host.worker))
    before = host.files()
    agent = processes.agent(
        *host.state, *host.targets, "--elastic-min=0", "--policy=no-harvest", "--no-guardian"
    )
    agent.wait_until(
        lambda: (
            is_confined(host)
            and host.tree.files.read(f"{leaf}/cpuset.cpus")
            == host.tree.files.read(host.batch.cpus_file)
        )
    )
    agent.send(signal.SIGKILL)
    assert smartharvest("restore", *host.state).code == 0
    assert host.files() == before


def test_a_core_that_a_primary_thread_is_pinned_to_is_not_lent(
    host: Host, processes: Processes
) -> None:
    last = max(host.tree.online_cpus())
    os.sched_setaffinity(host.spinner, {last})
    agent = processes.agent(*host.state, *host.targets)
    agent.wait_until(lambda: is_confined(host))
    assert last not in parse_cpulist(host.tree.files.read(host.batch.cpus_file))
    assert agent.send(signal.SIGTERM).code == 0


def test_counterparts_are_made_and_removed_and_tasks_are_back_where_they_were(
    host: Host, processes: Processes
) -> None:
    if host.tree.version == 2:
        pytest.skip("a v2 group is one directory")
    lonely = host.make("lonely", ("cpuset",))
    worker = host.place(processes.asleep(), lonely)
    place = Path(f"/proc/{worker}/cgroup").read_text()
    before = host.files()
    agent = processes.agent(
        *host.state,
        *("--primary", f"cgroup:{host.web}", "--elastic", f"cgroup:{lonely}"),
        *("--elastic-min", "0", "--park", "freeze"),
    )
    counterparts = [lonely.directory("cpu") or "", lonely.directory("freezer") or ""]
    agent.wait_until(lambda: all(map(os.path.exists, counterparts)))
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before
    assert not any(map(os.path.exists, counterparts))
    assert Path(f"/proc/{worker}/cgroup").read_text() == place


def test_a_command_starts_in_the_batch(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets)
    agent.wait_until(lambda: is_confined(host))
    outcome = smartharvest("run", "--elastic", *host.state, "cat", "/proc/self/cgroup")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count(f"/{host.batch.relative}\n") == len(
        set(filter(None, map(host.batch.directory, CONTROLLERS)))
    )
    assert agent.send(signal.SIGTERM).code == 0


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def test_without_rights_it_says_which_file_needs_them(host: Host) -> None:
    before = host.files()
    with tempfile.TemporaryDirectory() as state_dir:
        os.chmod(state_dir, 0o777)
        if _as_nobody(["--version"]).returncode != 0:
            pytest.skip("setpriv is missing, or nobody may not read this installation")
        done = _as_nobody(
            ["agent", *host.targets, "--no-guardian", "--no-cpu-idle", "--state-dir", state_dir]
        )
    assert done.returncode == 3, done.stderr
    last_line = done.stderr.splitlines()[-1]
    assert last_line == f"smartharvest: {host.batch.cpus_file}: Permission denied; run as root"
    assert host.files() == before


def _as_nobody(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", 'exec "$@"', "sh", *NOBODY, *as_command(arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)


def test_a_demo_that_is_ended_removes_its_groups(processes: Processes) -> None:
    mount = CgroupTree.discover().hierarchies["cpuset"]
    demo = processes.start(as_command(["demo", "--seconds", "60"]))
    groups = Path(mount, f"smartharvest-demo-{demo.pid}")

    def have_tasks() -> bool:
        assert demo.poll() is None, demo.communicate()
        listings = [groups / name / "cgroup.procs" for name in ("primary", "elastic")]
        return all(path.exists() and path.read_text() for path in listings)

    wait_until(have_tasks)
    demo.send_signal(signal.SIGTERM)
    _, err = demo.communicate(timeout=LONGEST_S)
    assert demo.returncode == 130
    assert err.endswith("smartharvest: stopped\n")
    assert not groups.exists()


def test_the_demo_prints_its_document(tmp_path: Path) -> None:
    done = subprocess.run(
        as_command(["demo", "--seconds", "12", "--json"]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    phases = document["phases"]
    assert [phase["name"] for phase in phases] == [
        *("no-harvest", "sensing-only", "cpu-idle", "nice-19", "fixed-buffer:1", "smartharvest")
    ]
    for phase in phases:
        assert {
            *("name", "latency_us", "p99_change", "idle_cores", "harvested_cores"),
            *("elastic_cpu", "batch_work", "safeguards", "agent_cpu"),
        } <= phase.keys()
        assert {"p50", "p99", "p999"} == phase["latency_us"].keys()
        assert {"short", "long"} == phase["safeguards"].keys()
        unconfined = phase["name"] in ("cpu-idle", "nice-19")
        assert (phase["harvested_cores"] is None) == unconfined
        assert phase["latency_us"]["p50"] > 0
    assert phases[0]["p99_change"] == 0
    by_name = {phase["name"]: phase for phase in phases}
    assert by_name["cpu-idle"]["batch_work"] > 0
    assert by_name["sensing-only"]["agent_cpu"] > 0
    assert document["load_generator_group"] == "primary"
