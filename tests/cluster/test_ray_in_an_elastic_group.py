"""Ray Serve's replicas in the elastic group of an agent on this machine's own hierarchies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.serverless.node_report import CAPACITY_VARIABLE
from smartharvest.telemetry.client import NoAgent, ask, socket_path
from tests.cluster.agents import free_port, wait_until
from tests.commands import as_command, smartharvest
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent

pytest.importorskip("ray.serve", reason="Ray Serve is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.root, pytest.mark.timeout(400)]

LONGEST_START_S = 240.0
RAY = (
    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"),
    *("--disable-usage-stats", "--include-dashboard=false", "--object-store-memory=80000000"),
    *("--node-ip-address=127.0.0.1", "--num-cpus=4", "--dashboard-agent-listen-port=0"),
)
DRIVER = """
import json, sys
import ray
from ray import serve
from ray.serve.config import RequestRouterConfig
from smartharvest.serverless.node_report import HarvestedReplica

ray.init(sys.argv[1], logging_level="ERROR", log_to_driver=False)

class Function(HarvestedReplica):
    async def __call__(self):
        import os
        from smartharvest.serverless.node_report import reporter
        with open("/proc/self/cgroup") as file:
            groups = file.read()
        return os.getpid(), groups, sorted(os.sched_getaffinity(0)), reporter().report()

config = RequestRouterConfig(
    request_router_class="smartharvest.serverless.ray_router:MinWorkerSetRouter",
    request_routing_stats_period_s=0.5,
)
function = serve.deployment(
    num_replicas=2, ray_actor_options={"num_cpus": 1}, request_router_config=config
)(Function)
serve.start(proxy_location="Disabled")
handle = serve.run(function.bind(), name="functions", route_prefix=None)
print("ready", flush=True)
for _ in sys.stdin:
    answers = [one.result(timeout_s=120) for one in [handle.remote() for _ in range(8)]]
    print(json.dumps(answers), flush=True)
"""


class Functions:
    """Two replicas, and who asks them; the asking is outside of the group."""

    def __init__(self, driver: subprocess.Popen[str]) -> None:
        self._driver = driver
        assert self._line() == "ready"

    def answers(self) -> list[list[Any]]:
        """Of eight requests at once: pid, control groups, CPUs, report of the replica."""
        assert self._driver.stdin is not None
        self._driver.stdin.write("\n")
        self._driver.stdin.flush()
        found: list[list[Any]] = json.loads(self._line())
        return found

    def cores(self) -> set[float | None]:
        """That the replicas report; None: they do not know."""
        return {report.get("cores") for *_, report in self.answers()}

    def _line(self) -> str:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:  # Ray may have something to say, too
            if line.startswith(("ready", "[[")):
                return line.strip()
        raise AssertionError(f"the driver ended with {self._driver.wait()}")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A primary that sleeps, and a batch of nothing but Ray."""
    processes = Processes()
    made = Host(processes, tmp_path / "state")
    if len(made.tree.online_cpus()) < 2:
        pytest.skip("needs two CPUs: one to lend, one to keep")
    try:
        made.web, made.batch = made.make("web"), made.make("batch")
        made.place(processes.asleep(), made.web)
        yield made
    finally:
        processes.end()
        made.remove()


@pytest.fixture
def functions(host: Host, tmp_path: Path) -> Iterator[Functions]:
    with tempfile.TemporaryDirectory(prefix="sh-", ignore_cleanup_errors=True) as directory:
        yield from _functions(host, tmp_path / "ray.log", directory)


def _functions(host: Host, log: Path, directory: str) -> Iterator[Functions]:
    port = free_port()
    environment = {**os.environ, CAPACITY_VARIABLE: str(host.state_dir),
                   "RAY_USAGE_STATS_ENABLED": "0"}  # fmt: skip
    start = (*RAY, f"--port={port}", f"--temp-dir={directory}/ray")
    ray = subprocess.Popen(
        as_command(["run", "--group", f"cgroup:{host.batch}", *host.state, "--", *start]),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log.open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    driver = None
    try:
        wait_until(lambda: "Ray runtime started." in log.read_text(), LONGEST_START_S)
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, f"127.0.0.1:{port}"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        yield Functions(driver)
    finally:
        if driver is not None:
            driver.kill()
            driver.communicate()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(ray.pid, signal.SIGKILL)
        ray.wait()
        _end_all_in(host)


@pytest.fixture
def agent(host: Host, functions: Functions) -> Iterator[RunningAgent]:  # noqa: ARG001
    """Lends all cores but one while the primary sleeps, to the functions that are there."""
    processes = Processes()
    command = (
        *(*host.state, *host.targets, "--sensor", "proc", "--policy", "fixed-buffer:1"),
        *("--lend-shared", "--no-cpu-idle"),  # whatever else this machine does
    )
    running = processes.agent(*command)
    running.wait_until(lambda: _lent(host, running) > 0)
    yield running
    processes.end()


def _end_all_in(host: Host) -> None:
    """Ray's workers have sessions of their own."""
    procs = f"{host.batch.path}/cgroup.procs"

    def is_empty() -> bool:
        pids = host.tree.files.read(procs).split()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        return not pids

    wait_until(is_empty)


def _status(host: Host, agent: RunningAgent) -> Any:
    return ask(socket_path(str(host.state_dir), agent.pid), "status", {})


def _lent(host: Host, agent: RunningAgent) -> int:
    try:
        return int(_status(host, agent)["harvested"]["now"])
    except (OSError, NoAgent):
        return 0


def test_replicas_run_on_what_is_lent_and_report_what_is_taken_back(
    host: Host, agent: RunningAgent, functions: Functions
) -> None:
    most = len(parse_cpulist(_status(host, agent)["cores"]["pool"])) - 1
    wait_until(lambda: functions.cores() == {most})
    answers = functions.answers()
    assert len({pid for pid, *_ in answers}) == 2
    for _, groups, cpus, report in answers:
        assert f"/{host.batch.relative}\n" in groups
        assert len(cpus) == most
        assert report["guaranteed"] == 0
        assert host.tree.version == 1 or report["load"] >= 0
    assert smartharvest("pause", *host.state).code == 0
    wait_until(lambda: functions.cores() == {0})  # and requests are still answered
    assert smartharvest("resume", *host.state).code == 0
    wait_until(lambda: functions.cores() == {most})


def test_replicas_go_on_when_their_agent_is_killed(
    host: Host, agent: RunningAgent, functions: Functions
) -> None:
    wait_until(lambda: None not in functions.cores())
    os.kill(agent.pid, signal.SIGKILL)
    wait_until(lambda: functions.cores() == {None})
    online = sorted(host.tree.online_cpus())
    wait_until(lambda: all(cpus == online for _, _, cpus, _ in functions.answers()))
    assert all("agent" in report["why"] for *_, report in functions.answers())
