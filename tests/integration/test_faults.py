"""A short fault campaign; the long one is ``make faults``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.commands import LONGEST_S

pytestmark = pytest.mark.timing

KILLS = 8
FEWER_KILLS = 3


def _campaign(where: str, kills: int = KILLS, *ways: str) -> dict[str, object]:
    """In a process of its own: it forks, and takes guardians for its children."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults", "--where", where),
            *("--kills", str(kills), *ways),
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
def test_whenever_an_agent_on_this_host_is_struck_everything_comes_back() -> None:
    assert _campaign("host")["kills"] == KILLS


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
