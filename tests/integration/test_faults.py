"""A short fault campaign; the long one is ``make faults``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.commands import LONGEST_S

# One host that was left changed is one too many.
pytestmark = [pytest.mark.timing, pytest.mark.flaky(reruns=0)]

KILLS = 8
FEWER_KILLS = 3
QUICK = (
    *("kill", "kill both", "kill while the guardian is stopped", "kill after its guardian"),
    *("end", "kill while it ends", "kill in the ice", "kill on a full disk"),
    *("kill while somebody else writes", "stop"),
)
SLOW = ("stop both", "freeze both", "mute clients", "mute monitor", "blocked sync")


def _campaign(
    where: str, kills: int = KILLS, *ways: str, only: tuple[str, ...] = ()
) -> dict[str, object]:
    """In a process of its own: it forks, and takes guardians for its children."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults", "--where", where),
            *("--kills", str(kills), "--only", *(only or QUICK), *ways),
        ],
        capture_output=True,
        text=True,
        timeout=5 * LONGEST_S,
        check=False,
    )
    assert done.stdout, done.stderr
    (tally,) = json.loads(done.stdout)["places"]
    assert tally["failures"] == []
    assert done.returncode == 0, done.stderr
    return dict(tally)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_whenever_an_agent_on_a_fake_tree_is_struck_everything_comes_back(version: str) -> None:
    assert _campaign(version)["kills"] == KILLS


@pytest.mark.root
@pytest.mark.parametrize("where", ["host", "pid", "half"])
def test_whenever_an_agent_on_this_host_is_struck_everything_comes_back(where: str) -> None:
    """A group, a process, and a group whose tasks are in a part of its hierarchies."""
    tally = _campaign(where)
    assert tally["kills"] == KILLS
    assert tally["born_meanwhile"]


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", SLOW)
@pytest.mark.parametrize("where", ["host", "pid"])
def test_an_agent_that_is_silent_for_a_while_is_not_killed_for_it(where: str, fault: str) -> None:
    assert _campaign(where, FEWER_KILLS, only=(fault,))["kills"] == FEWER_KILLS


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("where", ["host", "pid"])
def test_thousands_of_threads_come_back(where: str) -> None:
    tally = _campaign(where, FEWER_KILLS, "--threads", "3000", only=("kill", "end"))
    assert tally["kills"] == FEWER_KILLS


@pytest.mark.parametrize(
    ("version", "option", "way"),
    [
        ("v1", "--mechanism", "cpugroups"),
        ("v2", "--mechanism", "cpugroups"),
        ("v2", "--mechanism", "affinity"),
        ("v1", "--order", "dynamic"),
    ],
)
def test_whatever_moves_the_cores_of_a_fake_tree_everything_comes_back(
    version: str, option: str, way: str
) -> None:
    assert _campaign(version, FEWER_KILLS, option, way)["kills"] == FEWER_KILLS


@pytest.mark.root
@pytest.mark.parametrize("mechanism", ["affinity", "cpugroups"])
def test_with_another_mechanism_everything_comes_back_on_this_host(mechanism: str) -> None:
    assert _campaign("host", FEWER_KILLS, "--mechanism", mechanism)["kills"] == FEWER_KILLS
