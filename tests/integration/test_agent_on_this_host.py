"""The agent on this machine's own hierarchies, in groups that the test makes and removes."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from smartharvest.core._rescue import Rescue
from smartharvest.core._sensors import BpfSensor
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.journal import registry
from smartharvest.host.journal.group_locks import VARIABLE
from smartharvest.host.process.cpu_usage import cpu_usage_of
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.telemetry.client import ask, socket_path
from tests.commands import EMULATED, LONGEST_S, as_command, smartharvest, smartharvest_here
from tests.integration.hosts import CONTROLLERS, Host, is_confined
from tests.integration.processes import Processes, need_bpf, wait_until
from tests.integration.worlds import left_behind

pytestmark = [pytest.mark.timing, pytest.mark.root]
PLAIN = ("--sensor", "proc")
"""For what is the same by any sensor: the in-kernel one takes a second to load."""


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


def test_its_state_tells_who_runs_where_and_how_long_things_took(
    host: Host, processes: Processes
) -> None:
    agent = processes.agent(*host.state, *host.targets, "--long-term", "off")
    agent.wait_until(lambda: is_confined(host))
    path = socket_path(str(host.state_dir), agent.pid)
    seen = ask(path, "status", {})
    if seen["sensor"]["name"] != "bpf":
        pytest.skip("the in-kernel sensor alone sees who runs where")
    seen_running: set[str] = set()

    def all_were_seen() -> bool:
        runs = ask(path, "status", {})["cores"]["runs"]
        listed = [cpu for cpus in runs.values() for cpu in parse_cpulist(cpus)]
        assert sorted(listed) == sorted(parse_cpulist(seen["cores"]["pool"]))
        seen_running.update(runs)
        kept = ask(path, "status", {})["histograms"]
        # Not the elastic group: on two CPUs it is displaced by whoever answers this.
        return "primary" in seen_running and kept["waits"]["count"] > 0

    agent.wait_until(all_were_seen)
    assert agent.send(signal.SIGTERM).code == 0


def test_it_tells_what_lending_costs_if_it_is_asked_to(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets, "--harm", "--long-term", "off")
    agent.wait_until(lambda: is_confined(host))
    path = socket_path(str(host.state_dir), agent.pid)
    seen = ask(path, "status", {})
    if seen["sensor"]["name"] != "bpf":
        pytest.skip("the in-kernel sensor alone sees it")
    assert list(seen["harm"]["primaries"]) == seen["primary"]

    def some_were_dispatched() -> bool:
        (harm,) = ask(path, "status", {})["harm"]["primaries"].values()
        found = harm["lent"]["dispatches"] + harm["not_lent"]["dispatches"]
        assert isinstance(found, int)
        return found > 0

    agent.wait_until(some_were_dispatched)
    assert agent.send(signal.SIGTERM).code == 0


@pytest.mark.parametrize("order", ["topology", "dynamic"])
def test_the_same_loop_goes_on_with_the_sensor_of_another_policy(
    host: Host, processes: Processes, tmp_path: Path, order: str
) -> None:
    need_bpf()
    audit = tmp_path / "audit.jsonl"
    agent = processes.agent(
        *(*host.state, *host.targets, "--policy", "prev-peak", "--long-term", "off"),
        *("--order", order, "--sensor", "bpf", "--lend-shared", "--audit-log", str(audit)),
    )
    agent.wait_until(lambda: is_confined(host))
    path = socket_path(str(host.state_dir), agent.pid)
    assert ask(path, "status", {})["harm"] is None
    ask(path, "set-policy", {"policy": "adaptive"})
    agent.wait_until(lambda: ask(path, "status", {})["harm"] is not None)
    assert agent.send(signal.SIGTERM).code == 0
    kinds = [record["kind"] for record in map(json.loads, audit.read_text().splitlines())]
    assert "lending other cores" in kinds
    assert "the loop starts again" not in kinds


def test_cores_can_be_chosen_by_their_use(host: Host, processes: Processes) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, "--order", "dynamic")
    agent.wait_until(lambda: is_confined(host))
    path = socket_path(str(host.state_dir), agent.pid)
    seen = ask(path, "status", {})["cores"]
    assert set(parse_cpulist(seen["elastic_cpus"])) <= set(seen["lend_order"])
    time.sleep(1.2)  # the groups are compared with what was chosen once a second
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_frees_the_batch(host: Host, processes: Processes, number: signal.Signals) -> None:
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, *PLAIN)
    agent.wait_until(lambda: is_confined(host))
    outcome = agent.send(number)
    assert outcome.code == 0, outcome.err
    assert host.files() == before


@pytest.mark.parametrize("order", ["topology", "dynamic"])
def test_restore_frees_the_batch_after_a_kill(host: Host, processes: Processes, order: str) -> None:
    before = host.files()
    agent = processes.agent(
        *host.state,
        *host.targets,
        "--no-guardian",
        "--order",
        order,
        *(PLAIN if order == "topology" else ()),
    )
    agent.wait_until(lambda: is_confined(host))
    agent.send(signal.SIGKILL)
    assert host.files() != before
    outcome = smartharvest_here("restore", *host.state)
    assert outcome.code == 0, outcome.err
    assert f"put back: {host.batch.cpus_file}:" in outcome.out
    assert host.files() == before
    assert smartharvest_here("restore", *host.state).out == "nothing to restore\n"
    assert os.sched_getaffinity(host.worker) == host.tree.online_cpus()


def test_an_agent_and_what_it_has_left_are_found_without_a_hint_where(
    host: Host, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = ("--lend-shared", "--on-death", "minimum")
    agent = processes.agent(*host.state, *host.targets, *PLAIN, *shared)
    agent.wait_until(lambda: is_confined(host))
    agent.wait_until(lambda: os.path.exists(socket_path(str(host.state_dir), agent.pid)))
    assert str(host.state_dir) in registry.state_directories()
    with monkeypatch.context() as without_notes:
        without_notes.setattr(registry, "DIRECTORY", str(host.state_dir / "none"))
        assert str(host.state_dir) in registry.state_directories()  # its guardian says so
    seen = json.loads(smartharvest_here("status", "--json").out)
    assert agent.pid in [one["pid"] for one in seen["agents"]]  # others may run here, too
    agent.send(signal.SIGKILL)
    outcome = smartharvest_here("status", "--json")
    assert outcome.code == 4
    (orphan,) = (one for one in json.loads(outcome.out)["orphans"] if one["pid"] == agent.pid)
    assert orphan["claims"] == [host.web.path, host.batch.path]
    assert smartharvest_here(*shlex.split(orphan["fix"])[1:]).code == 0
    assert str(host.state_dir) not in registry.state_directories()


def test_a_successor_takes_over_what_a_killed_agent_has_left_at_its_minimum(
    host: Host, processes: Processes
) -> None:
    before = host.files()
    words = (*host.state, *host.targets, *PLAIN, "--lend-shared", "--on-death", "minimum")
    agent = processes.agent(*words)
    agent.wait_until(lambda: is_confined(host))
    agent.send(signal.SIGKILL)
    assert is_confined(host)
    follower = processes.agent(*words)
    follower.wait_until(lambda: os.path.exists(socket_path(str(host.state_dir), follower.pid)))
    outcome = follower.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "the batch stays at its minimum" in outcome.err
    assert host.files() == before


def test_exclusive_sets_are_apart_and_come_back_after_a_kill(
    host: Host, processes: Processes
) -> None:
    os.kill(host.spinner, signal.SIGSTOP)  # an idle primary has cores to lend
    before = host.files()
    agent = processes.agent(
        *host.state,
        *host.targets,
        *("--placement", "exclusive", "--lend-shared", "--elastic-min", "1"),
        *("--no-guardian", *PLAIN),
    )

    def are_apart() -> bool:
        primary, elastic = (
            parse_cpulist(host.tree.files.read(group.cpus_file)) for group in (host.web, host.batch)
        )
        return not primary & elastic and primary | elastic == host.tree.online_cpus()

    agent.wait_until(are_apart)
    agent.send(signal.SIGKILL)
    assert host.files() != before
    assert smartharvest_here("restore", *host.state).code == 0
    assert host.files() == before


@pytest.mark.parametrize("learner", ["vw", "native"])
def test_a_control_plane_that_gets_no_cpu_costs_its_agent_the_cores_and_no_more(
    host: Host, processes: Processes, learner: str
) -> None:
    if EMULATED:
        pytest.skip("who takes every CPU takes it from the emulator's, and from this test, too")
    os.kill(host.spinner, signal.SIGSTOP)  # nothing but the silence asks for the cores
    agent = processes.agent(
        *(*host.state, *host.targets, "--lend-shared", "--long-term", "off"),
        *("--control-priority", "idle", "--model", "off", "--learner", learner, *PLAIN),
    )
    agent.wait_until(lambda: is_confined(host))
    path = socket_path(str(host.state_dir), agent.pid)
    wait_until(lambda: ask(path, "status", {})["harvested"]["now"] > 0)
    assert os.sched_getscheduler(agent.pid) == os.SCHED_IDLE
    before = ask(path, "status", {})["safeguards"]["plans_expired"]
    hogs = [processes.spinning() for _ in range(2 * len(host.tree.online_cpus()))]
    for hog in hogs:
        os.setpriority(os.PRIO_PROCESS, hog, -20)
    time.sleep(1.3)  # longer than a hung agent may live
    for hog in hogs:
        os.kill(hog, signal.SIGKILL)
    wait_until(lambda: ask(path, "status", {})["safeguards"]["plans_expired"] > before)
    wait_until(lambda: ask(path, "status", {})["harvested"]["now"] > 0)
    assert agent.send(signal.SIGTERM).code == 0


def test_a_parked_batch_can_be_frozen(host: Host, processes: Processes) -> None:
    freeze_file = host.batch.freeze_file
    assert freeze_file is not None
    before = host.files()
    agent = processes.agent(
        *(*host.state, *host.targets, *PLAIN),
        *("--elastic-min", "0", "--park", "freeze", "--policy=no-harvest"),
    )
    agent.wait_until(lambda: host.tree.files.read(freeze_file) in ("FROZEN\n", "1\n"))
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before


@pytest.mark.timing  # it is frozen for half a second at least, whatever follows
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_batch_that_adaptive_has_frozen_is_thawed_by_every_end(
    host: Host, processes: Processes, number: signal.Signals
) -> None:
    need_bpf()
    if host.batch.idle_file is None:
        pytest.skip("needs cpu.idle")
    freeze_file = host.batch.freeze_file
    assert freeze_file is not None
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, "--policy=adaptive", "--sensor=bpf")
    agent.wait_until(lambda: host.tree.files.read(freeze_file) in ("FROZEN\n", "1\n"))
    agent.send(number)
    wait_until(lambda: host.files() == before)


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
        *(*host.state, *host.targets, *PLAIN),
        *("--elastic-min=0", "--policy=no-harvest", "--no-guardian"),
    )
    agent.wait_until(
        lambda: (
            is_confined(host)
            and host.tree.files.read(f"{leaf}/cpuset.cpus")
            == host.tree.files.read(host.batch.cpus_file)
        )
    )
    agent.send(signal.SIGKILL)
    assert smartharvest_here("restore", *host.state).code == 0
    assert host.files() == before


def test_a_core_that_a_primary_thread_is_pinned_to_is_not_lent(
    host: Host, processes: Processes
) -> None:
    last = max(host.tree.online_cpus())
    os.sched_setaffinity(host.spinner, {last})
    agent = processes.agent(*host.state, *host.targets, *PLAIN)
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
        *("--elastic-min", "0", "--park", "freeze", *PLAIN),
    )
    counterparts = [lonely.directory("cpu") or "", lonely.directory("freezer") or ""]
    agent.wait_until(lambda: all(map(os.path.exists, counterparts)))
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before
    assert not any(map(os.path.exists, counterparts))
    assert Path(f"/proc/{worker}/cgroup").read_text() == place


def kernel_sensor(host: Host) -> BpfSensor:
    """It watches both groups; the test is skipped where it cannot be opened."""
    hierarchy = "cpuset" if host.tree.version == 1 else "v2"
    ids = [(os.stat(group.path).st_ino, n) for group, n in ((host.web, 0), (host.batch, -1))]
    try:
        return BpfSensor(
            [(hierarchy, inode, n) for inode, n in ids], [len(host.tree.online_cpus())]
        )
    except OSError as error:
        pytest.skip(f"no BPF: {error}")


def test_a_cpu_that_an_idle_batch_got_over_a_waiting_primary_is_given_back(
    host: Host, processes: Processes
) -> None:
    cpus = sorted(host.tree.online_cpus())
    if host.batch.idle_file is None:
        pytest.skip("needs cpu.idle")
    host.tree.files.write(host.batch.idle_file, "1")
    for _ in cpus:
        host.place(processes.spinning(), host.web)
    sensor = kernel_sensor(host)
    rescue = Rescue(sensor, cpus, 0)
    try:
        for cpu in itertools.islice(itertools.cycle(cpus), 2000):
            # Wherever it comes it comes without debt, and those who ran there are not eligible.
            os.sched_setaffinity(host.worker, {cpu})
            time.sleep(0.002)
            primary_ns = sum(sensor.primary_times_ns(cpu)[0] for cpu in cpus)
            if rescue.rescues > 0 and primary_ns > 0:
                break
        assert 0 < rescue.rescues <= sensor.displacements
        assert primary_ns > 0
        assert sum(sensor.primary_times_ns(cpu)[1] for cpu in cpus) == 0  # nothing is lent
    finally:
        rescue.close()


def test_the_kernel_sensor_tells_what_ran_though_nobody_looked(
    host: Host, processes: Processes
) -> None:
    """A loop that rests has not: it would take such a sensor for blind."""
    spinner = host.place(processes.spinning(), host.web)
    sensor = kernel_sensor(host)
    try:
        used_ns = cpu_usage_of([resolve_target(TargetSpec("pid", str(spinner)), host.tree)])
        before_ns, seen_ns = used_ns() or 0, sensor.busy_core_ns()
        assert seen_ns is not None
        wait_until(lambda: (used_ns() or 0) > before_ns + 300_000_000)
        used = (used_ns() or 0) - before_ns
        assert (sensor.busy_core_ns() or 0) - seen_ns > 0.8 * used
    finally:
        sensor.close()


def test_a_command_starts_in_the_batch(host: Host, processes: Processes) -> None:
    agent = processes.agent(*host.state, *host.targets, *PLAIN)
    agent.wait_until(lambda: is_confined(host))
    outcome = smartharvest("run", "--elastic", *host.state, "cat", "/proc/self/cgroup")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count(f"/{host.batch.relative}\n") == len(
        set(filter(None, map(host.batch.directory, CONTROLLERS)))
    )
    assert agent.send(signal.SIGTERM).code == 0


# By its path: busybox's shell has a lesser one of its own.
SETPRIV = shutil.which("setpriv") or "setpriv"
NOBODY = (SETPRIV, "--reuid=65534", "--regid=65534", "--clear-groups", "--")


def test_without_rights_it_says_which_file_needs_them(host: Host) -> None:
    before = host.files()
    with tempfile.TemporaryDirectory() as state_dir:
        os.chown(state_dir, 65534, 65534)
        able = _as_nobody(["--version"])
        if able.returncode != 0:
            pytest.skip(f"nobody may not run this installation: {able.stderr.strip()[-200:]}")
        done = _as_nobody(
            ["agent", *host.targets, "--no-guardian", "--no-cpu-idle", "--state-dir", state_dir]
        )
    assert done.returncode == 3, done.stderr
    last_line = done.stderr.splitlines()[-1]
    why = f"{host.batch.cpus_file}: Permission denied; run as root"
    assert last_line == f"smartharvest: {why} [SH-R01]"
    assert host.files() == before


def _as_nobody(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", 'exec "$@"', "sh", *NOBODY, *as_command(arguments)]
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    return subprocess.run(
        command,
        env=environment,  # the tests' locks are root's
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )


def test_a_demo_that_is_ended_removes_its_groups(processes: Processes) -> None:
    mount = CgroupTree.discover().hierarchies["cpuset"]
    demo = processes.start(as_command(["demo", "--seconds", "60"]))
    groups = [
        Path(mount, f"smartharvest-demo-{demo.pid}-{role}") for role in ("primary", "elastic")
    ]

    def have_tasks() -> bool:
        assert demo.poll() is None, demo.communicate()
        listings = [group / "cgroup.procs" for group in groups]
        return all(path.exists() and path.read_text() for path in listings)

    wait_until(have_tasks)
    demo.send_signal(signal.SIGTERM)
    _, err = demo.communicate(timeout=LONGEST_S)
    assert demo.returncode == 130
    assert err.endswith("smartharvest: stopped\n")
    assert not any(group.exists() for group in groups)


SHORT_DEMO = """
from smartharvest.cli import main
from smartharvest.lab.demo import phases
phases.MINIMUM_SECONDS, phases.ROUNDS = 0, (1, 1)
main(["demo", "--seconds", "4", "--json"])
"""


def test_the_demo_prints_its_document(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHORT_DEMO],
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
        *("no-harvest", "sensing-only", "cpu-idle", "nice-19", "fixed-buffer:1", "smartharvest"),
        "adaptive",
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


@pytest.mark.parametrize(
    ("policy", "nappers"),
    [
        ("adaptive-quiet", 2 * len(os.sched_getaffinity(0))),  # they wait for one another
        ("adaptive", 1),
    ],
)
def test_a_policy_that_is_told_of_dispatches_learns_to_lend(
    host: Host, processes: Processes, policy: str, nappers: int
) -> None:
    os.kill(host.spinner, signal.SIGKILL)
    # Runs of milliseconds: what others make it wait on a busy machine is little beside them.
    napper = f"import time\nwhile True: sum(range({100_000 // nappers})); time.sleep(0.0015)"
    for _ in range(nappers):
        host.place(processes.python(napper).pid, host.web)
    agent = processes.agent(*host.state, *host.targets, "--policy", policy)
    path = socket_path(str(host.state_dir), agent.pid)
    agent.wait_until(lambda: is_confined(host))
    if ask(path, "status", {})["sensor"]["name"] != "bpf":
        pytest.skip("the in-kernel sensor alone tells how the tasks are dispatched")
    agent.wait_until(lambda: ask(path, "status", {})["harvested"]["core_seconds"] > 0)
    assert agent.send(signal.SIGTERM).code == 0
